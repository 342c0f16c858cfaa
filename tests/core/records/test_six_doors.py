"""
A row is the same record, refused or merged alike, by whatever door it comes; where doors differ, it is said why.

The doors: ``add`` of one record, ``add --ndjson`` with and without ``--dedup``, ``import``, an accepted candidate, an
extractor (entities only), and what ``resolve`` leaves of a conflict.
"""

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from graphmem import BadInput, GraphmemError, Memory
from graphmem.core.records.candidates import queue_of
from graphmem.kernel.model.candidate import Candidate, Occasion, candidate_id
from tests.features.extractors.test_extractors import declare, printing
from tests.sample import START, Clock, data, open_memory
from tests.secret_samples import KINDS, Maker

LOCK = "flask==3.0.0\nwerkzeug==3.0.1\n"
CODE = "def login():\n    return 1\n"
_, SECRET = KINDS["github classic"](Maker(1))
ERROR = 'File "/{}/app.py", line {}, in run\nTypeError: unsupported operand type(s) for +: int and str'
Row = Mapping[str, Any]


def project(folder: Path, clock: Clock | None = None) -> Memory:
    """Make a project with code, a lock file and an entity type."""
    folder.mkdir()
    (folder / "requirements.txt").write_text(LOCK)
    (folder / "auth.py").write_text(CODE)
    memory = open_memory(folder, clock=clock)
    memory.types.add_entity("target")
    return memory


def through_add(memory: Memory, row: Row) -> None:
    fields = {name: value for name, value in row.items() if name != "kind"}
    if row["kind"] == "entity":
        memory.entities.add(fields.pop("type"), fields.pop("name"), **fields)
    elif row["kind"] == "constraint":
        memory.sessions.constrain(key=fields.pop("name", None), **fields)
    else:
        getattr(memory, f"{row['kind']}s").add(**fields)


def through_rows(memory: Memory, row: Row) -> None:
    memory.add_rows([json.dumps(row).encode()])


def through_rows_compared(memory: Memory, row: Row) -> None:
    memory.add_rows([json.dumps(row).encode()], dedup=True)


def through_import(memory: Memory, row: Row) -> None:
    """Import a table whose only row this is; what it leaves out is raised as the other doors refuse it."""
    kind = row["type"] if row["kind"] == "entity" else row["kind"]
    fields = {name: value for name, value in row.items() if name not in ("kind", "type")}
    path = memory.store.client.layout.root / "other.ndjson"
    path.write_text(json.dumps(fields) + "\n")
    answer = memory.imports.file(path, format="ndjson", map={"kind": kind} | {name: name for name in fields})
    path.unlink()
    if answer.skipped:
        raise BadInput(answer.skipped[0].reason)


def through_review(memory: Memory, row: Row) -> None:
    """Accept a candidate that says the row."""
    fields = {name: value for name, value in row.items() if name != "kind"}
    seen = (Occasion(source="codex", session="s1", command="make", passed="x"),)
    parts = {row["kind"]: fields} if row["kind"] in ("failure", "pattern") else {"other": (dict(row),)}
    one = Candidate(id=candidate_id(json.dumps(row)), base=0.7, evidence=seen, marks=(seen[0].mark,), sessions=("s1",),
                    **parts)  # fmt: skip
    with queue_of(memory.store.client).changing() as queue:
        queue.add(one)
    memory.candidates.accept(one.id)


def through_extractor(memory: Memory, row: Row) -> None:
    """Run an extractor that prints the row."""
    declare(memory, printing(dict(row)), writes=["target"])
    memory.store.extractors.run(["make"])


def through_resolve(memory: Memory, row: Row) -> None:
    """Resolve a conflict in which the other side has the row that ``add --ndjson`` writes, and this one what it has."""
    with project(memory.store.client.layout.root / "other") as other:
        through_rows(other, row)
        theirs = data(other.store.client.layout.root, file_of(row)).read_text()
    path = data(memory.store.client.layout.root, file_of(row))
    ours = path.read_text() if path.exists() else ""
    path.write_text(f"<<<<<<< ours\n{ours}=======\n{theirs}>>>>>>> theirs\n")
    memory.store.resolve()


def file_of(row: Row) -> str:
    """Return the name of the data file of a row."""
    return f"entities/{row['type']}" if row["kind"] == "entity" else str(row["kind"])


