"""Plans, what can start, what came of it, what resembles it: campaigns.md, section 1; retrieval.md, section 11."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from graphmem import BadInput, Memory, NotFound, Refused
from graphmem.constants import FILES_SHARE, OBJECTIVE_SHARE, SIZE_SHARE
from graphmem.core.plans.campaign_contract import AddTasksRequest, FinalStatus, PlannedTask
from graphmem.doors.cli.app import run
from graphmem.kernel.embed.model import Embedder
from graphmem.kernel.model import Campaign, Task
from tests.sample import contents, data, task_row


def task(seq: object, depends: object = "none", **fields: object) -> dict[str, object]:
    return {"seq": seq, "slug": f"s{seq}", "objective": f"step {seq}", "depends": depends, **fields}


def finish(memory: Memory, ref: str) -> None:
    memory.tasks.start(ref)
    memory.tasks.complete(ref, delivered="done")


@pytest.fixture
def campaign(memory: Memory) -> Memory:
    memory.campaigns.create("Add a login page", name="auth", framework="flask")
    return memory


def test_a_plan_becomes_tasks_with_their_edges(campaign: Memory, tmp_path: Path) -> None:
    answer = campaign.campaigns.add_tasks(
        "auth", {"tasks": [task(2, 1, delta=["b", "a"]), task("001"), task(3, ["001", 2])]}
    )
    assert [found.ref for found in answer.tasks] == ["task/auth/001-s001", "task/auth/002-s2", "task/auth/003-s3"]
    third = answer.tasks[2]
    assert isinstance(third, Task)
    assert (third.seq, third.slug, third.depends) == ("003", "s3", ("task/auth/001-s001", "task/auth/002-s2"))
    assert campaign.cypher(
        "MATCH (t:Task)-[:PART_OF]->(c:Campaign {name: 'auth'}) RETURN t.seq, t.slug ORDER BY t.seq"
    ).rows == [["001", "s001"], ["002", "s2"], ["003", "s3"]]
    assert campaign.cypher("MATCH (t:Task)-[:DEPENDS_ON]->(u:Task) RETURN t.seq, u.seq ORDER BY t.seq, u.seq").rows == [
        ["002", "001"], ["003", "001"], ["003", "002"],
    ]  # fmt: skip
    rows = [orjson.loads(line) for line in data(tmp_path, "task").read_bytes().splitlines()]
    assert {tuple(row.get("delta", ())) for row in rows} == {(), ("a", "b")}
    assert campaign.store.validate().findings == []


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ([], "the plan has no tasks"),
        ({"tasks": []}, "the plan has no tasks"),
        ({"tasks": {}}, "a plan is a list"),
        ("nonsense", "a plan is a list"),
        ([1], "task 1 is 1"),
        ([task(1), task(1)], "seq 001 appears twice"),
        ([task(1), task("1")], "seq 001 appears twice"),
        ([task(1, 2)], "depends on 002, and no task has that seq"),
        ([task(1, "x")], "depends of task 1 is 'x'"),
        ([task(1000)], "seq of task 1 is 1000"),
        ([task(-1)], "seq of task 1 is -1"),
        ([task(True)], "seq of task 1 is True"),
        ([task(1.5)], "seq of task 1 is 1.5"),
        ([{"objective": "no seq"}], "task 1 has no seq"),
        ([task(1), {"objective": "no seq", "seq": None}], "task 2 has no seq"),
        ([task(1, 1)], "001 → 001"),
        ([task(1, 2), task(2, 1)], "001 → 002 → 001"),
        ([task(3, 5), task(4, 3), task(5, 4), task(1)], "003 → 005 → 004 → 003"),
        ([task(1, 2), task(2, 3), task(3, 2)], "002 → 003 → 002"),
        ([task(1), task(2, type="nonsense")], "unknown type of task 2 'nonsense'"),
        ([task(1), {"seq": 2, "slug": "Not A Slug", "objective": "x"}], "task 2: name 'auth/002-Not A Slug'"),
        ([task(1), {"seq": 2}], "task 2 has no objective"),
        ([task(1), task(2, budget=-1)], "budget of task 2 -1 is out of bounds"),
        ([task(1), task(2, verify=["pytest"])], "verify of task 2 is ['pytest']"),
        ([task(1), task(2, delta=["a", 3])], "delta[1] of task 2 is 3"),
        ([task(1), task(2, framework_confidence=1.5)], "framework_confidence"),
        ([task(1), task(2, objective="x" * 16_385)], "16,385"),
        ([task(1), task(2, depnds=[1])], "task 2 has no field 'depnds'"),
        ([task(1), {"seq": 2, "objective": ""}], "objective is empty"),
        ([task(1), {"seq": 2, "objective": " \n"}], "objective is empty"),
        ([task(1), {"seq": 2, "title": " "}], "objective is empty"),
    ],
)
def test_a_plan_that_does_not_check_out_stores_nothing(
    campaign: Memory, tmp_path: Path, plan: Any, message: str
) -> None:
    before = contents(tmp_path)
    with pytest.raises((BadInput, Refused)) as refused:
        campaign.campaigns.add_tasks("auth", plan)
    assert message in refused.value.message
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    "moved",
    [
        {"status": "complete"},
        {"status": "pending"},
        {"archived_at": "2026-01-01T00:00:00Z"},
        {"completed_at": "2026-01-01T00:00:00Z", "delivered": "all"},
        {"blocked_reason": "it fails"},
        {"blocked_by": ["failure/a"]},
        {"utilized": ["failure/a"]},
        {"key": "auth/009-x"},
        {"ref": "task/x/001-y"},
        {"edited": {"objective": "2026-01-01T00:00:00Z"}},
        {"campaign": "campaign/other"},
        {"kind": "failure"},
    ],
)
def test_a_plan_sets_nothing_that_moves_set(campaign: Memory, tmp_path: Path, moved: dict[str, Any]) -> None:
    before = contents(tmp_path)
    for put in (campaign.campaigns.add_tasks, campaign.campaigns.merge_plan):
        with pytest.raises(BadInput, match=f"task 2 has no field '{next(iter(moved))}'") as refused:
            put("auth", [task(1), task(2, **moved)])
        assert "graphmem task start" in str(refused.value.hint)
    assert contents(tmp_path) == before


def test_a_plan_may_say_of_what_is_complete_what_it_will(campaign: Memory) -> None:
    campaign.campaigns.add_tasks("auth", [task(1), task(2)])
    campaign.tasks.start("auth/001")
    campaign.tasks.complete("auth/001", delivered="it")
    campaign.campaigns.merge_plan(
        "auth", [{"seq": 1, "status": "complete", "delivered": "other"}, task(3, depends=[1])]
    )
    delivered = {ref: campaign.get(f"task/auth/{ref}").record.model_dump()["delivered"] for ref in ("001-s1", "003-s3")}
    assert delivered == {"001-s1": "it", "003-s3": None}


def test_a_plan_takes_what_means_nothing(campaign: Memory) -> None:
    plan = [
        {"seq": 1, "title": "Choose", "slug": 7, "verify": None, "type": None, "depends": None},
        {"seq": "2", "objective": "Log in", "depends": 1, "budget": 2, "tags": ["web"]},
    ]
    first, second = campaign.campaigns.add_tasks("auth", {"tasks": plan, "by": "a planner"}).tasks
    assert isinstance(first, Task) and isinstance(second, Task)
    assert (first.name, first.objective, first.type) == ("auth/001-choose", "Choose", "other")
    assert (second.name, second.depends, second.budget) == ("auth/002-log-in", (first.ref,), 2)


def test_a_bad_plan_says_what_would_be_right(campaign: Memory) -> None:
    for row, hint in (
        ({"objective": "x"}, "Number of the task in the plan"),
        (task("x"), 'a number of up to three digits, such as 1 or "001"'),
        (task(1, verify=3), "a text"),
        (task(1, type="odd"), "one of: spec, impl, test, refactor, docs, other"),
        (task(1, framework_confidence=2), "from 0 to 1"),
        (7, "an object"),
    ):
        with pytest.raises(BadInput) as refused:
            campaign.campaigns.add_tasks("auth", [row])
        assert refused.value.hint == hint


def test_the_schema_of_a_plan_is_that_of_its_tasks() -> None:
    schema = AddTasksRequest.model_json_schema()
    planned = schema["$defs"]["PlannedTask"]
    assert schema["properties"]["plan"]["anyOf"][0] == {"items": {"$ref": "#/$defs/PlannedTask"}, "type": "array"}
    assert planned["required"] == ["seq"]
    assert all(field["description"] for field in planned["properties"].values())
    assert all(name in (AddTasksRequest.model_fields["plan"].description or "") for name in planned["properties"])
    for name in planned["properties"].keys() & Task.model_fields.keys() - {"objective", "depends"}:
        assert PlannedTask.model_fields[name].annotation == Task.model_fields[name].annotation


def test_a_later_plan_may_need_earlier_tasks_and_not_repeat_their_numbers(campaign: Memory) -> None:
    campaign.campaigns.add_tasks("auth", [task(1)])
    answer = campaign.campaigns.add_tasks("auth", [task(2, 1)])
    assert len(answer.tasks) == 2
    with pytest.raises(Refused):
        campaign.campaigns.add_tasks("auth", [task(2)])
    with pytest.raises(NotFound):
        campaign.campaigns.add_tasks("other", [task(1)])


def test_the_tasks_of_a_renamed_campaign_are_found(campaign: Memory) -> None:
    campaign.campaigns.add_tasks("auth", [task(1)])
    campaign.rename("auth", "login")
    assert [found.ref for found in campaign.campaigns.ready("login").ready] == ["task/login/001-s1"]
    assert len(campaign.campaigns.add_tasks("login", [task(2, 1)]).tasks) == 2
    assert campaign.store.validate().findings == []


def test_every_task_of_a_renamed_campaign_has_the_new_name_and_is_found_by_the_old_one(campaign: Memory) -> None:
    campaign.campaigns.add_tasks("auth", [task(1), task(2, 1), task(3)])
    finish(campaign, "auth/001")
    campaign.forget("auth/003-s3")
    campaign.rename("auth", "login")
    campaign.campaigns.add_tasks("login", [task(4, 2)])
    refs = ["task/login/001-s1", "task/login/002-s2", "task/login/004-s4"]
    assert [one.ref for one in campaign.list("task").results] == refs
    assert [one.ref for one in campaign.list("task", archived=True).results] == ["task/login/003-s3"]
    assert campaign.get("login/004-s4").record.to_row()["depends"] == ["task/login/002-s2"]
    for name in ("auth", "login"):
        for number in (1, 2, 4):
            found = f"task/login/00{number}-s{number}"
            for ref in (f"task/{name}/00{number}-s{number}", f"{name}/00{number}-s{number}", f"{name}/{number}"):
                assert campaign.tasks.show(ref).ref == found
            assert campaign.get(f"task/{name}/00{number}-s{number}").ref == found
            assert campaign.related(f"{name}/00{number}-s{number}").start == found
    assert campaign.relations.link("task/auth/004-s4", "causes", "auth/001-s1").edge.source == "task/login/004-s4"
    assert campaign.tasks.start("auth/002").ref == "task/login/002-s2"
    assert campaign.store.validate().findings == []
    campaign.undo(4)
    assert [one.ref for one in campaign.list("task").results] == ["task/auth/001-s1", "task/auth/002-s2"]
    campaign.rename("auth", "login")
    campaign.rename("login", "auth")
    assert campaign.get("login/001-s1").ref == "task/auth/001-s1"


def test_a_task_that_another_branch_added_under_the_old_name_is_found_by_the_new_one(
    campaign: Memory, tmp_path: Path
) -> None:
    campaign.campaigns.add_tasks("auth", [task(1)])
    campaign.rename("auth", "login")
    row = {"kind": "task", "name": "auth/002-s2", "campaign": "campaign/auth", "objective": "o"}
    with data(tmp_path, "task").open("a") as file:
        file.write(orjson.dumps(row | {"created_at": "2026-10-01T00:00:00.000Z"}).decode() + "\n")
    assert campaign.get("task/login/002-s2").record.key_ref == "task/auth/002-s2"
    assert campaign.rename("login", "entry").ref == "campaign/entry"
    assert campaign.get("task/login/002-s2").ref == campaign.get("auth/002-s2").ref == "task/entry/002-s2"


def test_a_parent_that_was_completed_and_archived_stays_complete(campaign: Memory) -> None:
    campaign.campaigns.add_tasks("auth", [task(1), task(2, 1), task(3), task(4, 3)])
    finish(campaign, "auth/001")
    campaign.forget("auth/001-s1")
    campaign.forget("auth/003-s3")
    assert [found.ref for found in campaign.campaigns.ready("auth").ready] == ["task/auth/002-s2"]


@pytest.mark.long
def test_ready_are_the_pending_tasks_whose_parents_are_all_complete(campaign: Memory) -> None:
    campaign.campaigns.add_tasks("auth", [task(1), task(2), task(3, [1, 2]), task(4, 3)])

    def ready() -> list[str]:
        found = campaign.campaigns.ready("campaign/auth")
        assert found.campaign == "campaign/auth"
        named = campaign.store.cypher_named("task/ready", {"ref": "auth"}).rows
        assert [row[0] for row in named] == [task.ref for task in found.ready]
        return [task.ref.removeprefix("task/auth/") for task in found.ready]

    assert ready() == ["001-s1", "002-s2"]
    finish(campaign, "auth/001")
    assert ready() == ["002-s2"]
    campaign.tasks.start("auth/002")
    assert ready() == []
    campaign.tasks.complete("auth/002")
    assert ready() == ["003-s3"]
    campaign.tasks.block("auth/003", "it fails")
    assert ready() == []


def test_a_finished_campaign_keeps_its_fingerprint(campaign: Memory) -> None:
    campaign.campaigns.add_tasks(
        "auth", [task(1, delta=["a.py", "b.py"], type="impl"), task(2, delta=["b.py"], type="test")]
    )
    finish(campaign, "auth/001")
    done = campaign.campaigns.complete("auth", outcome="half of it", status="partial")
    record = done.record
    assert isinstance(record, Campaign)
    assert (record.status, record.outcome) == ("partial", "half of it")
    assert record.completed_at is not None
    assert record.fingerprint is not None
    assert record.fingerprint.model_dump() == {
        "delta": ("a.py", "b.py"), "tasks": 2, "framework": "flask", "task_types": {"impl": 1, "test": 1},
    }  # fmt: skip
    with pytest.raises(Refused):
        campaign.campaigns.complete("auth")
    with pytest.raises(Refused):
        campaign.campaigns.add_tasks("auth", [task(3)])


def test_a_campaign_whose_tasks_are_all_complete_is_complete(campaign: Memory) -> None:
    campaign.campaigns.add_tasks("auth", [task(1)])
    finish(campaign, "auth/001")
    assert campaign.campaigns.complete("auth").record.status == "complete"


def test_a_campaign_with_open_tasks_ends_as_partial_or_failed_and_as_nothing_else(
    campaign: Memory, tmp_path: Path
) -> None:
    campaign.campaigns.add_tasks("auth", [task(number) for number in range(1, 10)])
    finish(campaign, "auth/001")
    campaign.tasks.block("auth/002", "it fails")
    before = contents(tmp_path)
    statuses: tuple[FinalStatus | None, ...] = (None, "complete")
    for status in statuses:
        with pytest.raises(Refused) as refused:
            campaign.campaigns.complete("auth", status=status)
        assert refused.value.message == (
            "campaign/auth has 8 open tasks: task/auth/002-s2 (blocked), task/auth/003-s3 (pending), task/auth/004-s4"
            " (pending), task/auth/005-s5 (pending), task/auth/006-s6 (pending) and 3 more"
        )
        assert refused.value.hint == "end it as partial: graphmem campaign complete auth --partial"
    assert contents(tmp_path) == before
    assert campaign.campaigns.complete("auth", status="failed").record.model_dump()["status"] == "failed"


@pytest.mark.parametrize("flags", [["--partial"], ["--status", "partial"]])
def test_a_campaign_ends_as_partial_on_the_command_line(campaign: Memory, tmp_path: Path, flags: list[str]) -> None:
    campaign.campaigns.add_tasks("auth", [task(1)])
    words = ["--dir", str(tmp_path), "campaign", "complete", "auth"]
    assert run([*words, "--partial", "--status", "failed"]) == 2
    assert run(words) == 3
    assert run([*words, *flags]) == 0
    assert campaign.get("campaign/auth").record.model_dump()["status"] == "partial"


def test_a_campaign_that_ended_is_shown_as_it_ended_and_has_nothing_ready(campaign: Memory) -> None:
    campaign.campaigns.add_tasks("auth", [task(1), task(2), task(3, depends=[2]), task(4, depends=[2])])
    campaign.tasks.block("auth/002", "it fails")
    campaign.campaigns.complete("auth", status="partial")
    status = campaign.campaigns.status("auth")
    assert (status.state, status.ready, status.unreachable, status.replan_suggested) == ("partial", [], [], False)
    assert campaign.campaigns.ready("auth").ready == []
    assert campaign.store.cypher_named("task/ready", {"ref": "campaign/auth"}).rows == []
    assert campaign.status().campaigns == []
    assert "auth/001" not in campaign.prime().text


def test_completing_links_the_failures_that_blocked_its_tasks_pairwise(campaign: Memory) -> None:
    for name in ("a", "b", "c"):
        campaign.failures.add(f"{name} went wrong", name=name)
    campaign.relations.link("a", "co_occurs", "b", weight=1.5)
    blocked = ((1, ["failure/a"]), (2, ["failure/c", "failure/b", "task/auth/001-s1"]))
    campaign.add_rows(
        task_row("auth", n, status="blocked", blocked_reason="it fails", blocked_by=refs) for n, refs in blocked
    )
    campaign.campaigns.complete("auth", status="partial")
    rows = campaign.cypher("MATCH (x)-[r:CO_OCCURS]->(y) RETURN x.name, y.name, r.weight ORDER BY x.name, y.name").rows
    assert rows == [["a", "b", 1.5], ["a", "c", 0.8], ["b", "c", 0.8]]


# --- similar -------------------------------------------------------------------------------------------------------


def finished(memory: Memory, name: str, objective: str, files: list[str], tasks: int, **fields: object) -> None:
    memory.campaigns.create(objective, name=name)
    if tasks:
        memory.add_rows(
            task_row(name, number, delta=files if number == 1 else [], **fields) for number in range(1, tasks + 1)
        )
    memory.campaigns.complete(name, outcome=f"outcome of {name}", status="partial" if tasks else None)


def test_similarity_is_that_of_objective_files_and_size(memory_with_model: Memory, embedder: Embedder) -> None:
    memory = memory_with_model
    memory.failures.add("it was blocked", name="block")
    memory.patterns.add("when blocked", "do it", name="way")
    finished(memory, "old", "Add a login page with sessions", ["a", "b", "c"], 4, blocked_by=["failure/block"],
             utilized=["pattern/way"])  # fmt: skip
    finished(memory, "far", "Bake bread with rye flour", ["z"], 1)
    memory.campaigns.create("Add a login form", name="new")
    memory.campaigns.add_tasks("new", [task(1, delta=["b"]), task(2, delta=["c", "d"])])
    answer = memory.similar("campaign/new")
    first, second = embedder.encode_documents(["Add a login form", "Add a login page with sessions"])
    cosine = float(first @ second)
    (found,) = answer.results
    assert (found.ref, found.outcome, found.blocked_by, found.solved_by) == (
        "campaign/old", "outcome of old", ["failure/block"], ["pattern/way"],
    )  # fmt: skip
    assert found.parts.objective == pytest.approx(cosine, abs=1e-5)
    assert found.parts.files == pytest.approx(2 / 4)
    assert found.parts.size == pytest.approx(1 - 2 / 4)
    assert found.similarity == pytest.approx(0.6 * cosine + 0.3 * 0.5 + 0.1 * 0.5, abs=1e-5)
    assert (OBJECTIVE_SHARE, FILES_SHARE, SIZE_SHARE) == (0.6, 0.3, 0.1)
    assert {found.ref for found in memory.similar("new", threshold=0.0).results} == {"campaign/old", "campaign/far"}


def test_for_a_bare_objective_the_cosine_alone_counts(memory_with_model: Memory) -> None:
    finished(memory_with_model, "old", "Add a login page", ["a"], 3)
    (found,) = memory_with_model.similar("Add a login page").results
    assert found.similarity == found.parts.objective == pytest.approx(1, abs=1e-5)
    assert (found.parts.files, found.parts.size) == (0, 0)
    with pytest.raises(NotFound):
        memory_with_model.similar("campaign/nothing")
    with pytest.raises(BadInput):
        memory_with_model.similar(" ")


def test_two_campaigns_without_tasks_are_equally_large(memory: Memory) -> None:
    finished(memory, "old", "Add a login page", [], 0)
    memory.campaigns.create("Add the login page", name="new")
    (found,) = memory.similar("campaign/new").results
    assert [found.parts.objective, found.parts.files, found.parts.size] == pytest.approx([1.0, 0.0, 1.0])
    assert found.similarity == pytest.approx(0.7)


def test_campaigns_that_ended_badly_are_found_with_how_and_why(memory: Memory) -> None:
    ends: list[tuple[FinalStatus, str]] = [
        ("failed", "the API was shut down"),
        ("partial", "half of it"),
        ("complete", "ok"),
    ]
    for status, outcome in ends:
        memory.campaigns.create(f"Add a login page, {status}", name=f"c-{status}")
        memory.campaigns.complete(f"c-{status}", status=status, outcome=outcome)
    memory.campaigns.create("Add a login page, active", name="c-active")
    for answer in (memory.similar("Add a login page"), memory.similar("c-active", threshold=0)):
        assert {(one.status, one.outcome) for one in answer.results} == set(ends)
    (found,) = memory.similar("Add a login page, failed", limit=1).results
    assert (found.ref, found.status) == ("campaign/c-failed", "failed")
    block = memory.context("Add a login page, failed").text
    assert "`campaign/c-failed` (" in block and "; failed; " in block and "> outcome: the API was shut down" in block
    sizes = memory.stats().campaigns
    assert sizes is not None and sizes.ended == {"complete": 1, "failed": 1, "partial": 1}
    assert sizes.finished == 3


def test_similar_shows_three_above_the_threshold_and_never_an_active_one(memory: Memory) -> None:
    for number in range(5):
        finished(memory, f"old-{number}", f"Add a login page {number}", [], 0)
    memory.campaigns.create("Add a login page", name="active")
    assert [found.ref for found in memory.similar("Add a login page").results] == [
        "campaign/old-0", "campaign/old-1", "campaign/old-2",
    ]  # fmt: skip
    assert len(memory.similar("Add a login page", limit=10).results) == 5
    assert memory.similar("Add a login page", threshold=1.0).results == []
