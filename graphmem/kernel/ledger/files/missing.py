"""Data files that git has and the disk lacks, and what brings them back."""

import contextlib
import os
from pathlib import Path

from graphmem.errors import Refused, Unavailable
from graphmem.kernel.git import commands
from graphmem.kernel.ledger.files.layout import FOLDER, Layout
from graphmem.kernel.ledger.parts import holds, home_of
from graphmem.kernel.ledger.types import group_of, has_file
from graphmem.kernel.system.shell import command

SKIPPED, UNMERGED = "S", "M"  # how git marks a file that a sparse checkout leaves out, and one of a merge under way


def tracked_files(root: Path, path: str) -> dict[str, bool]:
    """Return the files that git has at a path below ``root``, each with whether a sparse checkout leaves it out."""
    found = {}
    for entry in (commands.git(root, "ls-files", "-t", "-z", "--", path) or b"").split(b"\0"):
        tag, _, file = os.fsdecode(entry).partition(" ")
        if file and tag != UNMERGED:
            found[file] = tag == SKIPPED
    return found


def missing_files(layout: Layout) -> dict[str, bool]:
    """
    Return the data files that git has and the disk lacks, below the store, with whether a sparse checkout is why.

    A file whose rows were put into others is none, nor that of a type which is no longer declared.
    """
    there = layout.data_files()
    homes = {home_of(file) for file in there}
    found = {}
    for path, is_skipped in tracked_files(layout.root, f"{FOLDER}/data").items():
        file = path.removeprefix(f"{FOLDER}/")
        kind, type_name = holds(file)
        is_meant = type_name is None or has_file(layout, group_of(kind), type_name)
        is_gone = is_skipped or (is_meant and home_of(file) not in homes)
        # One whose name is not that of a data file is there and not read, which has a finding of its own.
        if is_gone and file not in there and file.endswith(".ndjson") and not os.path.lexists(layout.store / file):
            found[file] = is_skipped
    return found


def brought_back(layout: Layout, file: str, is_skipped: bool) -> str:
    """Return the command that brings a file of git back to the disk; ``file`` is below the store."""
    if is_skipped:
        return command("git", "-C", str(layout.root), "sparse-checkout", "add", FOLDER)
    return command("git", "-C", str(layout.root), "checkout", "--", f"{FOLDER}/{file}")


def refuse_hidden(layout: Layout, files: list[str]) -> None:
    """Raise ``Refused`` for new data files that a sparse checkout leaves out: they would take the place of git's."""
    missing: dict[str, bool] = {}
    with contextlib.suppress(Unavailable):
        missing = missing_files(layout)
    for file in files:
        if missing.get(file):
            raise Refused(
                f"git has {file}, and a sparse checkout leaves it out: new rows would take the place of its rows",
                hint=brought_back(layout, file, True),
            )
