"""Resolve: repair what a merge left: conflict markers, files as one side had them, rows where they do not belong."""

from collections.abc import Collection, Iterable, Mapping

from graphmem.errors import BadInput, Unavailable
from graphmem.features.upkeep.store_contract import Resolved
from graphmem.kernel.finding import Code
from graphmem.kernel.git import commands
from graphmem.kernel.git.merge_driver import Unmergeable, merge_rows
from graphmem.kernel.ledger.files.layout import Layout
from graphmem.kernel.ledger.parts import files_by_kind, home_of, own_of, part_of, parts_of
from graphmem.kernel.ledger.row import line_id
from graphmem.kernel.ndjson import BOM, CONFLICT_MARKS, BadLine
from graphmem.kernel.registry import operation
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.kernel.system import safe_files

OURS, BASE, BETWEEN, THEIRS = b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>"
# As Jujutsu writes them: a side as what it changed in the base, or whole; the base whole; more words about the first.
CHANGED, WHOLE, BEFORE, WORDS = b"%%%%%%%", b"+++++++", b"-------", b"\\" * 7
PARTS = (CHANGED, WHOLE, BEFORE)
NEXT = {  # the markers that may follow one
    b"": (OURS,), OURS: (BASE, BETWEEN, *PARTS), BASE: (BETWEEN,), BETWEEN: (THEIRS,),
    CHANGED: (WORDS, *PARTS, THEIRS), WORDS: (*PARTS, THEIRS), WHOLE: (*PARTS, THEIRS), BEFORE: (*PARTS, THEIRS),
}  # fmt: skip
MARKS = {mark for marks in NEXT.values() for mark in marks}
SIDES = {b"": (OURS, BASE, THEIRS), OURS: (OURS,), BASE: (BASE,), BETWEEN: (THEIRS,), BEFORE: (BASE,)}  # whose lines


@operation("resolve", writes=True, example="graphmem resolve", is_report=True)
def resolve(snapshot: Writing) -> Resolved:
    """
    Merge what is between git's conflict markers, row by row, in every data file that has them.

    Rows that are in another file than where they belong go there, each once: a branch may have split a kind whose
    one file another branch changed.

    Raises:
        BadInput: markers that do not pair, or a line that is no row; nothing is written.
    """
    layout = snapshot.layout
    stages, files = _stages_of(layout), list(layout.data_files())
    contents: dict[str, bytes | None] = {}
    file = ""
    orphans = _orphans_of(files, stages)
    try:
        for file in files:
            data = safe_files.read(layout.store / file)
            is_left = file in stages and file not in orphans
            if (_has_markers(data) or is_left) and (whole := _merged(snapshot, data, stages.get(file, {}))) is not None:
                contents[file] = whole
        for file in _homes_to_settle(snapshot, files, contents, stages):
            contents |= _settled(snapshot, [one for one in files if home_of(one) == file], contents, stages)
    except Unmergeable as reason:
        hint = "correct that line by hand, then run graphmem resolve again"
        raise BadInput(f"{file}: {reason}", hint=hint) from None
    snapshot.ledger.files.replace(contents, with_vocabulary=True)
    snapshot.ledger.sync_written()
    findings = [finding for finding in snapshot.ledger.findings() if finding.file in contents]
    return Resolved(files=sorted(contents), findings=findings)


def left(snapshot: Snapshot) -> list[str]:
    """Return the data files without markers that a merge under way left as one side had them."""
    files, all_stages = snapshot.ledger.place.parts(), _stages_of(snapshot.layout)
    found = _orphans_of(files, all_stages)
    for file, stages in all_stages.items():
        if file in found:
            continue
        data = safe_files.read(snapshot.layout.store / file)
        try:
            if not _has_markers(data) and _merged(snapshot, data, stages) is not None:
                found.append(file)
        except Unmergeable:
            found.append(file)
    return found


def _stages_of(layout: Layout) -> dict[str, Mapping[int, bytes]]:
    """
    Return the versions of the data files that git's index holds unmerged, by stage; none without a merge.

    Those that one side has not lack its stage, and are as the other side has them.
    """
    folder = layout.store
    try:
        names = {
            file: stages
            for file, stages in commands.unmerged(folder, "data").items()
            if len(stages) > 1 and file.endswith(".ndjson") and safe_files.is_file(folder / file)
        }
        if not names:
            return {}
        with commands.objects(folder) as objects:
            return {
                file: {stage: objects.read(name) for stage, name in stages.items()} for file, stages in names.items()
            }
    except Unavailable:  # no repository, or no git
        return {}


