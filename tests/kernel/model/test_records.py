"""Records: every kind comes back as it went, and what records.md does not allow is refused."""

from datetime import UTC, datetime
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from graphmem.core.records.limits import refuse_oversize
from graphmem.errors import BadInput
from graphmem.kernel.model import MODELS, Campaign, Entity, Failure, Feedback, Frozen, Lesson, Pattern, Relation, Task
from graphmem.kernel.model.campaign import CampaignStatus
from graphmem.kernel.model.merge import FACTS
from graphmem.kernel.model.record import plain, row_fields
from graphmem.kernel.ndjson import decode, encode
from graphmem.names import printable
from tests.pace import examples

characters = st.characters(exclude_categories=["Cs"])
texts = st.text(characters, min_size=1, max_size=20).filter(lambda text: bool(text.strip()))
lines = texts.filter(printable)
slugs = st.from_regex(r"[a-z0-9_.-]{1,20}", fullmatch=True)
sets = st.lists(texts, max_size=4)
times = st.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 30), timezones=st.just(UTC))
numbers = st.integers(0, 2**53) | st.floats(0, 2**53)
weights = st.floats(0, 2, exclude_min=True)
refs = st.builds("{}/{}".format, slugs, texts)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
unknown = st.dictionaries(st.sampled_from(("later", "x-y", "é")), values, max_size=2)
record = {
    "edited": st.dictionaries(slugs, times, max_size=2), "sources": sets, "archived_at": times,
    "archive_reason": texts, "superseded_by": refs,
}  # fmt: skip
alternates = st.lists(st.fixed_dictionaries({"field": slugs, "text": texts}), max_size=2)
memory = {**record, "tags": sets, "files": sets, "alternates": alternates, "helped": st.integers(0, 99)}


