"""
What one source writes, as a whole: its rows of before are replaced, those of others stay.

A row belongs to the source that its ``sources`` alone names. What a source no longer gives is taken out, but
for records that others refer to.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from graphmem.constants import EXTRACT_NAMED
from graphmem.core.records.bulk_add import read_lines, settle_edge
from graphmem.core.records.bulk_new import Project
from graphmem.core.records.bulk_rows import BulkAdd, Given, add_record, guarded, under_current_names
from graphmem.core.records.validation import changed, known_type
from graphmem.features.extractors.contract import Extraction
from graphmem.kernel.model import Entity, Relation
from graphmem.kernel.model.entry import Entry
from graphmem.kernel.model.record import Row
from graphmem.kernel.model.vocabulary import Vocabulary
from graphmem.kernel.ndjson import BadLine, decode, encode, refuse_long
from graphmem.kernel.store.snapshot import Snapshot, Writing, refuse_unwritable
from graphmem.kernel.system.collector import collector_paused
from graphmem.names import row_id, row_title

# The fields of a printed line: those that it must have, and those that it may have.
FIELDS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "entity": (("type", "name"), ("value",)),
    "edge": (("from", "type", "to"), ("weight", "note")),
}
KINDS = {"entity": "entity", "edge": "relation"}


@dataclass(slots=True)
class Replacement:
    """The rows of one source on their way: those that it wrote before, and what becomes of each that it gives."""

    intake: BulkAdd
    before: Mapping[int, tuple[str, Row]]  # its rows: file and row, by number
    now: datetime
    given: set[int] = field(default_factory=set)  # numbers of the rows that it gives
    left: list[str] = field(default_factory=list)  # rows that others have, by their titles
    updated: int = 0
    unchanged: int = 0


def row_of(line: bytes, source: str, writes: Collection[str], vocabulary: Vocabulary) -> bytes:
    """
    Return the row that a printed line says, as a line of the ledger with its source.

    Raises:
        BadLine: it is no entity and no edge of the types in ``writes``.
    """
    refuse_long(line)
    row = decode(line)
    kind = row.get("kind")
    if not isinstance(kind, str) or kind not in FIELDS:
        raise BadLine(f"kind {kind!r} is not known here", "entity or edge", code="unknown_kind")
    required, optional = FIELDS[kind]
    for name in required:
        if not isinstance(row.get(name), str):
            raise BadLine(f"an {kind} needs a text as {name!r}", f"the fields {', '.join(required)}", code="bad_row")
    if unknown := sorted(row.keys() - {"kind", *required, *optional}):
        fields = ", ".join((*required, *optional))
        raise BadLine(f"an {kind} has no field {unknown[0]!r}", f"of {fields}", code="bad_row")
    row = under_current_names(row, vocabulary)
    if row["type"] not in writes:
        raise BadLine(f"type {row['type']!r} is not among those that it writes", ", ".join(writes), code="refused")
    return encode({**row, "kind": KINDS[kind], "sources": [source]})


def replace(snapshot: Snapshot, name: str, source: str, lines: Sequence[bytes]) -> tuple[BulkAdd, Extraction]:
    """
    Put the rows of a source in the place of those that it wrote before, all or none; any snapshot is only read.

    Args:
        name: of the input, for messages.
        lines: as ``row_of`` returns them.

    Returns:
        The addition, whose findings say why nothing was written, and what became of the rows.
    """
    catalog, writes = snapshot.client.everything, snapshot.client.rights.writes
    with collector_paused():
        intake = BulkAdd(
            snapshot.client, name, snapshot.symmetric, record_types=frozenset(snapshot.catalog.record_types())
        )
        work = Replacement(intake, catalog.rows_of_source(source), snapshot.now)
        rows = read_lines(intake, lines, Project(snapshot.root))
        entities = [given for given in rows if isinstance(given.record, Entity)]
        numbers = [row_id(given.record.key_ref) for given in entities if isinstance(given.record, Entity)]
        intake.there = frozenset(catalog.files_of(numbers, "record"))
        for given in entities:
            guarded(intake, given, lambda _, given: place_entity(work, given))
        place_edges(work, [given for given in rows if given.is_edge])
        gone = work.before.keys() - work.given
        for number in sorted(gone) if writes is not None else ():
            refuse_unwritable(work.before[number][1], writes or ())
        refuse_gone_ends(work, gone)
        kept = catalog.referred({number for number in gone if is_record(work, number)}, gone)
        done = Extraction(
            name=name,
            created=len(intake.puts) - work.updated,
            updated=work.updated,
            unchanged=work.unchanged,
            removed=len(gone) - len(kept),
            left=len(work.left),
            kept=len(kept),
        )
        if not intake.findings:
            told = [("is not its own, and stays as it is", work.left)]
            told.append(("is no longer found, and stays, for others refer to it", titles(work, kept)))
            for what, named in told:
                if named:
                    snapshot.notify(f"{name}: {some(named)} {what}")
            write(snapshot, work, gone - kept)
    return intake, done


def write(snapshot: Snapshot, work: Replacement, gone: Collection[int]) -> None:
    """Write what is new, what changed and what is gone; nothing where that is nothing, or the snapshot is only read."""
    removes: dict[str, list[int]] = {}
    for number in sorted(gone):
        removes.setdefault(work.before[number][0], []).append(number)
    if isinstance(snapshot, Writing) and (work.intake.puts or removes):
        snapshot.commit(list(work.intake.puts.values()), removes)


def place_entity(work: Replacement, given: Given) -> None:
    """Take in an entity: a new one, another value of one of the source's own, or one that others have."""
    record, intake = given.record, work.intake
    assert isinstance(record, Entity)
    known_type(intake.client.catalog.vocabulary, record.type)
    number = row_id(record.key_ref)
    holder: int | None = number
    if number not in intake.there:
        is_known = record.type in intake.record_types
        holder = intake.client.catalog.lookup(record.type, record.name) if is_known else None
    if holder is None:
        work.given.add(number)
        return add_record(intake, given)
    if intake.is_again(given, holder):
        return None
    own = work.before.get(holder)
    if own is None or own[1].get("archived_at") is not None:
        work.left.append(record.ref)
    elif own[1].get("value", "") == record.value:
        work.unchanged += 1
    else:
        intake.put(changed(Entity.model_validate(own[1]), {"value": record.value}, work.now))
        work.updated += 1
    work.given.add(holder)
    row = own[1] if own else intake.client.catalog.stored(holder).to_row()
    intake.handles[record.ref] = f"{record.type}/{row.get('key', row['name'])}"
    return None


