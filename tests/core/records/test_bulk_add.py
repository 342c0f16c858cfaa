"""Rows of any kind in any order, all or none: ndjson.md, section 2."""

import random
from pathlib import Path

import orjson
import pytest

from graphmem import BadInput, Memory, Refused
from tests.sample import contents, data, edge, failure, line, open_memory, pattern, task_row

ERROR = "ModuleNotFoundError: No module named 'pkg_resources' while building the wheel, line"


def findings(error: BadInput) -> list[tuple[int, str]]:
    return [(found["line"], found["code"]) for found in error.details["findings"]]  # type: ignore[attr-defined]  # a list


def test_rows_of_any_kind_come_in_any_order_and_give_the_same_bytes(tmp_path: Path) -> None:
    lines = [
        failure("a"), failure("b", fix="x"), pattern("p"), edge("pattern/p", "solves", "failure/a"),
        edge("failure/b", "variant", "failure/a"), line(kind="campaign", name="c", objective="o"),
        line(kind="task", name="c/001-s", campaign="campaign/c", objective="o"),
        line(kind="task", name="c/002-t", campaign="campaign/c", objective="o", depends=["task/c/001-s"]),
        b'{"kind":"feedback","ref":"failure/a","helped":true,"at":"2026-11-01T09:30:00Z","id":"i"}\n',
    ]  # fmt: skip
    found = []
    for seed in range(3):
        random.Random(seed).shuffle(lines)
        with open_memory(tmp_path / str(seed)) as memory:
            answer = memory.add_rows(lines)
            assert (answer.created, answer.relations, answer.results) == (7, 2, [])
            assert [reached.ref for reached in memory.solutions("a").results] == ["pattern/p"]
            assert [task.ref for task in memory.campaigns.ready("c").ready] == ["task/c/001-s"]
            assert memory.store.validate().findings == []
            assert memory.store.export_check().ok
        found.append(contents(tmp_path / str(seed)))
    assert found[0] == found[1] == found[2]


def test_very_many_rows_are_taken_in_by_parts_as_few_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        edge("pattern/p", "solves", "failure/c"), failure("a"), failure("b", fix="x"), failure("c", tags=["t"]),
        line(kind="task", name="c/002-t", campaign="campaign/c", objective="o", depends=["task/c/001-s"]),
        line(kind="failure", name="d", trigger="gone", archived_at="2026-11-01T09:30:00.000Z", archive_reason="old"),
        edge("failure/b", "variant", "failure/a"), line(kind="campaign", name="c", objective="o"), pattern("p"),
        edge("failure/b", "causes", "failure/a", weight=1.0), edge("failure/a", "causes", "failure/b", note="n"),
        line(kind="task", name="c/001-s", campaign="campaign/c", objective="o"),
        b'{"kind":"feedback","ref":"failure/a","helped":true,"at":"2026-11-01T09:30:00Z","id":"i"}\n',
    ]  # fmt: skip
    again = [*lines, failure("a"), edge("failure/a", "variant", "failure/b"), edge("pattern/p", "solves", "failure/c")]
    found, refused = [], []
    for seed in range(2):
        with open_memory(tmp_path / str(seed)) as memory:
            with pytest.raises(BadInput) as caught:
                memory.add_rows(again)
            refused.append(caught.value.message)
            told = [memory.add_rows(lines).model_dump(), memory.add_rows(lines).model_dump()]
            assert memory.store.validate().findings == []
        found.append((told, contents(tmp_path / str(seed))))
        for constant in (
            "core.records.bulk_add.PART",
            "core.records.intake.RECORDS_HELD",
            "kernel.catalog.changes.PART",
        ):
            monkeypatch.setattr(f"graphmem.{constant}", 1)
    assert found[0] == found[1]
    assert refused[0] == refused[1]
    assert "the same key as in line 2" in refused[0]


@pytest.fixture(autouse=True)
def _stores(tmp_path: Path) -> None:
    for seed in range(3):
        (tmp_path / str(seed)).mkdir()


def test_required_fields_are_enough_and_what_is_there_is_unchanged(memory: Memory) -> None:
    rows = [b'{"kind":"failure","trigger":"It broke"}', b'{"kind":"pattern","trigger":"t","insight":"i"}\r\n', b"\n"]
    assert memory.add_rows(rows).created == 2
    assert memory.get("failure/it-broke").record.created_at == memory.get("pattern/t").record.created_at
    again = memory.add_rows(rows)
    assert (again.created, again.unchanged) == (0, 2)
    changed = memory.add_rows(
        [b'{"kind":"failure","trigger":"It broke","name":"it-broke","fix":"mend it"}'], verbose=True
    )
    assert (changed.updated, [(found.ref, found.action) for found in changed.results]) == (
        1,
        [("failure/it-broke", "updated")],
    )


