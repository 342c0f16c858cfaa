"""
Two versions of the files of a store, and what they come to: rows by key and field, other texts as a whole.

No driver of git runs. The files of a kind are merged as one, so that one side can have split what the other edited.
"""

from collections.abc import Callable, Mapping

from graphmem.errors import Refused
from graphmem.kernel.git.merge_driver import Unmergeable, merge_rows, merge_schema, symmetric_in
from graphmem.kernel.ledger.parts import files_by_kind, home_of, part_of
from graphmem.kernel.ledger.row import line_id

Files = Mapping[str, str]  # by path below the store: the hash of the content
Contents = Mapping[str, bytes]
SCHEMA = "schema.json"


def merged(base: Files, ours: Files, theirs: Files, read: Callable[[str], bytes]) -> dict[str, bytes | None]:
    """
    Return what has to change in our files so that they hold both versions; None for a file that goes.

    Args:
        base: the version that both come from; empty where there is none.
        read: returns a content by its hash.

    Raises:
        Refused: both sides changed a data file, and one of them has a line that is not a row.
    """
    groups: dict[str, set[str]] = {}
    for path in sorted({*base, *ours, *theirs}):
        groups.setdefault(home_of(path) if path.startswith("data/") else path, set()).add(path)
    symmetric = frozenset[str]().union(*(symmetric_in(read(side[SCHEMA])) for side in (ours, theirs) if SCHEMA in side))
    changes: dict[str, bytes | None] = {}
    for home, paths in groups.items():
        was, our, their = ({path: side[path] for path in paths if path in side} for side in (base, ours, theirs))
        if their in (was, our):
            continue
        if our == was:
            differing = (path for path in paths if our.get(path) != their.get(path))
            changes |= {path: read(their[path]) if path in their else None for path in differing}
            continue
        sides = [{path: read(name) for path, name in side.items()} for side in (was, our, their)]
        if home.startswith("data/"):
            changes |= _merged_rows(home, sides, symmetric)
        else:
            changes[home] = _merged_text(home, *(side.get(home, b"") for side in sides))
    return changes


def _merged_text(path: str, base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """Return what two versions of another file come to; the one that is not taken stays in the history."""
    if path == SCHEMA:
        try:
            return merge_schema(base, ours, theirs)
        except Unmergeable:  # it is derived, and the next write makes it again
            pass
    return max(ours, theirs)


def _merged_rows(home: str, sides: list[dict[str, bytes]], symmetric: frozenset[str]) -> dict[str, bytes | None]:
    """Return what has to change in our files of a kind: base, ours and theirs by path."""
    _, ours, theirs = sides
    base, *both = (b"".join(_ended(side[path]) for path in sorted(side)) for side in sides)
    try:
        rows = merge_rows(base, both[0], both[1], symmetric)
    except Unmergeable as error:
        raise Refused(
            f"{home} was changed on both sides, and cannot be merged: {error}", hint="correct that line, or take it out"
        ) from None
    files = files_by_kind({*ours, *theirs}).get(home, 1)
    parts: dict[str, list[bytes]] = {}
    for line in rows.split(b"\n")[:-1]:
        parts.setdefault(part_of(home, files, line_id(line, symmetric)), []).append(line + b"\n")
    return {**dict.fromkeys(ours), **{path: b"".join(lines) for path, lines in parts.items()}}


def _ended(data: bytes) -> bytes:
    """Return the lines of a file, the last one with its end."""
    return data if data.endswith(b"\n") or not data else data + b"\n"
