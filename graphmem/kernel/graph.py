"""
What the rest of graphmem knows of a graph engine: a mirror of the catalog, for Cypher.

Every command of graphmem's own is answered from the catalog. A mirror holds the same records and edges for Cypher, and
is built when the first query asks. Another engine is a class with these methods, chosen by the feature that
has it, and run by tests/contract/test_graph_engine.py.
Decision: docs/decisions/0015-one-port-for-graph-engines.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

Position = tuple[int, int]  # of the catalog: its epoch, and the number of the last change in it


@dataclass(frozen=True, slots=True)
class GraphAnswer:
    """What a query returned, as JSON values; ``truncated`` if there was more than the limit."""

    columns: list[str]
    types: list[str]
    rows: list[list[object]]
    truncated: bool


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """A query that only reads: its text, the ``$names`` it uses, the names that are where a label can be."""

    text: str
    parameters: frozenset[str]
    labels: frozenset[str]


class GraphMirror(Protocol):
    """The graph of one store. Its engine never runs in this process (decision 0013)."""

    @property
    def is_installed(self) -> bool:
        """Whether its engine is there; without one, everything but Cypher works."""

    @property
    def location(self) -> str:
        """Where it is, for messages."""

    @property
    def exists(self) -> bool:
        """Whether there is a graph; the first query builds it."""

    @property
    def position(self) -> Position | None:
        """The position of the catalog that the graph has reached; None where no graph is known to be whole."""

    @property
    def is_behind(self) -> bool:
        """Whether the catalog has changes that the graph lacks."""

    def catch_up(self) -> bool:
        """Apply every change of the catalog since ``position``; return whether the graph was rebuilt instead."""

    def rebuild(self) -> tuple[int, int]:
        """Build the graph again from the catalog; return the numbers of its nodes and edges."""

    def forget(self) -> None:
        """Delete the graph with all its files."""

    def close(self) -> None:
        """End what is kept for the next query, such as a process."""

    def require_read(self, text: str) -> ReadQuery:
        """
        Return a query of a user if it is one statement that only reads.

        Raises:
            Refused: it does more, or is not one statement.
        """

    def renamed(self, text: str, types: Mapping[str, str | None], labels: Mapping[str, str | None]) -> str | None:
        """
        Return a query in which types have other names.

        Args:
            types, labels: the new name by the name; None for one that goes.

        Returns:
            None where a pattern is left without a label.

        Raises:
            Refused: as ``check`` does.
        """

    def cypher(self, text: str, parameters: Mapping[str, object], *, timeout_s: float, limit: int) -> GraphAnswer:
        """
        Run a query on the graph as the catalog is now.

        The query can change nothing and read no file, whatever it says: this does not rely on ``check``.

        Args:
            parameters: JSON values; exactly those that the query uses.
            timeout_s: seconds until the query is stopped.
            limit: at most this many rows.

        Returns:
            Rows of JSON values. A node is ``{"ref", "label", "properties"}``, a relation ``{"type", "from", "to",
            "properties"}`` with the references of its ends, a path the list of both in turn.

        Raises:
            BadInput: the engine refuses the query.
            Refused: the answer is too large.
            Unavailable: time, memory or the disk is exhausted, or the engine broke down.
        """

    def counts(self) -> tuple[Position, dict[str, int]]:
        """Return how many nodes each label and how many edges each relation type has, and at which position."""