# --- rows in a file where they do not belong --------------------------------------------------------------------------


def _orphans_of(files: Collection[str], stages: Mapping[str, Mapping[int, bytes]]) -> list[str]:
    """Return the files that one side of a merge took away, having put their rows into other files of their kind."""
    gone = [file for file in files if file in stages and not {2, 3} <= stages[file].keys()]
    left_homes = {home_of(file) for file in files if file not in gone}
    return [file for file in gone if home_of(file) in left_homes]


def out_of_place(snapshot: Snapshot) -> dict[str, int]:
    """Return the files of split kinds that hold rows which belong in another one, with how many."""
    files = snapshot.ledger.place.parts()
    split = files_by_kind(files)
    numbers = {file: snapshot.catalog.misplaced(file, own_of(file, split)) for file in files if home_of(file) in split}
    return {file: number for file, number in numbers.items() if number}


def _homes_to_settle(
    snapshot: Snapshot, files: Collection[str], contents: Collection[str], stages: Mapping[str, Mapping[int, bytes]]
) -> list[str]:
    """Return the kinds, each by its one file, of which rows may be where they do not belong, or twice."""
    split = files_by_kind(files)
    doubled = [found.file for found in snapshot.ledger.findings() if found.code == Code.DUPLICATE_KEY and found.fix]
    merged_parts = [file for file in contents if home_of(file) in split]
    suspects = [*out_of_place(snapshot), *merged_parts, *_orphans_of(files, stages)]
    return sorted({home_of(file) for file in (*suspects, *(file for file in doubled if home_of(file) in split))})


def _settled(
    snapshot: Snapshot,
    files: Collection[str],
    contents: Mapping[str, bytes | None],
    stages: Mapping[str, Mapping[int, bytes]],
) -> dict[str, bytes | None]:
    """
    Return what the files of a kind hold when each row is where it belongs, once; None for a file that goes.

    What a row comes to that is in two files is what a merge of the two makes: from the version that both come from
    where git's index has it.

    Args:
        files: that hold rows of the kind. contents: of those that were merged just now.
        stages: the versions of files in git's index.

    Raises:
        Unmergeable: a line is no row, or a key is twice in one file.
    """
    symmetric, orphans = snapshot.symmetric, _orphans_of(files, stages)
    split = files_by_kind(file for file in files if file not in orphans)
    home = home_of(next(iter(files)))
    wanted = parts_of(home, split.get(home, 1))
    before = {file: contents.get(file, safe_files.read(snapshot.layout.store / file)) or b"" for file in files}
    rows: dict[int, bytes] = {}
    loose: dict[str, dict[int, bytes]] = {}
    for file, data in before.items():
        own = range(0) if file in orphans else own_of(file, split)
        found = _numbered(data, symmetric)
        rows |= {number: line for number, line in found.items() if number in own}
        loose[file] = {number: line for number, line in found.items() if number not in own}
    for file, strays in loose.items():
        base = _numbered(stages[file].get(1, b""), symmetric) if file in orphans else {}
        numbers = [number for number in {**base, **strays} if base.get(number) != strays.get(number)]
        was, ours, theirs = (_joined(side, numbers) for side in (base, rows, strays))
        whole = merge_rows(was, ours, theirs, symmetric)
        for number in numbers:
            rows.pop(number, None)
        rows |= _numbered(whole, symmetric)
    after: dict[str, list[bytes]] = {file: [] for file in wanted}
    for number, line in sorted(rows.items()):
        after[part_of(home, len(wanted), number)].append(line)
    made: dict[str, bytes | None] = {file: b"".join(line + b"\n" for line in lines) for file, lines in after.items()}
    made |= {file: None for file in files if file not in after}
    return {file: data for file, data in made.items() if file in contents or data != before.get(file, b"-")}


