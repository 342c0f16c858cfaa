"""Resolve: repair data files that hold git's conflict markers, by the rules of the merge driver."""

from pathlib import Path

from graphmem import beneath
from graphmem.driver import Unmergeable, merge_rows
from graphmem.errors import BadInput, Unavailable
from graphmem.git import git
from graphmem.ledger.journal import replace_files
from graphmem.model.result import Resolved
from graphmem.ndjson import CONFLICT_MARKS
from graphmem.store import Store

OURS, BASE, BETWEEN, THEIRS = b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>"
NEXT = {b"": (OURS,), OURS: (BASE, BETWEEN), BASE: (BETWEEN,), BETWEEN: (THEIRS,)}  # the markers that may follow one
SIDES = {b"": (OURS, BASE, THEIRS), OURS: (OURS,), BASE: (BASE,), BETWEEN: (THEIRS,)}  # whose the lines after it are


def resolve(store: Store) -> Resolved:
    """
    Merge what stands between conflict markers, row by row, in every data file that has them; all files or none.

    Raises:
        BadInput: markers that do not pair, or a line that is no row; nothing is written.
    """
    with store.writing():
        layout = store.layout
        found = {file: beneath.read(layout.store / file) for file in layout.data_files()}
        conflicted = {file: data for file, data in found.items() if has_markers(data)}
        contents = {layout.store / file: merged(store, file, data) for file, data in conflicted.items()}
        replace_files(contents | store.ledger.stale_vocabulary_file(), layout)
        store.ledger.sync_written()
        findings = [finding for finding in store.ledger.findings() if finding.file in conflicted]
    return Resolved(files=sorted(conflicted), findings=findings)


def has_markers(data: bytes) -> bool:
    """Tell whether a file holds a conflict."""
    return any(mark in data for mark in CONFLICT_MARKS) and any(
        line.startswith(CONFLICT_MARKS) for line in data.split(b"\n")
    )


def merged(store: Store, file: str, data: bytes) -> bytes:
    """Return what the two sides of a file with markers come to."""
    try:
        base, ours, theirs, shows_base = sides(data)
        if not shows_base:
            base = common_ancestor(store.layout.store, file) or base
        return merge_rows(base, ours, theirs, store.ledger.symmetric)
    except Unmergeable as reason:
        raise BadInput(f"{file}: {reason}", hint="mend that line by hand, then run graphmem resolve again") from None


def sides(data: bytes) -> tuple[bytes, bytes, bytes, bool]:
    """
    Return the base, our and their version of a file with markers, and whether the markers show the base.

    Where they do not, the base has the lines outside of conflicts only: a row in one side's part was added there, or
    was taken out by the other; it stays.

    Raises:
        Unmergeable: markers that do not pair.
    """
    versions: dict[bytes, list[bytes]] = {OURS: [], BASE: [], THEIRS: []}
    last, shows_base = b"", False
    for place, line in enumerate(data.split(b"\n"), 1):
        mark = line[:7] if line[:7] in (OURS, BASE, BETWEEN, THEIRS) and line[7:8] in (b"", b" ", b"\r") else b""
        if not mark:
            for version in SIDES[last]:
                versions[version].append(line)
        elif mark in NEXT[last]:
            last = b"" if mark == THEIRS else mark
            shows_base = shows_base or mark == BASE
        else:
            raise Unmergeable(f"line {place}: the marker {mark.decode()} does not follow the one before it")
    if last:
        raise Unmergeable(f"the conflict that {last.decode()} is part of is not closed")
    base, ours, theirs = (b"\n".join(versions[version]) for version in (BASE, OURS, THEIRS))
    return base, ours, theirs, shows_base


def common_ancestor(store: Path, file: str) -> bytes | None:
    """Return the version that both sides of a merge under way come from, as git's index has it; None without one."""
    try:
        return git(store, "show", f":1:./{file}")
    except Unavailable:
        return None
