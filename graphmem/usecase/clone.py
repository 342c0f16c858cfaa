"""What git has to know in each clone: the merge driver and the diff driver of the store's files."""

import shlex
import sys
from pathlib import Path

from graphmem import git
from graphmem.errors import Unavailable
from graphmem.ledger.layout import Layout

BY_ITSELF = "git merge-file %A %O %B"  # what git does without a driver


def drivers() -> dict[str, str]:
    """Return the settings of git that make it merge and show data files, by name."""
    # Not ``-m`` alone: git runs this at the top of the working tree, and a branch could bring modules of its own.
    python = f"{shlex.quote(sys.executable)} -P -m graphmem"
    there = f"test -x {shlex.quote(sys.executable)}"  # an environment that is gone is no reason to merge worse than git
    return {
        "merge.graphmem.name": "graphmem: rows by key, then by field",
        "merge.graphmem.driver": f"if {there}; then {python} merge-driver %O %A %B %P; else {BY_ITSELF}; fi",
        "diff.graphmem.textconv": f'f() {{ if {there}; then {python} textconv "$1"; else cat "$1"; fi; }}; f',
    }


def unregistered(layout: Layout) -> list[str]:
    """Return which of git's settings this clone lacks; none outside a repository."""
    if not is_repository(layout.root):
        return []
    return [name for name, value in drivers().items() if said(layout.root, "config", "--local", "--get", name) != value]


def is_of_another(layout: Layout, name: str) -> bool:
    """Tell whether a setting is there that another installation of graphmem made, such as one in another venv."""
    return "graphmem" in (said(layout.root, "config", "--local", "--get", name) or "")


def register(layout: Layout) -> list[str]:
    """
    Make the settings that this clone lacks, and return their names.

    Raises:
        Unavailable: git does not take them.
    """
    missing = unregistered(layout)
    for name in missing:
        git.git(layout.root, "config", "--local", "--replace-all", name, drivers()[name])
    return missing


def is_repository(folder: Path) -> bool:
    """Tell whether a folder is in the working tree of a git repository; without git, none is."""
    return said(folder, "rev-parse", "--is-inside-work-tree") == "true"


def said(folder: Path, *arguments: str) -> str | None:
    """Return what git prints; None where it says no, is not installed, or the folder is in no repository."""
    try:
        return git.said(folder, *arguments)
    except Unavailable:
        return None
