"""What the readers of transcripts share: a session, its events under way, and what tools of all clients are called."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from graphmem.core.logs.command_line import typed_in
from graphmem.kernel.model.transcript import FileEdit, FileRead, Message, RanCommand, TranscriptEvent
from graphmem.kernel.system import safe_files
from graphmem.patterns import lazy_re

MOST_LINE = 8 * 2**20  # bytes of a line that is read; a longer one holds pictures, not commands
MOST_DOCUMENT = 64 * 2**20  # bytes of a file that is one JSON document
MOST_TEXT = 200_000  # characters of an output that are kept: its beginning and its end
MOST_EDIT = 20_000  # characters of either side of an edit
ENDS = 400  # characters at either end of an output in which a client says how a call ended
MOST_SAID = 8_000  # characters of what a person or an agent wrote
MOST_GIVEN = 4 * MOST_EDIT  # characters of a text that a tool is given
MOST_CALLS = 64  # of tools that wait for their results; more are under way in no session
MOST_PATH = 1_000  # characters of a path
MOST_TIME = 40  # characters of a time

SHELLS = frozenset(
    "bash shell shell_command local_shell exec_command run_shell_command execute_command terminal run_terminal_cmd"
    " run_in_terminal run_command powershell".split()
)
EDITORS = frozenset(
    "edit multiedit write notebookedit replace write_file edit_file create_file str_replace str_replace_editor"
    " str_replace_based_edit_tool search_replace write_to_file replace_in_file apply_diff insert_content create"
    " str_replace_edit strreplace searchreplace patch".split()
)
PATCHERS = frozenset(("apply_patch", "patch"))
READERS = frozenset("read read_file view view_file notebookread open_file".split())
PATHS = ("file_path", "filePath", "path", "notebook_path", "target_file", "absolute_path", "file")
REMOVED = ("old_string", "oldString", "old_str", "search")
ADDED = ("new_string", "newString", "new_str", "content", "file_text", "new_source", "contents", "replace", "code_edit")
EXIT = lazy_re(
    r"(?im)^\W{0,3}(?:(?:process |command )?exited with (?:exit )?code|exit code|exit[_ ]?status)[: ]+(-?\d{1,5})\W*$"
)
LONE = lazy_re(  # half of a sign outside of the first plane: what a client cut off in the middle of one
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
COMMITTED = lazy_re(r"(?m)^\[[^\]\n]{1,200} ([0-9a-f]{7,40})\] ")  # what git prints of a commit that it made
REFUSED = lazy_re(
    r"The user doesn't want to (?:proceed|take this action)|has been denied|Permission to use|was rejected by the user"
    r"|Sibling tool call errored|\[Request interrupted|user (?:rejected|declined|denied|cancelled|canceled)"
    r"|requires approval|haven't granted|was not executed",
    re.IGNORECASE,
)
PATCHED = lazy_re(r"^\*\*\* (Add|Update|Delete) File: (.+)$")
MACHINE = lazy_re(  # what stands in the place of a prompt, and no person wrote
    r"^\s*(?:<(?:command-(?:name|message|args)|local-command|system-reminder|environment_context|user_instructions|task-notification"
    r"|bash-(?:input|stdout|stderr)|turn_aborted|INSTRUCTIONS|hook|environment_details)|Caveat: The messages"
    r" below|\[Request interrupted"
    r"|Operation stopped by hook|# AGENTS\.md instructions|This session is being continued|Stop hook feedback"
    r"|\[Image|API Error"
    r"|Current runtime context)"
)


class ForeignSession(NamedTuple):
    """
    One session of a transcript.

    Attributes:
        client: whose transcript it is.
        session: the client's id of it.
        folder: where the agent worked, an absolute path; empty where the transcript does not say.
        events: what happened, in order; read once.
    """

    client: str
    session: str
    folder: str
    events: Iterator[TranscriptEvent]


Skips = Counter[str]  # how much of a transcript could not be read, by reason


@dataclass
class SessionEvents:
    """
    The events of one session, made from calls of tools and their results.

    A call without a result is an event when the transcript ends: it is not known how it ended.
    """

    number: int = 0
    calls: dict[str, tuple[str, str, Mapping[str, Any], str]] = field(default_factory=dict)

    def next(self) -> int:
        """Return the place of the next event."""
        self.number += 1
        return self.number - 1

    def said(self, at: str, by: str, text: str) -> Iterator[TranscriptEvent]:
        """Yield what a person or an agent wrote; nothing for what a program put in its place."""
        if text.strip() and not (by == "person" and MACHINE.match(text)):
            yield Message(at, self.next(), "person" if by == "person" else "agent", text[:MOST_SAID])

    def called(self, call: str, at: str, name: str, given: Mapping[str, Any], folder: str = "") -> None:
        """Take the call of a tool; of too many without a result the oldest is forgotten."""
        kept = {field: value[:MOST_GIVEN] if isinstance(value, str) else value for field, value in given.items()}
        self.calls[call] = (at, name, kept, folder[:MOST_PATH])
        if len(self.calls) > MOST_CALLS:
            del self.calls[next(iter(self.calls))]

    def returned(
        self, call: str, output: str, *, status: int | None = None, is_error: bool = False, is_unknown: bool = False
    ) -> Iterator[TranscriptEvent]:
        """
        Yield the events of a call that returned.

        Args:
            status: exit status, where the client says it.
            is_error: the client says that it failed.
            is_unknown: it goes on, or was cut off: how it ended is not known.
        """
        if (found := self.calls.pop(call, None)) is None:
            return
        is_refused = (is_error or status is None) and REFUSED.search(output[:ENDS]) is not None
        if status is None and not is_unknown:
            said = EXIT.search(output[:ENDS]) or EXIT.search(output[-ENDS:])
            status = int(said[1]) if said else int(is_error)
        yield from self.happened(*found, output, status, is_refused=is_refused, is_done=not (is_error or status))

    def rest(self) -> Iterator[TranscriptEvent]:
        """Yield the events of the calls whose results are not in the transcript."""
        for found in self.calls.values():
            yield from self.happened(*found, "", None, is_refused=False, is_done=True)
        self.calls = {}

    def happened(
        self,
        at: str,
        name: str,
        given: Mapping[str, Any],
        folder: str,
        output: str,
        status: int | None,
        *,
        is_refused: bool,
        is_done: bool,
    ) -> Iterator[TranscriptEvent]:
        """Yield what the call of a tool did."""
        tool = name.rpartition(".")[2].lower()
        if tool in SHELLS:
            command = typed_in(given)
            if "*** Begin Patch" in command:
                yield from self.patched(at, command, is_done=is_done, is_refused=is_refused)
            elif command:
                found = COMMITTED.search(output) if "commit" in command else None
                text, commit = _ends_of(output), found[1] if found else ""
                yield RanCommand(at, self.next(), command, status, text, folder, commit, is_refused)
        elif tool in PATCHERS and (patch := text_of(given, "input", "patchText", "patch")):
            yield from self.patched(at, patch, is_done=is_done, is_refused=is_refused)
        elif tool in EDITORS and (file := text_of(given, *PATHS)):
            removed, added = sides_of(given)
            yield FileEdit(at, self.next(), file[:MOST_PATH], removed, added, is_done and not is_refused, is_refused)
        elif tool in READERS and (file := text_of(given, *PATHS)):
            yield FileRead(at, self.next(), file[:MOST_PATH])

    def patched(self, at: str, patch: str, *, is_done: bool, is_refused: bool) -> Iterator[FileEdit]:
        """Yield the edits of a patch, one a file."""
        file, removed, added = "", list[str](), list[str]()
        for line in [*patch[: 4 * MOST_EDIT].splitlines(), "*** Update File: "]:
            if found := PATCHED.match(line) or (line == "*** Update File: " and re.match(r"(.*)()", "")):
                if file:
                    sides = "\n".join(removed)[:MOST_EDIT], "\n".join(added)[:MOST_EDIT]
                    yield FileEdit(at, self.next(), file, *sides, is_done and not is_refused, is_refused)
                file, removed, added = found[2].strip()[:MOST_PATH], [], []
            elif line.startswith("-"):
                removed.append(line[1:])
            elif line.startswith("+"):
                added.append(line[1:])


def text_of(given: Mapping[str, Any], *names: str) -> str:
    """Return the first of some fields that is a text; an empty one if none is."""
    return next((value for name in names if isinstance(value := given.get(name), str) and value), "")


def sides_of(given: Mapping[str, Any]) -> tuple[str, str]:
    """Return what an edit takes out and puts in."""
    several = given.get("edits")
    parts = [one for one in several if isinstance(one, Mapping)] if isinstance(several, list) else []
    parts = parts or [given]
    removed, added = ("\n".join(filter(None, (text_of(one, *names) for one in parts))) for names in (REMOVED, ADDED))
    return removed[:MOST_EDIT], added[:MOST_EDIT]


def _ends_of(text: str) -> str:
    """Return a text, of a very long one its beginning and its end."""
    half = MOST_TEXT // 2
    return text if len(text) <= MOST_TEXT else f"{text[:half]}\n{text[-half:]}"


def texts(content: object, *types: str) -> str:
    """Return the texts of a message: one text, or the text of each part; only parts of some types, if any are named."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    found = []
    for part in parts:
        if isinstance(part, str):
            found.append(part)
        elif isinstance(part, Mapping) and (not types or part.get("type") in types):
            found.append(text_of(part, "text"))
    return "\n".join(filter(None, found))


