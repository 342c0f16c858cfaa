"""Capture: add a record, change it, rename it, archive it, bring it back."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from graphmem.errors import GraphmemError, Refused
from graphmem.ledger.row import entry
from graphmem.model import MODELS, Entity, Experience, Fact, Insight, Memory, Pattern, Record, Relation, Task
from graphmem.model.result import Action, Changed, Variant
from graphmem.names import row_id
from graphmem.rules.dedup import differing, same_memory
from graphmem.store import Store
from graphmem.usecase.cite import pinned
from graphmem.usecase.experience import as_allowed, refuse_chance
from graphmem.usecase.intake import (
    build,
    changed,
    keyed,
    known_type,
    made_name,
    refuse_archived,
    refuse_no_slug,
    refuse_taken,
    united,
)

NEVER = datetime(2000, 1, 1, tzinfo=UTC)  # of a record that is only compared
TEXTS = ("trigger", "fix", "insight", "description")  # what a merge sets aside where two records differ
MOST_ALIKE = 500  # nearest records that are looked at: more than that are not alike, but of one template
MOST_DIFFERENCES = 6  # named of what makes a new record another
MOST_VARIANTS = 3  # variants linked to a new record


@dataclass(frozen=True)
class Likeness:
    """What a new record resembles: the record it is, if any, and those that are similar and others."""

    same: int | None = None
    similarity: float | None = None
    by: Literal["similarity", "signature"] | None = None
    variants: tuple[tuple[int, float], ...] = ()


NOVEL = Likeness()


def add(store: Store, kind: str, fields: Mapping[str, Any], *, dedup: bool = True, dry_run: bool = False,
        replace: bool = False) -> Changed:  # fmt: skip
    """
    Add a record, or change the one that has its key.

    Args:
        kind: of a record that is no task and no fact.
        fields: by their names in a row; but for an entity, one without a name is given one.
        dedup: look for a near-duplicate among failures, patterns and lessons, and merge into it.
        dry_run: say what would be done, and do nothing.
        replace: a merge keeps the newer texts and sets the older ones aside.
    """
    given = {name: value for name, value in fields.items() if value is not None}
    given |= with_hashes(store, given)
    if dedup:
        embed_new(store, kind, given)
    with store.writing() as catalog:
        if kind == "entity":
            known_type(catalog, str(given.get("type")))
        elif "name" in given:
            refuse_no_slug(kind, str(given["name"]))
        made = build(kind, {"name": "unnamed", **given}, store.now())
        assert isinstance(made, Record)
        if "name" not in given:
            name = made_name(catalog, kind, getattr(made, made.named_from), made.search_text, made.created_at)
            made = made.replaced({"name": name, "key": name})
        made = keyed(catalog, made)
        given |= {field: getattr(made, field) for field in made.references if field in given}
        if isinstance(made, Insight):
            refuse_chance(store, made)
        number = row_id(made.key_ref)
        if catalog.connection.execute("SELECT 1 FROM record WHERE id = ?", (number,)).fetchone():
            return update(store, number, united(catalog.stored(number), given), dry_run=dry_run)
        refuse_taken(catalog, made.scope, made.name)
        likeness = find_alike(store, made) if dedup and isinstance(made, Memory) else NOVEL
        if likeness.same is not None and isinstance(made, Memory):
            return merge(store, likeness, made, is_named="name" in given, replace=replace, dry_run=dry_run)
        return create(store, made, likeness, dry_run=dry_run)


def embed_new(store: Store, kind: str, given: Mapping[str, Any]) -> None:
    """Embed a memory that is to be added before the lock is taken; what is wrong with it is said once it is held."""
    if not issubclass(MODELS[kind], Memory) or store.vectors is None:
        return
    with contextlib.suppress(GraphmemError):
        made = build(kind, {"name": "unnamed", **given}, NEVER)
        store.embed_ahead([made.search_text] if isinstance(made, Memory) else ())


def with_hashes(store: Store, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the cites that are given with the hashes of what stands there now."""
    cites = given.get("cites")
    if not isinstance(cites, list | tuple | set | frozenset) or not all(isinstance(one, str) for one in cites):
        return {}  # it is refused by the model
    return {"cites": pinned(store, cites)}


def create(store: Store, made: Record, likeness: Likeness, *, dry_run: bool) -> Changed:
    """Store a new record, with its edges to the variants of it that were found."""
    symmetric = store.ledger.symmetric
    made, going = as_allowed(store, made) if isinstance(made, Experience) else (made, [])
    puts = [entry(made, symmetric), *going]
    others = store.catalog.records([number for number, _ in likeness.variants])
    for number, similarity in likeness.variants:
        puts.append(entry(variant_edge(made, store.catalog.stored(number), similarity), symmetric))
    variants = variants_of(made, likeness, others)
    if not dry_run:
        store.ledger.commit(puts)
    return Changed(ref=made.ref, action="created", similarity=likeness.similarity, variants=variants, record=made)


