"""
The queue of candidates, and which files were read for it: in ``state/``, never committed (docs/concepts/harvest.md).

It is one value, replaced whole: an import that is killed leaves what it had written before, and reads on from there.
"""

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from graphmem.kernel.machine.state import State
from graphmem.kernel.model.candidate import Candidate, Occasion

MOST_WAITING = 1_000  # candidates that wait; of more, those of least worth are counted as below
MOST_SEEN = 20_000  # problems whose sessions are known
MOST_SESSIONS = 8  # sessions that are kept of a problem
MOST_SOURCES = 20_000  # files that are known to be read
KEPT_FROM = 0.3  # worth from which a candidate is kept


class SourceMark(BaseModel):
    """A file as it was when it was read, and what it held."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    size: int
    modified: int  # nanoseconds since 1970
    commit: str | None = None  # of a history: the newest commit that was read


class Queue(BaseModel):
    """
    All candidates of a clone.

    Attributes:
        candidates: by id; those that were dismissed or accepted have no evidence any more.
        seen: the sessions that met a problem, by the id of its candidate, also where that is not kept.
        sources: the files that were read, by path.
        below: how many fix pairs were worth less than what is kept.
    """

    model_config = ConfigDict(extra="forbid", defer_build=True)

    candidates: dict[str, Candidate] = {}
    seen: dict[str, list[str]] = {}
    sources: dict[str, SourceMark] = {}
    below: int = 0

    def waiting(self) -> list[Candidate]:
        """Return those that wait for a review, by their sort, and of one sort the most worth first."""
        found = [one for one in self.candidates.values() if one.state == "waiting"]
        return sorted(found, key=lambda one: (one.place, -one.worth, -one.occurrences, one.id))

    def of_keys(self, keys: Collection[str]) -> list[Candidate]:
        """Return those that wait and report one of some problems, the most worth first."""
        wanted = frozenset(keys)
        return [one for one in self.waiting() if not wanted.isdisjoint(one.keys)] if wanted else []

    def add(self, found: Candidate) -> str:
        """
        Take a candidate in, and return what became of it.

        Returns:
            ``created``, ``merged`` where it was there or was looked at, ``unchanged`` where the evidence was there too,
            ``below`` where it is worth too little to be kept.
        """
        before = self.candidates.get(found.id)
        if before is not None and before.state == "accepted" and _is_reworded(before, found):
            self.candidates[found.id] = before.model_copy(update={"state": "waiting", "other": found.other})
            return "merged"
        known = self.seen.setdefault(found.id, [])
        known += [session for session in found.sessions if session not in known][: MOST_SESSIONS - len(known)]
        if before is not None and before.state != "waiting":
            return "unchanged" if set(found.marks) <= set(before.marks) else self.note(before, found)
        if before is not None:
            changed = before.with_more(found)
            self.candidates[found.id] = changed
            return "unchanged" if changed == before else "merged"
        found = found.model_copy(update={"sessions": tuple(known)})
        if found.worth < KEPT_FROM or len(known) < found.needs:
            return "below"
        self.candidates[found.id] = found
        return "created"

    def note(self, before: Candidate, found: Candidate) -> str:
        """Note that a candidate that was looked at was seen again."""
        self.candidates[before.id] = before.model_copy(update={"marks": (*before.marks, *found.marks)[-200:]})
        return "merged"

    def settle(self, name: str, **changes: Any) -> None:
        """
        Note what became of a candidate that waits, and of all others of the same problem, which need no review either.

        Their evidence stays, for a write can be taken back.
        """
        one = self.candidates[name]
        also = {**changes, "state": "recorded" if changes["state"] == "accepted" else changes["state"]}
        for other in list(self.candidates.values()):
            if other.state in ("waiting", "recorded") and not set(one.keys).isdisjoint(other.keys):
                self.candidates[other.id] = other.model_copy(update=also)
        self.candidates[name] = one.model_copy(update=changes)

    def mark_reverted(self, reverts: Mapping[str, str]) -> None:
        """
        Note which commits of the history were taken back.

        Args:
            reverts: the commit that took one back, by that one's full hash; it may have been taken back itself.
        """
        for one in self.waiting() if reverts else ():
            evidence = list[Occasion]()
            for found in one.evidence:
                by = reverts.get(found.commit or "", found.reverted)
                evidence.append(found.model_copy(update={"reverted": _reverter(by, reverts)}))
            self.candidates[one.id] = one.model_copy(update={"evidence": tuple(evidence)})

    def withdraw(self, is_gone: Callable[[Candidate], bool]) -> int:
        """Take out the candidates that wait and whose source no longer says what they say; return how many."""
        gone = [one.id for one in self.waiting() if is_gone(one)]
        for name in gone:
            del self.candidates[name]
        return len(gone)

    def bounded(self) -> None:
        """Keep within bounds: the candidates of most worth, and what was seen and read last."""
        for one in sorted(self.waiting(), key=lambda one: -one.worth)[MOST_WAITING:]:
            del self.candidates[one.id]
            self.below += 1
        settled = [one for one in self.candidates.values() if one.state != "waiting" and one.evidence]
        for one in settled[: max(0, len(settled) - MOST_WAITING)]:
            self.candidates[one.id] = one.model_copy(update={"evidence": ()})
        for kept, most in ((self.seen, MOST_SEEN), (self.sources, MOST_SOURCES)):
            for name in list(kept)[: max(0, len(kept) - most)]:
                del kept[name]

    def drop(self, is_told: Callable[[str], bool]) -> None:
        """Remove the candidates that hold something."""
        for one in list(self.candidates.values()):
            if is_told(one.model_dump_json()):
                del self.candidates[one.id]
                self.seen.pop(one.id, None)


def _reverter(commit: str | None, reverts: Mapping[str, str]) -> str | None:
    """Return the commit that took something back; None where it was taken back in its turn."""
    found, times = commit, 0
    while found is not None and times <= len(reverts):
        found, times = reverts.get(found), times + 1
    return commit if times % 2 else None


def _is_reworded(before: Candidate, found: Candidate) -> bool:
    """Return whether a note or a comment says something else than when it was accepted."""
    old, new = ([{**part, "sources": None} for part in one.other] for one in (before, found))
    return bool(new) and old != new


@dataclass(frozen=True)
class CandidateQueue:
    """The queue of a store."""

    state: State

    def read(self) -> Queue:
        """Return the queue; an empty one where it is damaged."""
        return self.state.read("candidates", "", Queue.model_validate_json) or Queue()

    @contextlib.contextmanager
    def changing(self) -> Iterator[Queue]:
        """
        Yield the queue, alone with it; what the block changes is written at its end, all or nothing.

        Raises:
            Unavailable: it cannot be written.
        """
        with self.state.changing() as kept:
            queue = kept.read("candidates", "", Queue.model_validate_json) or Queue()
            yield queue
            queue.bounded()
            if queue != Queue():
                kept.put("candidates", "", queue.model_dump_json(exclude_defaults=True).encode())
