"""Where coding agents keep their transcripts, and whose transcript a file is."""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import orjson

from graphmem.features.harvest.slugs import as_cursor, folders, is_only, names_other
from graphmem.features.harvest.transcripts import claude_code, codex, gemini, opencode, other
from graphmem.features.harvest.transcripts.session import ForeignSession, Skips, text_of, value_of
from graphmem.kernel.system import safe_files

Reader = Callable[[Path, Skips], Iterator[ForeignSession]]
READERS: Mapping[str, Reader] = {
    "claude-code": claude_code.read,
    "codex": codex.read,
    "codex-history": codex.read_history,
    "gemini": gemini.read,
    "opencode": opencode.read,
    "opencode-files": opencode.read_files,
    "cursor": claude_code.read_cursor,
    "cline": claude_code.read_cline,
    "roo": lambda path, skips: claude_code.read_cline(path, skips, "roo"),
    "pi": claude_code.read_pi,
    "copilot": other.read_copilot,
    "deepseek": other.read_deepseek,
    "aider": other.read_aider,
}
CLIENTS = ("claude-code", "codex", "gemini", "opencode", "cursor", "cline", "roo", "pi", "copilot", "deepseek", "aider")
ENDS = (".jsonl", ".json", ".db", ".md")
AIDER = ".aider.chat.history.md"
DEEP = 6  # folders below a place that are looked into
MOST_FILES = 50_000  # in a place
HEAD_BYTES = 65_536  # of a file that are looked at to tell whose it is
SQLITE = b"SQLite format 3\x00"
OF_CLAUDE = frozenset(
    ("user", "assistant", "summary", "system", "progress", "file-history-snapshot", "queue-operation")
)


class TranscriptFile(NamedTuple):
    """
    A file that may hold sessions.

    Attributes:
        reader: a key of ``READERS``.
        folder: where its sessions worked, if its place says so and its lines do not; else empty.
    """

    path: Path
    reader: str
    folder: str = ""

    @property
    def client(self) -> str:
        """Return whose transcript it is; empty for a file of no known form."""
        return next((client for client in CLIENTS if self.reader.startswith(client)), "")

    def state(self) -> tuple[int, int] | None:
        """
        Return what changes when the sessions go on, also in the files beside it; None if it is not a regular file.

        Returns:
            The bytes of the file, and when it was changed last, in nanoseconds since 1970.
        """
        if (found := safe_files.stat_of(self.path)) is None:
            return None
        beside: Iterable[Path] = ()
        if self.reader == "opencode":
            beside = [self.path.with_name(f"{self.path.name}-wal")]  # what SQLite writes first
        elif self.reader == "opencode-files":
            beside = opencode.changing(self.path)
        return found.st_size, max([found.st_mtime_ns, *(_changed_at(path) for path in beside)])


def _changed_at(path: Path) -> int:
    """Return when a file or a folder was changed last, in nanoseconds since 1970; 0 if it is missing."""
    try:
        return path.lstat().st_mtime_ns
    except OSError:
        return 0


