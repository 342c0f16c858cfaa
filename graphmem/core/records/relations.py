"""Relations: add, change and remove typed, weighted edges."""

from graphmem.constants import REPAIR_COMMAND
from graphmem.core.records.relation_contract import Edge, Linked, LinkRequest, UnlinkRequest
from graphmem.core.records.screening import screened
from graphmem.core.records.validation import build, changed, refuse_archived
from graphmem.errors import NotFound, Refused
from graphmem.kernel.ledger.row import entry
from graphmem.kernel.ledger.types import drifted
from graphmem.kernel.model import Relation
from graphmem.kernel.model.vocabulary import OWNED_RELATIONS, RelationType, Vocabulary
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.store.snapshot import Snapshot, Writing, refuse_unwritable
from graphmem.kernel.suggest import did_you_mean
from graphmem.kernel.system.shell import command
from graphmem.names import edge_key, row_id, split_ref

# What makes the edges that are fields of records.
MADE_BY = {
    "part_of": "a task is part of its campaign: graphmem campaign add-tasks",
    "depends_on": "tasks say what they depend on: graphmem campaign add-tasks",
    "blocked_by": "a task says what stopped it: graphmem task block REF --by FAILURE",
    "handed_out": "a task says what it got: graphmem task start REF",
    "used": "a report says what was used: graphmem feedback REF --helped --task T",
    "derived_from": "an insight says so: graphmem add insight --from EXPERIENCE",
    "seen_in": "a run says what it saw: graphmem lesson learn",
    "about": "it is of events: graphmem event add TYPE --subject REF; for others: graphmem type add relation NAME",
    "supersedes": "graphmem supersede OLD NEW",
}


def known_relation(vocabulary: Vocabulary, kind: str) -> RelationType:
    """Return a relation type that can be linked by hand, or raise an error that names which was meant."""
    if kind in OWNED_RELATIONS and kind not in vocabulary.project_relations:
        raise Refused(f"{kind!r} edges are not linked by hand: fields of records make them", hint=MADE_BY[kind])
    if kind in {*vocabulary.drifted, *vocabulary.renamed}:
        raise drifted(kind, vocabulary)
    if kind not in vocabulary.linkable:
        hint = did_you_mean(kind, vocabulary.linkable) or f"known: {', '.join(sorted(vocabulary.linkable))}"
        raise Refused(f"relation type {kind!r} is not declared", hint=hint, details={"type": kind})
    return vocabulary.linkable[kind]


def refuse_ends(made: RelationType, source: str, target: str) -> None:
    """Raise ``Refused`` for ends that a relation type does not allow; the hint says what it does."""
    record_types = split_ref(source)[0], split_ref(target)[0]
    if not made.allows(*record_types):
        raise Refused(
            f"{made.type!r} does not go from {record_types[0]} to {record_types[1]}",
            hint=f"it goes from {' or '.join(made.sources)} to {' or '.join(made.targets)}",
            details={"type": made.type, "sources": list(made.sources), "targets": list(made.targets)},
        )


def ends(snapshot: Snapshot, source: str, target: str) -> tuple[int, int, str, str]:
    """Return the numbers of both ends of an edge and their references by key; one of them may be hidden."""
    keys, may_tell = dict[str, str](), snapshot.catalog.may_tell
    hidden = [ref for ref in (source, target) if split_ref(ref)[0] and not may_tell(split_ref(ref)[0])]
    for ref in (source, target):
        if ref not in hidden:
            keys[ref] = snapshot.client.everything.stored(snapshot.resolve(ref)).key_ref
    writes, known = snapshot.client.rights.writes, snapshot.client.everything.vocabulary
    if hidden and writes is not None:  # before it can be told whether there is such a record
        row = {end: keys.get(ref) or known.current(ref) or ref for end, ref in (("from", source), ("to", target))}
        refuse_unwritable({"kind": "relation", **row}, writes)
    for ref, other in ((source, target), (target, source)):
        if ref in hidden:
            key = snapshot.client.hidden_end(ref, keys.get(other, other))
            keys[ref] = key or snapshot.client.everything.stored(snapshot.resolve(ref)).key_ref
    if keys[source] == keys[target]:
        raise Refused(f"{source!r} is related to itself", hint="an edge needs two records")
    return row_id(keys[source]), row_id(keys[target]), keys[source], keys[target]