def time_text(value: object) -> str:
    """Return a time as ISO 8601 in UTC, from a text or a number of seconds or milliseconds; empty for anything else."""
    if isinstance(value, str):
        return value[:MOST_TIME]
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 10**14:
        seconds = value / 1000 if value > 10**11 else value
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return ""


def rows(path: Path, skips: Skips) -> Iterator[Mapping[str, Any]]:
    """Yield the objects in the lines of a file; anything else is counted."""
    with safe_files.opened(path) as file:
        while line := file.readline(MOST_LINE):
            if len(line) >= MOST_LINE and not line.endswith(b"\n"):
                skips["a line is too long"] += 1
                while (more := file.readline(MOST_LINE)) and not more.endswith(b"\n"):
                    pass
                continue
            if not line.strip():
                continue
            try:
                row = value_of(line)
            except orjson.JSONDecodeError:
                skips["a line is cut off" if not line.endswith(b"\n") else "a line is not JSON"] += 1
                continue
            if isinstance(row, Mapping):
                yield row
            else:
                skips["a line is not an object"] += 1


def document(path: Path, skips: Skips) -> Any:
    """Return the value of a file that is one JSON document; None where it is not one, which is counted."""
    data = safe_files.read(path, most=MOST_DOCUMENT + 1)
    if len(data) > MOST_DOCUMENT:
        skips["the file is too large"] += 1
        return None
    try:
        return value_of(data)
    except orjson.JSONDecodeError:
        skips["the file is not JSON"] += 1
        return None


def value_of(data: bytes) -> Any:
    """
    Return the value of JSON; half a sign in it becomes U+FFFD.

    Raises:
        orjson.JSONDecodeError: it is not JSON, or nested too deeply.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        if not LONE.search(data):
            raise
    return orjson.loads(LONE.sub(rb"\\ufffd", data))


def mapping(value: object) -> Mapping[str, Any]:
    """Return an object, also one in a text of JSON; an empty one for anything else."""
    if isinstance(value, str) and value.startswith("{"):
        try:
            value = value_of(value.encode())
        except orjson.JSONDecodeError:
            return {}
    return value if isinstance(value, Mapping) else {}


def first_with(found: Iterable[Mapping[str, Any]], *names: str) -> Callable[[str], str]:
    """Return a function that gives the first value of a field among some objects, empty if none has it."""
    values: dict[str, str] = {}
    for row in found:
        for name in names:
            if name not in values and (value := text_of(row, name)):
                values[name] = value
        if len(values) == len(names):
            break
    return lambda name: values.get(name, "")