def variant_edge(made: Record, other: Record, similarity: float) -> Relation:
    """Return the edge between a new record and one that is similar and another."""
    source, target = sorted((made.key_ref, other.key_ref))
    row = {"kind": "relation", "from": source, "type": "variant", "to": target, "created_at": made.created_at}
    return Relation.model_validate({**row, "similarity": similarity})


def find_alike(store: Store, made: Memory) -> Likeness:
    """Look for the record that a new one repeats, and for those that are only similar."""
    repeats = store.catalog.repeating(made)
    if store.vectors is None or store.embedder is None:
        return judge(store, made, {}, repeats, store.catalog.stored)
    store.embed_missing()
    vector = store.vectors.vector_of(made.search_text)
    bound = store.settings.retrieval.variant_similarity
    similar = {n: cosine for n, cosine in store.vectors.search(vector, [made.kind], MOST_ALIKE) if cosine >= bound}
    similar |= {n: float(row @ vector) for n, row in store.vectors.of({row_id(one.key_ref) for one in repeats})}
    return judge(store, made, similar, repeats, store.catalog.stored)


def judge(store: Store, made: Memory, cosines: Mapping[int, float], repeats: Sequence[Memory],
          record_of: Callable[[int], Record]) -> Likeness:  # fmt: skip
    """
    Decide what a new record is.

    Args:
        cosines: of the records that are at least similar, and of those in ``repeats``, where there is a model.
        repeats: records with the same error signature.
        record_of: returns a record by its number.
    """
    settings = store.settings.retrieval
    clipped = {number: max(0.0, min(1.0, cosine)) for number, cosine in cosines.items()}
    near = sorted(clipped, key=lambda number: (-clipped[number], number))
    for number in near:
        if clipped[number] < settings.merge_similarity:
            break
        other = record_of(number)
        if isinstance(other, Memory) and is_same(made, other):
            return Likeness(number, clipped[number], "similarity")
    same = sorted(row_id(other.key_ref) for other in repeats if is_same(made, other))
    if same:
        return Likeness(same[0], clipped.get(same[0]), "signature")
    variants = tuple((n, clipped[n]) for n in near if clipped[n] >= settings.variant_similarity)[:MOST_VARIANTS]
    return Likeness(None, variants[0][1] if variants else None, variants=variants)


def is_same(made: Memory, other: Memory) -> bool:
    """Tell whether two similar memories say the same; patterns also have to advise the same."""
    if not same_memory(made.subject, other.subject):
        return False
    return not (isinstance(made, Pattern) and isinstance(other, Pattern)) or same_memory(made.insight, other.insight)


def variants_of(made: Record, likeness: Likeness, others: Mapping[int, Record]) -> list[Variant]:
    """Return what a new record is a variant of, each with what tells them apart."""
    return [
        Variant(ref=others[number].ref, similarity=similarity, differs=differences(made, others[number]))
        for number, similarity in likeness.variants
    ]


def differences(made: Record, other: Record) -> list[str]:
    """Return what makes two similar memories two: telling tokens and words, for patterns also of what they advise."""
    assert isinstance(made, Memory) and isinstance(other, Memory)
    found = differing(made.subject, other.subject)
    if isinstance(made, Pattern) and isinstance(other, Pattern):
        found |= differing(made.insight, other.insight)
    return sorted(found)[:MOST_DIFFERENCES]


def merge(store: Store, likeness: Likeness, made: Memory, *, is_named: bool, replace: bool, dry_run: bool) -> Changed:
    """Merge a new record into the one it repeats; no text is lost."""
    assert likeness.same is not None
    older = store.catalog.stored(likeness.same)
    assert isinstance(older, Memory)
    after = changed(older, merged(older, made, is_named=is_named, replace=replace), store.now())
    if not dry_run and after is not older:
        store.ledger.commit([entry(after, store.ledger.symmetric)])
    ref = store.catalog.refs([likeness.same])[likeness.same]
    record = shown(store, likeness.same, after)
    return Changed(ref=ref, action="merged", merged_into=ref, merged_by=likeness.by, similarity=likeness.similarity,
                   record=record)  # fmt: skip


def merged(older: Memory, made: Memory, *, is_named: bool, replace: bool = False) -> dict[str, Any]:
    """Return the changes that merging ``made`` makes to ``older``: sets united, the larger cost, texts set aside."""
    changes: dict[str, Any] = {
        name: sorted({*getattr(older, name), *getattr(made, name)}) for name in ("sources", "tags", "files", "cites")
    }
    if is_named and made.name not in (older.name, older.key):
        changes["aliases"] = sorted({*older.aliases, made.name})
    for name in ("cost", "saved"):
        if getattr(made, name, None) is not None:
            changes[name] = max(getattr(made, name), getattr(older, name) or 0)
    for name in ("match", "flaky", "framework"):
        if getattr(made, name, None) and not getattr(older, name, None):
            changes[name] = getattr(made, name)
    aside = {(found.field, found.text) for found in older.alternates}
    for name in TEXTS:
        new, old = getattr(made, name, None), getattr(older, name, None)
        if new is None or new == old:
            continue
        if old is None or replace:
            changes[name] = new
        if old is not None:
            aside.add((name, old if replace else new))
    current = {(name, changes.get(name, getattr(older, name, None))) for name in TEXTS}
    changes["alternates"] = [{"field": name, "text": text} for name, text in sorted(aside - current)]
    return changes