def _shown_end(snapshot: Snapshot, number: int) -> str:
    """Return the current reference of an end of an edge; its type alone where the caller may not read it."""
    record_type, name = split_ref(snapshot.client.everything.refs([number])[number])
    return f"{record_type}/{name}" if snapshot.catalog.may_tell(record_type) else record_type


@operation(
    "relations.link",
    writes=True,
    scoped=True,
    example="graphmem link pattern/pin-build-tools solves failure/import-error",
    takes={"source": Taken("FROM", "ref"), "kind": Taken("TYPE", "relation"), "target": Taken("TO", "ref")},
)
def link(snapshot: Writing, request: LinkRequest) -> Linked:
    """Add an edge, or change its weight and note; without a weight it has that of its type."""
    request = screened(snapshot, request, "relation")
    kind, sources = request.kind, request.sources
    made, catalog = known_relation(snapshot.catalog.vocabulary, kind), snapshot.client.everything
    a, b, source, target = ends(snapshot, request.source, request.target)
    for number in (a, b):
        refuse_archived(catalog, number)
    if catalog.refused_rows(kind, a, b):
        raise Refused(
            f"the edge is there, and {kind!r} no longer allows it",
            hint=f"{REPAIR_COMMAND}, or {command('graphmem', 'unlink', request.source, kind, request.target)}",
        )
    refuse_ends(made, source, target)
    if made.symmetric and target < source:
        a, b, source, target = b, a, target, source
    given = {"weight": request.weight, "note": request.note, "sources": sorted(sources) or None}
    existing = catalog.relation(row_id(edge_key(source, kind, target, symmetric=made.symmetric)))
    fields = {"from": source, "type": kind, "to": target, **given}
    if existing is None:
        relation, action = build("relation", fields, snapshot.now), "created"
    else:
        united = {name: value for name, value in given.items() if value is not None}
        if sources:
            united["sources"] = sorted({*existing.sources, *sources})
        relation = changed(existing, united, snapshot.now)
        action = "unchanged" if relation is existing else "updated"
    assert isinstance(relation, Relation)
    if action != "unchanged":
        snapshot.commit([entry(relation, snapshot.symmetric)])
    names = _shown_end(snapshot, a), _shown_end(snapshot, b)
    note = relation.note if all("/" in name for name in names) else request.note
    edge = Edge(source=names[0], type=kind, target=names[1], weight=relation.weight or made.weight, note=note)
    return Linked.model_validate({"edge": edge, "action": action})


@operation(
    "relations.unlink",
    writes=True,
    scoped=True,
    example="graphmem unlink pattern/pin-build-tools solves failure/import-error",
    takes={"source": Taken("FROM", "ref"), "kind": Taken("TYPE", "relation"), "target": Taken("TO", "ref")},
)
def unlink(snapshot: Writing, request: UnlinkRequest) -> Linked:
    """Take an edge out."""
    kind = request.kind
    made, catalog = known_relation(snapshot.catalog.vocabulary, kind), snapshot.client.everything
    a, b, source, target = ends(snapshot, request.source, request.target)
    number = row_id(edge_key(source, kind, target, symmetric=made.symmetric))
    names = _shown_end(snapshot, a), _shown_end(snapshot, b)
    found = catalog.relation_rows(number) or catalog.refused_rows(kind, a, b)
    if not found:
        raise NotFound(
            f"no {kind} edge from {names[0]} to {names[1]}", hint=_other_way(snapshot, source, kind, target, made)
        )
    edge = catalog.edge(source, kind, target)
    weight, row = edge if edge else (made.weight, {})
    removes: dict[str, list[int]] = {}
    for row_number, file in found:
        removes.setdefault(file, []).append(row_number)
    snapshot.commit([], removes)
    note = row.get("note") if all("/" in name for name in names) else None
    shown = Edge(source=names[0], type=kind, target=names[1], weight=weight, note=str(note) if note else None)
    return Linked(edge=shown, action="removed")


def _other_way(snapshot: Snapshot, source: str, kind: str, target: str, made: RelationType) -> str | None:
    """Report when the edge is there in the other direction."""
    if not made.symmetric and snapshot.client.everything.relation_rows(
        row_id(edge_key(target, kind, source, symmetric=False))
    ):
        return "it goes the other way; swap the two"
    return "see: graphmem related"
