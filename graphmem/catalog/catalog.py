"""
The catalog: what was last read of the ledger, in SQLite, with names resolved and edges ready to walk.

Derived: it can be deleted at any moment. It is what makes a cold command fast: no file is parsed that has not changed.
Decision: docs/decisions/0001-one-catalog-many-followers.md.
"""

import contextlib
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import orjson

from graphmem.files import shipped
from graphmem.catalog.entry import Entry, text_hash
from graphmem.model import MODELS, Failure, Feedback, Memory, Record, Relation, Task
from graphmem.model.record import Row
from graphmem.model.vocabulary import Vocabulary
from graphmem.names import edge_key, mark, row_id, split_ref
from graphmem.rules.expression import needed_literals
from graphmem.rules.paths import Step

T = TypeVar("T")

VERSION = 1  # of the catalog's own tables; another one is thrown away and made again
NO_END = (None, None)  # of an edge: the record that is not there
BULK = 2_000  # changed rows above which the graph is rebuilt rather than brought up to date row by row
CHUNK = 500  # values in one IN list


@dataclass(slots=True)
class Batch:
    """What changed in one file: rows that are gone, rows that are new or have another line."""

    file: str
    gone: Collection[int] = ()
    entries: Sequence[Entry] = ()


@dataclass(slots=True)
class Touched:
    """What one change of the catalog touches, gathered while it is applied."""

    records: set[int] = field(default_factory=set)
    moved: set[int] = field(default_factory=set)  # records that were there and mean something else now
    handles: set[str] = field(default_factory=set)  # references that may now mean another record, or one at all
    names: set[tuple[str, str]] = field(default_factory=set)
    nodes: set[str] = field(default_factory=set)  # references by key
    edges: set[tuple[str, str, str]] = field(default_factory=set)  # type and ends, by key
    rows: int = 0


