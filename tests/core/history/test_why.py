"""Why a record is there: its origin, its names, its reports, what it took the place of, and its place for a query."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphmem import Memory, NotFound
from graphmem.core.records.candidates import queue_of
from graphmem.kernel.model.candidate import Candidate, Occasion
from tests.faults.whole import EVENTS
from tests.repository import Repository
from tests.sample import open_memory

TRIGGER = "ImportError: cannot import name 'url_quote' from 'werkzeug.urls'"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path) as memory:
        yield memory


def accepted(memory: Memory) -> str:
    """Accept a candidate, and return the reference of its failure."""
    seen = Occasion(source="codex", session="s1", command="make", passed="x")
    one = Candidate(id="cabc", keys=("k",), base=0.9, failure={"trigger": TRIGGER, "sources": ["codex:s1#3"]},
                    evidence=(seen,), sessions=("s1",))  # fmt: skip
    with queue_of(memory.store.client).changing() as queue:
        queue.add(one)
    return memory.candidates.accept("cabc", name="url-quote").reviewed[0].refs[0]


def test_the_sources_the_candidate_and_the_commit_that_added_a_record_are_named(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    with open_memory(tmp_path) as memory:
        ref = accepted(memory)
        origin = memory.why(ref).origin
        assert (origin.sources, origin.candidate, origin.commit) == (["codex:s1#3"], "cabc", None)
        commit = repository.commit("remember it")
        memory.edit(ref, {"fix": "pin it"})
        repository.commit("say how")
        origin = memory.why(ref).origin
        assert (origin.commit, origin.subject) == (commit, "remember it")


def test_without_a_repository_there_is_no_commit(memory: Memory) -> None:
    memory.failures.add(TRIGGER, name="mine")
    assert memory.why("mine").origin.commit is None


def test_names_merged_texts_reports_and_edges_are_told(memory: Memory) -> None:
    memory.failures.add(TRIGGER, name="first")
    memory.failures.add(f"10:15:01 {TRIGGER}")
    memory.rename("first", "second")
    memory.patterns.add("a library breaks its framework", "pin it", name="pin")
    memory.relations.link("pattern/pin", "solves", "failure/second")
    memory.feedback("second", helped=True, question="cannot import url_quote")
    memory.feedback("second", helped=False, note="another version")
    found = memory.why("second")
    assert found.renamed == ["first"]
    assert [(one.field, one.text) for one in found.merged] == [("trigger", f"10:15:01 {TRIGGER}")]
    assert [(one.helped, one.question, one.note) for one in found.reports] == [
        (True, "cannot import url_quote", None), (False, None, "another version"),
    ]  # fmt: skip
    assert [(edge.source, edge.type, edge.target) for edge in found.relations] == [
        ("pattern/pin", "solves", "failure/second")
    ]


def test_what_supersedes_what_is_said_on_both_sides(memory: Memory) -> None:
    memory.failures.add("an old error of the disk", name="old")
    memory.failures.add("a new error of the network", name="new")
    memory.supersede("old", "new", "it was the network")
    assert memory.why("failure/new").supersedes == ["failure/old"]
    assert memory.why("failure/old").superseded_by == "failure/new"


def test_a_query_says_the_place_and_the_score_of_a_record_or_that_it_is_not_there(memory: Memory) -> None:
    memory.failures.add(TRIGGER, name="quote")
    memory.failures.add("the disk is full", name="disk")
    asked = "cannot import name 'url_quote'"
    found, other = (memory.why(name, query=asked).ranking for name in ("quote", "disk"))
    query = memory.query(asked)
    assert found is not None
    assert found.hit is not None
    assert (found.place, found.hit.score, found.hit.factors) == (1, query.results[0].score, query.results[0].factors)
    assert found.certainty == query.certainty
    assert other is not None
    assert (other.place, other.hit) == (None, None)
    assert memory.why("quote").ranking is None


def test_a_name_that_nothing_has_is_refused(memory: Memory) -> None:
    with pytest.raises(NotFound, match="failure/none"):
        memory.why("failure/none")


def test_a_run_has_an_origin_too(memory: Memory) -> None:
    memory.lessons.learn(EVENTS, run="run-2")
    assert memory.why("run/run-2").origin.created_at.startswith("20")
