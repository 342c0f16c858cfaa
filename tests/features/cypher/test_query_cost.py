"""
What the stored queries cost on a graph ten times as large around the same neighbourhood, as the engine counts it.

A harmless filter can make the planner begin from a scan of all relations. ``PROFILE`` gives the tuples that each
operator has put out: the same on every machine, unlike times.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import kuzu
import pytest

from graphmem.features.cypher.stored_query import Stored, all_stored
from tests.sample import CREATED, graph_of, open_memory

pytestmark = pytest.mark.long
READS = [query for query in all_stored().values() if not query.is_write]
SIZES = (2_000, 20_000)  # records beside the neighbourhood; three times as many edges
ENDS = {
    "solves": ("pattern", "failure"),
    "causes": ("failure", "failure"),
    "variant": ("failure", "failure"),
    "co_occurs": ("failure", "failure"),
    "prerequisite": ("pattern", "pattern"),
}
LOOKING = {"SCAN_NODE_TABLE", "FILTER", "FLATTEN"}  # only keys are indexed: a start is looked for among its label
OPERATOR = re.compile(r"([A-Z_]{4,})\[\d+\]|NumOutputTuples: (\d+)")

Row = dict[str, Any]


def edge(source: str, kind: str, target: str) -> Row:
    return {"kind": "relation", "from": source, "type": kind, "to": target}


def plan(name: str, tasks: int) -> Iterator[Row]:
    """Yield a campaign and its tasks, each of which needs the one before."""
    yield {"kind": "campaign", "name": name, "objective": f"the campaign {name}"}
    refs = [f"{name}/{number:03d}-s" for number in range(1, tasks + 1)]
    for ref, before in zip(refs, [None, *refs], strict=False):
        needs = [f"task/{before}"] if before else []
        yield {"kind": "task", "name": ref, "campaign": f"campaign/{name}", "objective": ref, "depends": needs}


def near() -> Iterator[Row]:
    """Yield the neighbourhood: a chain of four causes with a variant, patterns for two of them, a plan of three."""
    for number in range(5):
        yield {"kind": "failure", "name": f"near-{number}", "trigger": f"near {number}"}
        yield {"kind": "pattern", "name": f"near-{number}", "trigger": f"near {number}", "insight": "do"}
    yield from (edge(f"failure/near-{number}", "causes", f"failure/near-{number + 1}") for number in range(3))
    yield edge("failure/near-1", "variant", "failure/near-4")
    yield from (edge(f"pattern/near-{number}", "solves", f"failure/near-{number}") for number in (0, 1, 4))
    yield from plan("near", tasks=3)


def far(size: int) -> Iterator[Row]:
    """Yield records and edges of every type that are nowhere near."""
    chance = random.Random(20_261_122)
    counts = {"failure": size // 2, "pattern": size // 4}
    for number in range(counts["failure"]):
        yield {"kind": "failure", "name": f"far-{number}", "trigger": f"far {number}"}
    for number in range(counts["pattern"]):
        yield {"kind": "pattern", "name": f"far-{number}", "trigger": f"far {number}", "insight": "do"}
    for number in range(size // 40):
        yield from plan(f"far-{number}", tasks=9)
    pairs = set[tuple[str, str, str]]()
    while len(pairs) < 5 * size // 2:
        kind = chance.choice(list(ENDS))
        numbers = [chance.randrange(counts[record_type]) for record_type in ENDS[kind]]
        if numbers[0] < numbers[1]:
            source, target = (
                f"{record_type}/far-{number}" for record_type, number in zip(ENDS[kind], numbers, strict=True)
            )
            pairs.add((source, kind, target))
    yield from (edge(*pair) for pair in sorted(pairs))


Costs = dict[str, tuple[list[list[Any]], Counter[str]]]


@pytest.fixture(scope="module")
def costs(tmp_path_factory: pytest.TempPathFactory) -> list[Costs]:
    """For each size, what every query that reads answers, and the tuples that each kind of operator put out."""
    found = []
    for size in SIZES:
        with open_memory(tmp_path_factory.mktemp("graph")) as memory:
            memory.add_rows(json.dumps(row).encode() for row in (*near(), *far(size)))
            with graph_of(memory) as connection:
                found.append({query.name: cost(query, connection) for query in READS})
    return found


def cost(query: Stored, connection: kuzu.Connection) -> tuple[list[list[Any]], Counter[str]]:
    text = query.filled({"label": "Failure", "relation": "CAUSES"})
    refs = {"ref": "campaign/near" if query.name.startswith("task/") else "failure/near-1", "target": "failure/near-3"}
    given = {
        **refs,
        "min_strength": 0.5,
        "hits": [{"ref": "failure/near-1", "similarity": 0.9}],
        "now": CREATED,
        "half_life_days": 30.0,
    }
    parameters = {name: given[name] for name in query.parameters}
    answer, profile = connection.execute(text, parameters), connection.execute(f"PROFILE {text}", parameters)
    assert isinstance(answer, kuzu.QueryResult)
    assert isinstance(profile, kuzu.QueryResult)
    return answer.get_all(), tuples("\n".join(row[0] for row in profile.get_all()))


def tuples(plan: str) -> Counter[str]:
    """Read a plan: a tree of boxes side by side, each with an operator and, below it, the tuples it put out."""
    width = plan.index("\n") + 1  # of a box, with the space beside it
    last: dict[int, str] = {}
    found = Counter[str]()
    for line in plan.split("\n"):
        for match in OPERATOR.finditer(line):
            column = match.start() // width
            if match[1]:
                last[column] = match[1]
            else:
                found[last.pop(column)] += int(match[2])
    assert not last.keys() - {0}, f"a box without its tuples: {last}"
    return found


@pytest.mark.parametrize("query", [query for query in READS if not query.cost], ids=lambda query: query.name)
def test_a_query_that_begins_at_a_record_only_looks_for_it_longer(query: Stored, costs: list[Costs]) -> None:
    """The rest is not wholly the same: the engine leaves out blocks of 2,048 rows, and the small tables have one."""
    (answer, small), (same, large) = (found[query.name] for found in costs)
    assert answer == same != []
    before, after = (sum(count for name, count in found.items() if name not in LOOKING) for found in (small, large))
    assert after < 5 * before, (small, large)
    assert large.total() < 11 * small.total()


@pytest.mark.parametrize("query", [query for query in READS if query.cost], ids=lambda query: query.name)
def test_a_query_that_looks_at_everything_says_so_and_is_about_linear(query: Stored, costs: list[Costs]) -> None:
    (_, small), (_, large) = (found[query.name] for found in costs)
    assert 5 * small.total() < large.total() < 11 * small.total()
