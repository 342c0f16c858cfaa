"""What the memories of an input are compared with: those of the store, and those before them in the input."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from graphmem.core.records.clues import repeat_keys, signature_of
from graphmem.core.records.duplicates import MOST_ALIKE, NEVER
from graphmem.kernel.ledger.codec import validated
from graphmem.kernel.model import MODELS, MemoryRecord
from graphmem.kernel.model.field import format_time
from graphmem.kernel.ndjson import BadLine, decode
from graphmem.kernel.store.runtime import ALL, Client

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
    place: int | None = None  # in ``vectors``, of the row that is looked at
    near: Near = ()  # what is near to that

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

    def cosines(self, repeats: Sequence[int]) -> dict[int, float]:
        """Return the cosine with each record of the pool that is near to the row, or repeats it."""
        if self.place is None or self.vectors is None:
            return {}
        vector = self.vectors[self.place]
        found = {self.numbers[other]: cosine for other, cosine in self.near if other in self.numbers}
        more = [number for number in repeats if number in self.places and number not in found]
        return found | {number: float(self.vectors[self.places[number]] @ vector) for number in more}


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
                made = validated(model, {"name": "unnamed", "created_at": format_time(NEVER), **row}, line)
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
