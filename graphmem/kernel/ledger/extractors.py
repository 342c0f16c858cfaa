"""The extractors of a project: Markdown files with front matter, read, checked and written, and what of them is run."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any

import orjson

from graphmem.kernel.finding import Code, Finding
from graphmem.kernel.ledger.files.layout import EXTRACTOR_FILE, Layout
from graphmem.kernel.ledger.types import BadType, parse, read_bounded, with_front_matter
from graphmem.kernel.model.extractor import Extractor
from graphmem.kernel.model.vocabulary import Vocabulary
from graphmem.kernel.system import safe_files
from graphmem.patterns import lazy_re

MOST_FILES = 200  # of a folder that a command names
OPTION_CHARACTERS = 200  # of a word that begins with -, in which a path is looked for
SEPARATORS = lazy_re(r"[\s;|&()<>\"'`,:=]+")
MODULE = lazy_re(r"\w+(\.\w+)*")
FORM = "front matter as docs/guides/extractors.md shows it"


def read_extractors(layout: Layout) -> tuple[dict[str, Extractor], list[Finding]]:
    """Return the project's extractors by name, and what is wrong with the files that give none."""
    found: dict[str, Extractor] = {}
    findings: list[Finding] = []
    for file in layout.look(layout.extractors).extractor_files:
        try:
            named = EXTRACTOR_FILE.fullmatch(file)
            if named is None:
                raise ValueError("the name of an extractor is a-z 0-9 - _, up to 64 characters")
            found[named[1]] = parse(read_bounded(layout.store / file).decode("utf-8-sig"), Extractor, FORM)
        except (ValueError, OSError) as error:
            findings.append(_fault(file, error))
    return found, findings


def _fault(file: str, error: Exception) -> Finding:
    """Report what is wrong with the file of an extractor, at the line that the parser names."""
    bad = error if isinstance(error, BadType) else BadType(str(error), FORM)
    return Finding.of(file, Code.BAD_EXTRACTOR, str(bad), bad.expected, line=bad.line)


def undeclared_in(extractor: Extractor, vocabulary: Vocabulary) -> list[str]:
    """Return what an extractor writes that neither an entity type nor a relation type declares."""
    return [name for name in extractor.writes if name not in {**vocabulary.entities, **vocabulary.linkable}]


def extractor_file(name: str, made: Extractor) -> dict[str, bytes]:
    """Return the Markdown file of an extractor, by its path below the store."""
    fields: Mapping[str, Any] = made.model_dump(mode="json", exclude_defaults=True, exclude={"prose"})
    return {f"extractors/{name}.md": with_front_matter(fields, made.prose)}


def text_to_trust(layout: Layout, name: str, extractor: Extractor) -> str:
    """
    Return what one trusts who lets an extractor run: its command, and the content of what this names in the project.

    It is JSON. What these files load themselves is not in it; where ``files`` is empty, the words alone are trusted.
    """
    files = {part: digest for part, path in _files_named(layout.root, extractor) if (digest := _digest_of(path))}
    found = {"name": name, "command": extractor.command, "cwd": extractor.cwd, "files": files}
    return orjson.dumps(found, option=orjson.OPT_SORT_KEYS).decode()


def _files_named(root: Path, extractor: Extractor) -> Iterator[tuple[str, Path]]:
    """
    Yield what may be a file or folder of the project in a command.

    A path counts where it is in the project as it is written, or as the system follows its links: a branch can bring
    links that lead in and out. The root itself is what a program looks through, and is not hashed.
    """
    written_root, real_root = os.path.normpath(root), os.path.realpath(root)
    for part in dict.fromkeys(part for word in extractor.command for part in _parts_of(word)):
        path = os.path.join(root, extractor.cwd, part)
        written, real = Path(os.path.normpath(path)), Path(os.path.realpath(path))
        is_inside = written.is_relative_to(written_root) or real.is_relative_to(real_root)
        if is_inside and str(real) != real_root:
            yield part, real


def _parts_of(word: str) -> Iterator[str]:
    """Yield what in a word of a command may be a path: all of it, a word of a shell in it, what an option begins."""
    for part in (word, *filter(None, SEPARATORS.split(word))):
        yield part
        if part.startswith("-"):
            yield from (part[n:] for n in range(1, min(len(part), OPTION_CHARACTERS)))
        if MODULE.fullmatch(part):  # of `python -m`
            yield part.replace(".", "/")
            yield f"{part.replace('.', '/')}.py"


def _digest_of(path: Path) -> str | None:
    """Return the SHA-256 of a file, or of all files of a folder; None where nothing is there."""
    if path.is_dir():
        return _digest_of_folder(path)
    try:
        with safe_files.opened(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _digest_of_folder(path: Path) -> str:
    """Return the SHA-256 of the names and contents of the files of a folder, or that it is too large for that."""
    found: list[tuple[str, str | None]] = []
    for folder, entries in safe_files.tree(path):
        if {".git", "__pycache__"}.isdisjoint(Path(folder).relative_to(path).parts):
            for entry in entries:
                place = Path(folder, entry.name)
                if not entry.is_dir(follow_symlinks=False):
                    found.append((os.path.relpath(place, path), _digest_of(Path(os.path.realpath(place)))))
                if len(found) > MOST_FILES:
                    return f"not looked at: it has more than {MOST_FILES} files"
    return hashlib.sha256(orjson.dumps(sorted(found, key=itemgetter(0)))).hexdigest()
