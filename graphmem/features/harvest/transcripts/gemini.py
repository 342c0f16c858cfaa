"""Transcripts of Gemini CLI: one JSON document, or a line for each message."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from graphmem.features.harvest.transcripts.session import (
    ForeignSession,
    SessionEvents,
    Skips,
    document,
    mapping,
    rows,
    text_of,
    texts,
    time_text,
)
from graphmem.kernel.model.transcript import TranscriptEvent

FAILED = frozenset(("error", "failed", "cancelled", "canceled"))


def read(path: Path, skips: Skips) -> Iterator[ForeignSession]:
    """Yield the session of a file."""
    if path.suffix == ".jsonl":
        session, messages = _of_lines(path, skips)
    else:
        found = mapping(document(path, skips))
        session, messages = text_of(found, "sessionId"), _listed(found.get("messages"))
    if session or messages:
        yield ForeignSession("gemini", session or path.stem, "", _events(messages))


def _of_lines(path: Path, skips: Skips) -> tuple[str, Iterable[Mapping[str, Any]]]:
    """Return the id of a session and its messages; of those with one id the last, for a later one replaces it."""
    session, last = "", dict[str, int]()  # the number of the last line with the message of an id
    for number, row in enumerate(rows(path, skips)):
        session = session or text_of(row, "sessionId")
        last |= {text_of(message, "id"): number for message in _messages_in(row)}

    def messages() -> Iterator[Mapping[str, Any]]:
        for number, row in enumerate(rows(path, Counter())):
            for message in _messages_in(row):
                if not (name := text_of(message, "id")) or last.get(name, number) == number:
                    yield message

    return session, messages() if last else ()


def _messages_in(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the messages in a line: one, or those that the line sets."""
    found = _listed(mapping(row.get("$set")).get("messages")) if "$set" in row else [row]
    return [message for message in found if text_of(message, "type")]


def _listed(value: object) -> list[Mapping[str, Any]]:
    """Return the objects of a list; none for anything else."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _events(messages: Iterable[Mapping[str, Any]]) -> Iterator[TranscriptEvent]:
    """Yield the events of messages."""
    made = SessionEvents()
    for message in messages:
        at = time_text(message.get("timestamp"))
        by = "person" if message.get("type") == "user" else "agent"
        if message.get("type") in ("user", "gemini", "model", "assistant"):
            yield from made.said(at, by, texts(message.get("content")))
        for number, call in enumerate(_listed(message.get("toolCalls"))):
            name = text_of(call, "id") or f"{made.number} {number}"
            given = mapping(call.get("args"))
            made.called(name, time_text(call.get("timestamp")) or at, text_of(call, "name"), given)
            output = "\n".join(_outputs(call.get("result")))
            status = text_of(call, "status")
            yield from made.returned(name, output, is_error=status in FAILED)
    yield from made.rest()


def _outputs(value: object) -> Iterator[str]:
    """Yield the texts of the result of a call."""
    for part in _listed(value):
        response = mapping(mapping(part.get("functionResponse")).get("response"))
        yield text_of(response, "output", "error") or text_of(part, "text")
