"""Transcripts of Codex: rollouts, and the history of prompts."""

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any

from graphmem.features.harvest.transcripts.session import (
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

RUNNING = "Process running with session ID"  # of a command that goes on
OUTPUT = "\nOutput:\n"  # before what a command printed


def read(path: Path, skips: Skips) -> Iterator[ForeignSession]:
    """Yield the session of a rollout."""
    found = rows(path, skips)
    head = list(islice(found, 20))
    about = next((mapping(row.get("payload")) for row in head if row.get("type") == "session_meta"), {})
    session = text_of(about, "session_id", "id") or path.stem
    folder = text_of(about, "cwd")
    yield ForeignSession("codex", session, folder, _events(chain(head, found), folder))


def _events(lines: Iterator[Mapping[str, Any]], folder: str) -> Iterator[TranscriptEvent]:
    """Yield the events of a rollout."""
    made = SessionEvents()
    for row in lines:
        payload = mapping(row.get("payload")) if row.get("type") == "response_item" else {}
        at = time_text(row.get("timestamp"))
        kind = payload.get("type") or ("message" if "role" in payload else None)
        if kind == "message" and payload.get("role") in ("user", "assistant"):
            by = "person" if payload.get("role") == "user" else "agent"
            yield from made.said(at, by, texts(payload.get("content")))
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            call = text_of(payload, "call_id", "id")
            if kind == "custom_tool_call":
                given: Mapping[str, Any] = {"input": payload.get("input")}
            else:
                given = mapping(payload.get("arguments") or payload.get("action"))
            name = text_of(payload, "name") or "shell"
            made.called(call, at, name, given, text_of(given, "workdir") or folder)
        elif kind in ("function_call_output", "custom_tool_call_output", "local_shell_call_output"):
            yield from _returned(made, text_of(payload, "call_id"), payload.get("output"))
    yield from made.rest()


def _returned(made: SessionEvents, call: str, output: object) -> Iterator[TranscriptEvent]:
    """Yield the events of a call that returned; its output is a text, or an object with a text and a status."""
    found = mapping(output)
    about = mapping(found.get("metadata"))
    status = about.get("exit_code", found.get("exit_code"))
    text = text_of(found, "output", "content") if found else texts(output)
    head, mark, rest = text.partition(OUTPUT)
    yield from made.returned(
        call,
        f"{head}\n{rest}" if mark else text,
        status=status if isinstance(status, int) else None,
        is_error=found.get("success") is False,
        is_unknown=RUNNING in head,
    )


def read_history(path: Path, skips: Skips) -> Iterator[ForeignSession]:
    """Yield the sessions of the history of prompts; rollouts hold the same and more."""
    by_session: dict[str, list[tuple[str, str]]] = {}
    for row in rows(path, skips):
        if session := text_of(row, "session_id"):
            by_session.setdefault(session, []).append((time_text(row.get("ts")), text_of(row, "text")))
    for session, prompts in by_session.items():
        made = SessionEvents()
        found = [event for at, text in prompts for event in made.said(at, "person", text)]
        yield ForeignSession("codex", session, "", iter(found))
