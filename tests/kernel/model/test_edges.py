"""What a row may not be and may not say."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from graphmem.kernel.model import MODELS

AT = datetime(2026, 11, 22, tzinfo=UTC)
ROWS: dict[str, dict[str, Any]] = {
    "entity": {"kind": "entity", "type": "host", "name": "db", "created_at": AT},
    "event": {"kind": "event", "id": "e1", "type": "note", "at": AT},
    "experience": {
        "kind": "experience", "name": "2026-11-22_fix", "task_type": "bug", "description": "d", "approach": "a",
        "outcome": "success", "lessons": ["test first"], "created_at": AT,
    },
    "feedback": {"kind": "feedback", "ref": "failure/a", "helped": True, "id": "f1", "at": AT},
    "insight": {
        "kind": "insight", "name": "i", "category": "codebase_insight", "statement": "s", "derived_from": [],
        "created_at": AT,
    },
    "lesson": {"kind": "lesson", "name": "l", "description": "d", "created_at": AT},
    "run": {"kind": "run", "run": "r1", "at": AT},
}  # fmt: skip


@pytest.mark.parametrize("kind", ROWS)
def test_a_row_is_an_object_and_nothing_else(kind: str) -> None:
    assert MODELS[kind].model_validate(ROWS[kind]).kind == kind
    with pytest.raises(ValidationError, match="valid dictionary"):
        MODELS[kind].model_validate("a text")


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        ("experience", {"lessons": [" "]}, "lessons are empty"),
        ("run", {"run": "two\nlines"}, "is not a line of"),
        ("event", {"type": "two\nlines"}, "a text without a line end"),
        ("event", {"subject": "failure/a\u2028"}, "a text without a line end"),
        ("insight", {"symptoms": "s"}, "is not a field of category"),
        ("lesson", {"archetype": "reviewer"}, "an archetype_hint needs an archetype"),
    ],
)
def test_what_a_row_may_not_say_is_refused(kind: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        MODELS[kind].model_validate(ROWS[kind] | changes)


def test_an_experience_of_an_older_file_was_recorded_when_it_says() -> None:
    row = {name: value for name, value in ROWS["experience"].items() if name != "created_at"}
    assert MODELS["experience"].model_validate(row | {"recorded_at": AT}).created_at == AT


def test_an_event_about_words_has_no_edge() -> None:
    event: Any = MODELS["event"].model_validate(ROWS["event"] | {"subject": "the build"})
    assert list(event.own_edges) == []
    about: Any = MODELS["event"].model_validate(ROWS["event"] | {"subject": "failure/a"})
    assert [edge.target for edge in about.own_edges] == ["failure/a"]


def test_a_time_that_is_not_a_text_is_refused() -> None:
    with pytest.raises(ValidationError, match="expected a time such as"):
        MODELS["entity"].model_validate(ROWS["entity"] | {"created_at": 1_700_000_000})
