"""Feedback: facts, not counters (records.md)."""

from collections.abc import Sequence
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import BadInput, Memory, NotFound
from tests.sample import data, failure, line, open_memory, write


@pytest.fixture
def reported(memory: Memory) -> Memory:
    memory.failures.add("boom", name="boom")
    memory.patterns.add("boom", "duck", name="duck")
    return memory


def counts(memory: Memory, ref: str = "failure/boom") -> tuple[int, int]:
    record = memory.get(ref).record
    return record.helped, record.failed  # type: ignore[union-attr]  # a memory


def test_every_report_without_a_task_counts(reported: Memory) -> None:
    assert reported.feedback("boom", helped=True).help_ratio == pytest.approx(2 / 3)
    answer = reported.feedback("boom", helped=True)
    assert (answer.ref, answer.helped, answer.failed, answer.action) == ("failure/boom", 2, 0, "created")
    assert reported.feedback("boom", helped=False).help_ratio == pytest.approx(3 / 5)
    assert counts(reported) == (2, 1)
    assert reported.cypher("MATCH (f:Failure) RETURN f.helped, f.failed").rows == [[2, 1]]
    assert reported.stats().records["feedback"] == 3


def test_reporting_again_for_one_task_replaces_the_report(reported: Memory, tmp_path: Path) -> None:
    assert reported.feedback("boom", helped=True, task="t-1").action == "created"
    assert reported.feedback("boom", helped=True, task="t-1").action == "unchanged"
    answer = reported.feedback("boom", helped=False, task="t-1")
    assert (answer.action, answer.helped, answer.failed) == ("updated", 0, 1)
    assert reported.feedback("boom", helped=True, task="t-2").helped == 1
    assert reported.feedback("duck", helped=True, task="t-1").helped == 1
    assert len(data(tmp_path, "feedback").read_bytes().splitlines()) == 3


def test_a_task_is_one_under_each_of_its_names(reported: Memory) -> None:
    reported.campaigns.create("to do", name="c")
    reported.campaigns.add_tasks("c", [{"seq": 1, "slug": "s", "objective": "o"}])
    reported.feedback("boom", helped=True, task="task/c/001-s")
    reported.rename("task/c/001-s", "c/001-t")
    assert reported.feedback("boom", helped=True, task="task/c/001-t").action == "unchanged"
    assert reported.feedback("boom", helped=True, task="c/001-t").action == "unchanged"
    assert counts(reported) == (1, 0)


@pytest.mark.long
def test_a_report_for_a_task_is_an_edge_that_explains_the_count(reported: Memory) -> None:
    used = "MATCH (t:Task)-[u:USED]->(m) RETURN t.name, u.helped, m.ref ORDER BY m.ref"
    reported.feedback("boom", helped=True, task="c/001-s")
    assert reported.cypher(used).rows == []
    reported.campaigns.create("to do", name="c")
    reported.campaigns.add_tasks("c", [{"seq": 1, "slug": "s", "objective": "o"}])
    assert reported.cypher(used).rows == [["c/001-s", True, "failure/boom"]]
    reported.feedback("duck", helped=False, task="task/c/001-s")
    assert reported.cypher(used).rows == [["c/001-s", True, "failure/boom"], ["c/001-s", False, "pattern/duck"]]
    reported.undo()
    assert reported.cypher(used).rows == [["c/001-s", True, "failure/boom"]]
    reported.store.rebuild()
    assert reported.cypher(used).rows == [["c/001-s", True, "failure/boom"]]
    assert reported.store.validate().ok


def test_a_report_stays_with_its_memory_under_another_name(reported: Memory) -> None:
    reported.feedback("boom", helped=True)
    reported.rename("boom", "bang")
    assert counts(reported, "failure/bang") == (1, 0)
    reported.feedback("bang", helped=True)
    assert counts(reported, "failure/boom") == (2, 0)


