"""Resolve: repair data files that a merge left with git's conflict markers, or as one side had them."""

from collections.abc import Mapping

from graphmem.contract.store import Resolved
from graphmem.errors import BadInput, Unavailable
from graphmem.git import commands
from graphmem.git.merge_driver import Unmergeable, merge_rows
from graphmem.ledger.journal import replace_files
from graphmem.ledger.layout import Layout
from graphmem.ndjson import CONFLICT_MARKS
from graphmem.store.snapshot import Snapshot, Writing
from graphmem.system import safe_files

OURS, BASE, BETWEEN, THEIRS = b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>"
NEXT = {b"": (OURS,), OURS: (BASE, BETWEEN), BASE: (BETWEEN,), BETWEEN: (THEIRS,)}  # the markers that may follow one
SIDES = {b"": (OURS, BASE, THEIRS), OURS: (OURS,), BASE: (BASE,), BETWEEN: (THEIRS,)}  # whose the lines after it are


def resolve(snapshot: Writing) -> Resolved:
    """
    Merge, row by row, every data file with conflict markers or that a merge under way left as one side had it.

    Raises:
        BadInput: markers that do not pair, or a line that is no row; nothing is written.
    """
    layout = snapshot.layout
    stages, files = stages_of(layout), list(layout.data_files())
    contents, read = {}, snapshot.ledger.as_read(files)
    for file in files:
        data = safe_files.read(layout.store / file)
        if has_markers(data) or file in stages:
            try:
                whole = merged(snapshot, data, stages.get(file, {}))
            except Unmergeable as reason:
                hint = "correct that line by hand, then run graphmem resolve again"
                raise BadInput(f"{file}: {reason}", hint=hint) from None
            if whole is not None:
                contents[file] = whole
    replace_files(
        {layout.store / file: data for file, data in contents.items()} | snapshot.ledger.stale_vocabulary_file(),
        layout,
        lambda fresh: snapshot.ledger.refuse_changed({file: read[file] for file in contents}),
    )
    snapshot.ledger.sync_written()
    findings = [finding for finding in snapshot.ledger.findings() if finding.file in contents]
    return Resolved(files=sorted(contents), findings=findings)


def left(snapshot: Snapshot) -> list[str]:
    """Return the data files without markers that a merge under way left as one side had them."""
    found = []
    for file, stages in stages_of(snapshot.layout).items():
        data = safe_files.read(snapshot.layout.store / file)
        try:
            if not has_markers(data) and merged(snapshot, data, stages) is not None:
                found.append(file)
        except Unmergeable:
            found.append(file)
    return found


def stages_of(layout: Layout) -> dict[str, Mapping[int, bytes]]:
    """Return the versions of the data files that git's index holds unmerged, by stage; none without a merge."""
    folder = layout.store
    try:
        names = {
            file: stages
            for file, stages in commands.unmerged(folder, "data").items()
            if {2, 3} <= stages.keys() and file.endswith(".ndjson") and safe_files.is_file(folder / file)
        }
        if not names:
            return {}
        with commands.objects(folder) as objects:
            return {
                file: {stage: objects.read(name) for stage, name in stages.items()} for file, stages in names.items()
            }
    except Unavailable:  # no repository, or no git
        return {}


def has_markers(data: bytes) -> bool:
    """Return whether a file holds a conflict."""
    return any(mark in data for mark in CONFLICT_MARKS) and any(
        line.startswith(CONFLICT_MARKS) for line in data.split(b"\n")
    )


def merged(snapshot: Snapshot, data: bytes, stages: Mapping[int, bytes]) -> bytes | None:
    """
    Return what the sides of a file come to; None where it has what theirs would bring.

    Args:
        data: the file as it is, perhaps with markers.
        stages: its versions in git's index, if it is unmerged there.

    Raises:
        Unmergeable: markers that do not pair, a line that is no row, or a key that is there twice.
    """
    symmetric = snapshot.symmetric
    if has_markers(data):
        base, ours, theirs, shows_base = sides(data)
        return merge_rows(base if shows_base else stages.get(1, base), ours, theirs, symmetric)
    whole = merge_rows(stages.get(1, b""), data, stages[3], symmetric)
    return None if whole == merge_rows(data, data, data, symmetric) else whole


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