def test_its_own_files_can_be_piped_into_another_store(tmp_path: Path) -> None:
    with open_memory(tmp_path / "0") as memory:
        memory.types.add_entity("part")
        memory.entities.add("part", "a b", value="v")
        memory.failures.add("boom", name="a")
        memory.rename("a", "b")
        memory.relations.link("part/a b", "causes", "b", weight=0.3, note="n")
        memory.feedback("b", helped=True)
        memory.failures.add("gone", name="gone")
        memory.forget("gone", "why not")
    before = {name: found for name, found in contents(tmp_path / "0").items() if name.startswith("data/")}
    with open_memory(tmp_path / "1") as memory:
        memory.types.add_entity("part")
        for _ in range(2):
            memory.add_rows([row for found in before.values() for row in found.splitlines(keepends=True)])
    assert {name: found for name, found in contents(tmp_path / "1").items() if name.startswith("data/")} == before


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (b"{", "bad_json"),
        (b'{"kind":"failure","trigger":"t","trigger":"u"}', "repeated_key"),
        (b'{"kind":"failure"}', "bad_row"),
        (b'{"kind":"failure","trigger":"t","name":"Not One"}', "bad_row"),
        (b'{"kind":"wisdom","trigger":"t"}', "unknown_kind"),
        (b'{"trigger":"t"}', "unknown_kind"),
        (failure("good", "another"), "duplicate_key"),
        (edge("failure/good", "causes", "failure/missing"), "dangling"),
        (edge("failure/good", "causes", "failure/good"), None),
        (edge("failure/good", "solves", "pattern/p"), None),
        (edge("failure/good", "nonsense", "pattern/p"), None),
        (edge("failure/good", "causes", "pattern/p", weight=3), "bad_row"),
        (line(kind="entity", type="undeclared", name="x"), None),
        (b'{"kind":"feedback","ref":"failure/missing","helped":true}', None),
        (line(kind="task", name="c/001-s", campaign="campaign/missing", objective="o"), None),
        (b'{"kind":"failure","trigger":"' + b"x" * 20_000 + b'"}', None),
        (b'{"kind":"failure","trigger":"t","created_at":"never"}', "bad_row"),
        (b'{"kind":"failure","trigger":"t\xff"}', "bad_utf8"),
        (b"<<<<<<< HEAD", "conflict_marker"),
    ],
)
def test_a_bad_row_is_named_and_nothing_is_changed_and_the_good_ones_can_be_taken(
    memory: Memory, tmp_path: Path, bad: bytes, code: str | None
) -> None:
    before = contents(tmp_path)
    lines = [failure("good"), bad, pattern("p")]
    with pytest.raises(BadInput) as refused:
        memory.add_rows(lines, name="rows.ndjson")
    assert [place for place, _ in findings(refused.value)] == [2]
    assert code in (None, findings(refused.value)[0][1])
    assert "rows.ndjson:2:" in refused.value.message
    assert contents(tmp_path) == before
    assert memory.add_rows(lines, skip_invalid=True).created == 2
    rejects = (tmp_path / ".graphmem/state/rejects.ndjson").read_bytes()
    assert rejects == bad.rstrip(b"\n") + b"\n"
    assert memory.store.validate().findings == []


def test_every_bad_row_is_named_up_to_a_hundred_and_then_a_count(memory: Memory) -> None:
    with pytest.raises(BadInput) as refused:
        memory.add_rows([b"{\n"] * 130)
    assert len(findings(refused.value)) == 100
    assert refused.value.details["total"] == 130
    assert "and 30 more" in refused.value.message


def test_an_edge_of_a_row_that_was_left_aside_is_left_aside_too(memory: Memory) -> None:
    lines = [failure("a"), failure("b", cost=-1), edge("failure/a", "causes", "failure/b")]
    answer = memory.add_rows(lines, skip_invalid=True)
    assert (answer.created, answer.relations) == (1, 0)
    assert memory.store.validate().findings == []


def test_the_two_ways_of_a_symmetric_edge_are_one_and_twice_the_same_is_refused(memory: Memory) -> None:
    lines = [
        failure("a"),
        failure("b"),
        edge("failure/a", "variant", "failure/b"),
        edge("failure/b", "variant", "failure/a"),
    ]
    assert memory.add_rows(lines).relations == 1
    with pytest.raises(BadInput) as refused:
        memory.add_rows(
            [edge("failure/a", "causes", "failure/b"), edge("failure/a", "causes", "failure/b", weight=1.5)]
        )
    assert findings(refused.value) == [(2, "duplicate_key")]


def test_an_edge_of_the_input_changes_the_one_that_is_there(memory: Memory, tmp_path: Path) -> None:
    memory.add_rows([failure("a"), failure("b"), edge("failure/a", "causes", "failure/b", weight=0.5, note="n")])
    memory.add_rows([edge("failure/a", "causes", "failure/b")])
    (row,) = [orjson.loads(found) for found in data(tmp_path, "relations/causes").read_bytes().splitlines()]
    assert (row["weight"], row["note"]) == (0.5, "n")
    memory.add_rows([edge("failure/a", "causes", "failure/b", weight=0.7)])
    assert memory.get("a").relations[0].weight == 0.7


