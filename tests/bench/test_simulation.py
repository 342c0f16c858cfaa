"""A history is replayed in the order of time: nobody finds what was not solved yet, and reports reach the store."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from graphmem.kernel.machine.usage import accesses
from tests.bench.__main__ import run
from tests.bench.simulation import (
    LATER,
    HandedOut,
    Latest,
    Nearest,
    Ours,
    Problem,
    Remembering,
    Variant,
    Words,
    history,
    replay,
)
from tests.bench.speed import MadeModel
from tests.sample import data

START = datetime(2026, 1, 1, tzinfo=UTC)


def problem(number: int, text: str, topic: str, *, days: float | None = None) -> Problem:
    at = START + timedelta(days=number if days is None else days)
    return Problem(f"p{number}", at, at, text, text, None, frozenset({topic}))


PROBLEMS = [
    problem(0, "the cart has no price", "cart"),
    problem(1, "the login page has no price", "login"),
    problem(2, "the cart has a price below zero", "cart"),
    problem(3, "the login page has no price on a phone", "login"),
]


@pytest.fixture
def ours(tmp_path: Path) -> Ours:
    return Ours(tmp_path, Variant("", reports="both"), PROBLEMS, Remembering(MadeModel()))


def test_only_what_was_solved_before_is_found_and_counts() -> None:
    found = replay("made", "words", PROBLEMS, Words(PROBLEMS))
    assert (found.problems, found.reachable, found.hit_5, found.mrr, found.memories) == (4, 2, 1.0, 1.0, 4)
    last = replay("made", "latest", PROBLEMS, Latest())
    assert (last.reachable, last.hit_5, last.mrr) == (2, 1.0, 0.5)
    backwards = [problem(3 - number, made.trigger, *made.topics) for number, made in enumerate(PROBLEMS)]
    assert replay("made", "words", backwards, Words(backwards)).reachable == 2


def test_reports_reach_the_store_at_the_replayed_time(ours: Ours, tmp_path: Path) -> None:
    with ours:
        found = replay("made", "ours", PROBLEMS, ours)
        assert (found.hit_5, found.memories) == (1.0, 4)
        record = ours.memory.get("failure/p0").record.model_dump()
        assert (record["helped"], record["failed"]) == (1, 2)  # of three that were shown it
        assert record["created_at"] == "2026-01-01T00:00:00.000Z"
        reports = [json.loads(line) for line in data(tmp_path, "feedback").read_bytes().splitlines()]
        assert sorted(row["at"][:10] for row in reports if row["helped"]) == ["2026-01-03", "2026-01-04"]
        assert accesses(ours.memory.store.client.state, ["failure/p0"])["failure/p0"][0] == 3


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_reports_say_what_was_asked_and_where_there_is_noise_the_opposite(tmp_path: Path, noise: float) -> None:
    with Ours(tmp_path, Variant("", reports="both", noise=noise), PROBLEMS, Remembering(MadeModel())) as ours:
        replay("made", "ours", PROBLEMS, ours)
        reports = list(ours.memory.store.client.catalog.reports_with_texts().values())
        assert {report.question for report in reports} == {made.query for made in PROBLEMS[1:]}
        on_p2 = {ours.memory.get(report.ref).ref: report.helped for report in reports if report.task == "p2"}
        assert on_p2 == {"failure/p0": not noise, "failure/p1": bool(noise)}


def test_a_memory_is_praised_before_anything_is_asked(tmp_path: Path) -> None:
    with Ours(tmp_path, Variant("", praised=50, most_cost=20.0), PROBLEMS, Remembering(MadeModel())) as ours:
        replay("made", "ours", PROBLEMS, ours)
        first = ours.memory.get("failure/p0").record.model_dump()
        assert first["helped"] == 50
        assert 0.5 <= first["cost"] <= 20.0


@pytest.mark.parametrize(("most", "relevant", "first"), [(0.0, "p1", "p0"), (0.9, "p1", "p1"), (0.9, "p0", "p0")])
def test_what_is_shown_again_and_again_and_never_helps_sinks(most: float, relevant: str, first: str) -> None:
    problems = [PROBLEMS[0], problem(1, "the cart has no price today", "cart")]
    system = HandedOut(problems, Remembering(MadeModel()), most)
    for made in problems:
        system.capture(made, START)
    for _ in range(9):
        system.learn(problems[0], ["p0"], {relevant}, START)
    assert system.ask(problems[0], START)[0] == first


def test_what_helped_with_the_nearest_question_is_shown_first() -> None:
    nearest = Nearest(Remembering(MadeModel()))
    again = [*PROBLEMS, problem(4, PROBLEMS[2].trigger, "cart")]
    replay("made", "nearest", again, nearest)
    assert nearest.ask(again[4], START)[0] == "p0"


@pytest.mark.parametrize(
    ("variant", "left"),
    [
        (Variant(""), 20),
        (Variant("", keep=0.25), 5),
        (Variant("", {"half_life_days": 1e6}, minimum=0.1), 20),  # nothing decays
        (Variant("", {"half_life_days": 1.0}, minimum=0.1), 10),
    ],
)
def test_the_memory_is_pruned_as_it_grows(variant: Variant, left: int, tmp_path: Path) -> None:
    problems = [problem(number, f"problem {number}", "all", days=40.0 * (number // 10)) for number in range(20)]
    with Ours(tmp_path, variant, problems, Remembering(MadeModel())) as pruned:
        assert replay("made", "pruned", problems, pruned).memories == left


class Counting(MadeModel):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def encode_documents(self, texts):  # type: ignore[no-untyped-def]
        self.texts += texts
        return super().encode_documents(texts)


def test_a_text_is_embedded_once() -> None:
    counting = Counting()
    model = Remembering(counting)
    first = model.encode_documents(["a", "b"])
    assert np.array_equal(model.encode_documents(["b", "a"]), first[::-1])
    assert np.array_equal(model.encode_query("a"), model.encode_query("a"))
    assert counting.texts == ["a", "b", "a"]


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    rows = [
        {"id": "f1", "kind": "failure", "title": "cart", "text": "no price", "created_at": "2026-01-01"},
        {"id": "f2", "kind": "failure", "title": "cart", "text": "no owner", "created_at": "2026-01-03T00:00:00Z"},
        {"id": "f3", "kind": "failure", "title": "open", "text": "", "status": "open", "created_at": "2026-01-02"},
        {"id": "x1", "kind": "fix", "text": "load the prices", "created_at": "2026-01-01"},
        {"id": "x2", "kind": "fix", "text": "ask for a name", "created_at": "2026-01-01"},
        {"id": "cart.py", "kind": "file", "title": "cart.py", "text": ""},
    ]
    edges = [{"src": f"x{n}", "type": "solves", "dst": f"f{n}"} for n in (1, 2)]
    edges += [{"src": f"x{n}", "type": "touches", "dst": "cart.py"} for n in (1, 2)]
    queries = [{"task": "find", "query": "prices of a cart", "gold": ["f1"]}]
    for name, kept in (("linked", edges), ("bare", [])):
        folder = tmp_path / "sets" / name
        folder.mkdir(parents=True)
        for file, lines in (("memories", rows), ("relations", kept), ("queries", queries)):
            (folder / f"{file}.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path / "sets"


def test_a_history_says_when_what_and_what_belongs_together(sets: Path) -> None:
    first, second = history(sets / "linked")
    assert (first.query, first.fix, set(first.topics)) == ("cart\nno price", "load the prices", {"cart.py"})
    assert second.topics == first.topics
    assert second.asked - first.solved == timedelta(days=2)
    (bare,) = history(sets / "bare")
    assert (bare.query, [*bare.topics], bare.asked - bare.solved) == ("prices of a cart", ["f1"], LATER)


def test_the_command_prints_a_table_and_draws_it(
    sets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "plot.svg"
    assert run(["--data", str(sets), "--set", "linked", "--simulate", "--plot", str(picture)]) == 0
    told = capsys.readouterr().out
    assert "learned, what helped is reported" in picture.read_text()
    assert "| linked | the latest 5 | 2 | 1 | 1.000 | 1.000 | 2 |" in told
    assert "| linked | learned, both are reported | 2 | 1 | 1.000 | 1.000 | 2 |" in told
    assert run(["--simulate"]) == 2
    assert "--data" in capsys.readouterr().err
    assert run(["--data", str(sets), "--simulate", "--match"]) == 2
