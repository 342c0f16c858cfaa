"""What git has to know in each clone: the merge driver and the diff driver of the store's files."""

import shlex
import subprocess
import sys
from pathlib import Path

from graphmem.errors import Unavailable
from graphmem.git import commands
from graphmem.git.merge_driver import CONFLICTS, FRESH
from graphmem.ledger.layout import Layout

START_S = 10.0  # seconds that another environment may take to say that graphmem is there


def drivers(python: str = shlex.quote(sys.executable).replace("%", "%%")) -> dict[str, str]:
    """Return the settings of git that make it merge and show data files, by name; ``python`` is a word of a shell."""
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
    if not is_repository(layout.root):
        return {}
    output_of = (
        commands.git(layout.root, "config", "--local", "-z", "--get-regexp", r"^(merge|diff)\.graphmem\.") or b""
    )
    entries = (entry.partition("\n") for entry in output_of.decode("utf-8", "surrogateescape").split("\0"))
    found = {name: value for name, _, value in entries}
    wrong = {name: fault(name, found.get(name), value) for name, value in drivers().items()}
    return {name: what for name, what in wrong.items() if what is not None}


def fault(name: str, found: str | None, right: str) -> str | None:
    """Return what is wrong with a setting; nothing, where another environment made it that can run graphmem."""
    if found is None:
        return "is not set"
    if found == right:
        return None
    before, _, after = drivers("PYTHON")[name].partition("PYTHON")
    if not (after and found.startswith(before) and found.endswith(after)):
        return "is not as this version of graphmem sets it"
    python = found[len(before) : len(found) - len(after)].replace("%%", "%")
    return None if starts(python) else f"names a Python that cannot run graphmem: {python}"


def starts(python: str) -> bool:
    """Return whether a Python, a word of a shell, has a graphmem that git could run."""
    try:
        words = shlex.split(python)
        call = [*words, "-P", "-c", "import graphmem.git.merge_driver, graphmem.git.textconv"]
        done = subprocess.run(
            call, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=START_S
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return False
    return len(words) == 1 and done.returncode == 0


def register(layout: Layout) -> list[str]:
    """
    Make the settings that this clone lacks, and return their names.

    Raises:
        Unavailable: git does not take them.
    """
    missing = list(unregistered(layout))
    for name in missing:
        commands.git(layout.root, "config", "--local", "--replace-all", name, drivers()[name])
    return missing


def is_repository(folder: Path) -> bool:
    """Return whether a folder is in the working tree of a git repository; without git, none is."""
    try:
        return commands.output_of(folder, "rev-parse", "--is-inside-work-tree") == "true"
    except Unavailable:
        return False
