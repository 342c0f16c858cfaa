"""
Taking in: what changed in the files becomes rows of the catalog, with the ends of edges resolved.

Records come first, so that edges find their ends; an edge whose end is missing waits, and is looked at again when a
record comes, goes or is called something else.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Self

import orjson

from graphmem.kernel.catalog import lessons
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.catalog.clues import ClueIndex
from graphmem.kernel.catalog.database import checksum, chunks, distinct_name, rows_among, run_among, run_many, table_of
from graphmem.kernel.catalog.hashes import hash_of, meaning_hashes
from graphmem.kernel.model import Fact, Feedback, MemoryRecord, Purge, Record, Run
from graphmem.kernel.model.entry import Batch, Entry
from graphmem.kernel.model.field import format_time
from graphmem.kernel.model.label import labels_of
from graphmem.kernel.model.record import Row
from graphmem.names import edge_key, row_id, split_ref

BULK = 2_000  # changed rows above which the graph is rebuilt rather than brought up to date row by row
PART = 10_000  # rows that are taken in at once: bounds the memory of it
MOST_LISTED = 10_000  # changes kept for the graph to take in; above that it is rebuilt once and the list begins again
ORDER = ("record", "relation", "fact")  # of the tables that rows of files go into
OWNED = (
    "alias",
    "label",
    "symptom",
    "signature",
    "expression",
    "line",
    "error",
    "clueless",
    "standing",
)  # tables of what follows from a record
NO_END = (None, None)  # of an edge: the record that is not there


@dataclass(slots=True)
class Touched:
    """What one change of the catalog touches, gathered while it is applied."""

    records: set[int] = field(default_factory=set)
    moved: set[int] = field(default_factory=set)  # records that were there and mean something else now
    handles: set[str] = field(default_factory=set)  # references that may now mean another record, or one at all
    names: set[tuple[str, str]] = field(default_factory=set)
    nodes: set[str] = field(default_factory=set)  # references by key
    edges: set[tuple[str, str, str]] = field(default_factory=set)  # type and ends, by key
    left: set[int] = field(default_factory=set)  # rows of edges of which another row is gone
    runs: set[int] = field(default_factory=set)  # that are new
    questions: set[bytes] = field(default_factory=set)  # that a report asked which changed or is gone
    is_reordered: bool = False  # runs are gone, or other than they were
    rows: int = 0


class ChangeApplier:
    """
    Takes what changed in the files into a catalog, inside the transaction that the caller opened.

    Used with ``with``, at the end of which follows what depends on all changes. The batches come in the order of the
    tables: records first, so that the edges find their ends.
    """

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.connection = catalog.connection
        self.touched = Touched()
        self.table = ""  # that the last batch was for
        self.ends: dict[str, tuple[int, str] | tuple[None, None]] = {}  # of edges, by how these name them
        self.indexes: list[str] = []  # statements of those that the table has to get back

    @staticmethod
    def order(file: str) -> tuple[int, str]:
        """Return what data files are sorted by before they are taken in."""
        return ORDER.index(table_of(file)), file

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            return  # the transaction takes everything back
        self.make_indexes()
        self.move_lessons()
        self.disambiguate_names()
        self.resolve_edges_again()
        unasked = "NOT EXISTS (SELECT 1 FROM fact WHERE fact.question = text_hash)"
        sql = f"DELETE FROM question WHERE text_hash IN (...) AND {unasked}"
        run_among(self.connection, sql, self.touched.questions)
        self.note_changes()

    @property
    def rows(self) -> int:
        """How many rows were taken in or out."""
        return self.touched.rows

    def take(self, batch: Batch) -> None:
        """Take in what changed in a file, or a part of it."""
        table, entries = table_of(batch.file), batch.entries
        if table != self.table:
            self.make_indexes()
            self.table = table
        self.touched.rows += len(batch.gone) + len(batch.entries)
        self.index_later(table, len(entries))
        if table == "record":
            self.remove_records(batch.gone)
            add: Callable[[str, Sequence[Entry]], None] = self.add_records
        elif table == "relation":
            self.delete_relations(batch.gone)
            add = self.add_relations
        else:
            self.remove_facts(batch.gone)
            add = self.add_facts
        for start in range(0, len(entries), PART):
            add(batch.file, entries[start : start + PART])

    def index_later(self, table: str, rows: int) -> None:
        """Drop the indexes of a table before very many rows: building them again is cheaper than updating them."""
        if self.indexes or rows <= BULK:
            return
        if rows < self.connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]:
            return
        sql = (
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = ?"
            " AND name NOT GLOB '*_file'"  # by which the rows of the next file are found
        )
        for name, statement in self.connection.execute(sql, (table,)).fetchall():
            self.connection.execute(f"DROP INDEX {name}")
            self.indexes.append(statement)

    def make_indexes(self) -> None:
        """Make the indexes again that were dropped."""
        for statement in self.indexes:
            self.connection.execute(statement)
        self.indexes.clear()

    def remove_records(self, gone: Collection[int]) -> None:
        """Take records out, with what their fields made."""
        for part in chunks(gone):
            for number, (*_, handles) in self.touch(part).items():
                self.touched.moved.add(number)
                self.touched.handles |= handles
            self.note_edges_at(part)
            run_among(self.connection, "DELETE FROM record WHERE id IN (...)", part)
            self.remove_owned(part)

    def remove_owned(self, ids: Collection[int]) -> None:
        """Take out what follows from records or facts: it is made again, or they are gone."""
        for table in OWNED:
            run_among(self.connection, f"DELETE FROM {table} WHERE record IN (...)", ids)
        owned = rows_among(self.connection, "SELECT id FROM relation WHERE owner IN (...)", ids)
        self.delete_relations([number for (number,) in owned])

    def touch(self, ids: Collection[int]) -> dict[int, tuple[bool, str, set[str]]]:
        """Note what changes with records that are there; return whether each was live, its name, all it was called."""
        sql = "SELECT id, record_type, key, name, is_live FROM record WHERE id IN (...)"
        found: dict[int, tuple[bool, str, set[str]]] = {}
        for number, record_type, key, name, is_live in rows_among(self.connection, sql, ids):
            self.touched.records.add(number)
            self.touched.nodes.add(f"{record_type}/{key}")
            self.touched.names.add((record_type, name))
            found[number] = bool(is_live), name, {f"{record_type}/{key}", f"{record_type}/{name}"}
        run_many(self.connection, "INSERT OR IGNORE INTO stale VALUES (?)", [(number,) for number in found])
        sql = "SELECT record, record_type || '/' || name FROM alias WHERE record IN (...)"
        for number, handle in rows_among(self.connection, sql, found):
            found[number][2].add(handle)
        return found

    def add_records(self, file: str | None, entries: Sequence[Entry]) -> None:
        """Put records in, or in the place of what they were; no file holds the node of a fact."""
        ids = [entry.id for entry in entries]
        if before := self.touch(ids):
            self.remove_owned(ids)
        entries = [entry._replace(made=entry.record) for entry in entries]
        meanings = {entry.id: self.meanings_of(entry) for entry in entries}
        digests = {digest for found in meanings.values() for digest in found}
        self.catalog.keep_vectors(digests)
        places = self.catalog.places(digests, self.catalog.meta("vector_model")) if digests else {}
        rows, symptoms, aliases, labels, stale, owned = [], [], [], [], [], []
        for number, _, line, record, _ in sorted(entries, key=itemgetter(0)):
            assert isinstance(record, Record)
            record_type, key, name, is_live = record.record_type, record.key, record.name, not record.is_archived
            digest, *others = meanings[number] or (None,)
            rows.append(
                (
                    number,
                    file,
                    record_type,
                    key,
                    name,
                    name,
                    is_live,
                    digest,
                    places.get(digest) if digest else None,
                    line,
                    checksum(number, line),
                )
            )
            if digest:
                stale.append((number,))
            symptoms += [(number, other, places.get(other)) for other in others if is_live]
            aliases += [(alias, record_type, number) for alias in record.other_names]
            labels += [(sort, text, number) for sort, text in labels_of(record)]
            owned.append((number, record))
            self.touched.records.add(number)
            self.touched.nodes.add(f"{record_type}/{key}")
            if before or name != key:
                self.touched.names.add((record_type, name))
            handles = {f"{record_type}/{handle}" for handle in (key, name, *record.other_names)}
            was = before.get(number)
            if was != (is_live, name, handles):  # a name that became an alias gives way to another record's name
                self.touched.handles |= handles | (was[2] if was else set())
                self.touched.moved |= {number} if was else set()
        self.connection.executemany("INSERT OR REPLACE INTO record VALUES (?,?,?,?,?,?,?,?,?,?,?)", rows)
        run_many(self.connection, "INSERT OR REPLACE INTO symptom VALUES (?,?,?)", symptoms)
        run_many(self.connection, "INSERT OR REPLACE INTO alias VALUES (?,?,?)", aliases)
        run_many(self.connection, "INSERT OR IGNORE INTO label VALUES (?,?,?)", labels)
        run_many(self.connection, "INSERT OR IGNORE INTO stale VALUES (?)", stale)
        memories = [(number, record) for number, record in owned if isinstance(record, MemoryRecord)]
        clues = ClueIndex(self.catalog)
        if self.touched.rows > BULK:
            clues.put_off([number for number, _ in memories])
        else:
            try:
                clues.add(memories)
            except MemoryError:  # the rows are written already
                clues.put_off([number for number, _ in memories])
        for number, owner in owned:
            self.add_owned(number, owner)

    def meanings_of(self, entry: Entry) -> Sequence[bytes]:
        """Return the hashes of the texts by whose vectors a record is found; none of a type that is not searched."""
        record = entry.record
        is_searched = isinstance(record, Record) and self.catalog.vocabulary.is_searched(record.record_type)
        return [*meaning_hashes(record)] if is_searched else ()

    def add_owned(self, owner: int, row: Record | Feedback) -> None:
        """Add the edges that are fields of a row; they are resolved with the rest."""
        for source, kind, target, says in row.own_edges:
            key = edge_key(source, kind, target, symmetric=False)
            # A project's own type of that name has rows too, and one of them may be of the same two records.
            number = row_id(f"{key}\t{owner}" if kind in self.catalog.vocabulary.project_relations else key)
            said = {"created_at": format_time(row.created_at), "from": source, "to": target, **dict(says)}
            weight = self.catalog.vocabulary.relations[kind].weight
            self.connection.execute(
                "INSERT OR REPLACE INTO relation VALUES (?, NULL, ?, ?, ?, ?, NULL, NULL, NULL, ?, 0, ?, NULL)",
                (number, owner, kind, source, target, weight, orjson.dumps(said)),
            )
            self.touched.handles |= {source, target}

    def delete_relations(self, ids: Collection[int]) -> None:
        """Take rows of edges out; another row of the same edge becomes the one that counts."""
        self.note_edges(ids)
        sql = "SELECT edge FROM relation WHERE id IN (...) AND edge <> id"
        self.touched.left.update(number for (number,) in rows_among(self.connection, sql, ids))
        run_among(self.connection, "DELETE FROM relation WHERE id IN (...)", ids)

    def add_relations(self, file: str, entries: Sequence[Entry]) -> None:
        """Put edges in, or in the place of what they were, with their ends as far as they are there."""
        is_bulk = self.touched.rows > BULK
        if not is_bulk:
            self.note_edges([entry.id for entry in entries])
        found = [(entry.id, entry.line, entry.row) for entry in sorted(entries, key=itemgetter(0))]
        self.find_ends({row["from"] for *_, row in found} | {row["to"] for *_, row in found})
        ends = self.ends
        weights = {name: made.weight for name, made in self.catalog.vocabulary.relations.items()}
        allowed: dict[tuple[str, str, str], bool] = {}  # few types and record types, very many edges
        settled, loose = [], []
        for number, line, row in found:
            kind, source, target = row["type"], row["from"], row["to"]
            src, dst = ends[source], ends[target]
            weight = row.get("weight") or weights[kind]
            way = kind, split_ref(source)[0], split_ref(target)[0]
            if way not in allowed:
                allowed[way] = self.allows(*way)
            if src[1] == source and dst[1] == target and allowed[way]:  # by key, as nearly always: needs no texts
                settled.append((number, file, kind, src[0], dst[0], weight, line))
                if is_bulk:
                    continue
            else:
                loose.append((number, file, kind, src[0], dst[0], weight, line, source, target))
            self.touched.handles |= {source, target}
        run_many(
            self.connection,
            "INSERT OR REPLACE INTO relation (id, file, type, src, dst, weight, line, edge, is_live)"
            " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?1, 1)",
            settled,
        )
        run_many(
            self.connection,
            "INSERT OR REPLACE INTO relation (id, file, type, src, dst, weight, line, source, target, is_live)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
            loose,
        )
        if not is_bulk:
            self.note_edges([entry.id for entry in entries])

    def find_ends(self, refs: set[str]) -> None:
        """Look up the records that these references mean; they recur from part to part, and records come before."""
        new = refs - self.ends.keys()
        found = self.catalog.live(new)
        self.ends.update((ref, found.get(ref, NO_END)) for ref in new)

    def allows(self, kind: str, source: str, target: str) -> bool:
        """Return whether an edge of a type may go from one record type to another; nothing uses one that may not."""
        return self.catalog.vocabulary.allows(kind, source, target)

    def note_edges_at(self, ids: Collection[int]) -> None:
        """List the edges of removed records for the graph: the records may come back without them before it looks."""
        if self.touched.rows > BULK:
            return
        for column in ("src", "dst"):
            sql = f"SELECT id FROM relation WHERE {column} IN (...) AND is_live"
            self.note_edges([number for (number,) in rows_among(self.connection, sql, ids)])

    def note_edges(self, ids: Collection[int]) -> None:
        """Note edges that the graph will have to look at again."""
        sql = (
            "SELECT r.type, a.record_type || '/' || a.key, b.record_type || '/' || b.key FROM relation r"
            " JOIN record a ON a.id = r.src JOIN record b ON b.id = r.dst WHERE r.id IN (...)"
        )
        self.touched.edges.update(rows_among(self.connection, sql, ids))

    def remove_facts(self, gone: Collection[int]) -> None:
        """Take facts out, with the nodes that they are."""
        self.touch_reported(gone)
        self.note_questions(gone)
        sql = "SELECT node FROM fact WHERE node IS NOT NULL AND id IN (...)"
        nodes = [number for (number,) in rows_among(self.connection, sql, gone)]
        self.forget_runs(gone)
        self.remove_owned(gone)
        run_among(self.connection, "DELETE FROM fact WHERE id IN (...)", gone)
        self.remove_records(nodes)

    def add_facts(self, file: str, entries: Sequence[Entry]) -> None:
        """Put facts in: a report finds its record now or when that appears, runs and events become nodes."""
        ids = [entry.id for entry in entries]
        self.note_questions(ids)
        self.forget_runs(ids)
        self.remove_owned(ids)
        reports = [entry.record for entry in entries if isinstance(entry.record, Feedback)]
        targets = self.catalog.known({report.ref for report in reports})
        rows: list[tuple[object, ...]] = []
        nodes, runs, questions = [], [], []
        for number, kind, line, fact, _ in sorted(entries, key=itemgetter(0)):
            if isinstance(fact, Feedback):
                at = format_time(fact.at)
                asked = hash_of(fact.question) if fact.question else None
                target, crc = targets.get(fact.ref), checksum(number, line)
                rows.append(
                    (number, file, None, fact.ref, target, fact.helped, at, asked, fact.wrong or None, line, crc)
                )
                questions += [(asked,)] if asked else []
                self.add_owned(number, fact)
            elif isinstance(fact, Fact):
                node = row_id(fact.key_ref)
                at, crc = format_time(fact.at), checksum(number, line)
                rows.append((number, file, node, None, None, None, at, None, None, line, crc))
                nodes.append(Entry(node, kind, line, fact))
            elif isinstance(fact, Purge):
                at, crc = format_time(fact.at), checksum(number, line)
                rows.append((number, file, None, None, None, None, at, None, None, line, crc))
            if isinstance(fact, Run):
                runs.append((number, fact))
        self.connection.executemany("INSERT OR REPLACE INTO fact VALUES (?,?,?,?,?,?,?,?,?,?,?)", rows)
        self.connection.executemany("INSERT OR IGNORE INTO question (text_hash) VALUES (?)", questions)
        self.add_records(None, nodes)
        self.add_runs(runs)
        self.touch_reported(ids)

    def note_questions(self, ids: Collection[int]) -> None:
        """Note what reports asked that change or go: it may be asked by none of them at the end."""
        sql = "SELECT question FROM fact WHERE question IS NOT NULL AND id IN (...)"
        self.touched.questions.update(digest for (digest,) in rows_among(self.connection, sql, ids))

    def forget_runs(self, ids: Collection[int]) -> None:
        """Forget the order of some runs, and what they saw."""
        if run_among(self.connection, "DELETE FROM run WHERE id IN (...)", ids):
            self.touched.is_reordered = True
            run_among(self.connection, "DELETE FROM seen WHERE run IN (...)", ids)

    def add_runs(self, runs: Sequence[tuple[int, Run]]) -> None:
        """Put runs in their order, with the lessons that they saw."""
        self.touched.runs.update(number for number, _ in runs)
        order = [(format_time(run.at), run.run, number) for number, run in runs]
        self.connection.executemany("INSERT INTO run VALUES (?,?,?)", order)
        saw = [(number, ref) for number, run in runs for ref in run.refs_in("seen")]
        known = self.catalog.known({ref for _, ref in saw})
        rows = [(number, ref, known.get(ref)) for number, ref in saw]
        self.connection.executemany("INSERT OR REPLACE INTO seen VALUES (?,?,?)", rows)

    def touch_reported(self, ids: Collection[int]) -> None:
        """Note the records whose counts change with these reports."""
        sql = (
            "SELECT DISTINCT a.record_type || '/' || a.key FROM fact JOIN record a ON a.id = record"
            " WHERE fact.id IN (...)"
        )
        self.touched.nodes |= {ref for (ref,) in rows_among(self.connection, sql, ids)}

    # --- what follows from a change -----------------------------------------------------------------------------

    def move_lessons(self) -> None:
        """Bring up to date the states of lessons; one that faded away counts as archived until a run sees it again."""
        other = lessons.resolve_seen(self.catalog, self.touched.handles)
        sql = "SELECT id FROM record WHERE record_type = 'lesson' AND id IN (...)"
        other.update(number for (number,) in rows_among(self.connection, sql, self.touched.records))
        if not (other or self.touched.runs or self.touched.is_reordered):
            return
        runs = None if self.touched.is_reordered else self.touched.runs
        moved = lessons.moved(self.catalog, other, runs)
        sql = "SELECT id, key, is_live, line FROM record WHERE id IN (...)"
        for number, key, is_live, line in list(rows_among(self.connection, sql, moved)):
            self.touched.nodes.add(f"lesson/{key}")
            is_archived = orjson.loads(line).get("archived_at") is not None
            if bool(is_live) != (not is_archived and not moved[number].is_faded):
                self.note_edges_at([number])
                self.touched.handles |= self.touch([number])[number][2]
                self.touched.moved.add(number)
                self.connection.execute("UPDATE record SET is_live = NOT is_live WHERE id = ?", (number,))

    def disambiguate_names(self) -> None:
        """Mark the shown name of every record that its plain name would not lead back to."""
        if len(self.touched.records) > BULK:
            clashes = (
                "SELECT record_type, name FROM record WHERE name <> key UNION SELECT record_type, name FROM record"
            )
            self.touched.names |= set(
                self.connection.execute(f"{clashes} GROUP BY record_type, name HAVING count(*) > 1")
            )
        else:
            self.touched.names |= {split_ref(ref) for ref in self.touched.nodes}
        for record_type, name in sorted(self.touched.names):
            sql = "SELECT id, key, shown FROM record WHERE name = ? AND record_type = ? ORDER BY key <> name, key"
            holders = self.connection.execute(sql, (name, record_type)).fetchall()
            is_a_key = len(holders) > 0 and self.catalog.has(row_id(f"{record_type}/{name}"))
            for place, (number, key, shown) in enumerate(holders):
                is_plain = key == name or (place == 0 and not is_a_key)
                right = name if is_plain else distinct_name(name, key)
                if shown != right:
                    self.connection.execute("UPDATE record SET shown = ? WHERE id = ?", (right, number))
                    self.touched.nodes.add(f"{record_type}/{key}")

    def resolve_edges_again(self) -> None:
        """Look up again the ends of every edge, and the record of every report, that a change may have moved."""
        affected = set(self.touched.left)
        for column in ("src", "dst"):
            sql = f"SELECT id FROM relation WHERE {column} IN (...) AND is_live"
            affected.update(number for (number,) in rows_among(self.connection, sql, self.touched.moved))
        # A row that does not name its ends by key speaks for its edge only while no other row does: all are looked at.
        for row in self.connection.execute("SELECT id, edge FROM relation WHERE edge <> id"):
            affected.update(row)
        for end in ("source", "target"):
            sql = f"SELECT id FROM relation WHERE edge IS NULL AND {end} IN (...)"
            affected.update(number for (number,) in rows_among(self.connection, sql, self.touched.handles))
        for part in chunks(affected):
            self.resolve_edges(part)
        sql = "SELECT id, ref FROM fact WHERE ref IN (...)"
        reports = list(rows_among(self.connection, sql, self.touched.handles))
        records = self.catalog.known({ref for _, ref in reports})
        numbers = [number for number, _ in reports]
        self.touch_reported(numbers)
        found = [(records.get(ref), number) for number, ref in reports]
        run_many(self.connection, "UPDATE fact SET record = ? WHERE id = ?", found)
        self.touch_reported(numbers)

    def resolve_edges(self, ids: Collection[int]) -> None:
        """Set the ends of these rows of relations, and which of them speak for their edges."""
        sql = "SELECT id, type, line FROM relation WHERE id IN (...)"
        found = [(number, kind, orjson.loads(line)) for number, kind, line in rows_among(self.connection, sql, ids)]
        self.note_edges(ids)
        ends = self.catalog.live({str(row[end]) for _, _, row in found for end in ("from", "to")})
        relations = self.catalog.vocabulary.relations
        for number, kind, row in found:
            source, target = str(row["from"]), str(row["to"])
            src, dst = ends.get(source), ends.get(target)
            edge = None
            if src and dst and src[0] != dst[0] and self.allows(kind, split_ref(src[1])[0], split_ref(dst[1])[0]):
                edge = row_id(edge_key(src[1], kind, dst[1], symmetric=relations[kind].symmetric))
            texts = (None, None) if edge == number else (source, target)
            self.connection.execute(
                "UPDATE relation SET source = ?, target = ?, src = ?, dst = ?, edge = ?, is_live = ?, merged = NULL,"
                " weight = ? WHERE id = ?",
                (
                    *texts,
                    src and src[0],
                    dst and dst[0],
                    edge,
                    edge == number,
                    row.get("weight") or relations[kind].weight,
                    number,
                ),
            )
        strays = "SELECT DISTINCT edge FROM relation WHERE id IN (...) AND edge IS NOT NULL AND edge <> id"
        for (edge,) in list(rows_among(self.connection, strays, ids)):
            self.merge_duplicate_edges(edge)
        self.note_edges(ids)

    def merge_duplicate_edges(self, edge: int) -> None:
        """Make one edge of the several rows that resolve to it: the later value of each field."""
        sql = "SELECT id, line, type FROM relation WHERE edge = ? OR (id = ? AND edge = id) ORDER BY id <> edge, id"
        rows = self.connection.execute(sql, (edge, edge)).fetchall()
        run_among(self.connection, "UPDATE relation SET is_live = 0 WHERE id IN (...)", [row[0] for row in rows])
        parsed = [orjson.loads(line) for _, line, _ in rows]
        merged = _later_fields(parsed)
        weight = merged.get("weight") or self.catalog.vocabulary.relations[rows[0][2]].weight
        self.connection.execute(
            "UPDATE relation SET is_live = 1, weight = ?, merged = ? WHERE id = ?",
            (weight, orjson.dumps(merged, option=orjson.OPT_SORT_KEYS), rows[0][0]),
        )

    def note_changes(self) -> None:
        """List what the graph has to take in, or have it made again where that is cheaper or the list grew long."""
        ends = "SELECT (SELECT max(seq) FROM change) - (SELECT min(seq) FROM change)"  # both at once would read all
        (listed,) = self.connection.execute(ends).fetchone()
        if self.touched.rows > BULK or (listed or 0) > MOST_LISTED:
            self.catalog.next_epoch()
            return
        rows = [(None, ref, None) for ref in sorted(self.touched.nodes)] + sorted(self.touched.edges)
        self.connection.executemany("INSERT INTO change (type, source, target) VALUES (?, ?, ?)", rows)


def _later_fields(rows: Sequence[Row]) -> Row:
    """Return one row of several for the same edge: of each field the value that was set last, then the greater one."""

    def rank(row: Row, name: str) -> tuple[str, bytes]:
        edited = row.get("edited")
        time = edited.get(name) if isinstance(edited, dict) else None
        return str(time or row.get("created_at")), orjson.dumps(row.get(name), option=orjson.OPT_SORT_KEYS)

    names = {name for row in rows for name in row} - {"kind", "from", "to", "type", "created_at"}
    merged = {name: max(rows, key=lambda row: rank(row, name)).get(name) for name in names}
    first = min(rows, key=lambda row: str(row.get("created_at")))
    return {**first, **{name: value for name, value in merged.items() if value is not None}}
