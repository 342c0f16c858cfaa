"""Transcripts of Copilot CLI, DeepSeek's shell and Aider."""

from collections.abc import Iterator
from pathlib import Path

from graphmem.features.harvest.transcripts.session import (
    MOST_DOCUMENT,
    ForeignSession,
    SessionEvents,
    Skips,
    mapping,
    rows,
    text_of,
    texts,
    time_text,
)
from graphmem.kernel.model.transcript import TranscriptEvent
from graphmem.kernel.system import safe_files
from graphmem.patterns import lazy_re

STARTED = lazy_re(r"^# aider chat started at (.+)$")
ASKED = "#### "


def read_copilot(path: Path, skips: Skips) -> Iterator[ForeignSession]:
    """Yield the session of a file of events of Copilot CLI."""
    found = rows(path, skips)
    begin = mapping(next(found, {}).get("data"))

    def of_all() -> Iterator[TranscriptEvent]:
        made, folder = SessionEvents(), text_of(mapping(begin.get("context")), "cwd")
        for row in found:
            kind, data, at = row.get("type"), mapping(row.get("data")), time_text(row.get("timestamp"))
            if kind in ("user.message", "assistant.message"):
                yield from made.said(at, "person" if kind == "user.message" else "agent", texts(data.get("content")))
            elif kind == "tool.execution_start":
                given = mapping(data.get("arguments"))
                made.called(text_of(data, "toolCallId"), at, text_of(data, "toolName"), given, folder)
            elif kind == "tool.execution_complete":
                output = texts(mapping(data.get("result")).get("content"))
                call, is_error = text_of(data, "toolCallId"), data.get("success") is False
                yield from made.returned(call, output, is_error=is_error)
        yield from made.rest()

    folder = text_of(mapping(begin.get("context")), "cwd")
    yield ForeignSession("copilot", text_of(begin, "sessionId") or path.parent.name, folder, of_all())


def read_deepseek(path: Path, skips: Skips) -> Iterator[ForeignSession]:
    """Yield the session of a file of DeepSeek's shell; what a plugin writes as the user is left out."""
    found = rows(path, skips)
    head = next(found, {})

    def of_all() -> Iterator[TranscriptEvent]:
        made, folder = SessionEvents(), text_of(head, "cwd")
        for row in found:
            kind, data, at = row.get("type"), mapping(row.get("data")), time_text(row.get("time"))
            if kind == "user/message" and mapping(data.get("source")).get("kind") == "user":
                yield from made.said(at, "person", texts(data.get("content")))
            elif kind == "assistant/message":
                yield from made.said(at, "agent", texts(mapping(data.get("message")).get("content"), "text"))
            elif kind == "tool/call":
                made.called(text_of(data, "callId"), at, text_of(data, "name"), mapping(data.get("arguments")), folder)
            elif kind == "tool/result":
                parts = mapping(data.get("message")).get("content")
                for part in parts if isinstance(parts, list) else ():
                    one = mapping(part)
                    call, is_error = text_of(one, "toolCallId"), bool(one.get("isError"))
                    yield from made.returned(call, texts(one.get("content")), is_error=is_error)
        yield from made.rest()

    yield ForeignSession("deepseek", text_of(head, "id") or path.stem, text_of(head, "cwd"), of_all())


def read_aider(path: Path, skips: Skips) -> Iterator[ForeignSession]:
    """Yield the sessions of a chat history of Aider; it lies in the project, and keeps messages only."""
    lines = safe_files.read(path, most=MOST_DOCUMENT).decode("utf-8", "replace").splitlines()
    session, made, found = "", SessionEvents(), list[TranscriptEvent]()
    for line in [*lines, "# aider chat started at end"]:
        if begun := STARTED.match(line):
            if session:
                yield ForeignSession("aider", session, str(path.parent), iter(found))
            session, made, found = begun[1], SessionEvents(), []
        elif session and line.strip():
            by = "person" if line.startswith(ASKED) else "agent"
            found += made.said(session, by, line.removeprefix(ASKED))
