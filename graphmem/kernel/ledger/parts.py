"""
The parts of a kind: its rows are in one file, or in 16 or 256 by the first hex digits of the hash that orders them.

Joined in the order of their names, the parts are the very lines of the one file.
Source: docs/format.md, "Files".
"""

from collections.abc import Iterable, Mapping
from functools import cache

from graphmem.patterns import lazy_re

DIGITS = {1: 0, 16: 1, 256: 2}  # hex digits in the names of so many files
PART = lazy_re(r"[0-9a-f]{1,2}\.ndjson")
NUMBER_BITS = 63  # of the number of a row: the beginning of the hash


@cache
def usual_file(kind: str, type_name: str | None) -> str:
    """Return the data file that new rows of a kind, for entities and relations of a type, belong to."""
    folder = {"entity": "entities", "relation": "relations"}.get(kind)
    return f"data/{folder}/{type_name}.ndjson" if folder else f"data/{kind}.ndjson"


def holds(file: str) -> tuple[str, str | None]:
    """
    Return the kind, and for entities and relations the type, of the rows that ``file`` may hold.

    ``data/failure.ndjson`` and every file below ``data/failure/`` hold failures.
    """
    parts = file.removeprefix("data/").removesuffix(".ndjson").split("/")
    if parts[0] in ("entities", "relations") and len(parts) > 1:
        return ("entity" if parts[0] == "entities" else "relation"), parts[1]
    return parts[0], None


def is_of_purges(file: str) -> bool:
    """Return whether a file holds what was purged."""
    return file.startswith("data/") and holds(file)[0] == "purge"


def home_of(file: str) -> str:
    """Return the one file of the kind, entity type or relation type whose rows ``file`` may hold."""
    return usual_file(*holds(file))


def parts_of(home: str, files: int) -> list[str]:
    """Return the files that the rows of a kind are in, in name order."""
    if files == 1:
        return [home]
    folder, digits = home.removesuffix(".ndjson"), DIGITS[files]
    return [f"{folder}/{number:0{digits}x}.ndjson" for number in range(files)]


def part_of(home: str, files: int, number: int) -> str:
    """Return the one of so many files that the row with this number belongs in."""
    digits = DIGITS[files]
    return f"{home.removesuffix('.ndjson')}/{number >> NUMBER_BITS - 4 * digits:0{digits}x}.ndjson" if digits else home


def files_by_kind(files: Iterable[str]) -> dict[str, int]:
    """Return how many files the rows of each kind that is split belong in, by its one file; the most where two do."""
    found: dict[str, int] = {}
    for file in files:
        if is_part(file):
            home = home_of(file)
            found[home] = max(found.get(home, 1), _files_beside(file))
    return found


def is_part(file: str) -> bool:
    """Return whether a file is named as a part is."""
    folder, _, name = file.rpartition("/")
    return PART.fullmatch(name) is not None and home_of(file) == f"{folder}.ndjson"


def _files_beside(part: str) -> int:
    """Return how many parts there are of which this is one."""
    return 1 << 4 * len(part.rpartition("/")[2].removesuffix(".ndjson"))


def numbers_of(file: str) -> range:
    """Return the numbers of the rows that belong in a file: all for one that is not a part."""
    if not is_part(file):
        return range(2**NUMBER_BITS)
    each = 2**NUMBER_BITS // _files_beside(file)
    first = int(file.rpartition("/")[2].removesuffix(".ndjson"), 16) * each
    return range(first, first + each)


def own_of(file: str, split: Mapping[str, int]) -> range:
    """Return the numbers of the rows that belong in a file, among so many of each kind; none of a file beside these."""
    files = split.get(home_of(file), 1)
    is_own = _files_beside(file) == files if is_part(file) else files == 1 and file == home_of(file)
    return numbers_of(file) if is_own else range(0)
