"""
Transcripts of OpenCode: a SQLite database with a table of sessions, of messages and of their parts.

Before it had a database, a session was a file ``session/PROJECT/SESSION.json`` of a folder ``storage``, and beside it
each message a file in ``message/SESSION``, each part a file in ``part/MESSAGE``.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from graphmem.features.harvest.transcripts.session import (
    ForeignSession,
    SessionEvents,
    Skips,
    document,
    mapping,
    text_of,
    time_text,
)
from graphmem.kernel.model.transcript import TranscriptEvent
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.foreign_sqlite import ForeignDatabase

PARTS_OF = {"patch": "apply_patch"}  # tools that other clients call otherwise


def read(path: Path, skips: Skips) -> Iterator[ForeignSession]:
    """Yield the sessions of a database."""
    with ForeignDatabase(path) as database:
        for session, folder in list(database.rows("session", ("id", "directory"), ("time_created", "id"))):
            parts = _parts_of(database, str(session))
            yield ForeignSession("opencode", str(session), str(folder or ""), _events(parts, str(folder or "")))


def _parts_of(database: ForeignDatabase, session: str) -> Iterator[tuple[Any, ...]]:
    """Yield the parts of the messages of a session, each with its message and when that was."""
    order, whose = ("time_created", "id"), ("session_id", session)
    for message, about, created in list(database.rows("message", ("id", "data", "time_created"), order, whose)):
        for (data,) in database.rows("part", ("data",), ("rowid",), ("message_id", message)):
            yield about, data, created


def read_files(path: Path, skips: Skips) -> Iterator[ForeignSession]:
    """Yield the session of a file, with the messages and parts in the files beside it."""
    about = mapping(document(path, skips))
    folder = text_of(about, "directory")
    yield ForeignSession("opencode", path.stem, folder, _events(_parts_beside(path, skips), folder))


def _parts_beside(path: Path, skips: Skips) -> Iterator[tuple[Any, ...]]:
    """Yield the parts of the messages of a session, each with its message and when that was; the names are in order."""
    for message in safe_files.files(_messages_of(path)):
        about = document(message, skips)
        for part in safe_files.files(_parts_of_message(path, message.stem)):
            yield about, document(part, skips), mapping(mapping(about).get("time")).get("created")


def _messages_of(path: Path) -> Path:
    """Return the folder with the messages of the session in a file."""
    return path.parents[2] / "message" / path.stem


def _parts_of_message(path: Path, message: str) -> Path:
    """Return the folder with the parts of a message of the session in a file."""
    return path.parents[2] / "part" / message


def changing(path: Path) -> Iterator[Path]:
    """Yield the places beside the file of a session that change when it goes on."""
    yield _messages_of(path)
    if messages := safe_files.files(_messages_of(path)):
        yield _parts_of_message(path, messages[-1].stem)


def _events(parts: Iterator[tuple[Any, ...]], folder: str) -> Iterator[TranscriptEvent]:
    """Yield the events of the parts of a session."""
    made = SessionEvents()
    for message, data, created in parts:
        about, part = mapping(message), mapping(data)
        at = time_text(mapping(part.get("time")).get("start")) or time_text(created)
        if part.get("type") == "text" and not part.get("synthetic"):
            yield from made.said(at, "person" if about.get("role") == "user" else "agent", text_of(part, "text"))
        elif part.get("type") == "tool":
            yield from _of_tool(made, at, part, folder)


def _of_tool(made: SessionEvents, at: str, part: Mapping[str, Any], folder: str) -> Iterator[TranscriptEvent]:
    """Yield the events of the call of a tool."""
    state = mapping(part.get("state"))
    about = mapping(state.get("metadata"))
    call = text_of(part, "callID", "id") or str(made.number)
    name = text_of(part, "tool")
    made.called(call, at, PARTS_OF.get(name, name), mapping(state.get("input")), folder)
    status = about.get("exit")
    is_failed = state.get("status") == "error"
    is_known = isinstance(status, int) or is_failed or state.get("status") == "completed"
    output = text_of(state, "output", "error")
    is_shell = name in ("bash", "shell")
    yield from made.returned(
        call,
        output,
        status=status if isinstance(status, int) else None,
        is_error=is_failed,
        is_unknown=is_shell and not is_known,
    )
