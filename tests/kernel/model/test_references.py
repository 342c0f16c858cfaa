"""Which field names which kind of record is said once, in the model; whatever follows from it reads it there."""

from typing import Any

import orjson
import pytest

from graphmem import Memory
from graphmem.kernel.model import MODELS
from graphmem.kernel.model.record import Record
from graphmem.kernel.model.vocabulary import OWNED_RELATIONS
from tests.sample import CREATED

REQUIRED = {("task", "campaign"), ("insight", "derived_from")}  # a purge takes the record along, or is refused
OF_FACTS = {("run", "superseded_by"), ("event", "superseded_by")}  # which nothing supersedes
FIELDS = [
    (kind, field)
    for kind, model in MODELS.items()
    if issubclass(model, Record)
    for field in model.refers
    if (kind, field)
    not in {
        ("task", "campaign"),
        ("item", "work"),
        ("insight", "derived_from"),
        ("run", "superseded_by"),
        ("event", "superseded_by"),
    }
]
NEEDED: dict[str, dict[str, Any]] = {
    "failure": {"trigger": "it breaks"},
    "pattern": {"trigger": "it breaks", "insight": "fix it"},
    "lesson": {"description": "never again"},
    "experience": {"task_type": "bug", "description": "d", "approach": "a", "outcome": "success", "lessons": ["l"]},
    "insight": {"category": "codebase_insight", "statement": "s", "derived_from": ["experience/e1", "experience/e2"]},
    "entity": {"type": "service"},
    "campaign": {"objective": "o"},
    "task": {"objective": "o", "campaign": "campaign/c"},
    "decision": {"decision": "d"},
    "exploration": {"objective": "o"},
    "constraint": {"constraint": "c"},
    "session": {"started_at": CREATED, "ended_at": CREATED},
    "work": {"flow": "f", "cycle": "c", "objective": "o", "branch": "b", "base_branch": "m", "base_commit": "0"},
    "item": {"work": "w", "source": "quench:q", "text": "t"},
    "run": {"run": "r", "at": CREATED},
}


def test_every_edge_that_a_field_makes_is_of_a_relation_that_is_declared() -> None:
    made = {
        one.edge
        for _, model in MODELS.items()
        if issubclass(model, Record)
        for one in model.refers.values()
        if one.edge
    }
    assert made | {"about", "supersedes"} == set(OWNED_RELATIONS)


@pytest.mark.parametrize(("kind", "field"), FIELDS)
def test_a_purged_record_is_named_by_no_field_of_another(kind: str, field: str, memory: Memory) -> None:
    """`Decision.task` was forgotten by one of seven lists of such fields."""
    memory.types.add_entity("service")
    refers = MODELS[kind].refers[field]  # type: ignore[attr-defined]
    wanted = refers.kind or ("task" if kind == "task" else "lesson")
    targets = {name: f"{wanted}/{'c/' if wanted == 'task' else ''}{name}" for name in ("001-gone", "002-kept")}
    rows: list[dict[str, Any]] = [{"kind": "campaign", "name": "c", "objective": "o"}]
    for name, ref in targets.items():
        rows.append({"kind": wanted, "name": ref.partition("/")[2], **NEEDED[wanted]})
        for text in ("trigger", "description", "objective"):
            if text in rows[-1]:
                rows[-1][text] = f"{rows[-1][text]} {name}"
    for number in (1, 2):
        made = {**NEEDED["experience"], "description": f"task {number}", "created_at": f"2026-0{number}-01T00:00:00Z"}
        rows.append({"kind": "experience", "name": f"e{number}", **made})
    own = "c/003-own" if kind == "task" else "own"
    is_list = field in MODELS[kind].references  # type: ignore[attr-defined]
    value: Any = list(targets.values()) if is_list else targets["001-gone"]
    rows.append({"kind": kind, "name": own, **NEEDED[kind], field: value})
    if kind == "run":
        del rows[-1]["name"]
    memory.add_rows([orjson.dumps({"created_at": CREATED, **row}) for row in rows])
    record_type = "service" if kind == "entity" else kind
    ref = f"{record_type}/{'r' if kind == 'run' else own}"
    before = getattr(memory.get(ref).record, field)
    assert targets["001-gone"] in (before if is_list else [before])
    memory.store.purge([targets["001-gone"]], yes=True)
    after = getattr(memory.get(ref).record, field)
    assert after == ((targets["002-kept"],) if is_list else None)
