"""Import of transcripts: what failed in sessions of coding agents and what fixed it, as candidates."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from time import monotonic

from graphmem.contract.harvest import Harvested, ImportSessionsRequest, ReadSource
from graphmem.errors import BadInput, GraphmemError, Usage
from graphmem.git import commands
from graphmem.importers.sessions.places import CLIENTS, READERS, TranscriptFile, given, usual
from graphmem.importers.sessions.session import ForeignSession
from graphmem.machine.candidates import Queue, SourceMark
from graphmem.model.candidate import Candidate
from graphmem.model.field import as_day
from graphmem.rules.correction import correction_of
from graphmem.rules.draft import drafted, flaky, left_open
from graphmem.rules.fix_pairs import SessionReader
from graphmem.store.runtime import Client
from graphmem.system import safe_files
from graphmem.system.surroundings import current_folder, variables
from graphmem.usecase.writing.candidates import keep, queue_of

KEEP_EVERY_S = 2.0  # seconds between two writes of what was found: a kill loses what was read since the last
UNKNOWN = "of no known form"
ELSEWHERE = "of another project"
NOWHERE = "does not say where it worked; --any-project reads it"


@dataclass
class Harvest:
    """One import: what was read, and what waits to be written."""

    roots: Sequence[str]
    any_project: bool
    since: str
    counts: Counter[str] = field(default_factory=Counter)
    candidates: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)
    sources: list[ReadSource] = field(default_factory=list)
    found: list[Candidate] = field(default_factory=list)
    marks: dict[str, SourceMark] = field(default_factory=dict)

    def note(self, file: TranscriptFile, status: str, reason: str | None = None) -> None:
        """Note what became of a file."""
        row = {"path": str(file.path), "kind": file.reader or "unknown", "status": status, "reason": reason}
        self.sources.append(ReadSource.model_validate(row))

    def put_into(self, queue: Queue) -> None:
        """Put what was found into the queue, with the marks of the files that it was found in."""
        counts = keep(queue, self.found)
        queue.below += counts.get("below", 0)
        self.candidates.update(counts)
        for path, mark in self.marks.items():
            queue.sources.pop(path, None)  # the last read are kept longest
            queue.sources[path] = mark
        self.found, self.marks = [], {}


def import_sessions(client: Client, request: ImportSessionsRequest) -> Harvested:
    """Read the transcripts of coding agents, those that are new or longer, and put what they teach into the queue."""
    refuse_unknown(request)
    roots = [os.path.realpath(root) for root in worktrees(client.layout.root)]
    since = as_day(request.since) if request.since else ""
    harvest = Harvest(roots, request.any_project, since)
    queue = queue_of(client)
    before = queue.read(client.notify_once)
    files = sorted(files_of(request, roots), key=lambda pair: pair[1].modified)
    last = monotonic()
    for number, (file, mark) in enumerate(files):
        if before.sources.get(str(file.path)) == mark and not request.any_project:
            harvest.note(file, "unchanged")
            continue
        read(harvest, file, mark)
        client.runtime.progress("reading sessions", number + 1, len(files))
        if not request.dry_run and monotonic() - last > KEEP_EVERY_S:
            with queue.changing() as kept:
                harvest.put_into(kept)
            last = monotonic()
    if request.dry_run:
        harvest.put_into(before)
        waiting = len(before.waiting())
    else:
        with queue.changing() as kept:
            harvest.put_into(kept)
            waiting = len(kept.waiting())
    return Harvested(
        format="sessions",
        applied=not request.dry_run,
        read=dict(harvest.counts),
        sources=harvest.sources,
        unread=dict(harvest.unread),
        candidates=dict(harvest.candidates),
        waiting=waiting,
    )


def refuse_unknown(request: ImportSessionsRequest) -> None:
    """Raise an error for a client or a path that there is not."""
    if request.client is not None and request.client not in CLIENTS:
        raise Usage(f"client {request.client!r} is not known", hint=f"one of: {', '.join(CLIENTS)}")
    for path in request.paths:
        if not (current_folder() / path).exists():
            raise BadInput(f"{str(path)!r} is not there", hint="a transcript, or a folder that holds some")


def worktrees(root: Path) -> list[str]:
    """Return the folders of a repository's worktrees, or the project's own folder."""
    try:
        listed = commands.git(root, "worktree", "list", "--porcelain", "-z") or b""
    except GraphmemError:
        listed = b""
    named = [line.decode("utf-8", "surrogateescape") for line in listed.split(b"\0")]
    found = [line.removeprefix("worktree ") for line in named if line.startswith("worktree ")]
    return list(dict.fromkeys([str(root), *found]))


def files_of(request: ImportSessionsRequest, roots: Sequence[str]) -> Iterator[tuple[TranscriptFile, SourceMark]]:
    """Yield the transcripts that are asked for, each with its state now."""
    if request.paths:
        files: Iterator[TranscriptFile] = chain.from_iterable(given(current_folder() / path) for path in request.paths)
    else:
        files = usual(Path(os.path.expanduser("~")), variables(), [Path(root) for root in roots])
    seen = set[str]()
    for file in files:
        if request.client is not None and file.reader.removesuffix("-history") != request.client:
            continue
        if (found := safe_files.stat_of(file.path)) is not None and str(file.path) not in seen:
            seen.add(str(file.path))
            yield file, SourceMark(size=found.st_size, modified=found.st_mtime_ns)


def read(harvest: Harvest, file: TranscriptFile, mark: SourceMark) -> None:
    """Read a file: its sessions that worked in this repository."""
    if not file.reader:
        harvest.note(file, "skipped", UNKNOWN)
        harvest.unread[UNKNOWN] += 1
        return
    reasons = list[str]()
    taken = 0
    try:
        for session in READERS[file.reader](file.path, harvest.unread):
            if reason := left_out(harvest, session.folder or file.folder):
                reasons.append(reason)
                continue
            read_session(harvest, session, session.folder or file.folder)
            taken += 1
    except (OSError, GraphmemError, RecursionError) as error:
        reasons.append(str(error))
    harvest.unread.update(reasons)
    harvest.note(file, "read" if taken else "skipped", reasons[0] if reasons else None)
    harvest.marks[str(file.path)] = mark


def left_out(harvest: Harvest, folder: str) -> str | None:
    """Return why a session is not read: it worked in no folder of this repository; None where it did."""
    if harvest.any_project:
        return None
    if not folder:
        return NOWHERE
    real = os.path.realpath(folder)
    is_ours = any(real == root or real.startswith(f"{root}/") for root in harvest.roots)
    return None if is_ours else ELSEWHERE


def read_session(harvest: Harvest, session: ForeignSession, folder: str) -> None:
    """Read a session: its fix pairs, what it left open, and what the person corrected."""
    reader, source = SessionReader(), {"source": session.client, "session": session.session}
    real = os.path.realpath(folder) if folder else ""
    root = next((root for root in harvest.roots if real == root or real.startswith(f"{root}/")), folder)
    acted = False
    for event in session.events:
        if harvest.since and event.at and event.at < harvest.since:
            continue
        for pair in reader.read(event):
            harvest.counts["pairs"] += pair.is_cause
            made = drafted(pair, **source, root=root) if pair.is_cause else flaky(pair, **source)
            harvest.found.append(made)
        if candidate := correction_of(event, **source, is_after_act=acted):
            harvest.found.append(candidate)
        acted = reader.has_acted
    harvest.found += [left_open(one, **source) for one in reader.open]
    harvest.counts.update(
        {
            "sessions": 1,
            "commands": reader.commands,
            "failed": reader.failed,
            "masked": reader.hidden,
            "edits": reader.edits,
        }
    )


def counts_text(counts: Mapping[str, int]) -> str:
    """Return counts in words."""
    return ", ".join(f"{number:,} {name}" for name, number in counts.items())
