"""Speed of what adds one fact to very many: ``pytest -m bench -s tests/bench/timed/test_learning_speed.py``."""

import statistics
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from graphmem import Memory
from tests.bench.speed import cpu
from tests.bench.timed.test_speed import lines, new_store, note, report
from tests.sample import START

pytestmark = pytest.mark.bench

assert report  # prints the table at the end
MANY, LESSONS = 10_000, 200


def history(runs: int) -> list[dict[str, Any]]:
    """Return lessons and failures with so many runs, each of which saw five lessons, and as many reports."""
    times = [(START + timedelta(minutes=run)).isoformat() for run in range(runs)]
    made: list[dict[str, Any]] = [
        {"kind": "lesson", "name": f"l{n}", "description": f"lesson {n} of part {n}", "created_at": START.isoformat()}
        for n in range(LESSONS)
    ]
    made += [{"kind": "failure", "name": f"f{n}", "trigger": f"part {n} broke"} for n in range(LESSONS)]
    for run, at in enumerate(times):
        seen = [f"lesson/l{(run * 7 + place) % LESSONS}" for place in range(5)]
        made.append({"kind": "run", "run": f"r{run}", "at": at, "seen": seen})
        made.append(
            {"kind": "feedback", "ref": f"failure/f{run % LESSONS}", "helped": run % 3 > 0, "id": f"i{run}", "at": at}
        )
    return made


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> tuple[Memory, Memory]:
    """A store with very many runs and reports, and one with ten."""
    found = []
    for runs in (MANY, 10):
        memory = new_store(tmp_path_factory.mktemp("store"), ())
        memory.add_rows(lines(history(runs)))
        memory.cypher("MATCH (l:Lesson) RETURN count(l)")
        found.append(memory)
    return found[0], found[1]


def verdict(number: int) -> bytes:
    found = {"description": f"zork{number} blip{number} lesson", "severity": "bug"}
    return orjson.dumps({"type": "review.verdict", "findings": [found]})


def early(memory: Memory, number: int) -> None:
    """Add a run before all others: every lesson is folded over all of them anew."""
    row = {"kind": "run", "run": f"early-{number}", "at": (START - timedelta(hours=number + 1)).isoformat()}
    memory.add_rows([orjson.dumps(row)])


WORK = {
    "one report": lambda memory, n: memory.feedback("failure/f1", helped=True),
    "learn one run": lambda memory, n: memory.lessons.learn([verdict(n)], run=f"learned-{n}"),
    "one silent run": lambda memory, n: memory.lessons.decay(f"silent-{n}"),
    "one run before all others, folded anew": early,
}


@pytest.mark.parametrize("what", WORK)
def test_one_fact_more(stores: tuple[Memory, Memory], what: str) -> None:
    many, few = ([cpu(WORK[what], memory, n) for n in range(11)] for memory in stores)
    name = f"{what}: beside {MANY:,} runs and reports; beside 10"
    note(name, statistics.median(many), statistics.median(few), f"{LESSONS} lessons")


def test_everything_that_follows_from_the_facts(stores: tuple[Memory, Memory], tmp_path: Path) -> None:
    many, few = (cpu(memory.store.rebuild) for memory in stores)
    note(f"rebuild with {MANY:,} runs and reports; with 10", many, few, f"{LESSONS} lessons")


def worked_on(memories: int) -> list[dict[str, Any]]:
    """Return failures and patterns that were handed to tasks and reported on, each fifth of them a pattern."""
    rows: list[dict[str, Any]] = []
    for n in range(memories):
        name, is_pattern = f"m{n}", n % 5 == 0
        rows.append(
            {"kind": "pattern", "name": name, "trigger": f"part {n} broke", "insight": f"mend part {n}"}
            if is_pattern
            else {"kind": "failure", "name": name, "trigger": f"part {n} broke", "cost": n % 80}
        )
        rows.append({"kind": "feedback", "ref": f"{rows[-1]['kind']}/{name}", "helped": n % 3 > 0, "id": name})
        if is_pattern:
            rows.append({"kind": "relation", "from": f"pattern/{name}", "type": "solves", "to": f"failure/m{n + 1}"})
    rows += [{"kind": "campaign", "name": f"c{n}", "objective": f"do {n}"} for n in range(20)]
    rows += [
        {"kind": "task", "name": f"c{n % 20}/{n // 20:03}-t", "campaign": f"campaign/c{n % 20}", "objective": "o",
         "prior_knowledge": [f"failure/m{n * 5 + 1}"]}
        for n in range(500)
    ]  # fmt: skip
    return rows


def test_the_health_of_5000_memories(tmp_path: Path) -> None:
    memory = new_store(tmp_path, ())
    memory.add_rows(lines(worked_on(5_000)))
    memory.stats()
    for what, work in (("stats", memory.stats), ("verify-loop", memory.verify_loop)):
        seconds = statistics.median(cpu(work) for _ in range(5))
        note(f"{what}, 5,000 memories, 5,000 reports, 500 tasks", seconds, None, "well under a second")
        assert seconds < 1