Door = Callable[[Memory, Row], None]
DOORS: dict[str, Door] = {
    "add": through_add,
    "add --ndjson": through_rows,
    "add --ndjson --dedup": through_rows_compared,
    "import": through_import,
    "review": through_review,
    "resolve": through_resolve,
}
DECIDING = [name for name in DOORS if name != "resolve"]  # what a merge leaves is decided by git and the row alone


def records(memory: Memory) -> list[dict[str, Any]]:
    """Return the records of a memory, without their times and their origin."""
    # The origin: an import and an extractor note where a record is from, or it would not be found again.
    left = {"created_at", "updated_at", "edited", "sources"}
    found = {one.ref: one.record for is_archived in (False, True) for one in memory.list(archived=is_archived).results}
    made = [json.loads(one.model_dump_json(exclude=left)) for _, one in sorted(found.items())]
    for one in made:
        one["alternates"] = [[aside["field"], aside["text"]] for aside in one["alternates"]]
    return made


def outcome(memory: Memory, door: Door, *rows: Row) -> list[dict[str, Any]] | str:
    """Return the records that rows become, or why the last one is refused."""
    try:
        for row in rows:
            door(memory, row)
    except GraphmemError as error:
        found: Any = error.details.get("findings")
        return str(found[0]["message"] if found else error.message).partition("; ")[0]
    return records(memory)


RECORDS: list[Row] = [
    {"kind": "failure", "trigger": "ImportError: cannot import name 'url_quote' from 'werkzeug.urls'", "fix": "pin"},
    {"kind": "failure", "trigger": "\x1b[31mValueError\x1b[0m: bad \x1b[1mvalue\x1b[0m"},
    {"kind": "failure", "trigger": "login fails", "cites": ["auth.py:login", "auth.py"], "tags": ["b", "a"]},
    {"kind": "pattern", "trigger": "flask is upgraded", "insight": "read werkzeug's changes", "cites": ["auth.py"]},
    {"kind": "pattern", "trigger": "x", "insight": "use werkzeug", "versions": {"Werkzeug": "2.0"}},
    {"kind": "lesson", "description": "never \x1b[1mhurry\x1b[0m", "cites": ["auth.py"]},
    {"kind": "constraint", "constraint": "no network in tests"},
    {"kind": "entity", "type": "target", "name": "app", "value": "builds"},
]


def doors_of(row: Row) -> dict[str, Door]:
    """Return the doors that a row may come through: a program prints entities, no candidate has versions."""
    doors = DOORS | ({"extractor": through_extractor} if row["kind"] == "entity" else {})
    return {name: door for name, door in doors.items() if name != "review" or "versions" not in row}


def by_outcome(folder: Path, row: Row, prepare: Callable[[Memory], object] | None = None) -> dict[str, list[Any]]:
    """Return the doors that do the same with a row, and what they do, by the first of them."""
    outcomes: dict[str, list[Any]] = {}
    for place, (name, door) in enumerate(doors_of(row).items()):
        with project(folder / str(place)) as memory:
            if prepare is not None:
                prepare(memory)
            became = outcome(memory, door, row)
        first = next((one for one, (_, other) in outcomes.items() if other == became), name)
        outcomes.setdefault(first, [[], became])[0].append(name)
    return outcomes


@pytest.mark.process
@pytest.mark.parametrize("row", RECORDS, ids=lambda row: f"{row['kind']}: {str(list(row.values())[1])[:20]!r}")
def test_one_record_is_the_same_through_all_doors(tmp_path: Path, row: Row) -> None:
    ((names, became),) = by_outcome(tmp_path, row).values()
    assert names == list(doors_of(row))
    assert len(became) == 1


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"kind": "failure", "trigger": "x", "name": "-a"}, "name '-a' is not a slug"),
        ({"kind": "failure", "trigger": "x", "cites": ["auth.py:logout"]}, "nothing in auth.py is named 'logout'"),
        ({"kind": "failure", "trigger": "x", "cites": ["gone.py"]}, "there is no such file"),
        ({"kind": "failure", "trigger": "x", "tags": ["a" * 300]}, "field 'tags' has 300 characters, at most 256"),
        ({"kind": "failure", "trigger": f"it printed {SECRET}"}, "looks like it holds a secret"),
        ({"kind": "constraint", "constraint": "x", "expires_at": "2020-01-01T00:00:00.000Z"}, "is in the past"),
    ],
)
def test_what_one_door_refuses_all_do_in_the_same_words(tmp_path: Path, row: Row, message: str) -> None:
    ((names, became),) = by_outcome(tmp_path, row).values()
    assert names == list(DOORS)
    assert message in became


