"""Get a record, and list records."""

from collections.abc import Iterable, Sequence
from typing import BinaryIO

from graphmem.core.evidence.doubts import Doubter
from graphmem.core.evidence.fixes import fixes
from graphmem.core.evidence.variant_fixes import variant_fixes
from graphmem.core.records.cursor import ListPlace
from graphmem.core.records.record_contract import GetRequest, Got, Listed, Listing, ListRequest, NamesRequest
from graphmem.core.records.relation_contract import Edge
from graphmem.errors import NotFound, Usage
from graphmem.kernel.ledger.parts import usual_file
from graphmem.kernel.machine.usage import accesses
from graphmem.kernel.model import MODELS, Record
from graphmem.kernel.model.merge import FACTS
from graphmem.kernel.model.vocabulary import Vocabulary
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.request import LARGEST
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot
from graphmem.kernel.suggest import did_you_mean


@operation("names", positional=2, scoped=True, from_files=True)
def names(snapshot: Snapshot, request: NamesRequest) -> Sequence[str]:
    """Return references that begin with ``prefix``, in name order; where none does, those with it in their name."""
    return snapshot.catalog.completions(request.prefix, request.limit)


@operation("get", past=True, scoped=True, example="graphmem get failure/import-error")
def get(snapshot: Snapshot, request: GetRequest) -> Got:
    """Return a record with its edges, by reference or unambiguous name; an archived one too."""
    number = snapshot.resolve(request.ref)
    record = snapshot.catalog.records([number])[number]
    edges = edges_of(snapshot, number)
    doubter = Doubter(snapshot)
    cites = doubter.tree.cites_of(record)
    handed, worked = snapshot.catalog.handed_out([number]).get(number, (0, 0))
    count, last = accesses(snapshot.client.state, [record.key_ref]).get(record.key_ref, (0, None))
    return Got(
        ref=record.ref,
        record=record,
        relations=edges,
        access_count=count,
        last_accessed=last,
        handed_out=handed,
        worked=worked,
        fixes=fixes(record),
        variant_fix=variant_fixes(snapshot.catalog, {number: record}).get(number),
        cites=cites,
        doubts=doubter.of(record, cites),
    )


def edges_of(snapshot: Snapshot, number: int) -> list[Edge]:
    """Return all edges of a record, by type and ends; of an end that the caller may not read its type alone."""
    steps = list(snapshot.catalog.steps([number], None, "both"))
    names = snapshot.catalog.refs({step.far for step in steps} | {number})
    notes = snapshot.catalog.notes({(s.near, s.type, s.far) if s.is_out else (s.far, s.type, s.near) for s in steps})
    edges = []
    for step in steps:
        src, dst = (step.near, step.far) if step.is_out else (step.far, step.near)
        note = notes.get((src, step.type, dst))
        edges.append(Edge(source=names[src], type=step.type, target=names[dst], weight=step.weight, note=note))
    for kind, weight, far, is_out in snapshot.catalog.half_seen(number):
        source, target = (names[number], far) if is_out else (far, names[number])
        edges.append(Edge(source=source, type=kind, target=target, weight=weight))
    return sorted(edges, key=lambda edge: (edge.type, edge.source, edge.target))


