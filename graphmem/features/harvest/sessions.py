"""Import of transcripts: what failed in sessions of coding agents and what fixed it, as candidates."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from graphmem.core.logs.draft import drafted, flaky, left_open
from graphmem.core.logs.fix_pairs import SessionReader
from graphmem.core.logs.own_lines import own_text
from graphmem.core.records.candidate_contract import Harvested, ImportSessionsRequest
from graphmem.core.records.candidates import queue_of
from graphmem.core.records.secrets import redacted
from graphmem.errors import BadInput, GraphmemError, Usage
from graphmem.features.harvest.correction import correction_of
from graphmem.features.harvest.haul import Haul
from graphmem.features.harvest.transcripts.places import CLIENTS, READERS, TranscriptFile, given, usual
from graphmem.features.harvest.transcripts.session import ForeignSession
from graphmem.kernel.git.places import top_of, worktrees
from graphmem.kernel.machine.candidates import SourceMark
from graphmem.kernel.model.transcript import Message, RanCommand, TranscriptEvent
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.settings.folders import user_store
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.system.surroundings import current_folder, variables

UNKNOWN = "of no known form"
IRREGULAR = "is a link, or cannot be read"
MOST_ID = 100  # characters of the id of a session
ELSEWHERE = "of another project"
NOWHERE = "does not say where it worked; --any-project reads it"


@dataclass
class SessionHaul(Haul):
    """What an import of transcripts reads: the sessions that worked in these folders, from a day on."""

    roots: Sequence[str] = ()
    any_project: bool = False
    since: str = ""

    def pass_over(self, path: Path, reason: str) -> None:
        """Note a file that is not read at all."""
        self.note(path, "", "skipped", reason)
        self.unread[reason] += 1


@operation(
    "imports.sessions",
    writes=True,
    previews="dry_run",
    at_home=True,
    not_over_http="it reads files of the user who types it",
    example="graphmem import sessions",
    arguments=1,
    takes={"since": Taken("DAY")},
    help="""
    Find what failed and what fixed it in the transcripts of coding agents on this machine.

    Read are the sessions that worked in this repository, in any of its worktrees. What is found waits as
    candidates, on this machine only: graphmem review
    """,
)
def import_sessions(client: Client, request: ImportSessionsRequest) -> Harvested:
    """Read the transcripts of coding agents on this machine, and put what they teach into the queue of candidates."""
    _refuse_unknown(request)
    roots = [os.path.realpath(root) for root in worktrees(client.root)]
    haul = SessionHaul(roots=roots, any_project=request.any_project, since=request.since or "")
    queue = queue_of(client)
    before = queue.read()
    files = sorted(_files_of(request, roots), key=lambda pair: pair[1].modified if pair[1] else 0)
    for number, (file, mark) in enumerate(files):
        if mark is None:
            haul.pass_over(file.path, IRREGULAR)
            continue
        if before.sources.get(str(file.path)) == mark and not request.any_project:
            haul.note(file.path, file.reader, "unchanged")
            continue
        read(haul, file, mark)
        client.runtime.progress("reading sessions", number + 1, len(files))
        if not request.dry_run and haul.is_due():
            haul.keep(queue)
    waiting = haul.keep(queue, before if request.dry_run else None)
    return haul.answer("sessions", waiting, is_applied=not request.dry_run)


def _refuse_unknown(request: ImportSessionsRequest) -> None:
    """Raise an error for a client or a path that there is not."""
    if request.client is not None and request.client not in CLIENTS:
        raise Usage(f"client {request.client!r} is not known", hint=f"one of: {', '.join(CLIENTS)}")
    for path in request.paths:
        if not (current_folder() / path).exists():
            raise BadInput(f"{str(path)!r} is not there", hint="a transcript, or a folder that holds some")


def _files_of(
    request: ImportSessionsRequest, roots: Sequence[str]
) -> Iterator[tuple[TranscriptFile, SourceMark | None]]:
    """Yield the transcripts that are asked for, each with its state now; None where it is not a regular file."""
    if request.paths:
        files: Iterator[TranscriptFile] = chain.from_iterable(given(current_folder() / path) for path in request.paths)
    else:
        files = usual(Path(os.path.expanduser("~")), variables(), [Path(root) for root in roots])
    seen = set[str]()
    for file in files:
        if (request.client is None or file.client == request.client) and str(file.path) not in seen:
            seen.add(str(file.path))
            state = file.state()
            yield file, None if state is None else SourceMark(size=state[0], modified=state[1])


def read(haul: SessionHaul, file: TranscriptFile, mark: SourceMark) -> None:
    """Read a file: its sessions that worked in this repository."""
    if not file.reader:
        haul.pass_over(file.path, UNKNOWN)
        return
    reasons = list[str]()
    taken = 0
    try:
        for session in READERS[file.reader](file.path, haul.unread):
            if reason := left_out(haul, session.folder or file.folder):
                reasons.append(reason)
                continue
            _read_session(haul, session, session.folder or file.folder)
            taken += 1
    except (OSError, GraphmemError, RecursionError) as error:
        reasons.append(str(error))
    haul.unread.update(reasons)
    haul.note(file.path, file.reader, "read" if taken else "skipped", reasons[0] if reasons else None)
    if not haul.since:  # else the days before are still to be read
        haul.marks[str(file.path)] = mark


def left_out(haul: SessionHaul, folder: str) -> str | None:
    """Return why a session is not read: it worked in no folder of this repository; None where it did."""
    if haul.any_project:
        return None
    if not folder:
        return NOWHERE
    real = _resolved(folder)
    return None if any(_is_below(real, root) and _is_part(haul, real, root) for root in haul.roots) else ELSEWHERE


def _is_below(real: str, root: str) -> bool:
    """Return whether a folder is another one, or lies in it."""
    return real == root or real.startswith(f"{root}/")


def _is_part(haul: SessionHaul, real: str, root: str) -> bool:
    """
    Return whether what lies in a folder of the repository is of this project.

    Not so a repository of its own beside the project: a home that is kept in git has all of them.
    """
    return root == haul.roots[0] or _is_below(real, haul.roots[0]) or top_of(Path(real)) == Path(root)


def _resolved(folder: str) -> str:
    """Return the real path of a folder, links followed; empty if it cannot be one."""
    return os.path.realpath(folder) if folder and "\0" not in folder else ""


def _without_user(event: TranscriptEvent) -> TranscriptEvent:
    """Return an event without what graphmem showed in it of the user's own store."""
    if isinstance(event, RanCommand):
        store = str(user_store() or "")
        is_there = store and (store in event.command or _is_below(_resolved(event.folder), os.path.realpath(store)))
        return replace(event, output="" if is_there else own_text(event.output, event.command))
    return replace(event, text=own_text(event.text)) if isinstance(event, Message) else event


def _read_session(haul: SessionHaul, session: ForeignSession, folder: str) -> None:
    """Read a session: its fix pairs, what it left open, and what the person corrected."""
    reader, source = SessionReader(), {"source": session.client, "session": redacted(session.session)[:MOST_ID]}
    real = _resolved(folder)
    root = next((root for root in haul.roots if _is_below(real, root)), folder)
    acted = False
    for event in map(_without_user, session.events):
        if haul.since and event.at and event.at < haul.since:
            continue
        for pair in reader.read(event):
            haul.counts["pairs"] += pair.is_cause
            made = drafted(pair, **source, root=root) if pair.is_cause else flaky(pair, **source)
            haul.found.append(made)
        if candidate := correction_of(event, **source, is_after_act=acted):
            haul.found.append(candidate)
        acted = reader.has_acted
    haul.found += [left_open(one, **source) for one in reader.open]
    haul.counts.update(
        {
            "sessions": 1,
            "commands": reader.commands,
            "failed": reader.failed,
            "masked": reader.hidden,
            "edits": reader.edits,
        }
    )
