"""The formats that can be imported, and how one is recognised by what a file holds."""

from collections.abc import Mapping
from types import ModuleType

from graphmem.core.foreign import okf
from graphmem.core.foreign.reading import ForeignInput, Source
from graphmem.errors import BadInput, NotFound, Usage
from graphmem.features.exchange.importers import (
    archeflow,
    basic_memory,
    beads,
    fctry,
    foundry,
    ftl,
    ftm,
    github,
    mcp_memory,
    tables,
    taskmaster,
)
from graphmem.kernel.suggest import did_you_mean

MODULES = (archeflow, basic_memory, beads, fctry, foundry, ftl, ftm, github, mcp_memory, okf, taskmaster)
FORMATS: Mapping[str, ModuleType] = {module.NAME: module for module in MODULES}
TABLES = (tables.CSV, tables.NDJSON)  # formats that need a map
KNOWN = ", ".join(sorted([*FORMATS, *TABLES]))


def read(source: Source, format_name: str | None, columns: Mapping[str, str] | None = None) -> ForeignInput:
    """
    Return what a file or a folder holds.

    Args:
        columns: of a table, the column for each field.

    Raises:
        Usage: a table without a map, or a map for anything else.
        NotFound: there is no such file, or no such format.
        BadInput: no format fits, or several do.
    """
    source.refuse_unreadable()
    if format_name is not None and format_name not in (*FORMATS, *TABLES):
        hint = did_you_mean(format_name, (*FORMATS, *TABLES)) or f"known: {KNOWN}"
        raise NotFound(f"no format {format_name!r}", hint=hint)
    if columns and format_name is None:
        format_name = tables.NDJSON if source.first_object is not None else tables.CSV
    if not columns and format_name in (None, *TABLES) and tables.is_dump(source):
        return tables.read_dump(source)
    if format_name is not None and format_name in TABLES:
        return tables.read_table(source, format_name, columns)
    if columns:
        raise Usage(f"{format_name} says itself what its rows are", hint=f"a map is for {' and '.join(TABLES)}")
    reading: ForeignInput = FORMATS[format_name or _recognised(source)].read(source)
    if not (reading.drafts or reading.run or reading.heard):
        reasons = "; ".join(f"{one.place}: {one.reason}" for one in reading.skipped[:3])
        raise BadInput(
            f"{source.name!r} holds nothing of {reading.format}" + (f": {reasons}" if reasons else ""),
            hint=f"{reading.format}: {FORMATS[reading.format].HOLDS}",
        )
    return reading


def _recognised(source: Source) -> str:
    """Return the format that a file or a folder is in."""
    found = [name for name, module in FORMATS.items() if module.is_meant(source)]
    if len(found) == 1:
        return found[0]
    if found:
        raise BadInput(f"{source.name!r} can be {' or '.join(found)}", hint=f"say which: --from {found[0]}")
    raise BadInput(
        f"{source.name!r} is in no format that is known here: it {_seen(source)}",
        hint=f"say its format with --from; known: {KNOWN}",
    )


def _seen(source: Source) -> str:
    """Return what a file or a folder looks like."""
    if source.is_folder:
        return "is a folder"
    head = source.read(200)
    if not head.strip():
        return "is empty"
    if b"\0" in head:
        return "is binary"
    if (found := source.first_object or source.document) is not None:
        return f"has JSON objects with the fields {', '.join(sorted(found)[:8])}" if found else "has empty JSON objects"
    return f"begins with {head.decode('utf-8', 'replace').splitlines()[0][:60]!r}"
