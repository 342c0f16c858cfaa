"""Paths on the command line: relative to the current folder there, from the project's root in the memory."""

import os
from pathlib import Path

from graphmem.doors.cli.caller import Invocation
from graphmem.errors import BadInput
from graphmem.kernel.model.cite import FORM
from graphmem.kernel.system.surroundings import current_folder


def files(invocation: Invocation, given: list[str] | None, *, is_missing_ok: bool) -> list[str] | None:
    """
    Return paths of files as records have them.

    Raises:
        BadInput: one is outside of the project, or is not there and need not be missing.
    """
    if given is None:
        return None
    root = invocation.memory.store.client.root
    found = [from_root(root, path) for path in given]
    for path, text in zip(found, given, strict=True):
        if not is_missing_ok and not os.path.lexists(root / path):
            elsewhere = os.path.relpath(root / text, current_folder()) if os.path.lexists(root / text) else None
            hint = f"{elsewhere!r} would be" if elsewhere else "--missing-ok accepts a file that does not exist yet"
            raise BadInput(f"file {text!r} is not there", hint=hint, details={"field": "files"})
    return found


def cites(invocation: Invocation, given: list[str] | None) -> list[str] | None:
    """Return cites with their paths as records have them; other texts stay as they are, and are refused later."""
    if given is None:
        return None
    root = invocation.memory.store.client.root
    parsed = [(text, FORM.fullmatch(text)) for text in given]
    return [from_root(root, form["path"]) + text[form.end("path") :] if form else text for text, form in parsed]


def from_root(root: Path, path: str) -> str:
    """Return a path from the project's root; outside of the project a relative one already begins there."""
    real, here = os.path.realpath(root), os.path.realpath(current_folder())
    is_inside = Path(here).is_relative_to(real)
    whole = os.path.normpath(os.path.join(here if is_inside else real, path))
    for base in (real, str(root)):  # an absolute path may name the project by a link
        if Path(whole).is_relative_to(base):
            return Path(whole).relative_to(base).as_posix()
    raise BadInput(f"{path!r} is outside of the project", hint=f"the project is {str(root)!r}")