def usual(home: Path, variables: Mapping[str, str], roots: Sequence[Path]) -> Iterator[TranscriptFile]:
    """
    Yield the transcripts at the usual places of all clients, also those of other projects.

    Args:
        home: the home folder of the user.
        variables: of the environment; some clients are configured by them.
        roots: the folders of this repository, one a worktree: some places are named after the folder.
    """
    config = Path(variables.get("XDG_CONFIG_HOME") or home / ".config")
    data = Path(variables.get("XDG_DATA_HOME") or home / ".local/share")
    claude = Path(variables.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    for folder in (claude, config / "claude"):
        yield from (TranscriptFile(path, "claude-code") for path in _below(folder / "projects", ".jsonl"))
    code = Path(variables.get("CODEX_HOME") or home / ".codex")
    for name in ("sessions", "archived_sessions"):
        yield from (TranscriptFile(path, "codex") for path in _below(code / name, ".jsonl"))
    yield from _of_gemini(home / ".gemini" / "tmp", roots)
    yield from (TranscriptFile(path, "opencode") for path in _below(data / "opencode", ".db", deep=1))
    storage = data / "opencode/storage/session"
    yield from (TranscriptFile(path, "opencode-files") for path in _below(storage, ".json", deep=1))
    yield from _of_cursor(home / ".cursor" / "projects", roots)
    for name in ("Code", "Code - Insiders", "VSCodium", "Cursor"):
        for base in (config / name, home / "Library/Application Support" / name):
            extensions = base / "User/globalStorage"
            yield from _of_tasks(extensions / "saoudrizwan.claude-dev" / "tasks", "cline")
            yield from _of_tasks(extensions / "rooveterinaryinc.roo-cline" / "tasks", "roo")
    yield from (TranscriptFile(path, "pi") for path in _below(home / ".pi/agent/sessions", ".jsonl"))
    yield from (
        TranscriptFile(path, "copilot")
        for path in _below(home / ".copilot/session-state", ".jsonl")
        if path.name == "events.jsonl" or path.parent.name == "session-state"
    )
    yield from (TranscriptFile(path, "deepseek") for path in _below(home / ".deepseek/sessions", ".jsonl"))
    for root in roots:
        if safe_files.is_file(root / AIDER):
            yield TranscriptFile(root / AIDER, "aider", str(root))


def _of_gemini(place: Path, roots: Sequence[Path]) -> Iterator[TranscriptFile]:
    """Yield the chats of Gemini CLI: their folder is the hash of the project's path, or holds a file that names it."""
    hashes = {hashlib.sha256(str(root).encode()).hexdigest(): str(root) for root in roots}
    for folder in folders(place):
        named = folder / ".project_root"
        root = hashes.get(folder.name, "")
        if not root and safe_files.is_file(named):
            root = safe_files.read(named, most=4_096).decode("utf-8", "replace").strip()
        for path in (*_below(folder / "chats", ".json"), *_below(folder / "chats", ".jsonl")):
            yield TranscriptFile(path, "gemini", root or str(folder))


def _of_cursor(place: Path, roots: Sequence[Path]) -> Iterator[TranscriptFile]:
    """Yield the transcripts of Cursor: their folder is the project's path; empty where it may be another's."""
    known = {as_cursor(str(root)): str(root) if is_only(str(root), as_cursor) else "" for root in roots}
    for folder in folders(place):
        root = known.get(folder.name.strip("-"), str(folder))
        for path in _below(folder / "agent-transcripts", ".jsonl"):
            yield TranscriptFile(path, "cursor", "" if names_other(path, root) else root)


def _of_tasks(place: Path, reader: str) -> Iterator[TranscriptFile]:
    """Yield the conversations of Cline and of what was made from it."""
    for path in _below(place, ".json", deep=2):
        if path.name == "api_conversation_history.json":
            yield TranscriptFile(path, reader)


def _below(place: Path, end: str, deep: int = DEEP) -> Iterator[Path]:
    """Yield the regular files below a folder whose names end so, in order; no link is followed."""
    left = MOST_FILES
    for folder, found, files in os.walk(place, followlinks=False):
        found[:] = sorted(found) if len(Path(folder).relative_to(place).parts) < deep else []
        for name in sorted(files):
            path = Path(folder) / name
            if name.endswith(end) and not path.is_symlink():
                yield path
                left -= 1
                if not left:
                    return


def given(path: Path) -> Iterator[TranscriptFile]:
    """Yield the transcripts of a file or a folder; those of no known form with an empty reader."""
    if path.is_dir() and not path.is_symlink():
        for end in ENDS:
            for found in _below(path, end):
                if reader := reader_of(found):
                    yield TranscriptFile(found, reader)
        return
    yield TranscriptFile(path, reader_of(path))


def reader_of(path: Path) -> str:
    """Return the key of the reader of a file, by what it holds; empty for a file of no known form."""
    if path.name == AIDER:
        return "aider"
    if path.name == "api_conversation_history.json":
        return "roo" if "roo" in str(path.parent).lower() else "cline"
    try:
        head = safe_files.read(path, most=HEAD_BYTES)
    except OSError:
        return ""
    if head.startswith(SQLITE):
        return "opencode"
    if path.suffix == ".json" and path.parent.parent.name == "session" and b'"directory"' in head:
        return "opencode-files"
    if path.suffix == ".json":
        return "gemini" if b'"sessionId"' in head and b'"messages"' in head else ""
    for line in head.splitlines()[:20]:
        try:
            row = value_of(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(row, dict) and (found := _reader_of_row(row)):
            return found
    return ""


def _reader_of_row(row: Mapping[str, object]) -> str:
    """Return the key of the reader of a file by one of its first lines; empty where the line is of no known form."""
    kind = text_of(row, "type")
    if kind in ("session_meta", "response_item"):
        return "codex"
    if kind == "session.start":
        return "copilot"
    if kind == "session":
        return "deepseek" if "createdAt" in row else "pi"
    if {"session_id", "ts", "text"} <= row.keys():
        return "codex-history"
    if "sessionId" in row and ("startTime" in row or "projectHash" in row):
        return "gemini"
    if kind in OF_CLAUDE and ({"sessionId", "message", "leafUuid", "snapshot"} & row.keys()):
        return "claude-code"
    if {"role", "message"} <= row.keys():
        return "cursor"
    return ""