def test_the_same_fact_that_comes_twice_counts_once(reported: Memory, tmp_path: Path) -> None:
    key = reported.get("boom").record.key_ref
    row = line(kind="feedback", ref=key, helped=True, at="2026-11-02T00:00:00.000Z", id="x")
    row = orjson.dumps({k: v for k, v in orjson.loads(row).items() if k != "created_at"}, option=orjson.OPT_SORT_KEYS)
    write(data(tmp_path, "feedback"), row + b"\n")
    assert counts(reported) == (1, 0)
    assert reported.store.feedback_rows([row]).unchanged == 1
    assert reported.add_rows([row]).unchanged == 1
    assert counts(reported) == (1, 0)


def test_a_starting_value_that_was_imported_is_added_to(reported: Memory, tmp_path: Path) -> None:
    write(data(tmp_path, "failure"), failure("boom", helped=4, failed=2))
    reported.feedback("boom", helped=True)
    assert counts(reported) == (5, 2)
    assert reported.cypher("MATCH (f:Failure) RETURN f.helped, f.failed").rows == [[5, 2]]


def test_a_report_on_nothing_is_refused(reported: Memory) -> None:
    with pytest.raises(NotFound):
        reported.feedback("bom", helped=True)


def test_a_batch_is_taken_whole_or_not_at_all(reported: Memory, tmp_path: Path) -> None:
    good = b'{"ref":"boom","helped":true,"task":"t-1"}\n'
    for bad, message in (
        (b'{"ref":"nothing","helped":true}', "nothing"),
        (b'{"ref":"boom"}', "helped"),
        (b'{"ref":"boom","helped":"yes"}', "helped"),
        (b'{"helped":true}', "ref"),
        (b"{", "JSON"),
        (b'{"ref":"boom","helped":true,"at":"never"}', "at"),
    ):
        with pytest.raises(BadInput) as refused:
            reported.store.feedback_rows([good, b"\n", bad], name="batch")
        findings = refused.value.details["findings"]
        assert isinstance(findings, list)
        (finding,) = findings
        assert (finding["file"], finding["line"]) == ("batch", 3)
        assert message in finding["message"] + finding["expected"]
    assert counts(reported) == (0, 0)
    answer = reported.store.feedback_rows([good, b'{"ref":"pattern/duck","helped":false,"at":"2026-11-02T00:00:00Z"}'])
    assert (answer.created, answer.updated, answer.unchanged) == (2, 0, 0)
    assert (counts(reported), counts(reported, "pattern/duck")) == ((1, 0), (0, 1))


def test_of_two_reports_of_a_batch_for_one_task_the_last_counts(reported: Memory) -> None:
    lines = [b'{"ref":"boom","helped":true,"task":"t"}', b'{"ref":"failure/boom","helped":false,"task":"t"}']
    assert reported.store.feedback_rows(lines).created == 1
    assert counts(reported) == (0, 1)


reports = st.lists(
    st.tuples(st.sampled_from(("failure/a", "pattern/a")), st.booleans(), st.integers(0, 5)),
    max_size=8,
    unique_by=lambda r: r[2],
)


@pytest.mark.long
@settings(max_examples=8, deadline=None)
@given(reports, st.randoms())
def test_the_order_of_reports_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, given: Sequence[tuple[str, bool, int]], random: st.DataObject
) -> None:
    lines = [
        orjson.dumps(
            {"kind": "feedback", "ref": ref, "helped": helped, "id": f"i{n}", "at": f"2026-11-0{n + 1}T00:00:00Z"}
        )
        for ref, helped, n in given
    ]
    found = []
    for _ in range(2):
        random.shuffle(lines)  # type: ignore[attr-defined]  # hypothesis gives a Random
        with open_memory(tmp_path_factory.mktemp("order")) as memory:
            memory.failures.add("t", name="a")
            memory.patterns.add("t", "i", name="a")
            for row in lines:
                memory.store.feedback_rows([row])
            found.append([counts(memory, ref) for ref in ("failure/a", "pattern/a")])
    wanted = [
        tuple(sum(is_good is helped and of == ref for of, is_good, _ in given) for helped in (True, False))
        for ref in ("failure/a", "pattern/a")
    ]
    assert found == [wanted, wanted]