def test_an_empty_text_is_refused_by_all_and_a_line_is_told_what_goes_there(tmp_path: Path) -> None:
    found = by_outcome(tmp_path, {"kind": "failure", "trigger": "  "})
    assert {tuple(names): became for names, became in found.values()} == {
        ("add", "review"): "failure: trigger is empty",  # a person gave it
        ("add --ndjson", "add --ndjson --dedup", "resolve"): "trigger is empty",  # of a line the kind is seen
        ("import",): "field 'trigger' is missing",  # an empty cell of a table is none
    }


@pytest.mark.process
def test_an_undeclared_type_is_refused_but_by_an_import_which_declares_what_its_tool_has(tmp_path: Path) -> None:
    found = by_outcome(tmp_path, {"kind": "entity", "type": "nope", "name": "a"})
    assert found["add"] == [[*DECIDING[:3], "review", "resolve"], "entity type 'nope' is not declared"]
    assert found["import"][1][0]["ref"] == "nope/a"
    assert found["extractor"][1] == "type 'nope' is not among those that it writes"  # which were declared before


FULL: Row = {"kind": "failure", "trigger": "disk is full", "fix": "clean up", "tags": ["a"], "framework": "flask"}
SCRATCH: Row = {"kind": "failure", "trigger": ERROR.format("a", 3), "name": "one", "fix": "cast", "tags": ["a"]}
NEAR: Row = {"kind": "failure", "trigger": ERROR.format("b", 9), "name": "two", "fix": "str()", "tags": ["b"]}


def adding(row: Row) -> Callable[[Memory], None]:
    """Return what adds a row to a memory before."""
    return lambda memory: through_add(memory, row)


def archiving(row: Row) -> Callable[[Memory], None]:
    """Return what adds a row to a memory before, and archives it."""

    def archive(memory: Memory) -> None:
        through_add(memory, row)
        memory.forget(memory.list().results[0].ref, "was wrong")

    return archive


def said(became: list[dict[str, Any]], *names: str) -> list[list[Any]]:
    """Return some fields of records."""
    return [[one[name] for name in names] for one in became]


def test_the_same_again_changes_nothing_through_any_door(tmp_path: Path) -> None:
    ((names, became),) = by_outcome(tmp_path, FULL, adding(FULL)).values()
    assert names == list(DOORS)
    assert said(became, "fix", "alternates", "tags") == [["clean up", [], ["a"]]]


def test_a_known_text_is_one_record_which_keeps_both_fixes_and_unites_the_tags(tmp_path: Path) -> None:
    other = {**FULL, "fix": "buy one", "tags": ["b"], "framework": "django"}
    found = by_outcome(tmp_path, other, adding(FULL))
    asides = [["fix", "clean up"], ["framework", "flask"]]
    assert found["add"][0] == ["add", "add --ndjson", "add --ndjson --dedup", "review"]
    assert said(found["add"][1], "fix", "framework", "alternates", "tags") == [
        ["buy one", "django", asides, ["a", "b"]]
    ]
    asides = [["fix", "buy one"], ["framework", "django"]]
    assert found["import"][0] == ["import", "resolve"]  # neither knows better than what was written here
    assert said(found["import"][1], "fix", "framework", "alternates", "tags") == [
        ["clean up", "flask", asides, ["a", "b"]]
    ]


def test_a_cost_only_grows_through_any_door(tmp_path: Path) -> None:
    for door in (through_add, through_rows, through_rows_compared, through_import, through_resolve):
        with project(tmp_path / door.__name__) as memory:
            rows = [{"kind": "failure", "trigger": "disk is full", "cost": cost} for cost in (5.0, 3.0)]
            through_add(memory, rows[0])
            assert said([*records(memory)], "cost") == [[5.0]]
            door(memory, rows[1])
            assert said([*records(memory)], "cost") == [[5.0]]


