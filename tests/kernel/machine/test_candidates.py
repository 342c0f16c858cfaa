"""The queue of candidates: what is kept, what becomes of what comes again, and its bounds."""

from pathlib import Path

import pytest

from graphmem.kernel.machine import candidates
from graphmem.kernel.machine.candidates import CandidateQueue, Queue, SourceMark
from graphmem.kernel.machine.state import State
from graphmem.kernel.model.candidate import MOST_EVIDENCE, Candidate, Occasion, candidate_id
from tests.sample import put_state, state_of


def made(
    key: str, *, base: float = 0.7, session: str = "s1", needs: int = 1, insight: str = "do", at: str = ""
) -> Candidate:
    found = Occasion(source="codex", session=session, at=at or session)
    return Candidate(
        id=candidate_id(key), keys=(key,), base=base, needs=needs, failure={"trigger": key},
        pattern={"trigger": key, "insight": insight} if insight else None,
        evidence=(found,), marks=(found.mark,), sessions=(session,),
    )  # fmt: skip


def test_a_candidate_that_comes_again_is_one_with_more_evidence() -> None:
    queue = Queue()
    assert queue.add(made("k")) == "created"
    assert queue.add(made("k")) == "unchanged"
    assert queue.add(made("k", session="s2")) == "merged"
    (one,) = queue.waiting()
    assert (one.occurrences, one.worth, len(one.evidence)) == (2, 0.9, 2)
    for number in range(9):
        queue.add(made("k", session=f"t{number}"))
    (one,) = queue.waiting()
    assert (one.occurrences, len(one.evidence), one.evidence[0].session) == (11, MOST_EVIDENCE, "s1")


def test_the_better_words_are_kept() -> None:
    queue = Queue()
    queue.add(made("k", insight="first"))
    queue.add(made("k", insight="second", session="s2", base=0.8))
    queue.add(made("k", insight="third", session="s3", base=0.1))
    assert (queue.waiting()[0].pattern or {})["insight"] == "second"


def test_what_is_worth_too_little_is_counted_until_other_sessions_meet_it() -> None:
    queue = Queue()
    assert queue.add(made("k", base=0.2)) == "below"
    assert queue.add(made("k", base=0.2)) == "below"
    assert queue.add(made("k", base=0.2, session="s2")) == "created"
    slip = made("slip", base=0.2).model_copy(update={"is_slip": True})
    assert [queue.add(slip.model_copy(update={"sessions": (f"s{n}",)})) for n in range(3)] == ["below"] * 3


def test_a_problem_without_a_fix_needs_several_sessions_and_none_once_it_has_one() -> None:
    queue = Queue()
    for number, action in enumerate(["below", "below", "created"]):
        assert queue.add(made("open", base=0.0, needs=3, insight="", session=f"s{number}")) == action
    queue.add(made("open", session="s9"))
    assert queue.waiting()[0].needs == 1


@pytest.mark.parametrize("state", ["dismissed", "accepted"])
def test_what_was_looked_at_does_not_come_back(state: str) -> None:
    queue = Queue()
    queue.add(made("k"))
    one = queue.waiting()[0]
    queue.candidates[one.id] = Candidate.model_validate({**one.model_dump(), "state": state, "evidence": ()})
    assert queue.add(made("k")) == "unchanged"
    assert queue.add(made("k", session="s2")) == "merged"
    assert queue.waiting() == []
    assert queue.of_keys(["k"]) == []


def test_candidates_are_found_by_their_keys_the_most_worth_first() -> None:
    queue = Queue()
    for key, base in (("a", 0.4), ("b", 0.8), ("c", 0.5)):
        queue.add(made(key, base=base))
    assert [one.headline for one in queue.of_keys({"a", "b"})] == ["b", "a"]
    assert queue.of_keys([]) == []


def test_the_queue_stays_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MOST_WAITING", "MOST_SEEN", "MOST_SOURCES"):
        monkeypatch.setattr(candidates, name, 2)
    queue = Queue(sources={str(number): SourceMark(size=1, modified=1) for number in range(3)})
    for key, base in (("a", 0.4), ("b", 0.8), ("c", 0.5)):
        queue.add(made(key, base=base))
    queue.bounded()
    assert [one.headline for one in queue.waiting()] == ["b", "c"]
    assert (queue.below, list(queue.sources), len(queue.seen)) == (1, ["1", "2"], 2)


def test_of_many_that_were_looked_at_the_last_keep_their_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "MOST_WAITING", 1)
    queue = Queue()
    for key in ("a", "b"):
        queue.add(made(key))
    for name, one in queue.candidates.items():
        queue.candidates[name] = one.model_copy(update={"state": "dismissed"})
    queue.bounded()
    assert [len(one.evidence) for one in queue.candidates.values()] == [0, 1]


def kept(folder: Path) -> CandidateQueue:
    return CandidateQueue(state_of(folder))


def test_the_queue_is_written_only_where_it_changes(tmp_path: Path) -> None:
    with kept(tmp_path).changing() as queue:
        assert queue == Queue()
    assert state_of(tmp_path).read_all("candidates", bytes) == {}
    with kept(tmp_path).changing() as queue:
        queue.add(made("k"))
    assert [one.headline for one in kept(tmp_path).read().waiting()] == ["k"]


def test_a_block_that_fails_changes_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with kept(tmp_path).changing() as queue:
            queue.add(made("k"))
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        fail()
    assert kept(tmp_path).read() == Queue()


def test_a_damaged_queue_is_reported_and_taken_as_empty(tmp_path: Path) -> None:
    put_state(tmp_path, "candidates", "", b"{broken")
    messages: list[str] = []
    assert CandidateQueue(State(state_of(tmp_path).path, messages.append)).read() == Queue()
    assert messages == ["candidates in state/ is taken as empty: it is damaged"]


def test_what_holds_a_purged_text_is_dropped() -> None:
    queue = Queue()
    queue.add(made("the secret thing"))
    queue.add(made("another"))
    queue.drop(lambda text: "secret" in text)
    assert [one.headline for one in queue.waiting()] == ["another"]
