"""
Scripts: what a check runs that names a script of the project, such as ``npm run lint`` or ``make test``.

A script with variables, one that needs another one first, and one whose status does not count are not read.
"""

import json
import re
from pathlib import Path
from posixpath import join

from graphmem.core.evidence.citations import Unread, content_of
from graphmem.core.logs.check import CheckCommand
from graphmem.patterns import lazy_re

MOST_BYTES = 1_000_000  # of a file with scripts
PACKAGES = frozenset("npm pnpm yarn bun".split())
FILES = {"make": ("Makefile", "makefile", "GNUmakefile"), "just": ("justfile", "Justfile", ".justfile")}
UNREAD = lazy_re(r"\$|\{\{|`|(?:^|&& )-")  # a variable, or a line of make whose status is left aside


def script_of(root: Path, check: CheckCommand) -> str | None:
    """
    Return the command line of the script that a check names, or None.

    Args:
        root: of the project. The folder of the check is below it.
    """
    program, _, name = check.name.partition(" ")
    if not name or check.targets or check.filters or check.options:
        return None
    if program in PACKAGES:
        found = _of_package(_text_of(root, join(check.folder, "package.json")), name)
    else:
        files = (_text_of(root, join(check.folder, file)) for file in FILES.get(program, ()))
        found = _recipe(next(filter(None, files), ""), name)
    return None if found is None or UNREAD.search(found) else found


def _of_package(text: str, name: str) -> str | None:
    """Return a script of a ``package.json``; None where another one runs before or after it."""
    try:
        scripts = json.loads(text or "{}")["scripts"]
        found = scripts[name]
        is_alone = f"pre{name}" not in scripts and f"post{name}" not in scripts
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return found if isinstance(found, str) and is_alone else None


def _recipe(text: str, name: str) -> str | None:
    """Return the recipe of a target of make or just that needs no other one."""
    found = re.search(rf"(?m)^{re.escape(name)}[ \t]*:[ \t]*(?:#.*)?\n((?:[ \t]+\S.*(?:\n|$))+)", text)
    return " && ".join(line.strip().lstrip("@") for line in found[1].splitlines()) if found else None


def _text_of(root: Path, path: str) -> str:
    """Return the text of a file of the project; nothing where it is not there or not read."""
    try:
        return (content_of(root, path, MOST_BYTES) or b"").decode("utf-8", "replace")
    except Unread:
        return ""