def shown(store: Store, number: int, record: Record) -> Record:
    """Return a record as answers show it, with the values of ``record``."""
    now = store.catalog.records([number])[number]
    counts = {name: getattr(now, name) for name in ("helped", "failed", *now.counted) if hasattr(now, name)}
    return record.model_copy(update=counts)


def update(store: Store, number: int, changes: Mapping[str, Any], *, dry_run: bool = False,
           action: Action = "updated") -> Changed:  # fmt: skip
    """Change some values of a record that is there."""
    refuse_archived(store.catalog, number)
    return put(store, number, changes, action, dry_run=dry_run)


def put(store: Store, number: int, changes: Mapping[str, Any], action: Action, *, dry_run: bool = False) -> Changed:
    """Write changed values of a record; where they change nothing, nothing is written."""
    before = store.catalog.stored(number)
    after = changed(before, changes, store.now())
    if after is not before and not dry_run:
        store.ledger.commit([entry(after, store.ledger.symmetric)])
    record = shown(store, number, after)
    return Changed(ref=store.catalog.refs([number])[number] if not dry_run else record.ref,
                   action="unchanged" if after is before else action, record=record)  # fmt: skip


def edit(store: Store, ref: str, fields: Mapping[str, Any], *, tag: list[str], untag: list[str], unset: list[str],
         dry_run: bool = False) -> Changed:  # fmt: skip
    """Change fields of a record: given ones replace, ``tag`` and ``untag`` change the tags, ``unset`` takes away."""
    fields = {**fields, **with_hashes(store, fields)}
    with store.writing() as catalog:
        number = store.resolve(ref)
        record = catalog.stored(number)
        refuse_fact(record)
        known = set(type(record).model_fields) - set(FIXED) - record.fixed - record.counted
        changes = {name: value for name, value in fields.items() if value is not None}
        for name in (*changes, *unset):
            if name not in known and name not in (record.__pydantic_extra__ or {}):
                raise Refused(
                    f"{record.ref} has no field {name!r} that edit changes", hint=f"it has: {', '.join(sorted(known))}"
                )
        if tag or untag:
            if "tags" not in known:
                raise Refused(f"a {record.kind} has no tags")
            changes["tags"] = sorted({*changes.get("tags", getattr(record, "tags", ())), *tag} - set(untag))
        changes |= dict.fromkeys(unset)
        return update(store, number, changes, dry_run=dry_run)


FIXED = ("helped", "failed", "kind", "key", "name", "created_at", "edited", "aliases", "campaign", "depends",
         "archived_at", "archive_reason", "superseded_by", "alternates")  # fmt: skip


def rename(store: Store, ref: str, name: str) -> Changed:
    """Give a record another name; the old one stays findable as an alias."""
    with store.writing() as catalog:
        number = store.resolve(ref)
        record = catalog.stored(number)
        refuse_fact(record)
        scope, slash, bare = name.partition("/")
        if slash and scope == record.scope and not isinstance(record, Entity | Task):
            name = bare
        if isinstance(record, Task) and not name.startswith(record.name.rpartition("/")[0] + "/"):
            name = f"{record.name.rpartition('/')[0]}/{name}"
        if not isinstance(record, Entity | Task):
            refuse_no_slug(record.kind, name)
        if name == record.name:
            return Changed(ref=record.ref, action="unchanged", record=shown(store, number, record))
        refuse_taken(catalog, record.scope, name, but=number)
        aliases = sorted({*record.aliases, *({record.name} if record.name != record.key else ())} - {name})
        return update(store, number, {"name": name, "aliases": aliases})


def forget(store: Store, ref: str, reason: str | None) -> Changed:
    """Archive a record: it leaves search and graph, stays in its file, and comes back with ``restore``."""
    with store.writing() as catalog:
        number = store.resolve(ref)
        refuse_fact(catalog.stored(number))
        if catalog.stored(number).is_archived:
            return put(store, number, {}, "unchanged")
        return put(store, number, {"archived_at": store.now(), "archive_reason": reason}, "archived")


def restore(store: Store, ref: str) -> Changed:
    """Bring an archived record back, also a lesson that faded away."""
    with store.writing() as catalog:
        number = store.resolve(ref)
        standing = catalog.standings([number]).get(number)
        is_faded = standing is not None and standing.is_faded
        if not catalog.stored(number).is_archived and not is_faded:
            return put(store, number, {}, "unchanged")
        changes: dict[str, Any] = {"archived_at": None, "archive_reason": None, "superseded_by": None}
        return put(store, number, changes | ({"restored_at": store.now()} if is_faded else {}), "restored")


def refuse_fact(record: Record) -> None:
    """Raise ``Refused`` for what happened: it is not changed, only taken back."""
    if isinstance(record, Fact):
        raise Refused(f"{record.ref} is something that happened, which nothing changes",
                      hint=f"graphmem undo takes a write back, graphmem purge {record.ref} destroys")  # fmt: skip
