"""Near-duplicates: which record a new one repeats, what it resembles, and what a merge of the two keeps."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from typing import Any, Literal

from graphmem.core.logs.comparison import judged
from graphmem.core.logs.diagnosis import statement
from graphmem.core.records.dedup import are_variants, differing, same_memory, signature
from graphmem.core.records.record_contract import Variant
from graphmem.core.records.validation import both, larger_amounts
from graphmem.kernel.model import Failure, MemoryRecord, Pattern, Record, Relation
from graphmem.kernel.model.field import TEXT_BYTES
from graphmem.kernel.model.record import Alternate, limits
from graphmem.kernel.settings.config import Retrieval
from graphmem.kernel.store.snapshot import Snapshot
from graphmem.names import collapsed, row_id

UNITED_SETS = ("sources", "tags", "files", "cites", "versions")
NEVER = datetime(2000, 1, 1, tzinfo=UTC)  # of a record that is only compared
MOST_ALIKE = 100  # nearest records that are looked at: where there are more, the same text is among the first
MOST_DIFFERENCES = 6  # named of what makes a new record another
MOST_VARIANTS = 3  # variants linked to a new record


@dataclass(frozen=True)
class DuplicateMatch:
    """What a new record resembles: the record it is, if any, and those that are similar and others."""

    same: int | None = None
    similarity: float | None = None
    by: Literal["similarity", "signature"] | None = None
    variants: tuple[tuple[int, float], ...] = ()

    def without(self, number: int | None) -> "DuplicateMatch":
        """Return the same for a record that is meant to be another one than this."""
        variants = tuple(pair for pair in self.variants if pair[0] != number)
        return DuplicateMatch(variants=variants) if self.same == number else replace(self, variants=variants)


NOVEL = DuplicateMatch()


def variant_edge(made: Record, other: Record, similarity: float) -> Relation:
    """Return the edge between a new record and one that is similar and another."""
    source, target = sorted((made.key_ref, other.key_ref))
    row = {"kind": "relation", "from": source, "type": "variant", "to": target, "created_at": made.created_at}
    return Relation.model_validate({**row, "similarity": similarity})


def find_alike(snapshot: Snapshot, made: MemoryRecord) -> DuplicateMatch:
    """Look for the record that a new one repeats, and for those that are only similar."""
    from graphmem.core.records.clues import repeat_keys  # noqa: PLC0415 - 70 ms that only a write needs

    client = snapshot.client
    client.catch_up(client.clues)
    repeats = snapshot.catalog.repeating(made, repeat_keys(made), MOST_ALIKE)
    client.embed_missing(seconds=0.0)  # the lock is held: what there was to embed, and time for, was embedded before
    vectors = client.document_vectors([made.search_text])
    if client.vectors is None or vectors is None:
        return classify(snapshot.settings.retrieval, made, {}, repeats, snapshot.catalog.stored)
    vector = vectors[0]
    bound = snapshot.settings.retrieval.variant_similarity
    similar = dict(client.vectors.search(vector, [made.kind], MOST_ALIKE, least=bound))
    similar |= client.vectors.cosines_of({row_id(one.key_ref) for one in repeats}, vector)
    return classify(snapshot.settings.retrieval, made, similar, repeats, snapshot.catalog.stored)


def classify(
    settings: Retrieval,
    made: MemoryRecord,
    cosines: Mapping[int, float],
    repeats: Sequence[MemoryRecord],
    record_of: Callable[[int], Record],
) -> DuplicateMatch:
    """
    Decide what a new record is.

    Args:
        cosines: of the records that are at least similar, and of those in ``repeats``, where there is a model.
        settings: where records begin to be the same, and variants.
        repeats: records with the same error signature.
        record_of: returns a record by its number.
    """
    clipped = {number: max(0.0, min(1.0, cosine)) for number, cosine in cosines.items()}
    near = sorted(clipped, key=lambda number: (-clipped[number], number))
    for number in near:
        if clipped[number] < settings.merge_similarity:
            break
        other = record_of(number)
        if isinstance(other, MemoryRecord) and _is_same(made, other):
            return DuplicateMatch(number, clipped[number], "similarity")
    same = sorted(row_id(other.key_ref) for other in repeats if _is_same(made, other) and _is_alike(made, other))
    if same:
        return DuplicateMatch(same[0], clipped.get(same[0]), "signature")
    signed = {row_id(other.key_ref) for other in repeats}
    close = ((n, clipped[n]) for n in near if clipped[n] >= settings.variant_similarity)
    variants = tuple(
        islice((pair for pair in close if pair[0] in signed or _is_akin(made, record_of(pair[0]))), MOST_VARIANTS)
    )
    return DuplicateMatch(None, variants[0][1] if variants else None, variants=variants)


def _is_alike(made: MemoryRecord, other: MemoryRecord) -> bool:
    """Return whether two memories may be one whatever their meaning: they have one text, or both report problems."""
    return signature(made.subject) == signature(other.subject) or all(map(_reports_problem, (made, other)))


def _reports_problem(memory: MemoryRecord) -> bool:
    """Return whether a problem can be read in what a memory is about."""
    return isinstance(memory, Failure) and any(one.is_read for one in statement(memory.trigger))


def _has_same_problem(made: MemoryRecord, other: MemoryRecord) -> bool | None:
    """Return whether two failures report the same problem; None where that cannot be told."""
    if not (_reports_problem(made) and _reports_problem(other)):
        return None
    first, second = statement(made.subject), statement(other.subject)
    verdicts = {judged(*pair, is_exact=True).verdict for pair in ((first, second), (second, first))}
    return None if verdicts == {"unclear"} else verdicts == {"same"}


def _is_same(made: MemoryRecord, other: MemoryRecord) -> bool:
    """Return whether two similar memories say the same; patterns also have to advise the same."""
    if (told := _has_same_problem(made, other)) is not None:
        return told
    if not same_memory(made.subject, other.subject):
        return False
    return not (isinstance(made, Pattern) and isinstance(other, Pattern)) or same_memory(made.insight, other.insight)


def _is_akin(made: MemoryRecord, other: Record) -> bool:
    """Return whether a similar memory is about the same thing, so that a person would call the two variants."""
    return isinstance(other, MemoryRecord) and are_variants(made.subject, other.subject)


def variants_of(made: Record, likeness: DuplicateMatch, others: Mapping[int, Record]) -> list[Variant]:
    """Return what a new record is a variant of, each with what distinguishes them."""
    return [
        Variant(ref=others[number].ref, similarity=similarity, differs=_differences(made, others[number]))
        for number, similarity in likeness.variants
    ]


def _differences(made: Record, other: Record) -> list[str]:
    """Return what makes two similar memories two: telling tokens and words, for patterns also of what they advise."""
    assert isinstance(made, MemoryRecord) and isinstance(other, MemoryRecord)
    found = differing(made.subject, other.subject)
    if isinstance(made, Pattern) and isinstance(other, Pattern):
        found |= differing(made.insight, other.insight)
    return sorted(found)[:MOST_DIFFERENCES]


def merged(older: Record, made: Record, *, alias: str | None, newer: Container[str] = ()) -> dict[str, Any]:
    """
    Return the changes that make ``older`` say what ``made`` says too: sets united, the larger cost, no text lost.

    Args:
        alias: the name that ``made`` was given; None where it was given none.
        newer: fields whose text in ``made`` becomes the current one; the older text is kept as an alternate. Of other
            fields it is the other way round.
    """
    changes: dict[str, Any] = {
        name: both(getattr(older, name), getattr(made, name)) for name in UNITED_SETS if hasattr(older, name)
    }
    if alias is not None and alias not in (older.name, older.key):
        changes["aliases"] = sorted({*older.aliases, alias})
    changes |= larger_amounts(older, made.to_row())
    for name in ("flaky", "pinned", "framework", "check_after", "holds_for"):
        if getattr(made, name, None) and not getattr(older, name, None):
            changes[name] = getattr(made, name)
    aside = []
    for name in aside_fields(type(older)):
        new, old = getattr(made, name), getattr(older, name)
        if new is None or (old is not None and collapsed(new) == collapsed(old)):
            continue
        if old is None or name in newer:
            changes[name] = new
        else:
            aside.append(Alternate(field=name, text=new, at=made.created_at))
    return with_alternates(older, changes, aside)


def with_alternates(record: Record, changes: dict[str, Any], aside: Sequence[Alternate] = ()) -> dict[str, Any]:
    """
    Return changes of a record with each text that they replace, and the texts in ``aside``, among the alternates.

    An alternate that becomes the current text stays in the list, where answers do not show it: see ``rules.merge``.
    """
    replaced = [
        Alternate(field=name, text=old, at=record.edited.get(name, record.created_at))
        for name in sorted(aside_fields(type(record)).intersection(changes))
        if (old := getattr(record, name)) is not None and old != changes[name]
    ]
    known = {(found.field, found.text): found for found in record.alternates}
    added = {(found.field, found.text): found for found in (*replaced, *aside)}
    kept = tuple(found for _, found in sorted((added | known).items()))
    return changes if kept == record.alternates else {**changes, "alternates": kept}


@cache
def aside_fields(model: type[Record]) -> frozenset[str]:
    """Return the fields of a kind whose texts are kept as alternates when others replace them."""
    if not model.identity:
        return frozenset()
    texts = {name for name, limit in limits(model).items() if limit.size == TEXT_BYTES and not limit.items}
    return frozenset({*texts, "match"}.intersection(model.model_fields))
