"""What is exported: records, and the edges between them."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from graphmem.kernel.model import Record
from graphmem.kernel.model.record import Row
from graphmem.names import one_line, quoted

TITLE_CHARS = 80  # of what a record is about, in a picture


class GraphEdge(NamedTuple):
    """
    An edge between two records, by their keys.

    Args:
        says: what its row says beside its ends, type and weight; nothing of an edge that is a field of a record.
    """

    source: str
    type: str
    target: str
    weight: float
    says: Row


@dataclass(frozen=True)
class Graph:
    """
    Records by key, and the edges between them.

    Args:
        symmetric: the relation types that have no direction.
    """

    records: Mapping[str, Record]
    edges: Sequence[GraphEdge]
    symmetric: Collection[str] = ()

    @property
    def counts(self) -> Counter[str]:
        """How many records of each kind, and how many edges it has."""
        return Counter(record.kind for record in self.records.values()) + Counter(relation=len(self.edges))


def title_of(record: Record) -> str:
    """Return what a record is about, on one line."""
    return one_line(record.headline, TITLE_CHARS)


def name_of(record: Record) -> str:
    """Return the reference of a record as a line shows it."""
    return quoted(record.ref)
