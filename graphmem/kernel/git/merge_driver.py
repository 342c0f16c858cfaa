"""
The merge driver that git runs for a data file: ``graphmem merge-driver BASE OURS THEIRS PATH``.

It starts for every file of a merge, so it loads neither the models nor the command line. What it cannot read it leaves
to git's own merge, so that its result is never worse than git's.
"""

import json
import os
import sys
from collections.abc import Collection, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from graphmem.kernel.model.merge import Rules, merged
from graphmem.kernel.ndjson import BOM, BadLine, Row, decode, document, encode
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.files import shipped
from graphmem.names import row_key, visible

USAGE = "usage: graphmem merge-driver BASE OURS THEIRS PATH (git runs it; graphmem init registers it)"
CONFLICTS = 3  # exit status: git's own merge left markers; any other but 0 means that nothing was merged
FRESH = ".graphmem"  # ends the name of the file that is to take the place of OURS
SCHEMA_BYTES = 2**24  # of a schema.json that is read

Parsed = dict[bytes, tuple[str, Row]]  # line: key text and row


class Unmergeable(Exception):
    """A side that cannot be read row by row."""


def main(arguments: list[str]) -> int:
    """Merge three files into the second, as git asks a merge driver to; return 0, or 3 where conflicts are left."""
    if len(arguments) != 4:
        print(USAGE, file=sys.stderr)
        return 2
    base, ours, theirs, path = arguments
    try:
        was, our, their = (Path(side).read_bytes() for side in (base, ours, theirs))
        if path.endswith("schema.json"):
            data = merge_schema(was, our, their)
        else:
            data = merge_rows(was, our, their, symmetric_types(path))
        replace(Path(ours), data)
    except Exception as reason:  # whatever a branch made fail, git's own merge is better than none
        what = str(reason) or type(reason).__name__
        print(visible(f"graphmem: {path!r}: {what}; left to git, line by line"), file=sys.stderr)
        return _merge_lines(base, ours, theirs)
    return 0


def replace(ours: Path, data: bytes) -> None:
    """Put a result in the place of our version, whole or not at all, and leave nothing beside it."""
    fresh = ours.with_name(f"{ours.name}{FRESH}")
    try:
        fresh.write_bytes(data)
        os.replace(fresh, ours)
    finally:
        fresh.unlink(missing_ok=True)


def _merge_lines(base: str, ours: str, theirs: str) -> int:
    """Merge as git does without a driver, and return the exit status."""
    from graphmem.errors import Unavailable  # noqa: PLC0415
    from graphmem.kernel.git import commands  # noqa: PLC0415 - hardly a merge comes here

    try:
        status, data, _ = commands.run(Path(), "merge-file", "-p", ours, base, theirs)
        if 0 <= status < commands.ERROR_STATUS:
            replace(Path(ours), data)
            return CONFLICTS if status else 0
    except (Unavailable, OSError):
        pass
    return 2  # the registered command tries it again


def merge_rows(base: bytes, ours: bytes, theirs: bytes, symmetric: Collection[str]) -> bytes:
    """
    Return the rows that two versions of a data file come to, in canonical order.

    Args:
        base: the version that both come from; empty where there is none.
        symmetric: names of the relation types without a direction.

    Raises:
        Unmergeable: a line is no row, or a key is there twice.
    """
    parsed: Parsed = {}  # most lines are in all three
    sides = [_lines_of(side, parsed, symmetric) for side in (base, ours, theirs)]
    rules = {kind: Rules.of(found) for kind, found in rule_table()["kinds"].items()}
    result: dict[bytes, bytes] = {}
    for key in {key for side in sides for key in side}:
        was, our, their = (side.get(key) for side in sides)
        line = was if was == our == their else _merged_line(was, our, their, parsed, rules)
        if line is not None:
            result[sha256(key.encode()).digest()] = line
    return b"".join(result[order] + b"\n" for order in sorted(result))


def _merged_line(
    base: bytes | None, ours: bytes | None, theirs: bytes | None, parsed: Parsed, rules: Mapping[str, Rules]
) -> bytes | None:
    """Return the merged row as a canonical line; None where it was deleted."""
    was, our, their = (None if line is None else parsed[line][1] for line in (base, ours, theirs))
    some = our or their
    try:
        row = merged(was, our, their, rules.get(some["kind"], Rules()) if some else Rules())
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise Unmergeable(f"the row {(ours or theirs or b'')[:200]!r} is not well: {error}") from None
    return None if row is None else encode(row)


def _lines_of(data: bytes, parsed: Parsed, symmetric: Collection[str]) -> dict[str, bytes]:
    """Return the lines of a file by their key texts, each parsed once."""
    found: dict[str, bytes] = {}
    for place, raw in enumerate(data.removeprefix(BOM).split(b"\n"), 1):
        line = raw
        if line not in parsed:
            line = raw.rstrip(b"\r")
            if not line.strip():
                continue
            try:
                row = decode(line)
                parsed[line] = row_key(row, symmetric), row
            except (BadLine, KeyError, TypeError) as error:
                raise Unmergeable(f"line {place} is not a row: {error}") from None
        key = parsed[line][0]
        if found.get(key, line) != line:
            raise Unmergeable(f"line {place} repeats the key {key!r}")
        found[key] = line
    return found


def rule_table() -> dict[str, Any]:
    """Return ``schema/merge.json``."""
    table: dict[str, Any] = json.loads(shipped("schema").joinpath("merge.json").read_bytes())
    return table


def symmetric_types(path: str) -> frozenset[str]:
    """Return the relation types without a direction: graphmem's own, and the project's as its schema.json has them."""
    store = next((folder for folder in Path(path).parents if folder.name == ".graphmem"), None)
    try:
        return symmetric_in(safe_files.read(store / "schema.json", most=SCHEMA_BYTES) if store else b"")
    except OSError:
        return symmetric_in(b"")


def symmetric_in(schema: bytes) -> frozenset[str]:
    """Return the relation types without a direction: graphmem's own, and those of a ``schema.json``."""
    names = set(rule_table()["symmetric"])
    try:
        declared = json.loads(schema)["relations"]
        names = names - declared.keys() | {name for name, made in declared.items() if made["symmetric"]}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass  # it is derived, and may be in the middle of a merge itself; canonical rows have their ends in order
    return frozenset(names)


def merge_schema(base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """Return the derived vocabulary that two versions come to; the next write derives it from the types again."""
    try:
        documents = [json.loads(side or b"{}") for side in (base, ours, theirs)]
    except (ValueError, RecursionError) as error:
        raise Unmergeable(str(error)) from None
    return f"{document(_merged_value(*documents))}\n".encode()


def _merged_value(base: Any, ours: Any, theirs: Any) -> Any:
    """Return what two versions of a JSON value come to: objects key by key, of other values the greater."""
    if theirs in (base, ours):
        return ours
    if ours == base:
        return theirs
    if isinstance(ours, dict) and isinstance(theirs, dict):
        was = base if isinstance(base, dict) else {}
        found = {name: _merged_value(*(side.get(name) for side in (was, ours, theirs))) for name in {*ours, *theirs}}
        return {name: value for name, value in found.items() if value is not None}
    given = [value for value in (ours, theirs) if value is not None]
    return max(given, key=lambda value: json.dumps(value, sort_keys=True))
