"""Random stores: records of several kinds and types, archived ones, edges that repeat or are refused, and a history."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphmem import Memory
from tests.sample import data, edge, failure, line, open_memory, pattern, write

ARCHIVED_AT = "2026-11-01T10:00:00.000Z"
WEIGHTS = (None, 0.4, 0.5, 0.7, 0.8, 0.9, 1.0, 1.2)
SCOPES = ("failure", "pattern", "lesson", "order")
SYMMETRIC = ("variant", "co_occurs", "resembles")
TYPES = ("solves", "causes", "variant", "co_occurs", "prerequisite", "contains", "resembles")


def random_store(folder: Path, seed: int) -> Memory:
    """Return a store whose files are random, as git would bring them."""
    chance = random.Random(seed)
    memory = open_memory(folder)
    memory.types.add_entity("order")
    memory.types.add_relation("contains", sources=["order"], targets=["order", "failure"])
    memory.types.add_relation("resembles", sources=["any"], targets=["any"], symmetric=True, weight=0.6)
    for file, lines in files(chance):
        write(data(folder, file), *lines)
    return memory


def files(chance: random.Random) -> Iterator[tuple[str, list[bytes]]]:
    """Yield the data files of a store with their lines."""
    refs = []
    for kind, number in zip(SCOPES, (20, 12, 5, 6), strict=True):
        refs += [f"{kind}/{kind[0]}{n}" for n in range(number)]
        yield (
            ("entity/order" if kind == "order" else kind),
            [record(chance, kind, f"{kind[0]}{n}") for n in range(number)],
        )
    ends: dict[str, dict[tuple[str, str], bytes]] = {}
    for _ in range(110):
        kind, (source, target) = chance.choice(TYPES), chance.sample(refs, 2)
        if kind == "solves" and chance.random() < 0.8:  # the others are mostly refused: patterns solve failures
            source, target = f"pattern/p{chance.randrange(12)}", f"failure/f{chance.randrange(20)}"
        if source > target and kind in SYMMETRIC:
            source, target = target, source
        fields = {"weight": chance.choice(WEIGHTS), "note": chance.choice([None, f"note {chance.random()}"])}
        given = {name: value for name, value in fields.items() if value is not None}
        made = ends.setdefault(kind, {})
        made[source, target] = edge(source, kind, target, **given)
        if chance.random() < 0.2:  # another row for the same edge, by an alias, or one in the other direction
            source = source.replace("/", "/also-")
            pair = (source, target) if chance.random() < 0.5 else (target, source)
            made[pair] = edge(pair[0], kind, pair[1], weight=0.6)
    yield from ((f"relations/{kind}", list(made.values())) for kind, made in ends.items())
    yield "campaign", [line(kind="campaign", name=name, objective=f"do {name}") for name in ("one", "two")]
    yield "task", list(tasks(chance))


def record(chance: random.Random, kind: str, name: str) -> bytes:
    """Return the line of a record; one of six is archived."""
    fields: dict[str, Any] = {"aliases": [f"also-{name}"]}
    if chance.random() < 1 / 6:
        fields["archived_at"] = ARCHIVED_AT
    if kind == "order":
        return line(kind="entity", type="order", name=name, value=f"order {name}", **fields)
    if chance.random() < 0.4:
        fields |= {"helped": chance.randrange(5), "failed": chance.randrange(5)}
    if kind == "failure":
        fields |= chance.choice([{}, {}, {"fix": "do that"}, {"fix": " "}, {"cost": chance.choice([0.5, 3.0, 40.0])}])
        return failure(name, **fields)
    if kind == "pattern":
        return pattern(name, **fields | chance.choice([{}, {"saved": 12.0}]))
    return line(kind="lesson", name=name, type="pattern", description=f"lesson {name} went wrong", **fields)


def tasks(chance: random.Random) -> Iterator[bytes]:
    """Yield tasks that need earlier ones of either campaign: complete, archived, archived while pending, or missing."""
    before = ["task/one/099-missing"]
    for campaign in ("one", "two"):
        for number in range(1, 10):
            name = f"{campaign}/{number:03d}-s{number}"
            status = chance.choice(["pending", "complete", "complete"])
            fields: dict[str, object] = {"status": status}
            if status == "complete":
                fields |= {"delivered": "done", "completed_at": ARCHIVED_AT}
            if chance.random() < 0.3:
                fields["archived_at"] = ARCHIVED_AT
            depends = sorted(chance.sample(before, min(len(before), chance.randrange(3))))
            yield line(
                kind="task", name=name, campaign=f"campaign/{campaign}", objective=name, depends=depends, **fields
            )
            before.append(f"task/{name}")


def change(memory: Memory, seed: int) -> None:
    """Change a store as users do: the graph has to follow change by change."""
    chance = random.Random(seed)
    for _ in range(6):
        live = [found.ref for found in memory.list("failure").results]
        archived = [found.ref for found in memory.list(archived=True).results]
        memory.feedback(chance.choice(live), helped=chance.random() < 0.6)
        memory.forget(chance.choice(live))
        memory.restore(chance.choice(archived))
        memory.rename(memory.list("failure").results[0].ref, f"renamed-{chance.randrange(10**6)}")
        source, target = chance.sample([found.ref for found in memory.list("failure").results], 2)
        memory.relations.link(source, chance.choice(["causes", "variant", "resembles"]), target, weight=0.9)
    pattern_ref, failure_ref = memory.list("pattern").results[0].ref, memory.list("failure").results[1].ref
    memory.relations.link(pattern_ref, "solves", failure_ref, weight=1.1)
    tasks_now = memory.list("task").results
    for found in chance.sample(tasks_now, min(3, len(tasks_now))):
        memory.forget(found.ref)
    for found in chance.sample(memory.list("task", archived=True).results, 2):
        memory.restore(found.ref)
