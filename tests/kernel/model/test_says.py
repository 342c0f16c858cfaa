"""What a record says and advises is declared on its model, and every front end shows that."""

from typing import Any

import pytest

from graphmem.core.evidence.notes import notes_of
from graphmem.core.evidence.text import ASIDE
from graphmem.core.history.compare import ORDER
from graphmem.core.records.wording import gist
from graphmem.core.replies.reply import View, hit
from graphmem.kernel.model import MODELS, Record
from graphmem.kernel.model.vocabulary import KINDS, RESERVED_KINDS

AT = "2026-01-02T03:04:05.000Z"
OF_RECORDS = {kind: model for kind, model in MODELS.items() if issubclass(model, Record)}
EXPERIENCE = {"task_type": "bug", "outcome": "success", "description": "d", "approach": "a", "lessons": ["l", "m"]}
# What is shown of a record of each kind: on the command line, and in a prompt.
SAID: dict[str, tuple[dict[str, Any], str, list[tuple[str, str]]]] = {
    "failure": ({"trigger": "t", "fix": "f"}, "t|fix: f", [("when", "t"), ("fix", "f")]),
    "pattern": ({"trigger": "t", "insight": "i"}, "t|do: i", [("when", "t"), ("do", "i")]),
    "lesson": ({"description": "d", "frequency": 2}, "[pattern, general, seen 2x] d", [("lesson", "d")]),
    "experience": (
        EXPERIENCE,
        "[bug, success] d|approach: a",
        [("task", "d"), ("approach", "a"), ("lesson", "l"), ("lesson", "m")],
    ),
    "insight": (
        {"category": "execution_pattern", "statement": "s", "derived_from": ["experience/e"]},
        "[low] s",
        [("insight", "s")],
    ),
    "entity": ({"type": "tool", "value": "v"}, "v", [("value", "v")]),
    "campaign": ({"objective": "o"}, "[active] o", [("objective", "o")]),
    "task": ({"campaign": "c", "objective": "o", "name": "c/001-x"}, "[pending] o", [("objective", "o")]),
    "decision": ({"decision": "d", "reasoning": "r"}, "d|because: r", [("decided", "d"), ("because", "r")]),
    "constraint": ({"constraint": "c"}, "c", [("constraint", "c")]),
    "exploration": ({"objective": "o", "delta": "d"}, "o", [("objective", "o"), ("delta", "d")]),
    "session": ({"started_at": AT, "ended_at": AT, "task": "t"}, "t", [("task", "t")]),
    "work": (
        {
            "flow": "f",
            "cycle": "c",
            "objective": "o",
            "goal": "g",
            "branch": "b",
            "base_branch": "m",
            "base_commit": "0",
        },
        "[f] o|goal: g",
        [("objective", "o"), ("goal", "g")],
    ),
    "item": ({"work": "w", "source": "quench:q", "text": "t"}, "[quench:q] t", [("text", "t")]),
    "run": ({"run": "r", "at": AT, "seen": ["lesson/l"]}, "[2026-01-02 03:04] saw 1 lesson", []),
    "event": ({"id": "e", "type": "x.y", "subject": "s", "at": AT}, "[2026-01-02 03:04] x.y s", [("subject", "s")]),
}


@pytest.mark.parametrize("kind", OF_RECORDS)
def test_every_front_end_shows_what_the_model_of_a_record_says(kind: str) -> None:
    fields, line, notes = SAID[kind]
    record = OF_RECORDS[kind].model_validate({"kind": kind, "name": "n", "created_at": AT, **fields})
    assert isinstance(record, Record)
    assert gist(record) == line.replace("|", ASIDE)
    assert notes_of(record) == notes
    shown = hit(record, View())
    assert [shown.get("text")] == [text for _, text in notes[:1]] or kind == "run"
    assert all(shown[word] == text for word, text in notes if word in dict(record.advises).values())


@pytest.mark.parametrize("kind", OF_RECORDS)
def test_what_a_model_says_is_in_fields_that_it_has(kind: str) -> None:
    model = OF_RECORDS[kind]
    named = (model.says, *dict(model.advises), *dict(model.parts))
    assert [name for name in named if name and name not in model.model_fields] == []


def test_the_lists_of_kinds_follow_from_the_models() -> None:
    assert set(KINDS) == OF_RECORDS.keys() - {"entity"}
    assert set(KINDS) < RESERVED_KINDS
    assert ORDER[: len(MODELS)] == tuple(MODELS)
