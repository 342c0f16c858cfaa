"""What git has to know in each clone: the merge driver and the diff driver of the store's files."""

import shlex
import subprocess
import sys
from pathlib import Path

from graphmem.errors import Unavailable
from graphmem.ledger.layout import Layout

GIT = "git merge-file %A %O %B"  # what git does by itself


def drivers() -> dict[str, str]:
    """Return the settings of git that make it merge and show data files, by name."""
    # Not ``-m`` alone: git runs this at the top of the working tree, and a branch could bring modules of its own.
    python = f"{shlex.quote(sys.executable)} -P -m graphmem"
    there = f"test -x {shlex.quote(sys.executable)}"  # an environment that is gone is no reason to merge worse than git
    return {
        "merge.graphmem.name": "graphmem: rows by key, then by field",
        "merge.graphmem.driver": f"if {there}; then {python} merge-driver %O %A %B %P; else {GIT}; fi",
        "diff.graphmem.textconv": f"{python} textconv",
    }


def unregistered(layout: Layout) -> list[str]:
    """Return which of git's settings this clone lacks; none outside a repository."""
    if not is_repository(layout.root):
        return []
    return [name for name, value in drivers().items() if git(layout.root, "config", "--local", "--get", name) != value]


def register(layout: Layout) -> list[str]:
    """Make the settings that this clone lacks, and return their names."""
    missing = unregistered(layout)
    for name in missing:
        if git(layout.root, "config", "--local", "--replace-all", name, drivers()[name]) is None:
            raise Unavailable(
                f"git does not take the setting {name}", hint=f"see: git -C {layout.root} config --local -l"
            )
    return missing


def is_repository(folder: Path) -> bool:
    """Tell whether a folder is in the working tree of a git repository; without git, none is."""
    return git(folder, "rev-parse", "--is-inside-work-tree") == "true"


def git(folder: Path, *arguments: str) -> str | None:
    """Return what a git command prints, without the last line end; None where it fails or there is no git."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=False)
    except OSError:
        return None
    return done.stdout.decode(errors="replace").removesuffix("\n") if done.returncode == 0 else None