def connect(path: Path) -> sqlite3.Connection:
    """
    Open the catalog at ``path``, made empty where it is missing or of another version.

    Raises:
        sqlite3.DatabaseError: the file is damaged; delete it and call again.
    """
    connection = sqlite3.connect(path, timeout=30.0, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA temp_store = MEMORY")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version != VERSION:
        connection.execute("BEGIN IMMEDIATE")
        names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'lexical_%'"
        for (name,) in connection.execute(names).fetchall():
            connection.execute(f'DROP TABLE "{name}"')
        for statement in shipped("schema").joinpath("catalog.sql").read_text(encoding="utf-8").split(";\n"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    return connection


class Catalog:
    """The rows of a store as last read; every method works inside the transaction that the caller opened, if any."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.vocabulary = Vocabulary(entities={}, project_relations={})

    # --- what was read ------------------------------------------------------------------------------------------

    def meta(self, name: str) -> Any:
        """Return a value that was kept under ``name``; None where there is none."""
        row = self.connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def keep(self, name: str, value: object) -> None:
        """Keep a value under ``name``."""
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def clear(self) -> None:
        """Forget all rows; the vectors stay."""
        for table in ("file", "record", "alias", "expression", "relation", "report", "stale", "change"):
            self.connection.execute(f"DELETE FROM {table}")
        self.next_epoch()

    def next_epoch(self) -> None:
        """Note that the graph has to be made anew: what it lacks is no longer listed row by row."""
        self.connection.execute("DELETE FROM change")
        self.keep("epoch", (self.meta("epoch") or 0) + 1)

    @property
    def position(self) -> tuple[int, int]:
        """The epoch, and the number of the last change in it: what a follower has to have taken in."""
        row = self.connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'change'").fetchone()
        return self.meta("epoch") or 0, row[0] if row else 0

    def lines(self, file: str) -> dict[bytes, int]:
        """Return the rows of a file as last read: line to number."""
        table = {"relation": "relation", "feedback": "report"}.get(kind_of(file), "record")
        return dict(self.connection.execute(f"SELECT line, id FROM {table} WHERE file = ?", (file,)))

    def files_of(self, ids: Collection[int]) -> dict[int, str]:
        """Return the files that hold rows with these numbers."""
        found: dict[int, str] = {}
        for part in chunks(ids):
            for table in ("record", "relation", "report"):
                sql = f"SELECT id, file FROM {table} WHERE id IN ({marks(part)}) AND file IS NOT NULL"
                found |= dict(self.connection.execute(sql, part).fetchall())
        return found

    # --- taking in ----------------------------------------------------------------------------------------------

    def apply(self, batches: Sequence[Batch]) -> None:
        """Take in what changed in the files: records first, so that the edges find their ends."""
        touched = Touched(rows=sum(len(b.gone) + len(b.entries) for b in batches))
        with self.indexed_later(touched.rows):
            self.apply_batches(batches, touched)
        self.tell_names_apart(touched)
        self.resolve_again(touched)
        self.note_changes(touched)

    @contextlib.contextmanager
    def indexed_later(self, rows: int) -> Iterator[None]:
        """Make the indexes of edges anew after very many rows, which is cheaper than to keep them up row by row."""
        (there,) = self.connection.execute("SELECT count(*) FROM relation").fetchone()
        if rows <= BULK or rows < there:
            yield
            return
        sql = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND name IN ('relation_src', 'relation_dst')"
        indexes = self.connection.execute(sql).fetchall()
        for name, _ in indexes:
            self.connection.execute(f"DROP INDEX {name}")
        yield
        for _, statement in indexes:
            self.connection.execute(statement)

    def apply_batches(self, batches: Sequence[Batch], touched: Touched) -> None:
        """Put the rows of each file into their tables."""
        ordered = sorted(batches, key=lambda batch: kind_of(batch.file) in ("relation", "feedback"))
        for batch in ordered:
            match kind_of(batch.file):
                case "relation":
                    self.remove_relations(batch.gone, touched)
                    self.add_relations(batch.file, batch.entries, touched)
                case "feedback":
                    self.remove_reports(batch.gone, touched)
                    self.add_reports(batch.file, batch.entries, touched)
                case _:
                    self.remove_records(batch.gone, touched)
                    self.add_records(batch.file, batch.entries, touched)

    def remove_records(self, gone: Collection[int], touched: Touched) -> None:
        """Take records out, with what their fields made."""
        for part in chunks(gone):
            for number, (_, handles) in self.touch(part, touched).items():
                touched.moved.add(number)
                touched.handles |= handles
            for table, column in (("record", "id"), ("alias", "record"), ("expression", "record"), ("relation", "owner")):
                self.connection.execute(f"DELETE FROM {table} WHERE {column} IN ({marks(part)})", part)

    def touch(self, ids: Sequence[int], touched: Touched) -> dict[int, tuple[bool, set[str]]]:
        """Note what changes with records that are there; return whether each was live, and what it was called."""
        sql = f"SELECT id, scope, key, name, is_live FROM record WHERE id IN ({marks(ids)})"
        found: dict[int, tuple[bool, set[str]]] = {}
        for number, scope, key, name, is_live in self.connection.execute(sql, ids):
            touched.records.add(number)
            touched.nodes.add(f"{scope}/{key}")
            touched.names.add((scope, name))
            found[number] = bool(is_live), {f"{scope}/{key}", f"{scope}/{name}"}
        present = list(found)
        self.connection.executemany("INSERT OR IGNORE INTO stale VALUES (?)", [(number,) for number in present])
        sql = f"SELECT record, scope || '/' || name FROM alias WHERE record IN ({marks(present)})"
        for number, handle in self.connection.execute(sql, present):
            found[number][1].add(handle)
        return found

    def add_records(self, file: str, entries: Sequence[Entry], touched: Touched) -> None:
        """Put records in, or in the place of what they were."""
        vectors: dict[int, tuple[bytes | None, int | None]] = {}
        before: dict[int, tuple[bool, set[str]]] = {}
        for part in chunks([entry.id for entry in entries]):
            before |= self.touch(part, touched)
            sql = f"SELECT id, text_hash, vector FROM record WHERE id IN ({marks(part)})"
            vectors |= {number: (digest, place) for number, digest, place in self.connection.execute(sql, part)}
            if vectors:
                for table, column in (("alias", "record"), ("expression", "record"), ("relation", "owner")):
                    self.connection.execute(f"DELETE FROM {table} WHERE {column} IN ({marks(part)})", part)
        rows, aliases, stale, owned, expressions = [], [], [], [], []
        for entry in sorted(entries, key=lambda entry: entry.id):
            record = entry.record
            assert isinstance(record, Record)
            digest = text_hash(record) if self.is_searched(record.scope) else None
            old_digest, place = vectors.get(entry.id, (None, None))
            rows.append((
                entry.id, file, record.scope, record.key, record.name, record.name, not record.is_archived,
                digest, place if digest == old_digest else None, entry.line,
            ))  # fmt: skip
            if digest:
                stale.append((entry.id,))
            aliases += [(alias, record.scope, entry.id) for alias in record.aliases]
            if isinstance(record, Failure) and record.match:
                expressions += [(entry.id, literal, record.match) for literal in needed_literals(record.match)]
            if isinstance(record, Task):
                owned.append((entry.id, record))
            touched.records.add(entry.id)
            touched.nodes.add(record.key_ref)
            if vectors or record.name != record.key:
                touched.names.add((record.scope, record.name))
            handles = {f"{record.scope}/{handle}" for handle in (record.key, record.name, *record.aliases)}
            was = before.get(entry.id)
            if was != (not record.is_archived, handles):
                touched.handles |= handles | (was[1] if was else set())
                touched.moved |= {entry.id} if was else set()
        self.connection.executemany("INSERT OR REPLACE INTO record VALUES (?,?,?,?,?,?,?,?,?,?)", rows)
        self.connection.executemany("INSERT OR REPLACE INTO alias VALUES (?,?,?)", aliases)
        self.connection.executemany("INSERT OR IGNORE INTO stale VALUES (?)", stale)
        self.connection.executemany("INSERT OR REPLACE INTO expression VALUES (?,?,?)", expressions)
        for number, task in owned:
            self.add_owned(number, task)
            touched.handles |= {task.campaign, *task.depends}

    def is_searched(self, scope: str) -> bool:
        """Tell whether records of this scope are found by `query`."""
        made = self.vocabulary.entities.get(scope)
        return made.search if made else True

    def add_owned(self, owner: int, task: Task) -> None:
        """Add the edges that are fields of a task; they are resolved with the rest."""
        edges = [("part_of", task.campaign), *(("depends_on", ref) for ref in task.depends)]
        for kind, target in edges:
            number = row_id(edge_key(task.key_ref, kind, target, symmetric=False))
            line = orjson.dumps({"created_at": task.to_row()["created_at"]})
            self.connection.execute(
                "INSERT OR REPLACE INTO relation VALUES (?, NULL, ?, ?, ?, ?, NULL, NULL, NULL, 1.0, 0, ?, NULL)",
                (number, owner, kind, task.key_ref, target, line),
            )

    def remove_relations(self, gone: Collection[int], touched: Touched) -> None:
        """Take edges out; another row that stood behind one of them speaks for it again."""
        for part in chunks(gone):
            self.note_edges(part, touched)
            self.connection.execute(f"DELETE FROM relation WHERE id IN ({marks(part)})", part)

    def add_relations(self, file: str, entries: Sequence[Entry], touched: Touched) -> None:
        """Put edges in, or in the place of what they were, with their ends as far as they are there."""
        for part in chunks([entry.id for entry in entries]):
            if touched.rows <= BULK:
                self.note_edges(part, touched)
        ends = self.live({str(entry.row[end]) for entry in entries for end in ("from", "to")})
        weights = {name: made.weight for name, made in self.vocabulary.relations.items()}
        is_bulk = touched.rows > BULK
        rows = []
        for number, _, line, row, _ in sorted(entries, key=lambda entry: entry.id):
            kind, source, target = str(row["type"]), str(row["from"]), str(row["to"])
            src, dst = ends.get(source, NO_END), ends.get(target, NO_END)
            is_plain = src[1] == source and dst[1] == target
            weight = row.get("weight") or weights[kind]
            edge = number if is_plain else None
            rows.append((number, file, None, kind, source, target, src[0], dst[0], edge, weight, is_plain, line, None))
            if not (is_plain and is_bulk):
                touched.handles |= {source, target}
        self.connection.executemany("INSERT OR REPLACE INTO relation VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)", rows)
        if touched.rows <= BULK:
            for part in chunks([entry.id for entry in entries]):
                self.note_edges(part, touched)

    def note_edges(self, ids: Sequence[int], touched: Touched) -> None:
        """Note edges that the graph will have to look at again."""
        sql = (
            "SELECT r.type, a.scope || '/' || a.key, b.scope || '/' || b.key FROM relation r"
            f" JOIN record a ON a.id = r.src JOIN record b ON b.id = r.dst WHERE r.id IN ({marks(ids)})"
        )
        touched.edges.update(self.connection.execute(sql, ids))

    def remove_reports(self, gone: Collection[int], touched: Touched) -> None:
        """Take reports out."""
        for part in chunks(gone):
            self.touch_reported(part, touched)
            self.connection.execute(f"DELETE FROM report WHERE id IN ({marks(part)})", part)

    def add_reports(self, file: str, entries: Sequence[Entry], touched: Touched) -> None:
        """Put reports in; each finds its record now or when that appears."""
        reports = [(entry, entry.record) for entry in entries if isinstance(entry.record, Feedback)]
        targets = self.known({report.ref for _, report in reports})
        self.connection.executemany(
            "INSERT OR REPLACE INTO report VALUES (?,?,?,?,?,?,?)",
            [
                (entry.id, file, report.ref, targets.get(report.ref), report.helped, report.to_row()["at"], entry.line)
                for entry, report in reports
            ],
        )
        for part in chunks([entry.id for entry in entries]):
            self.touch_reported(part, touched)

    def touch_reported(self, ids: Sequence[int], touched: Touched) -> None:
        """Note the records whose counts change with these reports."""
        sql = f"SELECT DISTINCT a.scope || '/' || a.key FROM report JOIN record a ON a.id = record WHERE report.id IN ({marks(ids)})"
        touched.nodes |= {ref for (ref,) in self.connection.execute(sql, ids)}

    # --- what follows from a change -----------------------------------------------------------------------------

    def tell_names_apart(self, touched: Touched) -> None:
        """Show a name that two records of a scope hold with a mark, but for the one whose key sorts first."""
        if len(touched.records) > BULK:
            clashes = self.connection.execute("SELECT scope, name FROM record GROUP BY scope, name HAVING count(*) > 1")
            touched.names |= set(clashes.fetchall())
        for scope, name in sorted(touched.names):
            sql = "SELECT id, key, shown FROM record WHERE name = ? AND scope = ? ORDER BY key"
            for place, (number, key, shown) in enumerate(self.connection.execute(sql, (name, scope)).fetchall()):
                right = name if place == 0 else f"{name}~{mark(key)}"
                if shown != right:
                    self.connection.execute("UPDATE record SET shown = ? WHERE id = ?", (right, number))
                    touched.nodes.add(f"{scope}/{key}")

    def resolve_again(self, touched: Touched) -> None:
        """Look up again the ends of every edge, and the record of every report, that a change may have moved."""
        affected: set[int] = set()
        for part in chunks(touched.moved):
            for column in ("src", "dst"):
                sql = f"SELECT id FROM relation WHERE {column} IN ({marks(part)}) AND is_live"
                affected.update(number for (number,) in self.connection.execute(sql, part))
        # A row that does not name its ends by key speaks for its edge only while no other row does: all are looked at.
        loose = self.connection.execute("SELECT id, source, target, edge FROM relation WHERE edge IS NULL OR edge <> id")
        for number, source, target, edge in loose.fetchall():
            if edge is not None:
                affected |= {number, edge}
            elif source in touched.handles or target in touched.handles:
                affected.add(number)
        for part in chunks(affected):
            self.resolve_edges(part, touched)
        for part in chunks(touched.handles):
            sql = f"SELECT DISTINCT ref FROM report WHERE ref IN ({marks(part)})"
            for (ref,) in self.connection.execute(sql, part).fetchall():
                record = self.known({ref}).get(ref)
                self.connection.execute("UPDATE report SET record = ? WHERE ref = ?", (record, ref))

    def resolve_edges(self, ids: Sequence[int], touched: Touched) -> None:
        """Set the ends of these rows of relations, and which of them speak for their edges."""
        rows = self.connection.execute(
            f"SELECT id, type, source, target FROM relation WHERE id IN ({marks(ids)})", ids
        ).fetchall()
        self.note_edges(ids, touched)
        ends = self.live({ref for row in rows for ref in row[2:]})
        for number, kind, source, target in rows:
            src, dst = ends.get(source), ends.get(target)
            edge = None
            if src and dst and src[0] != dst[0]:
                is_symmetric = self.vocabulary.relations[kind].symmetric
                edge = row_id(edge_key(src[1], kind, dst[1], symmetric=is_symmetric))
            self.connection.execute(
                "UPDATE relation SET src = ?, dst = ?, edge = ?, is_live = ?, merged = NULL WHERE id = ?",
                (src and src[0], dst and dst[0], edge, edge == number, number),
            )
        strays = f"SELECT DISTINCT edge FROM relation WHERE id IN ({marks(ids)}) AND edge IS NOT NULL AND edge <> id"
        for (edge,) in self.connection.execute(strays, ids).fetchall():
            self.unite(edge)
        self.note_edges(ids, touched)

    def unite(self, edge: int) -> None:
        """Make one edge of the several rows that resolve to it: the later value of each field."""
        sql = "SELECT id, line, type FROM relation WHERE edge = ? OR (id = ? AND edge = id) ORDER BY id <> edge, id"
        rows = self.connection.execute(sql, (edge, edge)).fetchall()
        self.connection.execute(f"UPDATE relation SET is_live = 0 WHERE id IN ({marks(rows)})", [row[0] for row in rows])
        parsed = [orjson.loads(line) for _, line, _ in rows]
        merged = later_fields(parsed)
        weight = merged.get("weight") or self.vocabulary.relations[rows[0][2]].weight
        self.connection.execute(
            "UPDATE relation SET is_live = 1, weight = ?, merged = ? WHERE id = ?",
            (weight, orjson.dumps(merged, option=orjson.OPT_SORT_KEYS), rows[0][0]),
        )

    def note_changes(self, touched: Touched) -> None:
        """List what the graph has to take in, or have it made anew where that is cheaper."""
        if touched.rows > BULK:
            self.next_epoch()
            return
        rows = [(None, ref, None) for ref in sorted(touched.nodes)] + sorted(touched.edges)
        self.connection.executemany("INSERT INTO change (type, source, target) VALUES (?, ?, ?)", rows)

    # --- looking up ---------------------------------------------------------------------------------------------

    def live(self, refs: Collection[str]) -> dict[str, tuple[int, str]]:
        """Return the live records that references mean, by key, name or alias: number and reference by key."""
        found = {row_id(ref): ref for ref in refs}
        result: dict[str, tuple[int, str]] = {}
        present: set[str] = set()
        for part in chunks(found):
            sql = f"SELECT id, is_live FROM record WHERE id IN ({marks(part)})"
            for number, is_live in self.connection.execute(sql, part):
                present.add(found[number])
                if is_live:
                    result[found[number]] = (number, found[number])
        for ref in set(refs) - present:
            number = self.by_name(*split_ref(ref))
            if number is not None:
                row = self.connection.execute(
                    "SELECT scope || '/' || key FROM record WHERE id = ? AND is_live", (number,)
                ).fetchone()
                if row:
                    result[ref] = (number, row[0])
        return result

    def known(self, refs: Collection[str]) -> dict[str, int]:
        """Return the records, live or archived, that references mean, by key, name or alias."""
        found: dict[str, int] = {}
        for ref in refs:
            number = self.lookup(*split_ref(ref))
            if number is not None:
                found[ref] = number
        return found

    def lookup(self, scope: str, name: str) -> int | None:
        """Return the record of a scope that a name means: by key, then name, then alias."""
        number = row_id(f"{scope}/{name}")
        if self.connection.execute("SELECT 1 FROM record WHERE id = ?", (number,)).fetchone():
            return number
        return self.by_name(scope, name)

    def by_name(self, scope: str, name: str) -> int | None:
        """Return the record of a scope with this name, as shown or as stored, or with this alias."""
        row = self.connection.execute(
            "SELECT id FROM record WHERE name = ? AND scope = ? UNION ALL"
            " SELECT id FROM record WHERE shown = ? AND shown <> name AND scope = ? UNION ALL"
            " SELECT record FROM alias WHERE name = ? AND scope = ? LIMIT 1",
            (name, scope) * 3,
        ).fetchone()
        return row[0] if row else None

    def anywhere(self, name: str, scopes: Collection[str] | None = None) -> list[int]:
        """Return the records of any scope that a bare name means; where keys or names fit, aliases do not count."""
        among = [scope for scope in self.scopes() if scopes is None or scope in scopes]
        numbers = {self.lookup(scope, name) for scope in among}
        return sorted(number for number in numbers if number is not None)

    def scopes(self) -> list[str]:
        """Return the kinds and entity types that have records."""
        return [scope for (scope,) in self.connection.execute("SELECT DISTINCT scope FROM record")]

    def names(self, limit: int) -> list[str]:
        """Return references by shown name, at most ``limit``: for suggestions and completion."""
        rows = self.connection.execute("SELECT scope || '/' || shown FROM record WHERE is_live LIMIT ?", (limit,))
        return [ref for (ref,) in rows]

    def completions(self, prefix: str, limit: int) -> list[str]:
        """Return current references that begin with ``prefix``, in name order."""
        sql = "SELECT scope || '/' || shown AS ref FROM record WHERE is_live AND substr(scope || '/' || shown, 1, ?) = ? ORDER BY ref LIMIT ?"
        return [ref for (ref,) in self.connection.execute(sql, (len(prefix), prefix, limit))]

    def refs(self, ids: Collection[int]) -> dict[int, str]:
        """Return the current references of records."""
        found: dict[int, str] = {}
        for part in chunks(ids):
            sql = f"SELECT id, scope || '/' || shown FROM record WHERE id IN ({marks(part)})"
            found |= dict(self.connection.execute(sql, part).fetchall())
        return found

    def records(self, ids: Collection[int]) -> dict[int, Record]:
        """Return records as answers show them: by shown name, with what was reported of them."""
        counts = self.reports(ids)
        found: dict[int, Record] = {}
        for part in chunks(ids):
            sql = f"SELECT id, shown, line FROM record WHERE id IN ({marks(part)})"
            for number, shown, line in self.connection.execute(sql, part):
                found[number] = shown_as(parse_record(line), shown, *counts.get(number, (0, 0, None))[:2])
        return found

    def has(self, number: int) -> bool:
        """Tell whether there is a record with this number."""
        return self.connection.execute("SELECT 1 FROM record WHERE id = ?", (number,)).fetchone() is not None

    def stored(self, number: int) -> Record:
        """Return a record as its row has it."""
        (line,) = self.connection.execute("SELECT line FROM record WHERE id = ?", (number,)).fetchone()
        return parse_record(line)

    def reports(self, ids: Collection[int]) -> dict[int, tuple[int, int, str | None]]:
        """Return, for records that were reported on, how often they helped, failed, and when they last helped."""
        found = {}
        for part in chunks(ids):
            sql = (
                "SELECT record, sum(helped), count(*), max(CASE WHEN helped THEN at END) FROM report"
                f" WHERE record IN ({marks(part)}) GROUP BY record"
            )
            for number, helped, total, last in self.connection.execute(sql, part):
                found[number] = (helped, total - helped, last)
        return found

    def steps(self, ids: Collection[int], types: Collection[str] | None, direction: str) -> Iterator[Step]:
        """Yield the live edges at each of these records, seen from it; ``direction`` is out, in or both."""
        for near, far, is_out in (("src", "dst", True), ("dst", "src", False)):
            if direction not in ("both", "out" if is_out else "in"):
                continue
            for part in chunks(ids):
                kinds = f" AND type IN ({marks(types)})" if types is not None else ""
                sql = f"SELECT {near}, {far}, type, weight FROM relation WHERE is_live AND {near} IN ({marks(part)}){kinds}"
                for a, b, kind, weight in self.connection.execute(sql, (*part, *(types or ()))):
                    yield Step(a, b, kind, weight, is_out)

    def live_rows(self, scope: str) -> Iterator[tuple[int, str, str, bytes]]:
        """Yield the live records of a scope: number, key, shown name, line."""
        sql = "SELECT id, key, shown, line FROM record WHERE scope = ? AND is_live ORDER BY id"
        yield from self.connection.execute(sql, (scope,))

    def live_edges(self) -> Iterator[tuple[str, int, int, float, bytes]]:
        """Yield the live edges: type, numbers of the ends, effective weight, row."""
        sql = "SELECT type, src, dst, weight, coalesce(merged, line) FROM relation WHERE is_live ORDER BY id"
        yield from self.connection.execute(sql)

    def edge(self, source: str, kind: str, target: str) -> tuple[float, Row] | None:
        """Return the effective weight and the row of the live edge between two references by key."""
        number = row_id(edge_key(source, kind, target, symmetric=self.vocabulary.relations[kind].symmetric))
        sql = "SELECT weight, coalesce(merged, line) FROM relation WHERE is_live AND edge = ?"
        row = self.connection.execute(
            f"{sql} AND id = ? UNION ALL {sql} AND (edge IS NULL OR edge <> id)", (number, number, number)
        ).fetchone()
        return (row[0], orjson.loads(row[1])) if row else None

    def report(self, number: int) -> Feedback | None:
        """Return a report by its number."""
        row = self.connection.execute("SELECT line FROM report WHERE id = ?", (number,)).fetchone()
        return Feedback.model_validate(orjson.loads(row[0])) if row else None

    def relation(self, number: int) -> Relation | None:
        """Return the row that speaks for an edge, given the edge's number."""
        row = self.connection.execute(
            "SELECT line FROM relation WHERE (id = ? OR edge = ?) AND file IS NOT NULL ORDER BY id <> ? LIMIT 1",
            (number, number, number),
        ).fetchone()
        return Relation.model_validate(orjson.loads(row[0])) if row else None

    def relation_rows(self, number: int) -> list[tuple[int, str]]:
        """Return number and file of every row that stands for an edge."""
        sql = "SELECT id, file FROM relation WHERE id = ? AND file IS NOT NULL UNION SELECT id, file FROM relation WHERE (edge IS NULL OR edge <> id) AND edge = ?"
        return self.connection.execute(sql, (number, number)).fetchall()

    def notes(self, edges: Collection[tuple[int, str, int]]) -> dict[tuple[int, str, int], str]:
        """Return the notes of edges that have one, by their ends and type."""
        found = {}
        sql = "SELECT coalesce(merged, line) FROM relation WHERE src = ? AND type = ? AND dst = ? AND is_live"
        for edge in edges:
            row = self.connection.execute(sql, edge).fetchone()
            note = orjson.loads(row[0]).get("note") if row else None
            if note:
                found[edge] = note
        return found

    def max_weight(self, types: Collection[str] | None) -> float:
        """Return a bound that no live edge of these types exceeds."""
        among = f" AND type IN ({marks(types)})" if types is not None else ""
        sql = f"SELECT max(weight) FROM relation WHERE is_live{among}"
        return self.connection.execute(sql, list(types or ())).fetchone()[0] or 1.0

    def of_scopes(self, ids: Collection[int], scopes: Collection[str]) -> set[int]:
        """Return those of some records that are of these kinds or entity types."""
        found: set[int] = set()
        for part in chunks(ids):
            sql = f"SELECT id FROM record WHERE id IN ({marks(part)}) AND scope IN ({marks(scopes)})"
            found.update(number for (number,) in self.connection.execute(sql, (*part, *scopes)))
        return found

    def expressions(self, text: str) -> list[tuple[int, str]]:
        """Return the match expressions whose needed literal stands in ``text``, each with its live record."""
        sql = (
            "SELECT DISTINCT e.record, e.expression FROM expression e JOIN record r ON r.id = e.record"
            " WHERE r.is_live AND instr(?, e.literal)"
        )
        return self.connection.execute(sql, (text.lower(),)).fetchall()

    def changes(self, seq: int) -> list[tuple[str | None, str, str | None]]:
        """Return what the graph lacks since ``seq``: nodes (type and target None) first, then edges, each once."""
        sql = "SELECT DISTINCT type, source, target FROM change WHERE seq > ? ORDER BY type IS NOT NULL, type, source, target"
        return self.connection.execute(sql, (seq,)).fetchall()

def kind_of(file: str) -> str:
    """Return which table the rows of a data file stand in: relation, feedback or record."""
    if file.startswith("data/relations/"):
        return "relation"
    return "feedback" if file.startswith(("data/feedback.", "data/feedback/")) else "record"


def parse_record(line: bytes) -> Record:
    """Return the record on a line that was checked when it was read."""
    row = orjson.loads(line)
    record = MODELS[row["kind"]].model_validate(row)
    assert isinstance(record, Record)
    return record


def shown_as(record: Record, shown: str, helped: int, failed: int) -> Record:
    """Return the copy of a record that answers show: by current name, with its counts."""
    changes: dict[str, object] = {} if shown == record.name else {"name": shown}
    if isinstance(record, Memory) and (helped or failed):
        changes |= {"helped": record.helped + helped, "failed": record.failed + failed}
    return record.model_copy(update=changes) if changes else record


def later_fields(rows: Sequence[Row]) -> Row:
    """Return one row of several for the same edge: of each field the value that was set last, then the greater one."""

    def rank(row: Row, name: str) -> tuple[str, bytes]:
        edited = row.get("edited")
        time = edited.get(name) if isinstance(edited, dict) else None
        return str(time or row.get("created_at")), orjson.dumps(row.get(name), option=orjson.OPT_SORT_KEYS)

    names = {name for row in rows for name in row} - {"kind", "from", "to", "type", "created_at"}
    merged = {name: max(rows, key=lambda row: rank(row, name)).get(name) for name in names}
    first = min(rows, key=lambda row: str(row.get("created_at")))
    return {**first, **{name: value for name, value in merged.items() if value is not None}}


def chunks(values: Iterable[T]) -> Iterator[list[T]]:
    """Yield the values in lists that fit into one IN list."""
    listed = list(values)
    for start in range(0, len(listed), CHUNK):
        yield listed[start : start + CHUNK]


def marks(values: Collection[object]) -> str:
    """Return the question marks of an IN list."""
    return ",".join("?" * len(values))