def place_edges(work: Replacement, rows: Sequence[Given]) -> None:
    """Take in edges: new ones, other values of the source's own, and those that others have."""
    intake = work.intake
    made: list[tuple[Given, Entry]] = []
    for given in rows:
        guarded(intake, given, lambda intake, given: made.append((given, settle_edge(intake, given))))
    there = intake.client.everything.files_of([fresh.id for _, fresh in made], "relation")
    for given, fresh in made:
        if intake.is_again(given, fresh.id, may_swap=fresh.row["type"] in intake.symmetric):
            continue
        work.given.add(fresh.id)
        own = work.before.get(fresh.id)
        values = {name: fresh.row.get(name) for name in ("weight", "note")}
        if own is None and fresh.id in there:
            work.left.append(row_title(fresh.row))
        elif own is None:
            intake.puts[fresh.id] = fresh
        elif all(own[1].get(name) == value for name, value in values.items()):
            work.unchanged += 1
        else:
            intake.put(changed(Relation.model_validate(own[1]), values, work.now))
            work.updated += 1


def refuse_gone_ends(work: Replacement, gone: Collection[int]) -> None:
    """Note as bad the edges to records that the source wrote before and gives no more."""
    keys = {key for key in work.intake.handles.values() if row_id(key) in gone}
    if not keys:
        return
    for given in work.intake.firsts.values():
        named = [given.row["from"], given.row["to"]] if given.is_edge else []
        for ref in [ref for ref in named if work.intake.handles.get(ref) in keys][:1]:
            work.intake.refuse(given, BadLine(f"{ref!r} is not printed any more", "an entity of this run"))


def is_record(work: Replacement, number: int) -> bool:
    """Return whether a row that the source wrote before is a record."""
    return work.before[number][1]["kind"] != "relation"


def titles(work: Replacement, numbers: Collection[int]) -> list[str]:
    """Return what names some rows that the source wrote before."""
    return sorted(row_title(work.before[number][1]) for number in numbers)


def some(named: Sequence[str]) -> str:
    """Return the first of some names, and how many more there are."""
    more = f" and {len(named) - EXTRACT_NAMED:,} more" if len(named) > EXTRACT_NAMED else ""
    return ", ".join(named[:EXTRACT_NAMED]) + more