def test_a_near_duplicate_is_merged_by_the_doors_that_compare(tmp_path: Path) -> None:
    found = by_outcome(tmp_path, NEAR, adding(SCRATCH))
    assert found["add"][0] == ["add", "add --ndjson --dedup", "review"]
    asides = [["fix", "str()"], ["trigger", NEAR["trigger"]]]
    assert said(found["add"][1], "ref", "aliases", "fix", "alternates", "tags") == [
        ["failure/one", ["two"], "cast", asides, ["a", "b"]]
    ]
    # Rows may be another store's own, which has them apart; an import finds its records again by their origin.
    assert found["add --ndjson"][0] == ["add --ndjson", "import", "resolve"]
    assert said(found["add --ndjson"][1], "ref", "fix") == [["failure/one", "cast"], ["failure/two", "str()"]]


def test_a_near_duplicate_of_an_archived_record_is_a_new_record_through_all_doors(tmp_path: Path) -> None:
    row = {name: value for name, value in NEAR.items() if name != "name"}
    ((names, became),) = by_outcome(tmp_path, row, archiving(SCRATCH)).values()
    assert names == list(DOORS)
    assert [bool(one["archived_at"]) for one in became] == [True, False]


@pytest.mark.parametrize("row", [FULL, {"kind": "constraint", "constraint": "no network"}], ids=["failure", "rule"])
def test_an_archived_record_comes_back_through_no_door(tmp_path: Path, row: Row) -> None:
    found = by_outcome(tmp_path, row, archiving(row))
    assert found["add"][0] == ["add", "add --ndjson", "add --ndjson --dedup", "review"]
    assert found["add"][1].endswith(" is archived")
    assert found["import"][0] == ["import", "resolve"]  # each brings what others know: it is not asked for again
    assert [bool(one["archived_at"]) for one in found["import"][1]] == [True]


def test_a_constraint_that_has_expired_holds_again_only_by_hand(tmp_path: Path) -> None:
    """To add it again says that it holds; a row of it says what was known elsewhere."""
    clock = Clock()
    row = {"kind": "constraint", "constraint": "no network", "expires_at": "2026-11-02T09:30:00.000Z"}
    held = {}
    for name, door in DOORS.items():
        with project(tmp_path / name.replace(" ", ""), clock=clock) as memory:
            clock.time = START
            through_add(memory, row)
            clock.time += timedelta(days=3)
            door(memory, {"kind": "constraint", "constraint": "no network"})
            held[name] = [one["expires_at"] for one in records(memory)]
    assert held == {name: [None if name == "add" else row["expires_at"]] for name in DOORS}


def test_a_given_name_is_the_key_of_a_row_and_only_the_name_of_a_record_that_is_added(tmp_path: Path) -> None:
    """A row without a key is of a store of before keys, which had its name as one (docs/concepts/ledger.md)."""
    found = by_outcome(tmp_path, {"kind": "failure", "trigger": "login fails", "name": "mine"})
    assert {tuple(names): said(became, "ref", "key") for names, became in found.values()} == {
        ("add",): [["failure/mine", "login-fails-e64927"]],
        tuple(name for name in DOORS if name != "add"): [["failure/mine", "mine"]],
    }


@pytest.mark.parametrize("kind", ["failure", "pattern"])
def test_a_name_that_another_text_has(tmp_path: Path, kind: str) -> None:
    """One who adds a record may not know the name, a row names what it changes, and a merge is asked nothing."""
    more = {"insight": "do it"} if kind == "pattern" else {}
    older = {"kind": kind, "trigger": "disk is full", "name": "one", **more}
    newer = {"kind": kind, "trigger": "the wheel has no metadata", "name": "one", **more}
    found = by_outcome(tmp_path, newer, adding(older))
    assert [names for names, _ in found.values()] == [
        ["add"], ["add --ndjson", "add --ndjson --dedup", "review"], ["import"], ["resolve"],
    ]  # fmt: skip
    assert found["add"][1] == f"the name {kind}/one is taken by {kind}/one: 'disk is full'"
    assert said(found["add --ndjson"][1], "trigger", "alternates") == [["the wheel has no metadata", []]]
    aside = [["trigger", "the wheel has no metadata"]]  # a file of a tool does not replace what was written here
    assert said(found["import"][1], "trigger", "alternates") == [["disk is full", aside]]
    assert sorted(said(found["resolve"][1], "trigger")) == [["disk is full"], ["the wheel has no metadata"]]


