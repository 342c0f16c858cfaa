"""Bulk with near-duplicates: each memory is compared with the store and with those before it in the input."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from graphmem.core.records.bulk_rows import BulkAdd, Given, add_record, guarded
from graphmem.core.records.change import NEVER
from graphmem.core.records.duplicates import MOST_ALIKE, classify, merged, variant_edge, variants_of
from graphmem.core.records.validation import changed
from graphmem.kernel.catalog.keys import repeat_keys, signature_of
from graphmem.kernel.ledger.codec import checked
from graphmem.kernel.model import MODELS, MemoryRecord
from graphmem.kernel.model.field import format_time
from graphmem.kernel.ndjson import BadLine, decode
from graphmem.kernel.store.runtime import ALL, Client
from graphmem.names import row_id

if TYPE_CHECKING:
    from graphmem.kernel.catalog.pca import Matrix

PRODUCTS = 4_000_000  # cosines made at once: 16 MB

Near = Sequence[tuple[int, float]]  # places of vectors, each with its cosine


@dataclass(slots=True)
class Pool:
    """The memories of a kind that a new one may repeat: those of the store and those of the input so far."""

    vectors: "Matrix | None"  # unit rows: of the store's records, then of the input's; None without a model
    records: dict[int, MemoryRecord] = field(default_factory=dict)
    signatures: dict[int, list[int]] = field(default_factory=dict)
    places: dict[int, int] = field(default_factory=dict)  # place in ``vectors`` by record
    numbers: dict[int, int] = field(default_factory=dict)  # record by place

    def add(self, number: int, record: MemoryRecord, place: int | None) -> None:
        """Let later rows repeat this one."""
        self.records[number] = record
        for key in repeat_keys(record):
            self.signatures.setdefault(key, []).append(number)
        if place is not None:
            self.places[number], self.numbers[place] = place, number

    def repeats(self, record: MemoryRecord) -> list[int]:
        """Return records that share a signature with this one, those with the same text first, up to a bound."""
        keys = sorted(repeat_keys(record), key=lambda key: key != signature_of(record))
        found = dict.fromkeys(number for key in keys for number in islice(self.signatures.get(key, ()), MOST_ALIKE))
        return list(islice(found, MOST_ALIKE))

    def cosines(self, place: int | None, near: Near, repeats: Sequence[int]) -> dict[int, float]:
        """Return the cosine with each record of the pool that is near to a row of the input, or repeats it."""
        if place is None or self.vectors is None:
            return {}
        vector = self.vectors[place]
        found = {self.numbers[other]: cosine for other, cosine in near if other in self.numbers}
        more = [number for number in repeats if number in self.places and number not in found]
        return found | {number: float(self.vectors[self.places[number]] @ vector) for number in more}


def add_without_repeats(intake: BulkAdd, rows: Sequence[Given]) -> None:
    """Take in records in key order, each compared with the store and with those before it."""
    memories = [(given, given.record) for given in rows if isinstance(given.record, MemoryRecord)]
    memories.sort(key=lambda pair: row_id(pair[1].key_ref))
    for given in rows:
        if not isinstance(given.record, MemoryRecord):
            guarded(intake, given, add_record)
    bound = intake.client.settings.retrieval.variant_similarity
    for kind in sorted({record.kind for _, record in memories}):
        of_kind = [pair for pair in memories if pair[1].kind == kind]
        pool = pool_of(intake.client, kind, [record.search_text for _, record in of_kind])
        compared = neighbours(pool.vectors, len(of_kind), bound)
        for (given, _), (place, near) in zip(of_kind, compared, strict=True):
            guarded(
                intake,
                given,
                lambda intake, given, pool=pool, place=place, near=near: add_unless_repeated(
                    intake, given, pool, place, near
                ),
            )


def embed_input(client: Client, lines: Iterable[bytes]) -> None:
    """Embed the memories of an input before the lock is taken; bad lines are named once it is held."""
    if client.vectors is None:
        return
    texts = []
    for line in lines:
        with contextlib.suppress(BadLine):
            row = decode(line.strip(b"\r\n\xef\xbb\xbf"))
            model = MODELS.get(str(row.get("kind")))
            if model is not None and issubclass(model, MemoryRecord):
                made = checked(model, {"name": "unnamed", "created_at": format_time(NEVER), **row}, line)
                texts.append(made.search_text if isinstance(made, MemoryRecord) else "")
    client.sync()
    client.embed_ahead(texts, seconds=ALL)


def pool_of(client: Client, kind: str, texts: Sequence[str]) -> Pool:
    """Return the live records of a kind with their vectors, and behind these the vectors of new texts."""
    client.embed_missing(seconds=ALL)
    numbers = [number for number, *_ in client.catalog.live_rows(kind)]
    new = client.document_vectors(texts)
    known = dict(client.vectors.of(numbers)) if client.vectors is not None else {}
    pool = Pool(None)
    if new is not None:
        import numpy as np  # noqa: PLC0415 - only a comparison by meaning needs it

        pool.vectors = np.concatenate([*(vector[None] for vector in known.values()), new])
    places = {number: place for place, number in enumerate(known)}
    for number in numbers:
        record = client.catalog.stored(number)
        assert isinstance(record, MemoryRecord)
        pool.add(number, record, places.get(number))
    return pool


def neighbours(vectors: "Matrix | None", count: int, bound: float) -> Iterator[tuple[int | None, Near]]:
    """
    Yield, for each of the last ``count`` vectors, its place and the nearest of those before it.

    In blocks, for one product of two matrices takes a tenth of the time of as many products with a vector.

    Args:
        vectors: unit rows; None without a model.
        bound: the least cosine; of very many rows above it the nearest are taken.
    """
    if vectors is None:
        yield from [(None, ())] * count
        return
    step = max(1, PRODUCTS // len(vectors))
    for start in range(len(vectors) - count, len(vectors), step):
        end = min(start + step, len(vectors))
        for place, cosines in enumerate(vectors[start:end] @ vectors[:end].T, start):
            near = (cosines[:place] >= bound).nonzero()[0]
            if len(near) > MOST_ALIKE:
                near = near[cosines[near].argpartition(-MOST_ALIKE)[-MOST_ALIKE:]]
            yield place, list(zip(near.tolist(), cosines[near].tolist(), strict=True))


def add_unless_repeated(intake: BulkAdd, given: Given, pool: Pool, place: int | None, near: Near) -> None:
    """Take in a memory, merged into the one that it repeats, or linked to those that it resembles."""
    made = given.record
    assert isinstance(made, MemoryRecord)
    number = row_id(made.key_ref)
    if intake.client.catalog.has(number):
        add_record(intake, given)
        return
    same = pool.repeats(made)
    cosines = pool.cosines(place, near, same)
    repeats = [pool.records[found] for found in same]
    likeness = classify(intake.client.settings.retrieval, made, cosines, repeats, lambda found: pool.records[found])
    if likeness.same is None:
        add_record(intake, given, likeness, variants_of(made, likeness, pool.records))
        if number in intake.puts:
            pool.add(number, made, place)
            for other, similarity in likeness.variants:
                intake.put(variant_edge(made, pool.records[other], similarity))
        return
    if intake.is_again(given, number):
        return
    older = pool.records[likeness.same]
    name = decode(given.line).get("name")
    changes = merged(older, made, alias=str(name) if name is not None else None)
    after = changed(older, changes, intake.client.now())
    pool.records[likeness.same] = after
    intake.handles.update(
        (f"{made.record_type}/{name}", older.key_ref) for name in (made.key, made.name, *made.aliases)
    )
    intake.records[older.key_ref] = after
    if after is not older:
        intake.put(after)
    intake.count(given, "merged", after, likeness)
