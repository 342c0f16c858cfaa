"""Whether learning happens, in stores that were made by hand."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from graphmem import Memory, Usage
from graphmem.core.stats.effectiveness_contract import Loop
from graphmem.kernel.model.field import format_time
from tests.sample import START, edge, failure, line, open_memory, pattern


def day(number: float) -> str:
    return format_time(START - timedelta(days=100 - number))


def campaign(name: str, at: float) -> bytes:
    return line(kind="campaign", name=name, objective=f"do {name}", created_at=day(at))


def run(name: str, at: float) -> bytes:
    return orjson.dumps({"kind": "run", "run": name, "at": day(at)})


def task(name: str, at: float, **fields: Any) -> bytes:
    owner = f"campaign/{name.partition('/')[0]}"
    return line(kind="task", name=name, campaign=owner, objective="o", created_at=day(at), **fields)


def report(ref: str, at: float, *, helped: bool, task: str | None = None) -> bytes:
    about = {"task": task} if task else {"id": f"{ref}-{at}"}
    return orjson.dumps({"kind": "feedback", "ref": ref, "helped": helped, "at": day(at), **about})


def reached(found: Loop) -> dict[str, list[str]]:
    """Return which failures came to which stage."""
    assert [one.stage for one in found.stages] == ["captured", "injected", "used", "helped"]
    assert all(one.number == len(one.refs) for one in found.stages)
    return {one.stage: [ref.removeprefix("failure/") for ref in one.refs] for one in found.stages}


def test_an_empty_store_has_no_loop_to_break(memory: Memory) -> None:
    found = memory.verify_loop()
    assert (found.is_learning, found.broken, found.verdict) == (False, None, "nothing is recorded yet")
    assert (found.since, found.campaigns, found.runs, found.tasks, found.reports) == (None, [], [], 0, 0)
    assert reached(found) == {"captured": [], "injected": [], "used": [], "helped": []}
    with pytest.raises(Usage, match="last 0 is out of bounds"):
        memory.verify_loop(last=0)


def test_each_failure_is_followed_from_stage_to_stage(memory: Memory) -> None:
    memory.add_rows([
        *(failure(name, f"{name} went wrong in its own way", created_at=day(1)) for name in ("a", "b", "c", "d", "e")),
        pattern("p", created_at=day(1)),
        edge("pattern/p", "solves", "failure/b"),
        campaign("auth", 2),
        task("auth/001-x", 3, prior_knowledge=["failure/a", "pattern/p"], utilized=["failure/c"], status="complete"),
    ])  # fmt: skip
    found = memory.verify_loop()
    assert reached(found) == {
        "captured": ["a", "b", "c", "d", "e"], "injected": ["a", "b", "c"], "used": ["c"], "helped": [],
    }  # fmt: skip
    assert (found.tasks, found.campaigns, found.broken, found.is_learning) == (1, ["campaign/auth"], "helped", False)
    assert found.verdict == (
        "captured 5, injected 3, used 1, feedback on 0: tasks name what they used, not whether it helped"
    )
    memory.add_rows([report("failure/d", 4, helped=False, task="task/auth/001-x")])
    found = memory.verify_loop()
    assert (reached(found)["used"], found.broken) == (["c", "d"], "helped")
    assert found.verdict.endswith("used 2, helped 0: what is known is used and does not help")
    memory.feedback("pattern/p", helped=True)
    found = memory.verify_loop()
    assert reached(found) == {
        "captured": ["a", "b", "c", "d", "e"], "injected": ["a", "b", "c", "d"], "used": ["b", "c", "d"],
        "helped": ["b"],
    }  # fmt: skip
    assert (found.broken, found.is_learning, found.reports) == (None, True, 2)
    assert found.verdict == "captured 5, injected 4, used 3, helped 1: learning happens"


def test_the_example_of_the_specification(memory: Memory) -> None:
    memory.add_rows([
        *(failure(f"f{number}", f"{number} things went wrong") for number in range(12)),
        campaign("auth", 2),
        *(task(f"auth/{number:03}-x", 3, prior_knowledge=[f"failure/f{number}"], status="complete")
          for number in range(9)),
    ])  # fmt: skip
    found = memory.verify_loop()
    assert found.verdict == "captured 12, injected 9, feedback on 0: tasks finish without reporting what they used"
    assert found.broken == "used"


def test_what_context_hands_out_on_this_machine_is_injected(memory: Memory) -> None:
    memory.failures.add("ImportError: yaml", name="no-yaml", fix="pip install pyyaml")
    memory.failures.add("a door is open", name="door")
    assert reached(memory.verify_loop())["injected"] == []
    memory.context("ImportError: yaml")
    found = memory.verify_loop()
    assert reached(found)["injected"] == ["no-yaml"]
    assert (
        found.verdict == "captured 2, injected 1, feedback on 0: no agent reports whether the returned records helped"
    )


def test_what_was_handed_out_before_the_window_is_not_injected_in_it(memory: Memory) -> None:
    memory.add_rows([failure("a", "ImportError: yaml"), run("one", 99), run("two", 101), run("three", 102)])
    memory.context("ImportError: yaml")  # on day 100
    assert reached(memory.verify_loop(last=2))["injected"] == ["a"]
    assert reached(memory.verify_loop(last=1))["injected"] == []


def test_only_the_last_campaigns_and_runs_count(memory: Memory) -> None:
    memory.add_rows([
        campaign("one", 10),
        failure("a", "an old thing went wrong", created_at=day(11)),
        task("one/001-x", 12, prior_knowledge=["failure/a"], utilized=["failure/a"]),
        report("failure/a", 13, helped=True),
        run("two", 20),
        failure("b", "a thing of today broke", created_at=day(21)),
        task("one/002-y", 22, prior_knowledge=["failure/b"]),
        run("three", 30),
    ])  # fmt: skip
    whole, latest = memory.verify_loop(last=3), memory.verify_loop(last=1)
    assert (whole.since, whole.campaigns, whole.runs) == (None, ["campaign/one"], ["run/two", "run/three"])
    assert reached(whole) == {"captured": ["a", "b"], "injected": ["a", "b"], "used": ["a"], "helped": ["a"]}
    assert (latest.since, latest.campaigns, latest.runs) == (day(20), [], ["run/three"])
    assert reached(latest) == {"captured": ["b"], "injected": ["b"], "used": [], "helped": []}
    assert (latest.tasks, latest.reports, latest.broken) == (1, 0, "used")
    memory.feedback("a", helped=True)  # an old failure that helps again is learning too
    again = memory.verify_loop(last=1)
    assert (reached(again)["captured"], reached(again)["helped"], again.is_learning) == (["b"], ["a"], True)


def test_a_failure_is_followed_under_its_new_name_and_when_it_is_archived(memory: Memory) -> None:
    memory.add_rows([
        failure("a", "it went wrong"), campaign("c", 1), task("c/001-x", 2, prior_knowledge=["failure/a"]),
    ])  # fmt: skip
    memory.rename("a", "z")
    memory.forget("z")
    found = memory.verify_loop()
    assert (reached(found)["captured"], reached(found)["injected"]) == (["z"], ["z"])


def test_what_is_archived_is_not_known(memory: Memory) -> None:
    memory.add_rows([failure("a", created_at=day(1)), campaign("one", 2), campaign("two", 3)])
    assert memory.verify_loop(last=1).broken == "injected"
    memory.forget("a")
    assert memory.verify_loop(last=1).broken == "captured"


def test_a_report_on_something_else_is_no_use_of_a_failure(memory: Memory) -> None:
    memory.failures.add("boom", name="a")
    memory.lessons.add("retries are not idempotent", name="retries")
    memory.patterns.add("t", "solves nothing", name="p")
    memory.feedback("retries", helped=True)
    memory.feedback("p", helped=True)
    found = memory.verify_loop()
    assert (found.reports, found.broken, reached(found)["used"]) == (0, "injected", [])


def test_work_without_a_failure_recorded_breaks_at_the_first_stage(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.add_rows([campaign("c", 1), run("r", 2)])
        found = memory.verify_loop()
    assert (found.broken, found.verdict) == (
        "captured", "captured 0: campaigns and runs end, and no failure is recorded",
    )  # fmt: skip