def rows(kind: str, required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return rows of a kind, with fields that nobody knows yet."""
    known = st.fixed_dictionaries({"kind": st.just(kind), "created_at": times, **required}, optional=optional)
    return st.builds(lambda row, more: {**more, **row}, known, unknown)


task_names = st.from_regex(r"[a-z]{1,5}/[0-9]{3}-[a-z]{1,5}", fullmatch=True)
ROWS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "failure": rows("failure", {"name": slugs, "trigger": texts}, {
        **memory, "key": slugs, "aliases": st.lists(slugs, max_size=2), "fix": texts, "match": st.just("a+b"),
        "cost": numbers, "flaky": st.booleans(),
    }),
    "pattern": rows("pattern", {"name": slugs, "trigger": texts, "insight": texts}, {
        **memory, "key": slugs, "saved": numbers, "framework": texts,
    }),
    "lesson": rows("lesson", {"name": slugs, "description": texts}, {
        **memory, "key": slugs, "type": st.sampled_from(("preference", "anti_pattern")), "source": texts,
        "domain": texts, "severity": st.sampled_from(("bug", "info")), "frequency": st.integers(0, 9),
        "runs_since_last_seen": st.integers(0, 9), "last_seen_run": texts, "restored_at": times,
    }),
    "experience": rows("experience", {
        "name": slugs, "task_type": st.sampled_from(("bug", "test")), "description": texts, "approach": texts,
        "outcome": st.sampled_from(("success", "failure")), "lessons": st.lists(texts, min_size=1, max_size=3),
    }, {
        **record, "key": slugs, "time_taken": numbers, "complexity_estimated": st.just("low"),
        "complexity_actual": st.just("high"), "capabilities_used": sets, "tags": sets,
        "confidence": st.sampled_from(("low", "high")),
    }),
    "insight": rows("insight", {
        "name": slugs, "category": st.just("recurring_issue"), "statement": texts, "derived_from": sets,
    }, {**record, "key": slugs, "symptoms": texts, "root_cause": texts, "resolution": texts, "tags": sets}),
    "exploration": rows("exploration", {"name": slugs, "objective": texts}, {
        **record, "key": slugs, "structure": texts, "pattern": texts, "memory": texts, "delta": texts, "session": texts,
    }),
    "entity": rows("entity", {"name": slugs, "type": slugs}, {**record, "key": slugs, "value": texts}),
    "campaign": rows("campaign", {"name": slugs, "objective": texts}, {
        **record, "framework": texts, "status": st.sampled_from(("active", "partial")), "completed_at": times,
        "outcome": texts, "tags": sets, "fingerprint": st.fixed_dictionaries({}, optional={
            "delta": sets, "tasks": st.integers(0, 9),
            "task_types": st.dictionaries(slugs, st.integers(0, 9), max_size=2),
            "later": values,
        }),
    }),
    "task": rows("task", {"name": task_names, "campaign": refs, "objective": texts}, {
        **record, "type": st.sampled_from(("impl", "other")), "status": st.sampled_from(("pending", "blocked")),
        "depends": sets, "delta": sets, "verify": texts, "budget": numbers, "framework_confidence": st.floats(0, 1),
        "idioms": st.fixed_dictionaries({}, optional={"required": sets, "later": values}),
        "lineage": st.lists(values, max_size=2), "preflight": values, "code_contexts": st.lists(texts, max_size=2),
        "started_at": times,
    }),
    "decision": rows("decision", {"name": slugs, "decision": texts}, {
        **record, "key": slugs, "reasoning": texts, "task": refs, "session": slugs,
    }),
    "constraint": rows("constraint", {"name": slugs, "constraint": texts}, {
        **record, "key": slugs, "source": texts, "expires_at": times, "session": slugs,
    }),
    "session": rows("session", {"name": slugs, "started_at": times, "ended_at": times}, {
        **record, "key": slugs, "task": texts, "conversation": texts, "messages": st.integers(0, 9), "skills": sets,
        "used": sets,
    }),
    "work": rows("work", {
        "name": slugs, "flow": slugs, "cycle": slugs, "objective": texts, "branch": texts, "base_branch": texts,
        "base_commit": texts,
    }, {**record, "key": slugs, "goal": texts}),
    "item": rows("item", {"name": slugs, "work": slugs, "source": texts, "text": texts}, {
        **record, "key": slugs, "stage": slugs, "iteration": st.integers(0, 9), "artefact": slugs, "file": texts,
        "about": refs, "tags": sets,
    }),
    "relation": rows("relation", {"from": st.builds("failure/{}".format, slugs), "type": slugs,
                                  "to": st.builds("pattern/{}".format, slugs)}, {
        "weight": weights, "note": texts, "sources": sets, "similarity": st.floats(0, 1),
    }),
    "feedback": st.fixed_dictionaries({"kind": st.just("feedback"), "ref": refs, "helped": st.booleans(), "at": times,
                                       "id": texts}, optional={"task": texts, "later": values}),
    "run": st.fixed_dictionaries({"kind": st.just("run"), "run": lines, "at": times}, optional={
        "seen": sets, "later": values,
    }),
    "event": st.fixed_dictionaries({"kind": st.just("event"), "id": lines, "type": lines, "at": times}, optional={
        "subject": lines, "data": values, "later": values,
    }),
    "purge": st.fixed_dictionaries({"kind": st.just("purge"), "salt": texts, "at": times,
                                    "hash": st.text("0123456789abcdef", min_size=64, max_size=64)}),
}  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("kind", MODELS)
@settings(max_examples=examples(40), deadline=None)
@given(data=st.data())
def test_a_record_is_read_back_as_it_was_written(kind: str, data: st.DataObject) -> None:
    made = MODELS[kind].model_validate(data.draw(ROWS[kind]))
    line = encode(made.to_row())
    again = MODELS[kind].model_validate(decode(line))
    assert again == made
    assert encode(again.to_row()) == line


@pytest.mark.parametrize("kind", MODELS)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_no_row_holds_a_default(kind: str, data: st.DataObject) -> None:
    model = MODELS[kind]
    row = model.model_validate(data.draw(ROWS[kind])).to_row()
    defaults = {alias: default for _, alias, default in row_fields(model) if default is not ...}
    for alias in row.keys() & defaults.keys():
        assert row[alias] not in (plain(defaults[alias]), None), alias
    assert not row.keys() & model.derived


NOW = "2026-11-01T09:30:00.000Z"
SMALLEST: dict[str, dict[str, Any]] = {
    "failure": {"name": "n", "trigger": "t"},
    "pattern": {"name": "n", "trigger": "t", "insight": "i"},
    "entity": {"name": "n", "type": "part"},
    "campaign": {"name": "n", "objective": "o"},
    "task": {"name": "c/001-s", "campaign": "campaign/c", "objective": "o"},
    "lesson": {"name": "n", "description": "d"},
    "experience": {
        "name": "2026-11-01_n",
        "task_type": "bug",
        "description": "d",
        "approach": "a",
        "outcome": "success",
        "lessons": ["l"],
    },
    "insight": {"name": "n", "category": "codebase_insight", "statement": "s", "derived_from": ["experience/a"]},
    "exploration": {"name": "n", "objective": "o"},
    "decision": {"name": "n", "decision": "d"},
    "constraint": {"name": "n", "constraint": "c"},
    "session": {"name": "n", "started_at": NOW, "ended_at": NOW},
    "work": {
        "name": "n",
        "flow": "f",
        "cycle": "c",
        "objective": "o",
        "branch": "b",
        "base_branch": "m",
        "base_commit": "0",
    },
    "item": {"name": "n", "work": "w", "source": "quench:q", "text": "t"},
    "relation": {"from": "failure/a", "type": "causes", "to": "failure/b"},
    "feedback": {"ref": "failure/a", "helped": True, "at": NOW, "id": "i"},
    "run": {"run": "r", "at": NOW},
    "event": {"id": "i", "type": "t", "at": NOW},
    "purge": {"salt": "s", "hash": "0" * 64, "at": NOW},
}


def make(kind: str, **fields: Any) -> Frozen:
    given = {"kind": kind, "created_at": NOW, **SMALLEST[kind], **fields}
    return MODELS[kind].model_validate({name: value for name, value in given.items() if value is not ...})


@pytest.mark.parametrize("kind", MODELS)
def test_the_smallest_row_needs_only_its_required_fields(kind: str) -> None:
    row = make(kind).to_row()
    assert row == {"kind": kind, **({} if kind in FACTS else {"created_at": NOW}), **SMALLEST[kind]}
    for field in SMALLEST[kind]:
        if kind in FACTS and field == "at":
            continue
        with pytest.raises(ValidationError):
            make(kind, **{field: ...})


@pytest.mark.parametrize(
    ("kind", "field", "bad"),
    [
        *(("failure", "name", name) for name in ("", "Upper", "a b", "x" * 121, "ä", "a/b", "a\n", 1, None)),
        ("failure", "trigger", " \n"),
        ("failure", "trigger", 1),
        ("failure", "cost", -0.1),
        ("failure", "cost", float("nan")),
        ("failure", "cost", float("inf")),
        ("failure", "cost", 2**54),
        ("failure", "cost", "1"),
        ("failure", "match", "(?P<"),
        ("failure", "match", "a" * 10 + "{2,1}"),
        ("failure", "flaky", "yes"),
        ("failure", "tags", "one"),
        ("failure", "tags", [None]),
        ("failure", "helped", -1),
        ("failure", "helped", 1.5),
        ("failure", "created_at", "2026-11-01"),
        ("failure", "created_at", "2026-13-01T00:00:00Z"),
        ("failure", "edited", ["fix"]),
        ("failure", "aliases", ["Not One"]),
        ("failure", "alternates", [{"field": "fix"}]),
        ("pattern", "insight", None),
        ("pattern", "saved", -1),
        ("entity", "name", "a\tb"),
        ("entity", "name", "\u2028"),
        ("campaign", "status", "done"),
        ("task", "name", "001-s"),
        ("task", "name", "c/1-s"),
        ("task", "status", "done"),
        ("task", "type", "code"),
        ("task", "framework_confidence", 1.01),
        ("relation", "weight", 0),
        ("relation", "weight", 2.1),
        ("relation", "weight", "1"),
        ("relation", "from", "a"),
        ("relation", "to", "failure/"),
        ("relation", "to", "failure/a"),
        ("relation", "similarity", 1.1),
        ("feedback", "ref", "a"),
        ("feedback", "helped", 1),
        ("feedback", "id", ""),
    ],
)
def test_what_records_do_not_allow_is_refused(kind: str, field: str, bad: object) -> None:
    with pytest.raises(ValidationError):
        make(kind, **{field: bad})


@pytest.mark.parametrize(
    ("kind", "field", "size", "limit", "make_value"),
    [
        ("failure", "trigger", 16_385, "16,384", lambda n: "x" * n),
        ("failure", "fix", 16_386, "16,384", lambda n: "é" * (n // 2)),
        ("pattern", "insight", 16_385, "16,384", lambda n: "x" * n),
        ("campaign", "objective", 16_385, "16,384", lambda n: "x" * n),
        ("task", "objective", 16_385, "16,384", lambda n: "x" * n),
        ("relation", "note", 16_385, "16,384", lambda n: "x" * n),
        ("entity", "value", 4_097, "4,096", lambda n: "x" * n),
        ("failure", "match", 1_001, "1,000", lambda n: "x" * n),
        ("failure", "tags", 101, "100", lambda n: [f"t{i}" for i in range(n)]),
        ("failure", "files", 257, "256", lambda n: ["x" * n]),
        ("failure", "sources", 10_001, "10,000", lambda n: [f"t{i}" for i in range(n)]),
        ("task", "delta", 101, "100", lambda n: [f"t{i}" for i in range(n)]),
        ("task", "depends", 101, "100", lambda n: [f"t{i}" for i in range(n)]),
    ],
)
def test_what_is_over_its_limit_is_refused_with_field_size_and_limit(
    kind: str, field: str, size: int, limit: str, make_value: Any
) -> None:
    with pytest.raises(BadInput) as refused:
        refuse_oversize(make(kind, **{field: make_value(size)}))
    assert refused.value.details["field"] == field
    assert f"{size:,}" in refused.value.message
    assert limit in refused.value.message
    step = 2 if field == "fix" else 1
    refuse_oversize(make(kind, **{field: make_value(size - step)}))  # at the limit all is well


def test_a_record_is_a_value() -> None:
    made = make("failure")
    with pytest.raises(ValidationError):
        made.name = "other"  # type: ignore[attr-defined]  # a failure has a name; nothing of it can be set
    assert made == make("failure")
    assert made.replaced({"fix": "x"}) != made
    assert made.replaced({"fix": "x"}).replaced({"fix": None}) == made


def test_updated_at_is_the_latest_of_creation_and_edits() -> None:
    made = make("failure", edited={"fix": "2026-11-03T00:00:00Z", "cost": "2026-11-02T00:00:00Z"})
    assert made.updated_at == datetime(2026, 11, 3, tzinfo=UTC)
    assert "updated_at" not in made.to_row()
    assert make("failure").updated_at == datetime(2026, 11, 1, 9, 30, tzinfo=UTC)


def test_an_answer_of_graphmem_is_taken_as_a_row() -> None:
    for kind in MODELS:
        made = make(kind)
        assert MODELS[kind].model_validate_json(made.model_dump_json(by_alias=True)) == made, kind


def test_each_search_text_is_made_from_its_own_fields_in_order() -> None:
    failure, pattern = make("failure", fix="f"), make("pattern")
    assert isinstance(failure, Failure)
    assert isinstance(pattern, Pattern)
    assert (failure.search_text, pattern.search_text) == ("t\nf", "t\ni")
    entity, campaign, task = make("entity", value="v"), make("campaign"), make("task", delivered="d")
    assert isinstance(entity, Entity)
    assert isinstance(campaign, Campaign)
    assert isinstance(task, Task)
    assert (entity.search_text, campaign.search_text, task.search_text) == ("n\nv", "o", "o\nd")


def test_a_field_that_repeats_another_adds_nothing_to_the_search_text() -> None:
    """The vector of a text that is said twice is another one: the record would rank lower than with one field."""
    assert make("failure", fix="t").search_text == make("pattern", insight="t").search_text == "t"  # type: ignore[attr-defined]


def test_a_report_needs_a_task_or_an_id() -> None:
    with pytest.raises(ValidationError):
        make("feedback", id=...)
    assert isinstance(make("feedback", id=..., task="t"), Feedback)


def test_a_relation_of_a_record_with_a_slash_in_its_name_is_one() -> None:
    made = make("relation", **{"from": "path/src/a.py", "to": "path/src/b.py"})
    assert isinstance(made, Relation)
    assert (made.source, made.target) == ("path/src/a.py", "path/src/b.py")


@pytest.mark.parametrize("versions", [{"": "1.0"}, {"werkzeug": " "}, {"werkzeug": ["1.0", ""]}])
def test_a_version_has_the_name_of_a_package_and_a_value(versions: object) -> None:
    row = {"kind": "failure", "name": "a", "trigger": "t", "created_at": "2026-11-01T00:00:00.000Z"}
    with pytest.raises(ValueError, match="the name of a package and its version"):
        Failure.model_validate({**row, "versions": versions})


def test_a_campaign_has_ended_however_it_did() -> None:
    row = {"kind": "campaign", "name": "a", "objective": "o", "created_at": "2026-11-01T00:00:00.000Z"}
    ends = {status: Campaign.model_validate({**row, "status": status}).has_ended for status in get_args(CampaignStatus)}
    assert ends == {"active": False, "complete": True, "partial": True, "failed": True}


def test_a_lesson_that_somebody_adds_was_seen_once_unless_it_says_how_often() -> None:
    row = {"kind": "lesson", "name": "a", "description": "d", "created_at": "2026-11-01T00:00:00.000Z"}
    seen = [Lesson.model_validate({**row, "frequency": n}).seen_by_hand().frequency for n in (0, 1, 4)]
    assert seen == [1, 1, 4]
