"""Bulk with near-duplicates: each memory is compared with the store and with those before it in the input."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphmem.catalog.entry import repeat_keys
from graphmem.ledger.codec import checked
from graphmem.model import MODELS, Memory
from graphmem.model.field import format_time
from graphmem.names import row_id
from graphmem.ndjson import BadLine, decode
from graphmem.store import Store
from graphmem.usecase.capture import NEVER, judge, merged, variant_edge, variants_of
from graphmem.usecase.incoming import Given, Intake, add_record, guarded
from graphmem.usecase.intake import changed


@dataclass(slots=True)
class Pool:
    """The failures or patterns that a new one may repeat: those of the store and those of the input so far."""

    records: dict[int, Memory] = field(default_factory=dict)
    signatures: dict[int, set[int]] = field(default_factory=dict)
    ids: list[int] = field(default_factory=list)
    rows: list[Any] = field(default_factory=list)  # unit vectors, in the order of ids

    def add(self, number: int, record: Memory, vector: Any) -> None:
        """Let later rows repeat this one."""
        self.records[number] = record
        for key in repeat_keys(record):
            self.signatures.setdefault(key, set()).add(number)
        if vector is not None:
            self.ids.append(number)
            self.rows.append(vector)

    def cosines(self, vector: Any) -> dict[int, float]:
        """Return the cosine of each record of the pool with a unit vector."""
        if vector is None or not self.rows:
            return {}
        import numpy as np  # noqa: PLC0415 - only a comparison by meaning needs it

        return dict(zip(self.ids, (np.stack(self.rows) @ vector).tolist(), strict=True))


def add_without_repeats(intake: Intake, rows: Sequence[Given]) -> None:
    """Take in records in key order, each compared with the store and with those before it."""
    store = intake.store
    memories = [(given, given.record) for given in rows if isinstance(given.record, Memory)]
    memories.sort(key=lambda pair: row_id(pair[1].key_ref))
    for given in rows:
        if not isinstance(given.record, Memory):
            guarded(intake, given, add_record)
    vectors = embed(store, memories)
    pools = {kind: pool_of(store, kind) for kind in {record.kind for _, record in memories}}
    for (given, _), vector in zip(memories, vectors, strict=True):
        guarded(intake, given, lambda intake, given, vector=vector: add_unless_repeated(intake, given, vector, pools))


def embed(store: Store, memories: Sequence[tuple[Given, Memory]]) -> Sequence[Any]:
    """Return the vector of each memory, or None for each without a model."""
    if store.vectors is None or not memories:
        return [None] * len(memories)
    return list(store.vectors.encode_documents([record.search_text for _, record in memories]))


def embed_input(store: Store, lines: Iterable[bytes]) -> None:
    """Embed the memories of an input before the lock is taken; bad lines are named once it is held."""
    if store.vectors is None:
        return
    texts = []
    for line in lines:
        with contextlib.suppress(BadLine):
            row = decode(line.strip(b"\r\n\xef\xbb\xbf"))
            model = MODELS.get(str(row.get("kind")))
            if model is not None and issubclass(model, Memory):
                made = checked(model, {"name": "unnamed", "created_at": format_time(NEVER), **row}, line)
                texts.append(made.search_text if isinstance(made, Memory) else "")
    store.embed_ahead(texts)


def pool_of(store: Store, kind: str) -> Pool:
    """Return the live records of a kind with their vectors."""
    store.embed_missing()
    pool = Pool()
    numbers = [number for number, *_ in store.catalog.live_rows(kind)]
    vectors = dict(store.vectors.of(numbers)) if store.vectors is not None else {}
    for number in numbers:
        record = store.catalog.stored(number)
        assert isinstance(record, Memory)
        pool.add(number, record, vectors.get(number))
    return pool


def add_unless_repeated(intake: Intake, given: Given, vector: Any, pools: Mapping[str, Pool]) -> None:
    """Take in a memory, merged into the one that it repeats, or linked to those that it resembles."""
    made = given.record
    assert isinstance(made, Memory)
    pool, number = pools[made.kind], row_id(made.key_ref)
    if intake.store.catalog.has(number):
        add_record(intake, given)
        return
    same = {found for key in repeat_keys(made) for found in pool.signatures.get(key, ())}
    repeats = [pool.records[found] for found in sorted(same)]
    likeness = judge(intake.store, made, pool.cosines(vector), repeats, lambda found: pool.records[found])
    if likeness.same is None:
        add_record(intake, given, likeness, variants_of(made, likeness, pool.records))
        if number in intake.puts:
            pool.add(number, made, vector)
            for other, similarity in likeness.variants:
                intake.put(variant_edge(made, pool.records[other], similarity))
        return
    if intake.is_again(given, number):
        return
    older = pool.records[likeness.same]
    changes = merged(older, made, is_named=decode(given.line).get("name") is not None)
    after = changed(older, changes, intake.store.now())
    pool.records[likeness.same] = after
    intake.handles.update((f"{made.scope}/{name}", older.key_ref) for name in (made.key, made.name, *made.aliases))
    intake.records[older.key_ref] = after
    if after is not older:
        intake.put(after)
    intake.count("merged", after, likeness)