@operation(
    "list",
    positional=1,
    past=True,
    scoped=True,
    example="graphmem list failure --tag build --sort -updated_at --limit 20",
    arguments=1,
    takes={"kind": Taken("KIND|TYPE", "kind")},
)
def listing(snapshot: Snapshot, request: ListRequest) -> Listing:
    """Return records of a kind or entity type with all of ``tags``; ``sort`` is a field, ``-field`` reversed."""
    tags, sort, place = request.tags, request.sort, ListPlace.given(request)
    most = None if request.limit is None else min(request.limit + 1, LARGEST)  # one more than is shown
    catalog, is_live = snapshot.catalog, not request.archived
    snapshot.client.refuse_unseen([request.kind or ""])
    record_types = record_types_of(snapshot.vocabulary, request.kind)
    if not tags and sort is None and request.by is None:
        after = place.name if place else ("", "")
        ids = catalog.listed(record_types, is_live=is_live, after=after, limit=most)
        records, total = catalog.records(ids), catalog.count_listed(record_types, is_live=is_live)
        found = [records[number] for number in ids]
    else:
        ids = catalog.listed(record_types, is_live=is_live)
        records = catalog.records(ids)
        found = [
            record
            for record in map(records.__getitem__, ids)
            if set(tags) <= set(getattr(record, "tags", ())) and (request.by is None or request.by in record.writers)
        ]
        total = len(found)
        if sort is not None:
            found = _sorted_by(found, sort)
        if place is not None:
            found = [record for record in found if place.is_before(record, request)]
    shown = found[: request.limit]
    cursor = ListPlace.of(shown[-1], request).cursor(request) if shown and len(found) > len(shown) else None
    return Listing(results=listed(snapshot, shown), total=total, cursor=cursor)


def listed(snapshot: Snapshot, records: Iterable[Record]) -> list[Listed]:
    """Return records as lists have them."""
    doubter = Doubter(snapshot)
    return [Listed(ref=record.ref, record=record, doubts=doubter.of(record)) for record in records]


def record_types_of(vocabulary: Vocabulary, kind: str | None) -> list[str]:
    """Return the record types that a filter names: one, all entity types for ``entity``, or all but what happened."""
    if kind is None:
        return [record_type for record_type in vocabulary.record_types if record_type not in FACTS]
    if kind == "entity":
        return sorted(vocabulary.entities)
    if kind not in vocabulary.record_types:
        known = [*vocabulary.record_types, "entity"]
        raise Usage(
            f"{kind!r} is not a kind or entity type", hint=did_you_mean(kind, known) or f"known: {', '.join(known)}"
        )
    return [kind]


def _sorted_by(records: list[Record], field: str) -> list[Record]:
    """Sort records by a field, those without a value last; ``-field`` sorts the other way."""
    name, is_reverse = field.removeprefix("-"), field.startswith("-")
    known = {found for record in records for found in (*type(record).model_fields, *type(record).model_computed_fields)}
    if records and name not in known:
        raise Usage(
            f"no field {name!r} to sort by", hint=did_you_mean(name, known) or f"known: {', '.join(sorted(known))}"
        )
    with_value = [record for record in records if getattr(record, name, None) is not None]
    without = [record for record in records if getattr(record, name, None) is None]
    try:
        return sorted(with_value, key=lambda record: getattr(record, name), reverse=is_reverse) + without
    except TypeError:
        raise Usage(f"field {name!r} has values of several kinds, nothing to sort by") from None


def write_rows(client: Client, to: BinaryIO) -> None:
    """Write every row of the files at one moment, as its line: records, then relations, then what happened."""
    with client.reading() as snapshot:
        to.seek(0)
        to.truncate()  # it may run a second time
        to.writelines(line + b"\n" for _, line in snapshot.catalog.all_lines())


def home_of_kind(snapshot: Snapshot, kind: str) -> str:
    """Return the one file of a kind, an entity type or a relation type, or raise ``NotFound``."""
    vocabulary = snapshot.vocabulary
    types = {**dict.fromkeys(vocabulary.entities, "entity"), **dict.fromkeys(vocabulary.linkable, "relation")}
    kinds = [name for name in MODELS if name not in NOT_SPLIT]
    if kind in kinds:
        return usual_file(kind, None)
    if kind not in types:
        known = [*kinds, *types]
        raise NotFound(f"no kind or type {kind!r}", hint=did_you_mean(kind, known) or f"one of: {', '.join(known)}")
    return usual_file(types[kind], kind)


NOT_SPLIT = frozenset({"entity", "relation", "purge"})  # their rows are by type; the last has no names