def test_another_name_for_a_known_text(tmp_path: Path) -> None:
    """One who adds a record names the text; a row with a name of its own is its own record unless it is compared."""
    older, newer = ({"kind": "failure", "trigger": "disk is full", "name": name, "fix": name} for name in ("a", "b"))
    found = by_outcome(tmp_path, newer, adding(older))
    assert [names for names, _ in found.values()] == [
        ["add"], ["add --ndjson", "import", "resolve"], ["add --ndjson --dedup", "review"],
    ]  # fmt: skip
    assert said(found["add"][1], "ref", "aliases", "fix", "alternates") == [["failure/a", ["b"], "b", [["fix", "a"]]]]
    assert said(found["add --ndjson"][1], "ref", "fix") == [["failure/a", "a"], ["failure/b", "b"]]
    merged = [["failure/a", ["b"], "a", [["fix", "b"]]]]  # it is a near-duplicate: the older text stays the current one
    assert said(found["add --ndjson --dedup"][1], "ref", "aliases", "fix", "alternates") == merged


@pytest.mark.process
def test_another_value_of_an_entity(tmp_path: Path) -> None:
    """A value that is given is meant to replace; what a program or another tool prints replaces its own only."""
    row = {"kind": "entity", "type": "target", "name": "app", "value": "new"}
    found = by_outcome(tmp_path, row, adding({**row, "value": "old"}))
    values = {name: said(became, "value", "alternates") for name, (_, became) in found.items()}
    assert found["add"][0] == ["add", "add --ndjson", "add --ndjson --dedup", "review"]
    assert (values["add"], values["extractor"]) == ([["new", []]], [["old", []]])
    assert found["import"] == [["import", "resolve"], found["import"][1]]
    assert values["import"] == [["old", [["value", "new"]]]]


@pytest.mark.parametrize("reason", [SCRATCH["trigger"], NEAR["trigger"]], ids=["known", "near"])
def test_the_reason_of_a_block_that_was_solved_is_merged_into_the_failure_that_it_is(
    tmp_path: Path, reason: str
) -> None:
    """Its failure is written with the completion of the task, and finds what ``add`` finds."""
    with project(tmp_path / "one") as memory:
        through_add(memory, {**SCRATCH, "framework": "flask"})
        memory.patterns.add("when numbers meet texts", "cast them", name="cast")
        memory.campaigns.create("add it up", name="sums", framework="django")
        memory.campaigns.add_tasks("sums", [{"seq": 1, "objective": "add the first two"}])
        memory.tasks.block("sums/001", reason)
        memory.edit("task/sums/001-add-the-first-two", unset=["blocked_by"])
        memory.tasks.start("sums/001")
        memory.tasks.complete("sums/001", solved_by=["cast"])
        (found,) = [one for one in records(memory) if one["kind"] == "failure"]
        aside = [["framework", "django"]] + ([] if reason == SCRATCH["trigger"] else [["trigger", reason]])
        assert said([found], "ref", "fix", "framework", "alternates") == [["failure/one", "cast", "flask", aside]]


def test_a_cite_of_a_row_is_stale_once_its_code_changed(tmp_path: Path) -> None:
    with project(tmp_path / "many") as memory:
        memory.add_rows([b'{"kind":"failure","trigger":"login fails","cites":["auth.py:login"]}'])
        assert memory.stale().results == []
        (tmp_path / "many/auth.py").write_text("def login():\n    return 2\n")
        assert [found.ref for found in memory.stale().results] == ["failure/login-fails"]


def test_a_row_that_was_written_before_is_taken_as_it_is(tmp_path: Path) -> None:
    row = {"kind": "failure", "trigger": "werkzeug fails", "name": "old", "cites": ["gone.py"],
           "created_at": "2025-01-01T00:00:00.000Z"}  # fmt: skip
    with project(tmp_path / "many") as memory:
        through_rows(memory, row)
        assert said(records(memory), "cites", "versions") == [[["gone.py"], {}]]
