"""Observe: what finished and blocked tasks become, step by step: campaigns.md, section 2."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import orjson
import pytest

from graphmem import Memory, NotFound, Usage
from graphmem.features.work.observation import Observed
from graphmem.kernel.model import Failure, Task
from graphmem.kernel.model.entry import Entry
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Writing
from graphmem.kernel.store.sync import Follower
from tests.sample import contents, data, open_memory, task_row, trust_all

ERROR = "TimeoutError: no answer from worker after 30 s"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "project"
    folder.mkdir()
    memory = open_memory(folder)
    memory.campaigns.create("Add single sign-on", name="sso")
    return memory


def blocked(memory: Memory, seq: int, verify: str | None, reason: str = ERROR, **fields: object) -> None:
    row = {"seq": seq, "objective": f"step {seq}", **({"verify": verify} if verify else {}), **fields}
    memory.campaigns.add_tasks("sso", [row])
    memory.tasks.start(f"sso/{seq:03d}")
    memory.tasks.block(f"sso/{seq:03d}", reason)


def finished(memory: Memory, seq: int, delivered: str | None = "it works", *, spent: float | None = None,
             reason: str | None = None, **fields: object) -> str:  # fmt: skip
    memory.campaigns.add_tasks("sso", [{"seq": seq, "objective": f"step {seq}", **fields}])
    ref = f"sso/{seq:03d}"
    memory.tasks.start(ref)
    if reason:
        memory.tasks.block(ref, reason)
        memory.tasks.start(ref)
    memory.tasks.complete(ref, delivered=delivered, spent=spent)
    return ref


def verdicts(answer: Observed) -> dict[str, str]:
    return {one.task.removeprefix("task/sso/")[:3]: one.verdict for one in answer.verified}


def reasons(answer: Observed) -> dict[str, str]:
    return {one.step: one.reason for one in answer.steps}


def test_commands_that_came_with_the_branch_run_only_when_they_are_asked_for_and_trusted(project: Memory) -> None:
    root = Path(project.status().store)
    blocked(project, 1, "touch ran; exit 1")
    assert "not run: --run-verify was not given" in reasons(project.observe())["verify"]
    assert "allow them with: graphmem trust" in reasons(project.observe(run_verify=True))["verify"]
    assert not (root / "ran").exists()
    shown = project.store.trust()
    assert (shown.commands, shown.trusted) == (["touch ran; exit 1"], False)
    assert trust_all(project).trusted
    assert verdicts(project.observe(run_verify=True)) == {"001": "CONFIRMED"}
    assert (root / "ran").exists()
    blocked(project, 2, "touch other")
    assert "allow them with" in reasons(project.observe(run_verify=True))["verify"]
    assert not (root / "other").exists()


@pytest.mark.long
def test_each_verdict(project: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphmem.features.work.observation.CHECK_S", 1.0)
    for seq, verify in enumerate(("exit 1", "true", "sleep 60", "no-such-program-anywhere", None), 1):
        blocked(project, seq, verify, reason=f"{ERROR} in step {'abcde'[seq - 1] * 3}")
    trust_all(project)
    answer = project.observe(run_verify=True)
    assert verdicts(answer) == {"001": "CONFIRMED", "002": "FALSE_POSITIVE", "003": "INDETERMINATE", "004": "ERROR"}
    assert "1 blocked task without a verify command" in reasons(answer)["verify"]
    assert [one.action for one in answer.failures] == ["created"]
    assert reasons(answer)["failures"] == "1 failure recorded; 4 blocks not confirmed"


def test_only_a_confirmed_block_becomes_a_failure_which_finds_the_error_again(project: Memory) -> None:
    blocked(project, 1, "exit 1")
    trust_all(project)
    assert project.observe().failures == []
    (made,) = project.observe(run_verify=True).failures
    assert isinstance(made.record, Failure)
    assert (made.record.trigger, made.record.sources[0].startswith("task/")) == (ERROR, True)
    task = project.get("task/sso/001-step-1").record
    assert isinstance(task, Task)
    assert task.blocked_by == (made.ref,)
    (hit,) = project.match("TimeoutError: no answer from worker after 45 s\n").results
    assert hit.ref == made.ref


def test_a_failure_is_recorded_and_named_by_its_task_under_one_lock(
    project: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked(project, 1, "exit 1")
    trust_all(project)
    held, writing, commit = [0], Client.writing, Writing.commit
    commits: list[int] = []

    def count(self: Client, *followers: Follower) -> AbstractContextManager[Writing]:
        held[0] += 1
        return writing(self, *followers)

    def note(self: Writing, puts: Sequence[Entry], *args: Any, **named: Any) -> None:
        commits.extend(held[0] for one in puts if one.row["kind"] in ("failure", "task"))
        commit(self, puts, *args, **named)

    monkeypatch.setattr(Client, "writing", count)
    monkeypatch.setattr(Writing, "commit", note)
    assert project.observe(run_verify=True).failures
    assert len(commits) == 2
    assert len(set(commits)) == 1


def test_a_verdict_is_kept_and_counts_without_running_again(project: Memory) -> None:
    blocked(project, 1, "exit 1", reason="x failed: a first")
    trust_all(project)
    project.observe(run_verify=True)
    found = project.events.list(types=["block-verified"]).events
    assert [one.data for one in found] == [{"verdict": "CONFIRMED"}]
    project.tasks.start("sso/001")
    project.tasks.block("sso/001", "another thing failed: b")
    assert project.observe().failures == []  # the verdict was on the block before


@pytest.mark.parametrize("said", [None, "CONFIRMED", {"verdict": "odd"}, {"verdict": ["CONFIRMED"]}, {}])
def test_a_verdict_of_another_form_that_a_file_brings_counts_for_nothing(project: Memory, said: object) -> None:
    blocked(project, 1, None)
    task = project.get("task/sso/001-step-1").record
    assert isinstance(task, Task)
    row = {"kind": "event", "id": "odd", "at": "2030-01-01T00:00:00.000Z", "type": "block-verified", "data": said}
    project.add_rows([orjson.dumps({**row, "subject": task.key_ref})])
    assert project.observe().failures == []


def test_to_observe_twice_changes_nothing(project: Memory) -> None:
    root = Path(project.status().store)
    project.patterns.add("slow workers", "raise the limit", name="limit")
    blocked(project, 1, "exit 1", reason=f"{ERROR} first")
    blocked(project, 2, "exit 1", reason="AssertionError: the page is empty")
    finished(project, 3, reason="KeyError: 'user' is missing")
    trust_all(project)
    first = project.observe(run_verify=True, yes=True)
    assert (len(first.failures), len(first.links)) == (2, 1)
    before = contents(root)
    again = project.observe(run_verify=True, yes=True)
    assert contents(root) == before
    assert (again.failures, again.links, again.feedback) == ([], [], 0)
    assert project.store.validate().findings == []


def test_finished_tasks_are_scored_and_offered_and_written_only_when_asked_for(project: Memory) -> None:
    root = Path(project.status().store)
    (root / "a.py").write_text("from app import retry\n")
    idioms = {"required": ["retry"], "forbidden": ["sleep("]}
    finished(
        project, 1, "retries with a limit", reason=ERROR, budget=10, spent=5, delta=["a.py", "b.py"], idioms=idioms
    )
    finished(project, 2, None)
    answer = project.observe()
    first, second = answer.patterns
    assert first.criteria == {
        "blocked_then_fixed": 3, "idioms_applied": 2, "budget_left": 1, "several_files": 1, "novel": 1,
    }  # fmt: skip
    assert (first.score, first.offered, first.ref) == (8, True, None)
    assert (second.criteria, second.offered) == ({"first_try": 2, "novel": 1}, False)
    assert (
        reasons(answer)["patterns"]
        == "1 pattern offered; --yes writes them; 1 task without a word on what it delivered"
    )
    assert not data(root, "pattern").exists()
    assert project.status().candidates == 1
    written = project.observe(yes=True).patterns[0]
    assert written.ref is not None
    assert getattr(project.get(written.ref).record, "insight", None) == "retries with a limit"
    assert project.status().candidates == 0, "what was written needs no review"
    project.undo()
    assert project.status().candidates == 1


def test_a_forbidden_idiom_takes_the_points_away(project: Memory) -> None:
    (Path(project.status().store) / "a.py").write_text("retry; sleep(1)")
    finished(project, 1, delta=["a.py"], idioms={"required": ["retry"], "forbidden": ["sleep("]})
    assert "idioms_applied" not in project.observe().patterns[0].criteria


def test_idioms_are_looked_for_inside_of_the_project_only(project: Memory, tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text("retry")
    finished(project, 1, delta=["../outside.py"], idioms={"required": ["retry"]})
    assert "idioms_applied" not in project.observe().patterns[0].criteria


def test_the_pattern_of_a_task_solves_what_had_blocked_it(project: Memory) -> None:
    project.failures.add(ERROR, name="slow")
    ref = finished(project, 1, "raises the limit", reason=ERROR)
    answer = project.observe(yes=True)
    pattern = answer.patterns[0].ref
    assert [(one.source, one.type, one.target) for one in answer.links] == [(pattern, "solves", "failure/slow")]
    assert [one.ref for one in project.solutions("failure/slow").results] == [pattern]
    assert ref == "sso/001"


def test_a_memory_that_a_task_used_without_a_report_is_reported(project: Memory) -> None:
    project.failures.add("an error", fix="x", name="known")
    campaign = project.get("campaign/sso").record.key_ref
    row = {
        "kind": "task", "name": "sso/009-old", "campaign": campaign, "objective": "imported", "status": "complete",
        "utilized": ["failure/known"], "created_at": "2026-01-01T00:00:00.000Z",
    }  # fmt: skip
    project.add_rows([orjson.dumps(row)])
    assert project.observe().feedback == 1
    assert getattr(project.get("failure/known").record, "helped", None) == 1
    assert project.observe().feedback == 0


def test_failures_that_blocked_tasks_of_one_campaign_are_seen_together(project: Memory) -> None:
    for seq, name in enumerate(("a", "b"), 1):
        project.failures.add(f"{name}{name}{name} went wrong here", name=name)
        blocked(project, seq, None, reason="see the log")
        project.tasks.block(f"sso/{seq:03d}", "see the log", by=[f"failure/{name}"])
    answer = project.observe()
    assert [(one.source, one.type, one.target) for one in answer.links] == [("failure/a", "co_occurs", "failure/b")]


def test_of_very_many_failures_those_that_blocked_most_tasks_are_linked(project: Memory) -> None:
    keys = []
    for number in range(24):
        record = project.failures.add(
            f"error number {number} of module {number * 7}", name=f"f{number}", dedup=False
        ).record
        assert isinstance(record, Failure)
        keys.append(record.key_ref)
    project.add_rows(
        task_row("sso", number + 1, status="blocked", blocked_reason="x", blocked_by=[keys[number], keys[23]])
        for number in range(24)
    )
    links = project.observe().links
    assert len(links) == 20 * 19 // 2
    assert any("failure/f23" in (one.source, one.target) for one in links)


def test_without_a_name_the_only_active_campaign_is_meant(project: Memory) -> None:
    assert project.observe().campaign == "campaign/sso"
    project.campaigns.create("another one", name="two")
    with pytest.raises(Usage, match="several campaigns are active"):
        project.observe()
    project.campaigns.complete("sso", status="partial")
    project.campaigns.complete("two")
    with pytest.raises(NotFound, match="no campaign is active"):
        project.observe()
    assert project.observe("sso").campaign == "campaign/sso"


def test_what_a_command_prints_is_shown_without_its_secrets(project: Memory) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    blocked(project, 1, "cat leak; exit 1")
    (Path(project.status().store) / "leak").write_text(token)
    trust_all(project)
    (found,) = project.observe(run_verify=True).verified
    assert token not in found.tail


def test_what_is_made_of_a_task_names_its_framework_or_that_of_the_campaign(project: Memory) -> None:
    project.campaigns.create("Add a page", name="page", framework="fasthtml")
    rows = [{"seq": 1, "objective": "draw it", "verify": "exit 1"},
            {"seq": 2, "objective": "style it", "verify": "exit 1", "framework": "tailwind"},
            {"seq": 3, "objective": "serve the page", "delta": ["a.py", "b.py"]}]  # fmt: skip
    project.campaigns.add_tasks("page", rows)
    project.tasks.block("page/1", "TypeError: Card takes no child")
    project.tasks.block("page/2", "KeyError: no such colour")
    project.tasks.start("page/3")
    project.tasks.complete("page/3", delivered="it is served below /page")
    trust_all(project)
    project.observe("page", run_verify=True, yes=True)
    made = [(one.record.kind, one.record.model_dump()["framework"]) for kind in ("failure", "pattern")
            for one in project.list(kind).results]  # fmt: skip
    assert sorted(made) == [("failure", "fasthtml"), ("failure", "tailwind"), ("pattern", "fasthtml")]
