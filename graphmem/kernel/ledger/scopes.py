"""The project's scopes: a TOML file each, read, checked and written."""

from pathlib import Path

import orjson
from pydantic import ValidationError

from graphmem.errors import Damaged, NotFound
from graphmem.kernel.finding import Code, Finding
from graphmem.kernel.ledger.codec import complaint
from graphmem.kernel.ledger.files.layout import Layout
from graphmem.kernel.model.scope import Scope
from graphmem.kernel.model.vocabulary import ANY
from graphmem.kernel.suggest import did_you_mean
from graphmem.kernel.system import foreign, safe_files
from graphmem.names import TYPE_NAME

SCOPE_BYTES = 64 * 1024  # bytes of the file of a scope
FORM = 'lists of kinds and entity types, such as read = ["failure", "pattern"] and write = ["failure"]'


def scope_of(layout: Layout, name: str) -> Scope:
    """
    Return a scope by its name.

    Raises:
        NotFound: no file has it.
        Damaged: its file cannot be read. Nothing may be read or written then: a scope limits.
    """
    path = file_of(layout, name)
    if not TYPE_NAME.fullmatch(name) or not safe_files.is_file(path):
        raise NotFound(f"no scope {name!r}", hint=did_you_mean(name, names_of(layout)) or "see: graphmem scope list")
    try:
        return _parse(path)
    except (ValueError, OSError) as error:
        raise Damaged(f"scopes/{path.name}: {error}", hint=f"it has {FORM}") from None


def file_of(layout: Layout, name: str) -> Path:
    """Return where the file of a scope is."""
    return layout.scopes / f"{name}.toml"


def names_of(layout: Layout) -> list[str]:
    """Return the names of the scopes, also of those whose files cannot be read."""
    return [path.stem for path in _scope_files(layout) if TYPE_NAME.fullmatch(path.stem)]


def _scope_files(layout: Layout) -> list[Path]:
    """Return the files of the scopes, in name order; links are not followed."""
    found = [layout.store / file for file in layout.look(layout.scopes).files]
    return sorted(path for path in found if path.suffix == ".toml" and path.parent == layout.scopes)


def read_scopes(layout: Layout, known: tuple[str, ...]) -> tuple[list[Scope], list[Finding]]:
    """
    Return the project's scopes, and what is wrong with their files.

    Args:
        known: the kinds and entity types that there are.
    """
    scopes: list[Scope] = []
    findings: list[Finding] = []
    for path in _scope_files(layout):
        file = f"scopes/{path.name}"
        try:
            made = _parse(path)
        except (ValueError, OSError) as error:
            findings.append(Finding.of(file, Code.BAD_SCOPE, str(error), FORM))
            continue
        scopes.append(made)
        for name in dict.fromkeys((*made.read, *made.write)):
            if name not in (*known, ANY):
                message = f"{name!r} is neither a kind nor an entity type"
                findings.append(Finding.of(file, Code.UNKNOWN_IN_SCOPE, message, did_you_mean(name, known) or ""))
    return scopes, findings


def _parse(path: Path) -> Scope:
    """Return the scope that a file describes, or raise ``ValueError``."""
    text = safe_files.text(path, SCOPE_BYTES)
    try:
        return Scope.model_validate({**foreign.toml(text), "name": path.stem})
    except ValidationError as error:
        raise ValueError(complaint(error)[0]) from None


def text_of(scope: Scope) -> bytes:
    """Return the file of a scope; texts and lists of texts are written alike in TOML and JSON."""
    values = scope.model_dump(exclude={"name"} if scope.description else {"name", "description"})
    return b"".join(f"{name} = ".encode() + orjson.dumps(value) + b"\n" for name, value in values.items())
