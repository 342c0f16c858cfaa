"""
Notes for agents: the files in which a project and its tools keep what agents should know, and what each of them says.

Known are the files of Claude Code, Codex, Gemini CLI, Cursor, Copilot, Windsurf and Cline, the memory folders of Claude
Code and Serena, decision records, bundles of Open Knowledge Format, and the packets of Kage.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from graphmem.constants import IMPORT_NOTE_BYTES
from graphmem.core.foreign import okf
from graphmem.core.foreign.note_items import REASON, TEXT, ItemKind, NoteItem, adr_of, items_of, memory_of
from graphmem.core.foreign.notes import parsed
from graphmem.core.foreign.reading import Source, one_line
from graphmem.features.harvest.slugs import as_claude, is_only, names_other
from graphmem.kernel.system import foreign, safe_files
from graphmem.patterns import lazy_re

NoteForm = Literal["markdown", "adr", "memory", "kage", "okf"]
FILES = (
    "AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", ".cursorrules", ".windsurfrules", ".clinerules",
    ".github/copilot-instructions.md", ".claude/CLAUDE.md",
)  # fmt: skip
ANYWHERE = frozenset(("AGENTS.md", "CLAUDE.md", "GEMINI.md"))  # names that are notes in any folder of a project
FOLDERS: Mapping[str, NoteForm] = {
    ".cursor/rules": "markdown", ".clinerules": "markdown", ".windsurf/rules": "markdown",
    ".github/instructions": "markdown", ".claude/rules": "markdown", ".serena/memories": "markdown",
    "docs/adr": "adr", "docs/adrs": "adr", "doc/adr": "adr", "docs/decisions": "adr",
    ".agent_memory/packets": "kage",
}  # fmt: skip
LOADED = (".cursor/rules", ".clinerules", ".windsurf/rules", ".github/instructions", ".claude/rules")
OF_DECISIONS = lazy_re(r"(?:^|/)(?:adrs?|(?:architecture[-_])?decisions?(?:[-_]records?)?)$", re.IGNORECASE)
ENDS = (".md", ".mdc", ".markdown", ".json")
NO_RECORD = lazy_re(r"^(?:readme|index|template|.*[-_]template|0000-.*)$", re.IGNORECASE)  # beside decision records
WORKED_IN = lazy_re(rb'"cwd": ?("(?:[^"\\]|\\.)*")')
HEAD_BYTES = 65_536  # of a transcript, that are looked at to tell where it worked
ALIKE = "may be of another folder: its path is written alike; name the file to read it"
MOST_FILES = 2_000
MOST_DEEP = 4  # folders below one that is given or known
# What Kage calls a packet, and what it is here; what it makes by itself of a diff or a folder is nothing.
OF_KAGE: Mapping[object, ItemKind] = {
    "decision": "decision", "rationale": "decision", "convention": "constraint", "policy": "constraint",
    "bug_fix": "pattern", "gotcha": "pattern", "runbook": "pattern",
}  # fmt: skip


class NoteFile(NamedTuple):
    """
    A file of notes, or a bundle of them.

    Attributes:
        name: the path below the project, or as the user knows it.
        doubt: why it may be of another project; it is not read then.
    """

    path: Path
    name: str
    form: NoteForm
    doubt: str = ""


def _decision_records(root: Path, real: str, tracked: Sequence[str]) -> Iterator[NoteFile]:
    """Yield the decision records that git knows, in folders of their usual names, wherever these are."""
    for name in tracked:
        folder, _, file = name.rpartition("/")
        stem, end = os.path.splitext(file)
        is_known = any(f"{folder}/".startswith(f"{one}/") for one in FOLDERS)
        is_record = OF_DECISIONS.search(folder) and end in ENDS[:3] and not NO_RECORD.match(stem)
        if is_record and not is_known and _is_below(root / name, real) and safe_files.is_file(root / name):
            yield NoteFile(root / name, name, "adr")


def usual(root: Path, home: Path, tracked: Sequence[str]) -> Iterator[NoteFile]:
    """
    Yield the notes of a project, at their usual places.

    Args:
        home: the home folder of the user, where Claude Code keeps a memory folder for each project.
        tracked: the files of the project that git knows.
    """
    real = os.path.realpath(root)
    names = [*FILES, *(name for name in tracked if name.rpartition("/")[2] in ANYWHERE)]
    yield from _decision_records(root, real, tracked)
    for name in dict.fromkeys(names):
        if _is_below(root / name, real) and safe_files.is_file(root / name):
            yield NoteFile(root / name, name, "markdown")
    for folder, form in FOLDERS.items():
        for path in below(root / folder) if _is_below(root / folder / "x", real) else ():
            yield NoteFile(path, path.relative_to(root).as_posix(), form)
    place = home / ".claude" / "projects" / as_claude(real)
    doubt = "" if is_only(real, as_claude) and _is_named(place, real) else ALIKE
    for path in below(place / "memory"):
        yield NoteFile(
            path, f"~/{path.relative_to(home).as_posix()}", "memory", doubt or ALIKE * names_other(path, real)
        )


def is_loaded(name: str) -> bool:
    """Return whether an agent loads a file of notes by itself: then a record of what it says tells it nothing new."""
    folder, _, file = f"/{name}".rpartition("/")
    is_rule = any(f"{folder}/".startswith(f"/{one}/") for one in LOADED)
    return is_rule or name in FILES or file in ANYWHERE or (folder.endswith("/memory") and file == "MEMORY.md")


def _is_named(place: Path, real: str) -> bool:
    """Return whether the transcripts in a folder name no folder but a project, as those of one that is gone would."""
    for path in safe_files.files(place):
        if path.suffix == ".jsonl" and (found := WORKED_IN.search(safe_files.read(path, most=HEAD_BYTES))):
            folder = foreign.json(found[1].decode("utf-8", "replace"))
            if not _is_below(Path(folder) / "x", real):
                return False
    return True


def _is_below(path: Path, real: str) -> bool:
    """Return whether the folder of a path lies in a project, through no link that leads elsewhere."""
    folder = os.path.realpath(path.parent)
    return folder == real or folder.startswith(f"{real}/")


def given(path: Path, root: Path) -> Iterator[NoteFile]:
    """Yield the notes of a file or a folder that was named: a bundle as a whole, else each file."""
    if not safe_files.is_folder(path) or path.is_symlink():
        yield NoteFile(path, named(path, root), _form_of(path, root))
    elif okf.is_meant(Source(path)) and _form_of(path / "x", root) != "kage":
        yield NoteFile(path, named(path, root), "okf")
    else:
        for found in below(path):
            yield NoteFile(found, named(found, root), _form_of(found, root))


def named(path: Path, root: Path) -> str:
    """Return the path of a file below a project, or as it is."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def _form_of(path: Path, root: Path) -> NoteForm:
    """Return what the folder of a file says about its form."""
    folder = f"/{named(path.parent, root)}/"
    if "/.claude/projects/" in folder and path.parent.name == "memory":
        return "memory"
    return next((form for known, form in FOLDERS.items() if f"/{known}/" in folder), FOLDERS[".clinerules"])


