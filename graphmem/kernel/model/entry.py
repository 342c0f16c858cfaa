"""Checked rows of the ledger, on their way between files and catalog."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from graphmem.kernel.model import Frozen


class Entry(NamedTuple):
    """
    A checked row: its number, its line without the line end, its fields, its record.

    An edge that is nothing but its ends has no record made for it: there are too many of them.
    """

    id: int
    kind: str
    line: bytes
    row: dict[str, Any]
    record: Frozen | None


@dataclass(slots=True)
class Batch:
    """What changed in one file: rows that are gone, rows that are new or have another line."""

    file: str
    gone: Collection[int] = ()
    entries: list[Entry] = field(default_factory=list)
