"""Checked rows of the ledger, on their way between files and catalog."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from graphmem.kernel.model import MODELS, Frozen
from graphmem.kernel.model.record import CHECKED


class Entry(NamedTuple):
    """
    A checked row: its number, its line without the line end, its record.

    An edge that is nothing but its ends has no record made for it: there are too many of them.
    """

    id: int
    kind: str
    line: bytes
    made: Frozen | None = (
        None  # the record and the fields where they are at hand; rows that wait hold their lines alone
    )
    fields: dict[str, Any] | None = None

    @property
    def is_plain_edge(self) -> bool:
        """Whether it is an edge without a record."""
        return self.made is None and self.kind == "relation"

    @property
    def record(self) -> Frozen | None:
        """The record of the row; None of a plain edge."""
        if self.made is not None or self.is_plain_edge:
            return self.made
        return MODELS[self.kind].model_validate(self.row, context=CHECKED)

    @property
    def row(self) -> dict[str, Any]:
        """The fields of the row."""
        found: dict[str, Any] = self.fields or orjson.loads(self.line)
        return found


@dataclass(slots=True)
class Batch:
    """What changed in one file: rows that are gone, rows that are new or have another line."""

    file: str
    gone: Collection[int] = ()
    entries: list[Entry] = field(default_factory=list)