def below(folder: Path, deep: int = MOST_DEEP) -> Iterator[Path]:
    """Yield the notes in a folder and those below it, in order; no link is followed."""
    left = MOST_FILES
    for place, entries in safe_files.tree(folder) if os.path.isdir(folder) and not folder.is_symlink() else ():
        if len(Path(place).relative_to(folder).parts) > deep:
            continue
        for entry in entries:
            if entry.is_file(follow_symlinks=False) and entry.name.lower().endswith(ENDS):
                yield Path(place, entry.name)
                left -= 1
                if not left:
                    return


def read(file: NoteFile) -> list[NoteItem]:
    """
    Return what a file of notes says.

    Raises:
        OSError: it cannot be read, or is a link.
        ValueError: it is too large, no text, in doubt, or its front matter is not what front matter is.
    """
    if file.doubt:
        raise ValueError(file.doubt)
    if file.form == "okf":
        return list(_of_bundle(Source(file.path)))
    data = safe_files.read(file.path, most=IMPORT_NOTE_BYTES + 1)
    if len(data) > IMPORT_NOTE_BYTES:
        raise ValueError(f"has more than {IMPORT_NOTE_BYTES:,} bytes")
    if b"\0" in data:
        raise ValueError("is binary")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None
    if file.form == "kage":
        return list(_of_kage(text, file.path))
    if file.form == "adr":
        is_record = file.path.suffix == ".md" and not NO_RECORD.match(file.path.stem)
        return list(filter(None, [adr_of(text, _front_of(file.path))])) if is_record else []
    if file.form == "memory" and (item := memory_of(text, _front_of(file.path))):
        return [item]
    return list(items_of(text))


def _front_of(path: Path) -> Mapping[str, Any]:
    """Return the front matter of a file; none where it is damaged: the text below it is read all the same."""
    try:
        return parsed(path)[0]
    except ValueError:
        return {}


def _of_bundle(source: Source) -> Iterator[NoteItem]:
    """Yield the decisions, patterns and constraints of a bundle of Open Knowledge Format."""
    for draft in okf.read(source).drafts:
        row = draft.row
        kind = row.get("kind")
        if row.get("archived_at"):
            continue
        if kind == "decision":
            yield NoteItem(draft.place, 1, "decision", _said(row, "decision"), _said(row, "reasoning", REASON))
        elif kind == "pattern":
            yield NoteItem(draft.place, 1, "pattern", _said(row, "trigger"), _said(row, "insight", REASON))
        elif kind == "constraint":
            yield NoteItem(draft.place, 1, "constraint", _said(row, "constraint"))


def _of_kage(text: str, path: Path) -> Iterator[NoteItem]:
    """Yield what a packet of Kage says: JSON, or Markdown whose front matter has fields ``x-kage-…``."""
    if text.lstrip().startswith("{"):
        packet: Any = foreign.json(text)
    else:
        front, body = parsed(path)
        # Below the title, the text; from the first section on, what Kage keeps for itself.
        lines = [line for line in body.partition("\n## ")[0].splitlines() if not line.startswith(("#", ">"))]
        own = {"type": "x-kage-type", "status": "x-kage-status", "paths": "x-kage-paths"}
        packet = {"title": front.get("title"), "body": "\n".join(lines).strip()}
        packet |= {name: front.get(known) for name, known in own.items()}
    kind = OF_KAGE.get(packet.get("type")) if isinstance(packet.get("type"), str) else None
    if kind is None or packet.get("status") not in ("approved", None):
        return
    title, more = _said(packet, "title"), _said(packet, "body", REASON)
    paths = packet.get("paths")
    files = tuple(one for one in paths if isinstance(one, str))[:8] if isinstance(paths, list) else ()
    if title and (more or kind != "pattern"):
        whole = f"{title}: {one_line(more)}"[:TEXT] if kind == "constraint" and more else title
        yield NoteItem("", 1, kind, whole, "" if kind == "constraint" else more, files)


def _said(row: Mapping[str, Any], name: str, most: int = TEXT) -> str:
    """Return a text of a row, within bounds; empty for any other value."""
    value = row.get(name)
    return value.strip()[:most] if isinstance(value, str) else ""
