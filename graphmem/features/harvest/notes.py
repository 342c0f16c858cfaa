"""Import of notes: what files for agents and decision records say, as candidates that follow their later versions."""

import os
from collections.abc import Sequence
from pathlib import Path

from graphmem.core.foreign.note_items import is_english, noted
from graphmem.core.records.candidate_contract import Harvested, ImportNotesRequest
from graphmem.core.records.candidates import queue_of
from graphmem.errors import BadInput, GraphmemError
from graphmem.features.harvest.agent_notes import NoteFile, below, given, read, usual
from graphmem.features.harvest.haul import Haul
from graphmem.kernel.git import commands
from graphmem.kernel.machine.candidates import SourceMark
from graphmem.kernel.model.candidate import Candidate
from graphmem.kernel.registry import operation
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.surroundings import current_folder

LOOK_BYTES = 65_536  # of a file in which nothing was found, to tell whether it is in English


@operation(
    "imports.notes",
    writes=True,
    previews="dry_run",
    at_home=True,
    not_over_http="it reads files of the user who types it",
    example="graphmem import notes",
    arguments=1,
    help="""
    Find what notes for agents and decision records say: rules, decisions, and what to do when.

    Read are AGENTS.md, CLAUDE.md, GEMINI.md, the rules of editors, the memories of Claude Code and Serena,
    decision records and the packets of Kage; with a path, bundles of Open Knowledge Format too. Each item waits
    as a candidate, and a later version of the file updates it: graphmem review
    """,
)
def import_notes(client: Client, request: ImportNotesRequest) -> Harvested:
    """
    Read the notes for agents and the decision records of this project, and put what they say into the queue of
    candidates.

    They are few and short, so where one of them changed all of them are read: what two files say is one candidate, and
    what none of them says any more is taken out.
    """
    root = client.root
    files = list(dict.fromkeys(_files_of(root, request.paths)))
    queue = queue_of(client)
    before = queue.read()
    haul = Haul(marks={str(file.path): _mark_of(file) for file in files if not file.doubt})
    is_read = all(before.sources.get(path) == mark for path, mark in haul.marks.items())
    is_read = is_read and not any(file.doubt for file in files)
    if is_read and not any(_is_lost(one.note_file, root) for one in before.waiting()):
        for file in files:
            haul.note(file.path, file.form, "unchanged")
        haul.marks = {}
    else:
        _read_all(haul, client, files)
    waiting = haul.keep(queue, before if request.dry_run else None)
    return haul.answer("notes", waiting, is_applied=not request.dry_run)


def _files_of(root: Path, paths: Sequence[Path]) -> list[NoteFile]:
    """Return the notes that are asked for; raise ``BadInput`` for a path that there is not."""
    found = list[NoteFile]()
    for path in paths:
        place = Path(os.path.abspath(current_folder() / path))
        if not place.exists():
            raise BadInput(f"{str(path)!r} is not there", hint="a file of notes, or a folder that holds some")
        found += given(place, root)
    return found if paths else list(usual(root, Path(os.path.expanduser("~")), _tracked(root)))


def _tracked(root: Path) -> list[str]:
    """Return the files of a project that git knows; none where git does not say."""
    try:
        return commands.tracked(root)
    except GraphmemError:
        return []


def _mark_of(file: NoteFile) -> SourceMark:
    """Return the state of a file now, or of all files of a bundle."""
    paths = [file.path] if file.form != "okf" else below(file.path)
    states = [state for path in paths if (state := safe_files.stat_of(path)) is not None]
    return SourceMark(
        size=sum(one.st_size for one in states), modified=max((one.st_mtime_ns for one in states), default=0)
    )


def _read_all(haul: Haul, client: Client, files: Sequence[NoteFile]) -> None:
    """Read notes: what two of them say becomes one candidate."""
    root, texts = client.root, dict[str, str]()
    names = {file.name for file in files}
    for number, file in enumerate(files):
        try:
            items = read(file)
        except (OSError, ValueError, GraphmemError, RecursionError) as error:
            reason = str(error) if isinstance(error, ValueError | GraphmemError) else "is a link, or cannot be read"
            haul.note(file.path, file.form, "skipped", reason)
            haul.unread[reason] += 1
            names.discard(file.name)  # it is not known what it says
            continue
        haul.note(file.path, file.form, "read")
        haul.counts["items"] += len(items)
        if not items and file.form == "markdown" and not is_english(safe_files.read(file.path, most=LOOK_BYTES)):
            client.notify(f"{file.name}: nothing was found; rules are read in English only")
        for item in items:
            made = noted(item, file.name)
            if texts.setdefault(f"{item.kind} {item.text} {item.more}".casefold(), made.id) == made.id:
                haul.found.append(made)
        client.runtime.progress("reading notes", number + 1, len(files))
    kept = {one.id for one in haul.found}

    def is_gone(one: Candidate) -> bool:
        name = one.note_file
        return one.id not in kept and (name in names or _is_lost(name, root))

    haul.is_gone = is_gone


def _is_lost(name: str | None, root: Path) -> bool:
    """Return whether a file of notes is no longer there."""
    return name is not None and not os.path.lexists(os.path.expanduser(name) if name.startswith("~/") else root / name)
