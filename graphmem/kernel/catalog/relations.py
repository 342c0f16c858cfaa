"""Edges, resolved to the numbers of their ends."""

from collections.abc import Collection, Iterator
from itertools import chain, starmap
from typing import NamedTuple

import orjson

from graphmem.kernel.catalog.database import Reads, chunks, marks, rows_among
from graphmem.kernel.catalog.steps import Edge, Step
from graphmem.kernel.model import Relation
from graphmem.kernel.model.record import Row
from graphmem.names import edge_key, row_id


class IdleEdge(NamedTuple):
    """A row of an edge that has no effect; an end that is missing or archived has no number."""

    id: int
    file: str | None  # None where the edge is a field of a record
    source: str
    type: str
    target: str
    src: int | None
    dst: int | None
    line: bytes | None


class RelationReads(Reads):
    """Edges, resolved to the numbers of their ends."""

    def steps(self, ids: Collection[int], types: Collection[str] | None, direction: str) -> Iterator[Step]:
        """Yield the live edges at each of these records, seen from it; ``direction`` is out, in or both."""
        yield from starmap(Step, self.edges_at(ids, types, direction))

    def edges_at(self, ids: Collection[int], types: Collection[str] | None, direction: str) -> Iterator[Edge]:
        """Return what ``steps`` does as bare tuples, for walks that pass very many."""
        kinds = f" AND type IN ({marks(types)})" if types is not None else ""
        for near, far, is_out in (("src", "dst", True), ("dst", "src", False)):
            if direction in ("both", "out" if is_out else "in"):
                select = f"SELECT {near}, {far}, type, weight, {is_out} FROM relation WHERE is_live"
                yield from rows_among(self.connection, f"{select}{kinds} AND {near} IN (...)", ids, [*(types or ())])

    def half_seen(self, number: int) -> Iterator[tuple[str, float, str, bool]]:
        """
        Yield the live edges that lead from a record to one that the caller may not see.

        Each with its type and weight, the type of that record and nothing else of it, and whether it leads out.
        """
        for near, far, is_out in (("src", "dst", True), ("dst", "src", False)) if self.sees is not None else ():
            sql = (
                f"SELECT made.type, made.weight, far.record_type, {is_out} FROM main.relation AS made"
                f" JOIN main.record AS far ON far.id = made.{far}"
                f" WHERE made.is_live AND made.{near} = ? AND far.id NOT IN (SELECT id FROM record WHERE id = far.id)"
            )
            yield from self.connection.execute(sql, (number,))

    def live_edges(self) -> Iterator[tuple[str, int, int, float, bytes]]:
        """Yield the live edges: type, numbers of the ends, effective weight, row."""
        sql = "SELECT type, src, dst, weight, coalesce(merged, line) FROM relation WHERE is_live ORDER BY id"
        yield from self.connection.execute(sql)

    def edge(self, source: str, kind: str, target: str) -> tuple[float, Row] | None:
        """Return the effective weight and the row of the live edge between two references by key."""
        number = row_id(edge_key(source, kind, target, symmetric=self.vocabulary.relations[kind].symmetric))
        sql = "SELECT weight, coalesce(merged, line) FROM relation WHERE is_live AND edge = ?"
        row = self.connection.execute(
            f"{sql} AND id = ? UNION ALL {sql} AND edge <> id", (number, number, number)
        ).fetchone()
        return (row[0], orjson.loads(row[1])) if row else None

    def begins_at(self, source: str, kind: str, target: str) -> bool:
        """Return whether the row of a live symmetric edge has ``source`` as its first end."""
        number = row_id(edge_key(source, kind, target, symmetric=True))
        sql = "SELECT 1 FROM relation WHERE is_live AND src = ? AND edge = ?"
        return self.connection.execute(sql, (row_id(source), number)).fetchone() is not None

    def relation(self, number: int) -> Relation | None:
        """Return the row that speaks for an edge, given the edge's number."""
        sql = "SELECT line FROM relation WHERE file IS NOT NULL AND"  # in two parts, for OR would read all rows
        row = self.connection.execute(
            f"{sql} id = ? UNION ALL {sql} edge <> id AND edge = ? LIMIT 1", (number, number)
        ).fetchone()
        return Relation.model_validate(orjson.loads(row[0])) if row else None

    def relation_rows(self, number: int) -> list[tuple[int, str]]:
        """Return number and file of every row that represents an edge."""
        sql = (
            "SELECT id, file FROM relation WHERE id = ? AND file IS NOT NULL UNION"
            " SELECT id, file FROM relation WHERE edge <> id AND edge = ? AND file IS NOT NULL"
        )
        return self.connection.execute(sql, (number, number)).fetchall()

    def refused_ends(self) -> list[tuple[str, str, str]]:
        """Return the type of each sort of edges that it does not allow, and the record types of their ends."""
        sql = (
            "SELECT DISTINCT type, a.record_type, b.record_type FROM relation"
            " JOIN record a ON a.id = src JOIN record b ON b.id = dst"
            " WHERE edge IS NULL AND relation.file IS NOT NULL AND src <> dst ORDER BY 1, 2, 3"
        )
        return self.connection.execute(sql).fetchall()

    def refused_rows(self, kind: str, source: int, target: int) -> list[tuple[int, str]]:
        """Return number and file of the rows for an edge that its type does not allow."""
        sql = (
            "SELECT id, file FROM relation WHERE edge IS NULL AND file IS NOT NULL AND type = ? AND src = ? AND dst = ?"
        )
        return self.connection.execute(sql, (kind, source, target)).fetchall()

    def notes(self, edges: Collection[tuple[int, str, int]]) -> dict[tuple[int, str, int], str]:
        """Return the notes of edges that have one, by their ends and type."""
        found = {}
        for part in chunks(edges):
            asked = ",".join(["(?,?,?)"] * len(part))
            sql = (
                f"WITH asked (src, type, dst) AS (VALUES {asked}) SELECT src, type, dst, coalesce(merged, line)"
                " FROM asked JOIN relation USING (src, type, dst) WHERE is_live AND instr(coalesce(merged, line), ?)"
            )
            for *edge, line in self.connection.execute(sql, (*chain.from_iterable(part), b'"note":')):
                if note := orjson.loads(line).get("note"):
                    found[tuple(edge)] = note
        return found

    def max_weight(self, types: Collection[str] | None) -> float:
        """Return a bound, 1 or more, that no live edge of these types exceeds."""
        among = f" AND type IN ({marks(types)})" if types is not None else ""
        sql = f"SELECT max(weight) FROM relation WHERE is_live AND weight > 1{among}"
        return self.connection.execute(sql, list(types or ())).fetchone()[0] or 1.0

    def edge_counts(self) -> dict[str, int]:
        """Return how many live edges there are of each type."""
        return dict(
            self.connection.execute("SELECT type, count(*) FROM relation WHERE is_live GROUP BY type").fetchall()
        )

    def live_ends(self, kind: str | None = None) -> list[tuple[int, int]]:
        """Return the ends of the live edges, of one type or of all."""
        sql = "SELECT src, dst FROM relation WHERE is_live"
        if kind is None:
            return self.connection.execute(sql).fetchall()
        return self.connection.execute(f"{sql} AND type = ?", (kind,)).fetchall()

    def solved(self) -> set[int]:
        """Return the failures that a live pattern solves; a file may hold edges that their type does not allow."""
        sql = (
            "SELECT DISTINCT dst FROM relation JOIN record AS source ON source.id = src"
            " JOIN record AS target ON target.id = dst WHERE relation.is_live AND relation.type = 'solves'"
            " AND source.record_type = 'pattern' AND target.record_type = 'failure'"
        )
        return {number for (number,) in self.connection.execute(sql)}

    def edges_without_effect(self) -> list[IdleEdge]:
        """Return the rows of edges that have an end which is missing, archived or not allowed."""
        sql = "SELECT id, file, source, type, target, src, dst, line FROM relation WHERE edge IS NULL"
        return [IdleEdge(*row) for row in self.connection.execute(sql).fetchall()]

    def edge_rows_by_reference(self) -> list[tuple[int, str, str, str, int | None, int | None]]:
        """Return the rows of files that do not represent a live edge by their own number: number, file, ends."""
        sql = (
            "SELECT id, file, source, target, src, dst FROM relation"
            " WHERE (edge IS NULL OR edge <> id) AND file IS NOT NULL"
        )
        return self.connection.execute(sql).fetchall()
