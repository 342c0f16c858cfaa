"""Where guarded work happens: whether a project has flows, which branch is checked out, and the trace of a dry run."""

import contextlib
import hashlib
import os
import re
from pathlib import Path

import orjson

from graphmem.errors import GraphmemError
from graphmem.kernel.answer import Answer
from graphmem.kernel.dispatch import Called
from graphmem.kernel.git.places import directory_of, top_of
from graphmem.kernel.request import Request
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.system import safe_files

HEAD_BYTES = 1_000
NAME_CHARACTERS = 60
TRACED_BYTES = 64 * 1024  # of an answer
TRACE_BYTES = 64 * 2**20  # of a trace, which goes on no further


def has_flows(client: Client) -> bool:
    """Return whether the project has flows: without them nothing here applies."""
    return safe_files.is_folder(client.layout.store / "flows")


def branch_of(client: Client) -> str | None:
    """Return the branch that is checked out, read from the file that names it; None for none."""
    top = top_of(client.root)
    if top is None:
        return None
    try:
        head = safe_files.read(directory_of(top) / "HEAD", most=HEAD_BYTES).decode("utf-8", "replace").strip()
    except OSError:
        return None
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref: refs/heads/") else None


def plain(text: str) -> str:
    """Return a text as a part of the name of a file."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower())[:NAME_CHARACTERS].strip("-")


def trace_of(client: Client, branch: str) -> Path:
    """Return the file with the calls that were made on a branch."""
    mark = hashlib.sha256(branch.encode()).hexdigest()[:8]
    return client.layout.state / f"trace.{plain(branch)}-{mark}.jsonl"


def note_call(called: Called) -> None:
    """Note a call on the branch of a dry run; what cannot be noted does not stop the call."""
    client = called.client
    if client is None or not os.path.lexists(client.layout.at("flows")):  # asked at every call: nothing is opened
        return
    branch = branch_of(client) or ""
    if branch.startswith("dry-run/"):
        with contextlib.suppress(OSError, GraphmemError):
            path = trace_of(client, branch)
            with safe_files.folder(path.parent, make=True), safe_files.opened(path, "ab") as file:
                if file.tell() < TRACE_BYTES:
                    file.write(_line(called, client))


def _line(called: Called, client: Client) -> bytes:
    """Return a call as a line of a trace; a token of a stage is left out of it."""
    given = called.request.model_dump(mode="json") if isinstance(called.request, Request) else dict(called.request)
    answer = called.answer.model_dump(mode="json") if isinstance(called.answer, Answer) else {}
    for part in (given, answer):
        if part.get("token"):
            part["token"] = "[token]"
    error = called.error and {"code": called.error.code, "message": called.error.message}
    found = {"at": client.now(), "operation": called.name, "request": given, "answer": answer, "error": error}
    line = orjson.dumps(found, default=str)
    if len(line) > TRACED_BYTES:
        line = orjson.dumps({**found, "answer": f"{len(line):,} bytes"}, default=str)
    return line + b"\n"
