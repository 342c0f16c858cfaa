"""Hauls: what one import of sessions, notes, history or reports read and found, on its way into the queue."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from graphmem.core.records.candidate_contract import Harvested, ReadSource
from graphmem.core.records.candidates import keep
from graphmem.kernel.machine.candidates import CandidateQueue, Queue, SourceMark
from graphmem.kernel.model.candidate import Candidate

KEEP_EVERY_S = 2.0  # seconds between two writes of what was found: a kill loses what was read since the last


@dataclass
class Haul:
    """One import: what was read, and what waits to be written."""

    counts: Counter[str] = field(default_factory=Counter)
    candidates: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)
    sources: list[ReadSource] = field(default_factory=list)
    found: list[Candidate] = field(default_factory=list)
    low: list[Candidate] = field(default_factory=list)  # worth too little, unless what comes later is about the same
    marks: dict[str, SourceMark] = field(default_factory=dict)
    reverts: dict[str, str] = field(default_factory=dict)  # commits that were taken back: which did it
    is_gone: Callable[[Candidate], bool] | None = None  # what a candidate says is no longer there
    written_at: float = field(default_factory=monotonic)

    def note(self, path: Path | str, kind: str, status: str, reason: str | None = None) -> None:
        """Note what became of a file; ``reason`` says why it, or a part of it, was not read."""
        row = {"path": str(path), "kind": kind or "unknown", "status": status, "reason": reason}
        self.sources.append(ReadSource.model_validate(row))

    def is_due(self) -> bool:
        """Return whether it is time to write what was found."""
        return monotonic() - self.written_at > KEEP_EVERY_S

    def keep(self, queue: CandidateQueue, preview: Queue | None = None) -> int:
        """Put what was found into the queue, or into a copy of it; return how many candidates wait."""
        self.written_at = monotonic()
        if preview is not None:
            self.put_into(preview)
            return len(preview.waiting())
        with queue.changing() as kept:
            self.put_into(kept)
            return len(kept.waiting())

    def put_into(self, queue: Queue) -> None:
        """Put what was found into a queue, with the marks of the files that it was found in."""
        actions = keep(queue, self.found)
        self.low += [one for one, action in zip(self.found, actions, strict=True) if action == "below"]
        # Another one may be about the same by now: no order decides what is known of it, nor a second import.
        again = [one for one in self.low if one.id in queue.candidates]
        self.low = [one for one in self.low if one.id not in queue.candidates]
        counts = Counter([*actions, *keep(queue, again)])
        counts["below"] -= len(again)
        queue.below += counts["below"]
        self.candidates.update(counts)
        queue.mark_reverted(self.reverts)
        if self.is_gone is not None and (number := queue.withdraw(self.is_gone)):
            self.candidates["withdrawn"] += number
        for path, mark in self.marks.items():
            queue.sources.pop(path, None)  # the last read are kept longest
            queue.sources[path] = mark
        self.found, self.marks = [], {}

    def answer(self, format_name: str, waiting: int, *, is_applied: bool) -> Harvested:
        """Return the account of it."""
        return Harvested(
            format=format_name,
            applied=is_applied,
            read=dict(self.counts),
            sources=self.sources,
            unread=dict(self.unread),
            candidates=dict(+self.candidates),
            waiting=waiting,
        )
