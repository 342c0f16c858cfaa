"""Candidates are shown where no record answers, accepted in one write, dismissed for good, and reached by a purge."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from graphmem.core.logs.draft import keys_of
from graphmem.core.logs.output_problem import problem_in
from graphmem.core.records import undo
from graphmem.core.records.candidates import queue_of
from graphmem.errors import BadInput, NotFound, Refused, Usage
from graphmem.kernel.model.candidate import Candidate, Occasion, candidate_id
from tests.sample import open_memory

LINT = "error returned from external package is unwrapped (wrapcheck)"
LOG = b"src/b.go:9:1: error returned from external package is unwrapped (wrapcheck)\n"
SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path) as memory:
        yield memory


def occasion(session: str | None, at: str | None = None, change: str = "e1", **fields: str) -> Occasion:
    """Return an occasion on which a change passed."""
    when = at or f"2026-01-0{(session or 's4')[1:]}"
    return Occasion(source="codex", session=session, at=when, command="make lint", change=change, **fields)


def put(memory: Memory, trigger: str = LINT, insight: str | None = "wrap it with fmt.Errorf", **fields: Any) -> str:
    """Put a candidate into the queue, and return its id."""
    problem = problem_in(trigger)
    sessions = fields.pop("sessions", ("s1",))
    seen = tuple(Occasion(source="codex", session=session, command="make lint", passed="x") for session in sessions)
    seen = tuple(fields.pop("seen", seen))
    one = Candidate(
        id=candidate_id(problem.key), keys=keys_of(problem), base=fields.pop("base", 0.7),
        failure={"trigger": trigger, "sources": ["codex:s1#3"], **fields},
        pattern={"trigger": trigger, "insight": insight} if insight else None,
        evidence=seen, marks=tuple(found.mark for found in seen), sessions=sessions,
    )  # fmt: skip
    with queue_of(memory.store.client).changing() as queue:
        queue.add(one)
    return one.id


def test_a_candidate_becomes_a_failure_and_the_pattern_that_solves_it_in_one_write(memory: Memory) -> None:
    name = put(memory)
    answer = memory.candidates.accept(name[:5], tags=["lint"])
    (failure, pattern) = answer.reviewed[0].refs
    assert (answer.reviewed[0].action, answer.waiting) == ("accepted", 0)
    assert [solution.ref for solution in memory.solutions(failure).results] == [pattern]
    record: Any = memory.get(failure).record
    assert (record.tags, record.sources) == (("lint",), ("codex:s1#3",))
    assert memory.candidates.review().total == 0
    memory.undo()
    assert memory.list().results == []


def test_after_an_undo_a_candidate_can_be_accepted_again_and_not_twice(memory: Memory) -> None:
    name = put(memory)
    memory.candidates.accept(name)
    with pytest.raises(Usage, match=f"candidate {name} was accepted before"):
        memory.candidates.accept(name)
    memory.failures.add("another error", name="another")
    memory.undo()
    assert memory.candidates.review().total == 0
    memory.undo()
    assert [one.id for one in memory.candidates.review().candidates] == [name]
    assert len(memory.candidates.accept(name).reviewed[0].refs) == 2


@pytest.mark.parametrize("is_merged", [False, True])
@pytest.mark.parametrize("how", ["an undo that dies", "git goes back"])
def test_an_accepted_candidate_whose_records_are_gone_waits_again(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, *, is_merged: bool
) -> None:
    if is_merged:
        memory.failures.add("another text for it", name="older", dedup=False)
    name, path = put(memory), tmp_path / ".graphmem/data"
    before = {file: file.read_bytes() for file in path.rglob("*.ndjson")}
    memory.candidates.accept(name, into="failure/older" if is_merged else None)
    assert (memory.candidates.review().total, memory.status().candidates) == (0, 0)
    if how == "git goes back":
        for file in path.rglob("*.ndjson"):
            file.write_bytes(before.get(file, b""))
    else:
        monkeypatch.setattr(undo, "reopen", lambda client, names: sys.exit("killed"))
        with pytest.raises(SystemExit):
            memory.undo()
    assert [one.id for one in memory.candidates.review().candidates] == [name]
    assert (memory.status().candidates, len(memory.match([LOG.strip()]).candidates)) == (1, 1)
    assert memory.candidates.accept(name).reviewed[0].action == "accepted"
    assert memory.candidates.review().total == 0


def test_after_an_undo_a_candidate_that_was_merged_into_a_record_can_be_accepted_again(memory: Memory) -> None:
    memory.failures.add("lint is red: packages", name="lint")
    for insight, ref in (("wrap it with fmt.Errorf", None), (None, "failure/lint")):
        name = put(memory, "another error (wrapcheck)" if ref else LINT, insight)
        memory.candidates.accept(name, into=ref or "failure/lint")
        memory.edit("failure/lint", cost=3)
        memory.undo()
        assert memory.candidates.review().total == 0
        memory.undo()
        assert [one.id for one in memory.candidates.review().candidates] == [name]
        memory.candidates.dismiss(name)


def test_the_words_that_are_given_take_the_place_of_its_own(memory: Memory) -> None:
    name = put(memory)
    (failure, pattern) = (
        memory.candidates.accept(
            name,
            trigger="errors of packages are wrapped here",
            fix="use fmt.Errorf",
            insight="wrap errors",
            name="wrap",
        )
        .reviewed[0]
        .refs
    )
    assert failure == "failure/wrap"
    record: Any = memory.get(failure).record
    assert (record.trigger, record.fix) == ("errors of packages are wrapped here", "use fmt.Errorf")
    other: Any = memory.get(pattern).record
    assert other.insight == "wrap errors"


def test_a_decision_takes_the_words_that_are_given_too(memory: Memory) -> None:
    seen = Occasion(source="RULES.md")
    fields: Any = {"kind": "decision", "decision": "a queue", "reasoning": "simple"}
    one = Candidate(id="c1", base=0.7, evidence=(seen,), marks=(seen.mark,), sessions=("s1",), other=(fields,))
    with queue_of(memory.store.client).changing() as queue:
        queue.add(one)
    (ref,) = memory.candidates.accept("c1", trigger="one queue", insight="two were slow").reviewed[0].refs
    record: Any = memory.get(ref).record
    assert (record.decision, record.reasoning) == ("one queue", "two were slow")


def test_a_candidate_is_added_to_a_record(memory: Memory) -> None:
    memory.failures.add("errors must be wrapped", name="wrap", dedup=False)
    memory.patterns.add("any error", "look at it", name="look", dedup=False)
    memory.types.add_entity("service")
    memory.entities.add("service", "shop")
    name = put(memory)
    with pytest.raises(BadInput, match="service/shop is a entity, and the candidate is a failure and a pattern"):
        memory.candidates.accept(name, into="service/shop")
    assert "failure/wrap" in memory.candidates.accept(name, into="failure/wrap").reviewed[0].refs
    assert [solution.record.headline for solution in memory.solutions("failure/wrap").results] == [LINT]
    record: Any = memory.get("failure/wrap").record
    assert [found.text for found in record.alternates] == [LINT]
    other = put(memory, "the port is in use", insight=None)
    memory.candidates.accept(other, into="pattern/look")
    assert [edge.target for edge in memory.get("pattern/look").relations if edge.type == "solves"] != []


def test_what_is_dismissed_does_not_come_back(memory: Memory) -> None:
    name = put(memory)
    memory.candidates.dismiss(name, reason="a slip")
    put(memory)
    assert memory.candidates.review().total == 0
    (found,) = memory.candidates.review(dismissed=True).candidates
    assert (found.id, found.reason) == (name, "a slip")


def test_all_that_were_repeated_are_accepted_in_one_write(memory: Memory) -> None:
    put(memory, "the port is in use")
    first = put(memory, seen=[occasion("s1"), occasion("s2")])
    second = put(memory, "src/a.go:3:1: missing return (typecheck)", seen=[occasion("s1"), occasion("s3")])
    with pytest.raises(Usage, match="which candidate is not said"):
        memory.candidates.accept()
    planned = memory.candidates.accept(at_least="repeated", dry_run=True).reviewed
    assert {one.id for one in planned} == {first, second}
    assert memory.list().results == []
    done = memory.candidates.accept(at_least="repeated")
    assert {one.id: len(one.refs) for one in done.reviewed} == {first: 2, second: 2}
    for one in done.reviewed:
        failure, pattern = one.refs
        assert [solution.ref for solution in memory.solutions(failure).results] == [pattern]
    assert memory.candidates.accept(at_least="proven").reviewed == []
    memory.undo()
    assert memory.list().results == []
    assert memory.candidates.review().total == 3


@pytest.mark.parametrize(
    "other",
    [
        occasion("s2", change="e2"),  # another edit
        occasion("s1", at="2026-01-03"),  # the same session
        occasion("s2", at="2026-01-01"),  # a session that was resumed is kept twice
        occasion(None, commit="a1", author="ada"),  # the commit of what the session did
    ],
)
def test_what_owes_something_to_the_first_occasion_repeats_nothing(memory: Memory, other: Occasion) -> None:
    put(memory, seen=[occasion("s1"), other])
    assert memory.candidates.accept(at_least="repeated").reviewed == []


def test_two_authors_repeat_an_edit_and_two_commits_of_one_do_not(memory: Memory) -> None:
    commits = [occasion(None, commit=name, author=author) for name, author in (("a1", "ada"), ("a2", "ada"))]
    put(memory, seen=commits)
    assert memory.candidates.accept(at_least="repeated").reviewed == []
    put(memory, "the port is in use", seen=[*commits, occasion(None, commit="a3", author="bob", at="2026-02-01")])
    assert len(memory.candidates.accept(at_least="repeated").reviewed) == 1


def test_two_candidates_that_share_a_record_are_written_at_once(memory: Memory) -> None:
    names = [put(memory, seen=[occasion("s1"), occasion("s2")], insight=said) for said in ("wrap it",)]
    with queue_of(memory.store.client).changing() as queue:
        one = queue.candidates[names[0]]
        failure = {**(one.failure or {}), "sources": ["codex:s9#1"]}
        queue.candidates["cother"] = one.model_copy(update={"id": "cother", "keys": (), "failure": failure})
    done = memory.candidates.accept(at_least="repeated").reviewed
    assert [one.refs for one in done] == [done[0].refs] * 2
    record: Any = memory.get(done[0].refs[0]).record
    assert record.sources == ("codex:s1#3", "codex:s9#1")


def test_what_is_recorded_by_hand_leaves_and_comes_back_with_an_undo(memory: Memory) -> None:
    name, other = put(memory), put(memory, "the port is in use")
    memory.failures.add(LOG.decode(), name="wrap")  # nothing says what to do: the candidate does
    assert memory.candidates.review().total == 2
    memory.patterns.add(LOG.decode(), "wrap it")
    assert [one.id for one in memory.candidates.review().candidates] == [other]
    memory.undo()
    assert {one.id for one in memory.candidates.review().candidates} == {name, other}
    memory.add_rows(b'{"kind":"failure","trigger":"the port is in use","fix":"stop the other one"}\n')
    assert [one.id for one in memory.candidates.review().candidates] == [name]


def test_with_one_candidate_all_of_the_same_problem_are_settled(memory: Memory) -> None:
    name = put(memory)
    with queue_of(memory.store.client).changing() as queue:
        queue.candidates["cflaky"] = queue.candidates[name].model_copy(update={"id": "cflaky", "pattern": None})
    memory.candidates.accept(name)
    assert memory.candidates.review().total == 0
    memory.undo()
    assert memory.candidates.review().total == 2
    memory.candidates.dismiss(name)
    assert memory.candidates.review().total == 0


def test_an_id_that_means_none_or_several_is_refused(memory: Memory) -> None:
    put(memory)
    put(memory, "the port is in use")
    with pytest.raises(NotFound, match="no candidate 'zz'"):
        memory.candidates.show("zz")
    with pytest.raises(NotFound, match="'c' means 2 candidates"):
        memory.candidates.dismiss("c")


def test_credentials_in_the_given_words_are_refused(memory: Memory) -> None:
    name = put(memory)
    with pytest.raises(Refused, match="github-token"):
        memory.candidates.accept(name, insight=f"set the token {SECRET}")
    assert memory.list().results == []


def test_a_log_shows_a_candidate_only_where_no_record_answers(memory: Memory) -> None:
    name = put(memory)
    found = memory.match(LOG)
    assert found.results == []
    assert [(one.id, one.insight) for one in found.candidates] == [(name, "wrap it with fmt.Errorf")]
    memory.candidates.accept(name)
    found = memory.match(LOG)
    assert (found.results[0].by, found.candidates) == ("line", [])
    assert memory.match(b"all is well\n").candidates == []


def test_a_query_shows_candidates_only_where_they_are_asked_for(memory: Memory) -> None:
    name = put(memory)
    assert memory.query("unwrapped error of a package").candidates == []
    assert [one.id for one in memory.query("unwrapped error of external package", candidates=True).candidates] == [name]


def test_the_briefing_and_the_status_say_that_candidates_wait(memory: Memory) -> None:
    assert "To review" not in memory.prime().text
    assert memory.status().candidates == 0
    name = put(memory)
    assert "1 candidate waits: graphmem review" in memory.prime().text
    assert name in memory.prime().text
    assert (memory.status().candidates, "graphmem review" in memory.status().next) == (1, True)


def test_a_purge_reaches_candidates(memory: Memory) -> None:
    memory.failures.add("the sealed thing broke in its own way", name="sealed", fix="open it", dedup=False)
    put(memory, "ValueError: the sealed thing broke in its own way")
    put(memory)
    memory.store.purge(["failure/sealed"], yes=True)
    assert [one.failure and one.failure.headline for one in memory.candidates.review().candidates] == [LINT]


def test_a_run_that_fails_and_passes_after_a_change_leaves_a_candidate(memory: Memory, tmp_path: Path) -> None:
    log = [b"E   ValueError: the colour of the shed is missing\n"]
    memory.ran(["pytest"], log=log, status=1, folder=tmp_path)
    (tmp_path / "shed.py").write_text("colour = 'green'")
    answer = memory.ran(["pytest"], log=[b"1 passed in 0.1s\n"], status=0, folder=tmp_path)
    assert answer.unknown == ["ValueError: the colour of the shed is missing"]
    (found,) = memory.candidates.review().candidates
    assert found.failure is not None
    assert found.failure.headline == "ValueError: the colour of the shed is missing"
    assert (found.evidence[0].source, found.evidence[0].command) == ("ran", "pytest")
    assert [edit.file for edit in found.evidence[0].edits] == ["shed.py"]


def test_a_candidate_that_repeats_a_record_names_it(memory: Memory) -> None:
    memory.failures.add(f"src/z.go:1:1: {LINT}", name="wrap", fix="wrap it", dedup=False)
    put(memory)
    (found,) = memory.candidates.review().candidates
    assert found.near == "failure/wrap"
