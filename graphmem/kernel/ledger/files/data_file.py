"""A data file: its lines become checked rows, and changed rows become its new lines."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from graphmem.constants import FILE_BYTES, KEPT_FINDINGS
from graphmem.kernel.finding import Code, Finding
from graphmem.kernel.ledger.codec import finding
from graphmem.kernel.ledger.files.layout import Layout
from graphmem.kernel.ledger.parts import holds
from graphmem.kernel.ledger.row import line_id, read_entry
from graphmem.kernel.ledger.types import declaration, has_file
from graphmem.kernel.model.entry import Batch, Entry
from graphmem.kernel.model.purges import Purges
from graphmem.kernel.model.vocabulary import Vocabulary
from graphmem.kernel.ndjson import BOM, BadLine, Lines, decode, refuse_long

SPLICED_BYTES = 5_000  # of an ordered file for each row that is changed in place: about as many as 20 lines have
RESOLVE = "graphmem resolve"  # brings rows where they belong, each once
LFS = b"version https://git-lfs.github.com/spec/"
ROWS_HELD = 10_000  # changed rows in memory before they go into the catalog: 50 MiB


def place_of(data: bytes, number: int, symmetric: frozenset[str]) -> tuple[int, int]:
    """Return where the line of a row begins and ends among lines in order, or twice where it would have to begin."""
    low, high = 0, len(data)  # beginnings of lines
    while low < high:
        start = data.rfind(b"\n", low, (low + high) // 2) + 1 or low
        end = data.index(b"\n", start) + 1
        found = line_id(data[start : end - 1], symmetric)
        if found == number:
            return start, end
        low, high = (end, high) if found < number else (low, start)
    return low, low


def _read_line(file: str, line: bytes, symmetric: frozenset[str], held: tuple[str, str | None]) -> Entry:
    """Return the row on a line of a file, or raise ``BadLine``; ``held`` is what the file holds."""
    refuse_long(line)
    entry = read_entry(line.rstrip(b"\r"), symmetric)
    refuse_misplaced(file, held, entry)
    return entry._replace(line=line) if line.endswith(b"\r") else entry


def refuse_misplaced(file: str, held: tuple[str, str | None], entry: Entry) -> None:
    """Raise ``BadLine`` for a row that is in the file of another kind or type; ``held`` is what the file holds."""
    kind, type_name = held
    found = entry.row["type"] if entry.kind in ("entity", "relation") else None
    if entry.kind != kind or (type_name is not None and found != type_name):
        what = f"{entry.kind} of type {found!r}" if found else entry.kind
        raise BadLine(f"a row of kind {what}", f"rows that belong in {file}", code="wrong_file")


def repeated(first: int | None, *, is_split: bool = False) -> BadLine:
    """Return the error for a row that is there twice; in two files of a kind that is split, one of them goes."""
    where = f"line {first}" if first else "another file"
    fix = RESOLVE if is_split and not first else None
    return BadLine(f"the same key as in {where}", "each key once", code="duplicate_key", fix=fix)


def oversize(file: str, size: int) -> list[Finding]:
    """Report when a file is too large to be read."""
    if size <= FILE_BYTES:
        return []
    return [
        Finding.of(
            file,
            Code.FILE_TOO_LARGE,
            f"the file is {size:,} bytes; its rows are left aside",
            f"at most {FILE_BYTES:,}",
            f"divide it into files of {file.removesuffix('.ndjson')}/",
        )
    ]


def lfs_pointer(file: str, head: bytes) -> list[Finding]:
    """Report a file that begins as a pointer of Git LFS does."""
    if not head.startswith(LFS):
        return []
    what, fix = "a pointer of Git LFS in the place of the rows; they are not read", "git lfs pull"
    return [Finding.of(file, Code.LFS_POINTER, what, "the rows", fix, line=1)]


@dataclass(slots=True)
class Scan:
    """What reading a file found beside its rows."""

    findings: list[Finding] = field(default_factory=list)
    purged: list[int] = field(default_factory=list)  # numbers of rows that a merge brought back, and that are not read
    is_ordered: bool = False  # every line a row, in order: a new row is inserted by bisection


@dataclass(frozen=True, slots=True)
class Known:
    """
    What the lines of a file are compared with.

    Args:
        lines: the rows of the file as last read, line to number.
        purges: the rows that were purged.
        symmetric: the symmetric relation types.
        is_elsewhere: returns whether another file of the same kind holds a row; None where there is no other file.
        is_every_line: look at lines that are known too: they may have been purged since.
        is_split: the kind is in parts: its rows that are there twice are told in one finding.
        renamed: the names that types have now, by former ones.
    """

    lines: Mapping[bytes, int]
    purges: Purges
    symmetric: frozenset[str]
    is_elsewhere: Callable[[int], bool] | None
    is_every_line: bool
    is_split: bool = False
    renamed: Mapping[str, str] = field(default_factory=dict)


def compare(file: str, lines: Lines, scan: Scan, known: Known) -> Iterator[Batch]:
    """
    Yield what changed in a data file, at most ``ROWS_HELD`` new rows at once, and complete its scan.

    A file that has findings before its lines are read is treated as one without rows.
    """
    if scan.findings:
        yield Batch(file, gone=set(known.lines.values()))
        return
    entries: list[Entry] = []
    places: dict[int, int] = {}
    texts: dict[int, int] = {}  # the hash of the line of each row
    last, bad, scan.is_ordered = -1, 0, True
    kind, type_name = holds(file)
    held = kind, known.renamed.get(type_name or "", type_name)
    for place, line in enumerate(lines, 1):
        if not line.strip():
            scan.is_ordered = False
            continue
        number = known.lines.get(line)
        entry = None
        try:
            if number is None:
                entry = _read_line(file, line, known.symmetric, held)
                number = entry.id
            if texts.setdefault(number, hash(line)) == hash(line) and number in places:
                scan.is_ordered = False  # the very same line, as a union merge leaves it: the next write drops it
                continue
            if number in places or (entry and known.is_elsewhere and known.is_elsewhere(number)):
                raise repeated(places.get(number), is_split=known.is_split)
        except BadLine as error:
            bad += 1
            is_known = error.fix == RESOLVE and scan.findings and scan.findings[-1].fix == RESOLVE
            if len(scan.findings) < KEPT_FINDINGS and not is_known:
                scan.findings.append(finding(error, file, place))
            continue
        if _is_purged(line, entry, known):
            scan.purged.append(number)
        elif entry is not None:
            entries.append(entry)
        places[number] = place
        scan.is_ordered = scan.is_ordered and number > last and not line.endswith(b"\r")
        last = number
        if len(entries) >= ROWS_HELD:
            yield Batch(file, entries=entries)
            entries = []
    if bad > len(scan.findings):
        more = f"{bad - len(scan.findings):,} more bad lines"
        scan.findings.append(Finding.of(file, Code.MORE_BAD_LINES, more, "rows"))
    scan.is_ordered = scan.is_ordered and lines.is_usual and not bad
    yield Batch(file, gone=set(known.lines.values()) - (places.keys() - set(scan.purged)), entries=entries)


def _is_purged(line: bytes, entry: Entry | None, known: Known) -> bool:
    """Return whether the row on a line was purged; without ``entry`` the line is one that was read before."""
    if not known.purges or (entry is None and not known.is_every_line):
        return False
    row = entry.row if entry else decode(line.rstrip(b"\r"))
    return known.purges.purged_at(row, known.symmetric) is not None


def without_purged(data: bytes, purges: Purges, symmetric: frozenset[str]) -> bytes:
    """Return the bytes of a data file without purged rows; the same object if it has none."""
    if not purges:
        return data
    lines = data.split(b"\n")
    kept = [line for line in lines if not _is_purged_line(line, purges, symmetric)]
    return b"\n".join(kept) if len(kept) < len(lines) else data


def _is_purged_line(line: bytes, purges: Purges, symmetric: frozenset[str]) -> bool:
    """Return whether a line holds a row that was purged; one that holds no row does not."""
    try:
        row = read_entry(line.rstrip(b"\r"), symmetric).row if line.strip() else None
    except BadLine:
        return False
    return row is not None and purges.purged_at(row, symmetric) is not None


def misplaced(layout: Layout, vocabulary: Vocabulary, file: str) -> list[Finding]:
    """Return a finding where no type file declares the type of the rows in a file."""
    kind, type_name = holds(file)
    known = vocabulary.entities if kind == "entity" else vocabulary.linkable
    if type_name is None or type_name in known or type_name in vocabulary.renamed:
        return []
    noun, group = ("entity", "entities") if kind == "entity" else ("relation", "relations")
    is_there = has_file(layout, group, type_name)
    what = "has a file that cannot be read" if is_there else "is not declared"
    path = f"types/{group}/{type_name}.md"
    return [
        Finding.of(
            file,
            Code.UNKNOWN_TYPE,
            f"{noun} type {type_name!r} {what}; its rows are left aside",
            f"{path}, well formed" if is_there else f"a file {path}",
            None if is_there else declaration(noun, type_name),
            line=1,
        )
    ]


def can_splice(data: bytes, changes: Mapping[int, bytes | None], *, is_ordered: bool) -> bool:
    """Return whether changes are so few that an ordered file need not be divided into lines."""
    return is_ordered and len(changes) * SPLICED_BYTES < len(data)


def with_changes(
    data: bytes, changes: Mapping[int, bytes | None], known: Mapping[bytes, int], symmetric: frozenset[str]
) -> bytes:
    """
    Return the bytes of a file with changed rows; other lines stay as they are.

    Args:
        data: the bytes of the file.
        changes: the new line of each row, None for a row to remove, by number.
        known: the numbers of lines as last read.
        symmetric: the symmetric relation types.
    """
    lines = data.removeprefix(BOM).split(b"\n")
    rows = {known[line] if line in known else line_id(line, symmetric): line for line in lines if line.strip()}
    rows.update((number, line) for number, line in changes.items() if line is not None)
    kept = (number for number in rows if changes.get(number, b"") is not None)
    return b"\n".join([*(rows[number] for number in sorted(kept)), b""])


def spliced(data: bytes, changes: Mapping[int, bytes | None], symmetric: frozenset[str]) -> bytes:
    """Return the bytes of an ordered file with a few rows changed; it is not divided into lines."""
    view = memoryview(data)
    pieces, done = list[bytes | memoryview](), 0
    for number, line in sorted(changes.items()):
        start, end = place_of(data, number, symmetric)
        pieces += [view[done:start], b"" if line is None else line + b"\n"]
        done = end
    return b"".join([*pieces, view[done:]])