def _numbered(data: bytes, symmetric: frozenset[str]) -> dict[int, bytes]:
    """Return the lines of a file by the numbers of their rows, or raise ``Unmergeable``."""
    found: dict[int, bytes] = {}
    for place, raw in enumerate(data.removeprefix(BOM).split(b"\n"), 1):
        line = raw.rstrip(b"\r")
        if not line.strip():
            continue
        try:
            number = line_id(line, symmetric)
        except (BadLine, KeyError, TypeError) as error:
            raise Unmergeable(f"line {place} is not a row: {error}") from None
        if found.get(number, line) != line:
            raise Unmergeable(f"line {place} repeats a key")
        found[number] = line
    return found


def _joined(lines: Mapping[int, bytes], numbers: Iterable[int]) -> bytes:
    """Return the lines of some rows as a file holds them."""
    return b"".join(lines[number] + b"\n" for number in numbers if number in lines)


# --- the sides of a file ----------------------------------------------------------------------------------------------


def _has_markers(data: bytes) -> bool:
    """Return whether a file holds a conflict."""
    return any(mark in data for mark in CONFLICT_MARKS) and any(
        line.startswith(CONFLICT_MARKS) for line in data.split(b"\n")
    )


def _merged(snapshot: Snapshot, data: bytes, stages: Mapping[int, bytes]) -> bytes | None:
    """
    Return what the sides of a file come to; None where it has what theirs would bring.

    Args:
        data: the file as it is, perhaps with markers.
        stages: its versions in git's index, if it is unmerged there.

    Raises:
        Unmergeable: markers that do not pair, a line that is no row, or a key that is there twice.
    """
    symmetric = snapshot.symmetric
    if _has_markers(data):
        base, ours, theirs, shows_base = _sides(data)
        return merge_rows(base if shows_base else stages.get(1, base), ours, theirs, symmetric)
    base, theirs = stages.get(1, b""), stages.get(3, b"")
    ours = data if {2, 3} <= stages.keys() else _without(data, base, symmetric)
    whole = merge_rows(base, ours, theirs, symmetric)
    return None if whole == merge_rows(data, data, data, symmetric) else whole


def _without(data: bytes, base: bytes, symmetric: frozenset[str]) -> bytes:
    """
    Return the rows of a file that are not as the base has them.

    Where one side has no such file, git leaves the other's whole: what that did not change is of a commit which is not
    taken over, as by a cherry-pick, or the side without the file took it out.
    """
    before = set(_numbered(base, symmetric).values())
    return b"".join(line + b"\n" for line in _numbered(data, symmetric).values() if line not in before)


def _owners(line: bytes, last: bytes, side: bytes) -> tuple[bytes, ...]:
    """Return whose a line after a marker is; ``side`` is the one that a part of Jujutsu's is of."""
    if last in (CHANGED, WORDS):
        return {b"-": (BASE,), b"+": (side,)}.get(line[:1], (BASE, side))
    return (side,) if last == WHOLE else SIDES[last]


def _sides(data: bytes) -> tuple[bytes, bytes, bytes, bool]:
    """
    Return the base, our and their version of a file with markers, and whether the markers show the base.

    Where they do not, the base has the lines outside of conflicts only: a row in one side's part was added there, or
    was taken out by the other; it stays.

    Raises:
        Unmergeable: markers that do not pair.
    """
    versions: dict[bytes, list[bytes]] = {OURS: [], BASE: [], THEIRS: []}
    last, shows_base, given = b"", False, 0
    for place, line in enumerate(data.split(b"\n"), 1):
        mark = line[:7] if line[:7] in MARKS and line[7:8] in (b"", b" ", b"\r") else b""
        if not mark:
            side = (OURS, THEIRS)[given - 1] if given else OURS
            for version in _owners(line, last, side):
                versions[version].append(line[1:] if last in (CHANGED, WORDS) else line)
        elif mark in NEXT[last]:
            last = b"" if mark == THEIRS else mark
            shows_base = shows_base or mark in (BASE, *PARTS)
            given = 0 if mark in (OURS, THEIRS) else given + (mark in (CHANGED, WHOLE))
            if given > len((OURS, THEIRS)):
                raise Unmergeable(f"line {place}: a conflict of more than two sides")
        else:
            raise Unmergeable(f"line {place}: the marker {mark.decode()} does not follow the one before it")
    if last:
        raise Unmergeable(f"the conflict that {last.decode()} is part of is not closed")
    base, ours, theirs = (b"\n".join(versions[version]) for version in (BASE, OURS, THEIRS))
    return base, ours, theirs, shows_base
