"""What git has to know in each clone: the merge driver and the diff driver of the store's files."""

import os
import shlex
import sys

from graphmem.kernel.git import commands
from graphmem.kernel.git.merge_driver import CONFLICTS, FRESH
from graphmem.kernel.ledger.files.layout import Layout
from graphmem.kernel.settings.interpreters import interpreters, note_interpreter


def drivers(python: str | None = None) -> dict[str, str]:
    """Return the settings of git that make it merge and show data files; ``python`` is a word of a shell in them."""
    python = python or word_of(sys.executable)
    # Not ``-m`` alone: git runs this at the top of the working tree, and a branch could bring modules of its own.
    run = f"{python} -P -m graphmem"
    # Whatever ends the driver, git would take our version for the merge: what it did not merge, git merges by lines.
    merge = (
        f"{run} merge-driver %O %A %B %P; s=$?; case $s in 0|{CONFLICTS}) exit $s;; esac;"
        f" git merge-file -p %A %O %B >%A{FRESH}; s=$?; test $s -lt {commands.ERROR_STATUS} && mv -f %A{FRESH} %A;"
        f" rm -f %A{FRESH}; test $s = 0"
    )
    return {
        "merge.graphmem.name": "graphmem: rows by key, then by field",
        "merge.graphmem.driver": merge,
        "diff.graphmem.textconv": f'f() {{ {run} textconv "$1" || cat "$1"; }}; f',
    }


def unregistered(layout: Layout) -> dict[str, str]:
    """Return which of git's settings this clone lacks, each with what is wrong; none outside a repository."""
    if layout.home or not commands.is_in_working_tree(layout.root):
        return {}
    output_of = (
        commands.git(layout.root, "config", "--local", "-z", "--get-regexp", r"^(merge|diff)\.graphmem\.") or b""
    )
    entries = (entry.partition("\n") for entry in output_of.decode("utf-8", "surrogateescape").split("\0"))
    found = {name: value for name, _, value in entries}
    wrong = {name: _fault(name, found.get(name), value) for name, value in drivers().items()}
    return {name: what for name, what in wrong.items() if what is not None}


def _fault(name: str, found: str | None, right: str) -> str | None:
    """Return what is wrong with a setting; nothing where another environment of this user made it."""
    if found is None:
        return "is not set"
    if found == right:
        return None
    before, _, after = drivers("PYTHON")[name].partition("PYTHON")
    if not (after and found.startswith(before) and found.endswith(after)):
        return "is not as this version of graphmem sets it"
    python = found[len(before) : len(found) - len(after)]
    # Nothing that the file names is started to find out: a repository can come with a file of its own.
    if any(python == word_of(one) and os.access(one, os.X_OK) for one in interpreters()):
        return None
    return f"names a Python that is gone, or that did not run graphmem init: {python.replace('%%', '%')}"


def word_of(python: str) -> str:
    """Return the path of a Python as a word of a shell in a setting of git, which takes ``%`` for its own."""
    return shlex.quote(python).replace("%", "%%")


def register(layout: Layout) -> list[str]:
    """
    Make the settings that this clone lacks, and return their names.

    Raises:
        Unavailable: git does not take them.
    """
    note_interpreter()
    missing = list(unregistered(layout))
    for name in missing:
        commands.git(layout.root, "config", "--local", "--replace-all", name, drivers()[name])
    return missing
