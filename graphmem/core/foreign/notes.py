"""A folder of Markdown files with front matter, as several tools keep one."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from graphmem.constants import IMPORT_FILES, IMPORT_NOTE_BYTES
from graphmem.core.foreign.reading import ForeignInput, Source
from graphmem.errors import Refused
from graphmem.kernel.ndjson import Row
from graphmem.kernel.system import foreign, safe_files
from graphmem.names import has_hidden
from graphmem.patterns import lazy_re

LOOKED_AT = 50  # notes of a folder, by which its format is recognised
LINK = lazy_re(r"\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)")
WORDS = lazy_re(r"[a-z][a-z _-]{0,60}")  # a text of front matter that needs no quotes
FENCED = lazy_re(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class MarkdownNote:
    """
    A Markdown file of a folder.

    Args:
        path: below the folder, without ``.md``.
        place: of the file, for messages.
        front: what its front matter says; empty where it has none.
    """

    path: str
    place: str
    front: Row
    body: str

    @property
    def links(self) -> list[str]:
        """The paths of the notes that it links to, each once, as paths below the folder."""
        found = dict[str, None]()
        for target in LINK.findall(FENCED.sub("", self.body)):
            path = target.partition("#")[0]
            if "://" not in target and path.endswith(".md"):
                start = PurePosixPath() if path.startswith("/") else PurePosixPath(self.path).parent
                found[_normal(start / path.lstrip("/")).removesuffix(".md")] = None
        return [path for path in found if path != self.path]


def _normal(path: PurePosixPath) -> str:
    """Return a path without ``..``; one that leads out of its folder begins with it."""
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def _files_of(source: Source) -> Iterator[Path]:
    """Yield the files of a folder and those below it, without links and hidden ones."""
    if not source.is_folder:
        return
    for folder, entries in safe_files.tree(source.path):
        if any(part.startswith(".") for part in Path(folder).relative_to(source.path).parts):
            continue
        for entry in entries:
            if entry.is_file(follow_symlinks=False) and not entry.name.startswith("."):
                yield Path(folder, entry.name)


def fronts(source: Source) -> Iterator[Row]:
    """Yield the front matter of the first notes of a folder."""
    notes = (path for path in _files_of(source) if path.suffix == ".md")
    for path in islice(notes, LOOKED_AT):
        try:
            yield parsed(path)[0]
        except (OSError, ValueError):
            continue


def notes_of(source: Source, reading: ForeignInput) -> Iterator[MarkdownNote]:
    """Yield the notes of a folder; any other file, and what cannot be read, is counted and skipped."""
    for number, path in enumerate(_files_of(source)):
        if number >= IMPORT_FILES:
            raise Refused(f"{source.name!r} holds more than {IMPORT_FILES:,} files", hint="import its folders in turn")
        place = path.relative_to(source.path).as_posix()
        if path.suffix != ".md":
            reading.read["other file"] += 1
            reading.skip(place, "it is not a Markdown file")
            continue
        try:
            front, body = parsed(path)
        except (OSError, ValueError) as error:
            reading.read["other file"] += 1
            reading.skip(place, f"it cannot be read: {error}")
            continue
        yield MarkdownNote(place.removesuffix(".md"), place, front, body)


def parsed(path: Path) -> tuple[Row, str]:
    """
    Return the front matter and the text of a Markdown file.

    Raises:
        ValueError: it is too large, no UTF-8, or its front matter is not what front matter is.
    """
    data = safe_files.read(path, most=IMPORT_NOTE_BYTES + 1)
    if len(data) > IMPORT_NOTE_BYTES:
        raise ValueError(f"it has more than {IMPORT_NOTE_BYTES:,} bytes")
    text = data.decode("utf-8-sig").replace("\r\n", "\n")
    if not text.startswith("---\n"):
        return {}, text.strip("\n")
    head, mark, body = text[4:].partition("\n---\n")
    if not mark:
        head, mark, body = text[4:].removesuffix("\n").removesuffix("\n---"), "", ""
    return _front_of(head), body.strip("\n")


def _front_of(text: str) -> Row:
    """Return what front matter says, as JSON has it."""
    import yaml  # noqa: PLC0415 - 25 ms that only notes need

    try:
        found = foreign.yaml(text)
    except yaml.YAMLError as error:
        raise ValueError(f"its front matter is not YAML: {' '.join(str(error).split())[:200]}") from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise ValueError("its front matter is not a list of `name: value` lines")
    made: Row = json.loads(json.dumps(found, default=_as_json))
    return made


def front_text(front: Row) -> str:
    """Return front matter as a page begins with it: a text that could be read as something else is quoted."""
    import yaml  # noqa: PLC0415 - as above

    class FrontDumper(yaml.SafeDumper):
        """Quotes what is not a few plain words."""

    def represent(dumper: FrontDumper, text: str) -> yaml.Node:
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, None if WORDS.fullmatch(text) else '"')

    FrontDumper.add_representer(str, represent)
    made: str = yaml.dump(front, Dumper=FrontDumper, sort_keys=False, allow_unicode=True, width=1_000_000)
    if has_hidden(made):
        made = yaml.dump(front, Dumper=FrontDumper, sort_keys=False, allow_unicode=False, width=1_000_000)
    return f"---\n{made}---"


def _as_json(value: Any) -> Any:
    """Return a value of YAML that JSON does not have: a time as a text, anything else as it is printed."""
    return value.isoformat() if isinstance(value, date | datetime) else str(value)
