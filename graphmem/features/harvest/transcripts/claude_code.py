"""Transcripts of Claude Code, and of clients that keep messages in the form of Anthropic's API."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any

from graphmem.features.harvest.transcripts.session import (
    ForeignSession,
    SessionEvents,
    Skips,
    document,
    first_with,
    mapping,
    rows,
    text_of,
    texts,
    time_text,
)
from graphmem.kernel.model.transcript import TranscriptEvent
from graphmem.patterns import lazy_re

HEAD = 200  # lines in which the folder of a session is looked for
EXIT_LINE = "Exit code "
STATUS = lazy_re(r"-?[0-9]{1,5}")


def read(path: Path, skips: Skips) -> Iterator[ForeignSession]:
    """Yield the session of a file; one that continues another has the id of its own lines."""
    found = rows(path, skips)
    head = list(islice(found, HEAD))
    value = first_with(head, "cwd", "sessionId")
    session = value("sessionId") or path.stem
    yield ForeignSession("claude-code", session, value("cwd"), _events(chain(head, found)))


def _events(lines: Iterable[Mapping[str, Any]]) -> Iterator[TranscriptEvent]:
    """Yield the events of the lines of a session."""
    made = SessionEvents()
    for row in lines:
        kind, message = row.get("type"), row.get("message")
        if kind not in ("user", "assistant") or not isinstance(message, Mapping):
            continue
        is_person = not (row.get("isMeta") or row.get("isCompactSummary") or row.get("isSidechain"))
        yield from _of_message(
            made,
            kind,
            message.get("content"),
            at=time_text(row.get("timestamp")),
            folder=text_of(row, "cwd"),
            is_person=is_person,
            result=mapping(row.get("toolUseResult")),
        )
    yield from made.rest()


def _of_message(
    made: SessionEvents,
    role: str,
    content: object,
    *,
    at: str = "",
    folder: str = "",
    is_person: bool = True,
    result: Mapping[str, Any] | None = None,
) -> Iterator[TranscriptEvent]:
    """Yield the events of one message: its texts, the calls it makes, and the results of earlier calls."""
    if isinstance(content, str):
        if role == "assistant" or is_person:
            yield from made.said(at, "agent" if role == "assistant" else "person", content)
        return
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, Mapping):
            continue
        if part.get("type") == "text" and (role == "assistant" or is_person):
            yield from made.said(at, "agent" if role == "assistant" else "person", text_of(part, "text"))
        elif part.get("type") in ("tool_use", "toolCall", "tool-call"):
            call = text_of(part, "id", "toolCallId") or f"call {made.number}"
            given = mapping(part.get("input") or part.get("arguments") or part.get("args"))
            made.called(call, at, text_of(part, "name", "toolName"), given, folder)
        elif part.get("type") in ("tool_result", "toolResult", "tool-result"):
            yield from _of_result(made, part, result or {})


def _of_result(made: SessionEvents, part: Mapping[str, Any], result: Mapping[str, Any]) -> Iterator[TranscriptEvent]:
    """Yield the events of the result of a call; ``result`` is what the client keeps beside it."""
    output = texts(part.get("content"))
    status: int | None = None
    if output.startswith(EXIT_LINE):
        line, _, output = output.partition("\n")
        number = line.removeprefix(EXIT_LINE).strip()
        status = int(number) if STATUS.fullmatch(number) else 1
    is_unknown = bool(result.get("interrupted") or result.get("backgroundTaskId"))
    call = text_of(part, "tool_use_id", "toolCallId", "toolUseId")
    is_error = bool(part.get("is_error") or part.get("isError"))
    yield from made.returned(call, output, status=status, is_error=is_error, is_unknown=is_unknown)


def read_cline(path: Path, skips: Skips, client: str = "cline") -> Iterator[ForeignSession]:
    """Yield the session of a file of Cline or Roo Code: the folder has the id."""
    messages = document(path, skips)
    found = [one for one in messages if isinstance(one, Mapping)] if isinstance(messages, list) else []

    def of_all() -> Iterator[TranscriptEvent]:
        made = SessionEvents()
        for message in found:
            at = time_text(message.get("ts"))
            yield from _of_message(made, text_of(message, "role"), message.get("content"), at=at)
        yield from made.rest()

    if found:
        yield ForeignSession(client, path.parent.name, "", of_all())


def read_cursor(path: Path, skips: Skips) -> Iterator[ForeignSession]:
    """Yield the session of a file of Cursor: it has no times, and its name is the id."""

    def of_all() -> Iterator[TranscriptEvent]:
        made = SessionEvents()
        for row in rows(path, skips):
            message = mapping(row.get("message"))
            if role := text_of(row, "role"):
                yield from _of_message(made, role, message.get("content"))
        yield from made.rest()

    yield ForeignSession("cursor", path.stem, "", of_all())


def read_pi(path: Path, skips: Skips) -> Iterator[ForeignSession]:
    """Yield the session of a file of Pi."""
    found = rows(path, skips)
    head = next(found, {})

    def of_all() -> Iterator[TranscriptEvent]:
        made = SessionEvents()
        for row in found:
            message = mapping(row.get("message"))
            at = time_text(row.get("timestamp"))
            if message.get("role") == "toolResult":
                output, call = texts(message.get("content")), text_of(message, "toolCallId")
                yield from made.returned(call, output, is_error=bool(message.get("isError")))
            elif message:
                yield from _of_message(made, text_of(message, "role"), message.get("content"), at=at)
        yield from made.rest()

    yield ForeignSession("pi", text_of(head, "id") or path.stem, text_of(head, "cwd"), of_all())
