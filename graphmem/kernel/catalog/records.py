"""Records, as answers show them or as their rows have them."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import orjson

from graphmem.constants import REPAIR_COMMAND
from graphmem.errors import DamagedCatalog
from graphmem.kernel.catalog.database import R, distinct_name, marks, parse_record, remembered, rows_among, sound
from graphmem.kernel.catalog.facts import FactReads
from graphmem.kernel.catalog.names import NameReads
from graphmem.kernel.catalog.rankable import Rankable
from graphmem.kernel.model import MODELS, MemoryRecord, Record
from graphmem.kernel.model.field import format_time
from graphmem.kernel.model.label import Sort
from graphmem.kernel.model.lesson_state import LessonState
from graphmem.kernel.model.record import Refers, Row, references_in, with_references
from graphmem.kernel.model.reports import credited, open_disputes
from graphmem.names import split_ref

MOST_LABELLED = 1_000  # records of one label that are looked at: what very many carry tells nothing apart
LABELLED = "SELECT l.text, l.record FROM label l JOIN record r ON r.id = l.record WHERE r.is_live AND l.sort = ? AND"


class RecordReads(NameReads, FactReads):
    """Records, as answers show them or as their rows have them."""

    def records(self, ids: Collection[int]) -> dict[int, Record]:
        """Return records as answers show them: they and what they refer to by shown name, with what was reported."""
        counts, lesson_states, disputes = self.reports(ids), self.lesson_states(ids), self.disputes(ids)
        found: dict[int, Record] = {}
        sql = "SELECT id, shown, line, crc FROM record WHERE id IN (...)"
        for number, shown, line, crc in rows_among(self.connection, sql, ids):
            helped, failed, _ = counts.get(number, (0, 0, None))
            stored = parse_record(number, line, crc)
            if shown != stored.name and shown != distinct_name(stored.name, stored.key):
                raise DamagedCatalog("a name in the catalog is not as it was written", hint=REPAIR_COMMAND)
            record = shown_as(stored, shown, helped, failed, lesson_states.get(number), disputes.get(number, ()))
            if record.alternates and helped + failed:
                record = credited(record, self.times_of_reports(number))
            found[number] = record
        self.refuse_missing(ids, found)
        return dict(zip(found, self.named(list(found.values())), strict=True))

    def rankable(self, ids: Collection[int]) -> dict[int, Rankable]:
        """Return records as far as their order depends on them; their rows are not parsed as a whole."""
        counts = self.reports(ids)
        found: dict[int, Rankable] = {}
        sql = "SELECT id, record_type || '/' || shown, line, crc FROM record WHERE id IN (...)"
        for number, ref, line, crc in rows_among(self.connection, sql, ids):
            row = orjson.loads(sound(number, line, crc))
            found[number] = Rankable.of(ref, row, *counts.get(number, (0, 0, None)))
        self.refuse_missing(ids, found)
        return found

    def refuse_missing(self, ids: Collection[int], found: Collection[int]) -> None:
        """Raise ``DamagedCatalog`` where records have no row, and not because they are gone since they were found."""
        if len(found) < len({*ids}) and self.damage():
            raise DamagedCatalog("rows of the catalog are missing", hint=REPAIR_COMMAND)

    def named(self, records: Sequence[R]) -> list[R]:
        """Return records with the references in their fields by shown name; rows have them by key."""
        if self.sees is not None:
            told = ((record, _told_references(record.refers, vars(record), self.may_tell)) for record in records)
            records = [record.model_copy(update=changes) if changes else record for record, changes in told]
        given = {ref for record in records for ref in references_in(record)}
        if not given:
            return list(records)
        shown = {ref: name for ref, name in self.shown_refs(given).items() if name != ref}
        return [with_references(record, shown) for record in records] if shown else list(records)

    def told(self, row: Row) -> Row:
        """Return a row without its references of records that no answer may name."""
        if self.sees is None:
            return row
        changes = _told_references(getattr(MODELS.get(str(row["kind"])), "refers", {}), row, self.may_tell)
        return {name: value for name, value in {**row, **changes}.items() if value is not None} if changes else row

    def repeating(self, record: MemoryRecord, keys: Collection[int], limit: int) -> list[MemoryRecord]:
        """
        Return live memories of the kind of a record that have one of its keys: the signature of its trigger, errors.

        At most ``limit``, those with a signature first.
        """
        among = f"IN ({marks(keys)})"
        sql = (
            f"WITH same (id, is_error) AS (SELECT record, 0 FROM signature WHERE number {among}"
            f" UNION ALL SELECT record, 1 FROM error WHERE number {among})"
            " SELECT id, line, crc FROM same JOIN record USING (id) WHERE is_live"
            f" GROUP BY id ORDER BY min(is_error), count(*) DESC, id LIMIT {limit}"
        )
        found = [parse_record(*row) for row in self.connection.execute(sql, (*keys, *keys))]
        return [other for other in found if isinstance(other, MemoryRecord) and other.kind == record.kind]

    def has(self, number: int) -> bool:
        """Return whether there is a record with this number."""
        return self.connection.execute("SELECT 1 FROM record WHERE id = ?", (number,)).fetchone() is not None

    def stored(self, number: int) -> Record:
        """Return a record as its row has it."""
        sql = "SELECT id, line, crc FROM record WHERE id = ?"
        return parse_record(*self.connection.execute(sql, (number,)).fetchone())

    def record_lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the line of every record, archived ones too, with its number."""
        yield from self.connection.execute("SELECT id, line FROM record")

    def lesson_states(self, ids: Collection[int]) -> dict[int, LessonState]:
        """Return the states of those records that are lessons."""
        sql = "SELECT record, frequency, silent, last_run, is_faded FROM standing WHERE record IN (...)"
        rows = rows_among(self.connection, sql, ids)
        return {number: LessonState(seen, silent, at, bool(is_faded)) for number, seen, silent, at, is_faded in rows}

    def rows_about(self, ids: Collection[int]) -> Iterator[tuple[int, Row]]:
        """Yield the rows of the live events about each of these records, with its number; they are not checked."""
        sql = (
            "SELECT e.dst, r.id, r.line, r.crc FROM relation e JOIN record r ON r.id = e.src"
            " WHERE e.is_live AND e.type = 'about' AND e.dst IN (...)"
        )
        for about, number, line, crc in rows_among(self.connection, sql, ids):
            yield about, orjson.loads(sound(number, line, crc))

    def live_rows(self, record_type: str) -> Iterator[tuple[int, str, str, bytes]]:
        """Yield the live records of a record type: number, key, shown name, line."""
        sql = "SELECT id, key, shown, line, crc FROM record WHERE record_type = ? AND is_live ORDER BY id"
        for number, key, shown, line, crc in self.connection.execute(sql, (record_type,)):
            yield number, key, shown, sound(number, line, crc)

    def live_row(self, number: int) -> tuple[str, bytes] | None:
        """Return the shown name and the line of a live record."""
        sql = "SELECT shown, line FROM record WHERE id = ? AND is_live"
        row = self.connection.execute(sql, (number,)).fetchone()
        return (row[0], row[1]) if row else None

    def settled_tasks(self, refs: Collection[str]) -> set[str]:
        """Return those references that mean a live task, or an archived one that is complete."""
        numbers, found = self.known(refs), set[int]()
        sql = "SELECT id, is_live, line FROM record WHERE id IN (...)"
        for number, is_live, line in rows_among(self.connection, sql, numbers.values()):
            if is_live or orjson.loads(line).get("status") == "complete":
                found.add(number)
        return {ref for ref, number in numbers.items() if number in found}

    def labelled(self, sort: Sort, texts: Collection[str]) -> Iterator[tuple[str, int]]:
        """Yield live records that carry one of some labels, each with that label; of a label so many at most."""
        sql = "SELECT value FROM json_each(?) WHERE EXISTS (SELECT 1 FROM label WHERE sort = ? AND text = value)"
        carried = self.connection.execute(sql, (orjson.dumps([*texts]).decode(), sort)).fetchall()
        for (text,) in sorted(carried):
            yield from self.connection.execute(f"{LABELLED} l.text = ? LIMIT {MOST_LABELLED}", (sort, text))

    def labelled_below(self, sort: Sort, folder: str) -> Iterator[int]:
        """Yield live records that carry a path below a folder, so many at most."""
        sql = f"{LABELLED} l.text >= ? AND l.text < ? LIMIT {MOST_LABELLED}"
        for _, number in self.connection.execute(sql, (sort, f"{folder}/", f"{folder}0")):  # 0 comes after /
            yield number

    def of_kind(self, model: type[R], *, is_live: bool = True) -> dict[int, R]:
        """Return the records of a kind as their rows have them, by number; the live ones, or archived ones too."""
        kind = next(kind for kind, found in MODELS.items() if found is model)
        sql = f"SELECT id, line, crc FROM record WHERE record_type = ?{' AND is_live' if is_live else ''} ORDER BY id"
        found = {number: parse_record(number, line, crc) for number, line, crc in self.connection.execute(sql, (kind,))}
        return {number: record for number, record in found.items() if isinstance(record, model)}

    @remembered
    def has_records(self) -> bool:
        """Return whether there is any record, archived ones too."""
        return self.connection.execute("SELECT 1 FROM record LIMIT 1").fetchone() is not None

    def live_counts(self) -> tuple[int, int]:
        """Return how many live records and live edges there are."""
        (records,) = self.connection.execute("SELECT count(*) FROM record WHERE is_live").fetchone()
        (edges,) = self.connection.execute("SELECT count(*) FROM relation WHERE is_live").fetchone()
        return records, edges

    def without_vector(self) -> int:
        """Return how many live records have a text and no vector yet."""
        sql = (
            "SELECT count(*) FROM record WHERE is_live AND text_hash IS NOT NULL AND (vector IS NULL"
            " OR id IN (SELECT record FROM symptom WHERE vector IS NULL))"
        )
        (number,) = self.connection.execute(sql).fetchone()
        return int(number)

    def of_record_types(self, ids: Collection[int], record_types: Collection[str]) -> set[int]:
        """Return those of some records that are of these kinds or entity types."""
        sql = f"SELECT id FROM record WHERE record_type IN ({marks(record_types)}) AND id IN (...)"
        return {number for (number,) in rows_among(self.connection, sql, ids, [*record_types])}

    def listed(
        self, record_types: Collection[str], *, is_live: bool, after: tuple[str, str] = ("", ""),
        limit: int | None = None,
    ) -> list[int]:  # fmt: skip
        """Return the live or the archived records of some types, by type and shown name; ``after`` is such a pair."""
        among = f"record_type IN ({marks(record_types)}) AND is_live = ? AND (record_type, shown) > (?, ?)"
        sql = f"SELECT id FROM record WHERE {among} ORDER BY record_type, shown LIMIT ?"
        values = (*record_types, is_live, *after, -1 if limit is None else limit)
        return [number for (number,) in self.connection.execute(sql, values)]

    def count_listed(self, record_types: Collection[str], *, is_live: bool) -> int:
        """Return how many live or archived records of some types there are."""
        sql = f"SELECT count(*) FROM record WHERE record_type IN ({marks(record_types)}) AND is_live = ?"
        return int(self.connection.execute(sql, (*record_types, is_live)).fetchone()[0])

    def numbers(self, record_type: str) -> list[int]:
        """Return the records of a type, archived ones too."""
        return [
            number
            for (number,) in self.connection.execute("SELECT id FROM record WHERE record_type = ?", (record_type,))
        ]

    def archived(self) -> list[int]:
        """Return the archived records."""
        return [number for (number,) in self.connection.execute("SELECT id FROM record WHERE NOT is_live")]

    def all_live(self, without: Collection[str] = ()) -> list[int]:
        """Return the live records but for those of some types."""
        sql = f"SELECT id FROM record WHERE is_live AND record_type NOT IN ({marks(without)})"
        return [number for (number,) in self.connection.execute(sql, list(without))]

    def with_field(self, name: str, *, is_live: bool = True) -> list[int]:
        """Return the records whose rows hold a field of this name, at any depth; live ones, or archived ones too."""
        sql = f"SELECT id FROM record WHERE {'is_live AND ' if is_live else ''}instr(line, CAST(? AS BLOB))"
        return [number for (number,) in self.connection.execute(sql, (f'"{name}"',))]

    def which_may_name(self, fields: Collection[str]) -> Iterator[tuple[int, Record]]:
        """Yield the records whose model has fields of references, and those whose rows hold one of these fields."""
        kinds = [kind for kind, model in MODELS.items() if issubclass(model, Record) and _has_own_references(model)]
        any_of = " OR ".join(["instr(line, CAST(? AS BLOB))"] * len(fields))
        sql = f"SELECT id, line, crc FROM record WHERE record_type IN ({marks(kinds)}) OR {any_of}"
        for row in self.connection.execute(sql, (*kinds, *(f'"{name}"' for name in fields))).fetchall():
            yield row[0], parse_record(*row)

    def with_text(self, digest: bytes) -> list[int]:
        """Return the records with this search text or symptom, by its hash."""
        sql = "SELECT id FROM record WHERE text_hash = ? UNION SELECT record FROM symptom WHERE text_hash = ?"
        rows = self.connection.execute(sql, (digest, digest))
        return [number for (number,) in rows]

    def counts_by_type(self) -> dict[str, int]:
        """Return how many live records there are of each kind and entity type."""
        return dict(
            self.connection.execute(
                "SELECT record_type, count(*) FROM record WHERE is_live GROUP BY record_type"
            ).fetchall()
        )

    def place_of(self, number: int) -> tuple[str, bytes]:
        """Return the file and the line of a record."""
        row = self.connection.execute("SELECT file, line FROM record WHERE id = ?", (number,)).fetchone()
        return row[0], row[1]

    def renamed_apart(self) -> list[tuple[str, str, str, str, bytes]]:
        """Return the records that are shown by another name than their own: file, type, name, shown name, line."""
        sql = "SELECT file, record_type, name, shown, line FROM record WHERE shown <> name ORDER BY record_type, shown"
        return self.connection.execute(sql).fetchall()


