"""
Events that clients send to hooks, and the shapes of their answers (docs/guides/agents.md).

Source of the shapes: type definitions and schemas of the clients, November 2026. What is not in them is ignored.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast, get_args

from graphmem.core.logs.command_line import typed_in
from graphmem.features.hooks.contract import HookKind
from graphmem.kernel.parameters import ClientName
from graphmem.patterns import lazy_re

KINDS: Mapping[str, HookKind] = {
    "SessionStart": "start", "sessionStart": "start",
    "UserPromptSubmit": "prompt", "BeforeAgent": "prompt", "beforeSubmitPrompt": "prompt",
    "PreToolUse": "before", "BeforeTool": "before", "preToolUse": "before",
    "PostToolUse": "after", "PostToolUseFailure": "after", "AfterTool": "after", "postToolUse": "after",
    "postToolUseFailure": "after",
    "SessionEnd": "end", "sessionEnd": "end",
}  # fmt: skip
SHELLS = frozenset(
    "bash shell shell_command local_shell exec_command run_shell_command execute_command terminal".split()
)
EDITS = frozenset(
    "edit write multiedit notebookedit write_file replace edit_file apply_patch str_replace create_file search_replace"
    " patch".split()
)
PATHS = ("file_path", "filePath", "path", "notebook_path", "target_file", "absolute_path")
STATUSES = ("exit_code", "exitCode", "exit_status", "exitStatus", "returncode")
STATUS_LINE = lazy_re(r"(?im)^\W*(?:process exited with code|exit[ _]code|exit status):?\s*(-?\d{1,5})\W*$")
LABEL = lazy_re(r"(?m)^(?:Output|Stdout|Stderr|Error): (?=\S)")  # which Gemini puts before what a command printed
PATCHERS = frozenset(("apply_patch", "patch"))
PATCHED = lazy_re(r"(?m)^\*\*\* (?:Update|Delete) File: (.+)$")
ENDS = 400  # characters at either end of an output in which a client says how a command ended
INTERRUPTED = 130  # exit status after Ctrl-C
MOST_DEPTH = 6  # of the objects in a response
MOST_TEXT = 1_000_000  # characters of an output that are looked at: its first quarter, and its end


@dataclass(frozen=True)
class HookEvent:
    """
    What a client reports, in one form for all clients.

    Attributes:
        name: the client's word for the event.
        session: the client's id of the session.
        source: why a session starts, such as ``startup`` or ``compact``.
        text: the prompt, or what a tool put out.
        command: of a shell; empty for other tools.
        folder: where the agent is, an absolute path.
        paths: files that a tool changes.
        status: exit status of a tool that ran, 1 where it failed; None where the client does not say.
    """

    kind: HookKind
    name: str
    session: str
    source: str = ""
    text: str = ""
    command: str = ""
    folder: str = ""
    paths: tuple[str, ...] = ()
    status: int | None = None


def parsed(given: Mapping[str, Any]) -> HookEvent | None:
    """Return an event of any client; None for one that no hook answers, and for what is not an event."""
    name = _text_of(given.get("hook_event_name"))
    kind = KINDS.get(name)
    session = _text_of(given.get("session_id")) or _text_of(given.get("conversation_id"))
    if kind is None or not session:
        return None
    if kind == "start":
        return HookEvent(kind, name, session, source=_text_of(given.get("source")))
    if kind == "prompt":
        return HookEvent(kind, name, session, text=_text_of(given.get("prompt")))
    if kind == "end":
        return HookEvent(kind, name, session)
    tool = _text_of(given.get("tool_name")).lower()
    values = given.get("tool_input")
    values = values if isinstance(values, Mapping) else {}
    command = typed_in(values) if tool in SHELLS else ""
    folder = _text_of(given.get("cwd"))
    paths = tuple(_paths_of(values, is_patch=tool in PATCHERS)) if tool in EDITS else ()
    if kind == "before":
        return HookEvent(kind, name, session, command=command, folder=folder, paths=paths)
    failed = name.endswith("Failure")
    response = given.get("error") or given.get("error_message") if failed else given.get("tool_response")
    response = _unpacked(given.get("tool_output")) if response is None else response
    text = ends_of("\n".join(_texts(response)))
    status = 1 if failed else _status_of(response, text)
    if values.get("run_in_background") or (isinstance(response, Mapping) and response.get("backgroundTaskId")):
        status = None
    text = LABEL.sub("", text) if name == "AfterTool" else text
    return HookEvent(kind, name, session, text=text, command=command, folder=folder, paths=paths, status=status)


def _unpacked(value: object) -> object:
    """Return the object in a text of JSON, as Cursor sends it; any other value as it is."""
    if not isinstance(value, str) or not value.startswith("{"):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _text_of(value: object) -> str:
    """Return a text, or nothing for what is not one."""
    return value if isinstance(value, str) else ""


def _paths_of(values: Mapping[str, Any], *, is_patch: bool) -> Iterator[str]:
    """Yield the files that a tool changes, as it names them; for a patch, the files that its text names."""
    for name in PATHS:
        if path := _text_of(values.get(name)):
            yield path
    for value in values.values() if is_patch else ():
        yield from PATCHED.findall(_text_of(value)[:MOST_TEXT])


def _texts(value: object, depth: int = 0) -> Iterator[str]:
    """Yield the texts in a response, in its order."""
    if isinstance(value, str):
        yield value
    elif depth < MOST_DEPTH and isinstance(value, Mapping | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(part, depth + 1)


def ends_of(text: str) -> str:
    """Return a text, of a very long one its first quarter and its end."""
    first = MOST_TEXT // 4
    return text if len(text) <= MOST_TEXT else f"{text[:first]}\n{text[first - MOST_TEXT :]}"


def _status_of(response: object, text: str) -> int | None:
    """Return how a command ended, as far as its response says so."""
    found = next(_numbers(response), None)
    if found is not None:
        return found
    if isinstance(response, Mapping) and response.get("error"):
        return 1
    if isinstance(response, Mapping) and "stdout" in response:  # of Claude Code, which reports a failure as such
        return INTERRUPTED if response.get("interrupted") else 0
    if said := STATUS_LINE.search(f"{text[:ENDS]}\n{text[-ENDS:]}"):
        return int(said[1])
    return None


def _numbers(value: object, depth: int = 0) -> Iterator[int]:
    """Yield the exit statuses in a response."""
    if isinstance(value, Mapping) and depth < MOST_DEPTH:
        for name, part in value.items():
            if name in STATUSES and isinstance(part, int) and not isinstance(part, bool):
                yield part
            yield from _numbers(part, depth + 1)


def is_taken(client: ClientName, event: HookEvent) -> bool:
    """Return whether a client takes context at an event."""
    return event.kind in ("start", "after") if client == "cursor" else event.kind != "end"


def start_said(client: str, event: str, text: str) -> str:
    """Return what a client takes where a session begins, as JSON; empty at another event."""
    try:
        given = json.loads(event)
    except ValueError:
        return ""
    found = parsed(given) if isinstance(given, dict) else None
    if found is None or found.kind != "start" or client not in get_args(ClientName):
        return ""
    return json.dumps(answer_of(cast(ClientName, client), found, text))


def answer_of(client: ClientName, event: HookEvent, text: str) -> dict[str, Any]:
    """Return what a client takes as context at an event, in its own form."""
    if client == "cursor":
        return {"additional_context": text}
    if client == "opencode":
        return {"context": text}
    return {"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": text}}
