"""What the program itself asks the graph, each through its stored query."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from graphmem.graph.engine import Connection
from graphmem.graph.query import stored


@dataclass(frozen=True, slots=True)
class Solving:
    """A pattern that solves a failure: the edges, from the failure asked about, that lead to it."""

    pattern: str
    edges: tuple[tuple[str, str, str, float, str | None, bool], ...]  # near, type, far, weight, note, is_out


def rows(connection: Connection, name: str, parameters: Mapping[str, Any]) -> list[list[Any]]:
    """Run a stored query that reads and return its rows."""
    query = stored(name)
    query.refuse_parameters(parameters)
    found: list[list[Any]] = connection.execute(query.text, dict(parameters)).get_all()
    return found


def solutions(connection: Connection, failure: str) -> list[Solving]:
    """Return the patterns that solve the failure with this reference."""
    return [
        Solving(pattern, ((failure, "solves", pattern, weight, note, False),))
        for pattern, weight, note in rows(connection, "failure/solutions", {"ref": failure})
    ]


def solutions_nearby(connection: Connection, failure: str) -> list[Solving]:
    """Return the patterns that solve a variant of a failure, or a failure that causes it."""
    return [
        Solving(
            pattern,
            (
                (failure, kind.lower(), near, weight, note, is_out),
                (near, "solves", pattern, solves, solves_note, False),
            ),
        )
        for near, kind, weight, note, is_out, pattern, solves, solves_note in rows(
            connection, "failure/solutions_nearby", {"ref": failure}
        )
    ]


def unsolved_failures(connection: Connection) -> list[str]:
    """Return the references of failures that neither have a fix nor a pattern that solves them."""
    return [ref for (ref,) in rows(connection, "failure/unsolved", {})]


def counts(connection: Connection, labels: Collection[str], relations: Collection[str]) -> dict[str, int]:
    """Return how many nodes each label and how many edges each relation type has."""
    nodes, edges = stored("graph/nodes"), stored("graph/edges")
    found = {name: one(connection, nodes.filled({"label": name})) for name in labels}
    return found | {name: one(connection, edges.filled({"relation": name})) for name in relations}


def one(connection: Connection, query: str) -> int:
    """Return the only value of a query."""
    return int(connection.execute(query).get_next()[0])