def shown_as(
    record: Record,
    shown: str,
    helped: int,
    failed: int,
    standing: LessonState | None = None,
    disputes: Sequence[str] = (),
) -> Record:
    """Return the copy of a record that answers show: by current name, with its counts, and its state."""
    changes: dict[str, object] = {} if shown == record.name else {"name": shown}
    others = tuple(found for found in record.alternates if getattr(record, found.field, None) != found.text)
    if others != record.alternates:
        changes["alternates"] = others
    if isinstance(record, MemoryRecord) and (helped or failed):
        changes |= {"helped": record.helped + helped, "failed": record.failed + failed}
    if isinstance(record, MemoryRecord) and disputes:
        edited = {name: format_time(time) for name, time in record.edited.items()}
        changes["disputed"] = open_disputes(edited, disputes)
    if standing is not None:
        changes |= standing.fields
    return record.model_copy(update=changes) if changes else record


def _has_own_references(model: type[Record]) -> bool:
    """Return whether a kind has fields of references that other kinds do not have."""
    return model.refers.keys() != {"superseded_by"}


def _told_references(
    refers: Mapping[str, Refers], values: Mapping[str, Any], may_tell: Callable[[str], bool]
) -> dict[str, Any]:
    """Return what is left of fields with references of records that no answer may name."""
    changes: dict[str, Any] = {}
    for field, one in refers.items():
        if field == "campaign" or not (given := values.get(field)):  # the name of a task begins with it
            continue
        refs = [given] if isinstance(given, str) else list(given)
        kinds = [split_ref(one.full(str(ref)))[0] for ref in refs]
        kept = [ref for ref, kind in zip(refs, kinds, strict=True) if not kind or may_tell(kind)]
        if len(kept) < len(refs):
            changes[field] = None if isinstance(given, str) else type(given)(kept)
    return changes