def test_ends_are_stored_by_key_also_where_they_are_given_by_name(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("boom", name="a")
    memory.rename("a", "b")
    memory.add_rows([failure("c"), edge("failure/b", "causes", "failure/c")])
    assert orjson.loads(data(tmp_path, "relations/causes").read_bytes())["from"] == "failure/boom-81f523"


def test_a_cycle_among_tasks_is_refused_with_its_path(memory: Memory, tmp_path: Path) -> None:
    def task(name: str, *depends: str) -> bytes:
        return line(
            kind="task",
            name=f"c/{name}",
            campaign="campaign/c",
            objective="o",
            depends=[f"task/c/{d}" for d in depends],
        )

    lines = [line(kind="campaign", name="c", objective="o"), task("001-a", "002-b"), task("002-b", "001-a")]
    before = contents(tmp_path)
    with pytest.raises(Refused) as refused:
        memory.add_rows(lines)
    assert "task/c/001-a → task/c/002-b → task/c/001-a" in refused.value.message
    assert contents(tmp_path) == before


def test_a_cycle_with_a_task_that_is_there_is_refused(memory: Memory) -> None:
    def task(name: str, *depends: str) -> bytes:
        return line(
            kind="task",
            name=f"c/{name}",
            campaign="campaign/c",
            objective="o",
            depends=[f"task/c/{d}" for d in depends],
        )

    memory.add_rows([line(kind="campaign", name="c", objective="o"), task("001-a"), task("002-b", "001-a")])
    with pytest.raises(Refused):
        memory.add_rows([task("001-a", "002-b")])


def test_an_archived_key_is_refused(memory: Memory) -> None:
    memory.failures.add("boom", name="a")
    memory.forget("a")
    with pytest.raises(BadInput) as refused:
        memory.add_rows([failure("a")])
    assert "archived" in refused.value.message


# --- near-duplicates -----------------------------------------------------------------------------------------------


def test_without_dedup_nothing_is_merged(memory: Memory) -> None:
    assert memory.add_rows([failure("a", f"{ERROR} 1"), failure("b", f"{ERROR} 2")]).created == 2


def test_with_dedup_a_row_is_merged_into_the_first_by_key_order_and_edges_follow(tmp_path: Path) -> None:
    lines = [failure(name, f"{ERROR} {n}", tags=[name]) for n, name in enumerate(("a", "b", "c"))]
    lines += [pattern("p"), edge("pattern/p", "solves", "failure/b"), edge("failure/c", "causes", "failure/other"),
              failure("other", "something else")]  # fmt: skip
    found = []
    for seed in range(3):
        random.Random(seed).shuffle(lines)
        with open_memory(tmp_path / str(seed)) as memory:
            answer = memory.add_rows(lines, dedup=True, verbose=True)
            assert (answer.created, answer.merged) == (3, 2)
            (kept,) = {changed.merged_into for changed in answer.results if changed.action == "merged"}
            assert kept is not None
            assert [reached.ref for reached in memory.solutions(kept).results] == ["pattern/p"]
            record = memory.get(kept).record
            assert record.tags == ("a", "b", "c")  # type: ignore[union-attr]  # a failure
            assert {record.key, *record.aliases} == {"a", "b", "c"}
            assert memory.get("failure/b").ref == memory.get("failure/c").ref == kept
            assert memory.store.validate().findings == []
        found.append(contents(tmp_path / str(seed)))
    assert found[0].keys() == found[1].keys() == found[2].keys()


def test_with_dedup_a_row_is_merged_into_the_store_and_variants_are_linked(memory_with_model: Memory) -> None:
    memory = memory_with_model
    memory.failures.add(f"{ERROR} 1", name="gone")
    answer = memory.add_rows(
        [failure("again", f"{ERROR} 2"), failure("other", ERROR.replace("pkg_resources", "pkg_config") + " 1")],
        dedup=True,
    )
    assert (answer.created, answer.merged) == (1, 1)
    assert memory.get("failure/again").ref == "failure/gone"
    assert [edge.type for edge in memory.get("other").relations] == ["variant"]


def test_new_rows_that_are_archived_are_reported(memory: Memory) -> None:
    archived = "2026-11-01T09:30:00.000Z"
    memory.campaigns.create("all of it", name="c")
    rows = [failure("a", archived_at=archived), task_row("c", 1, archived_at=archived), failure("b")]
    assert memory.add_rows(rows).notices == ["2 of the new records are archived; graphmem list --archived shows them"]
    assert memory.add_rows(rows).notices == []


def test_one_bad_row_is_counted_as_one(memory: Memory) -> None:
    rows = ['{"kind":"failure","name":"a"}', '{"kind":"failure","name":"b"}']
    for number, counted in ((1, "1 bad row"), (2, "2 bad rows")):
        with pytest.raises(BadInput, match=f"^{counted}, nothing was changed:\n"):
            memory.add_rows(rows[:number])
