"""Stages: what one may write is committed when it ends, and what it may not makes the work fail."""

import json
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from graphmem.errors import GraphmemError, Refused, Unavailable
from graphmem.features.governance import lease as leases
from graphmem.features.governance import stages as module
from graphmem.features.governance.lease import Lease
from graphmem.features.governance.stages import may_write
from graphmem.features.governance.states import STAGE_RIGHTS, StageKind
from graphmem.kernel.git import worktree
from graphmem.kernel.system.surroundings import Surroundings, called_from
from tests.features.governance.flow_project import FlowProject
from tests.repository import Repository
from tests.sample import START, trust_all


def test_a_stage_ends_with_one_commit_of_its_files_and_rows(project: FlowProject) -> None:
    project.start()
    project.write("notes.txt", "not of the stage")
    ended = project.run("write", src__app_py="a = 1\n", src__more__deep_py="b = 2\n")
    assert (ended.result, ended.files) == ("done", ["src/app.py", "src/more/deep.py"])
    log = project.repository("log", "-1", "--format=%H %s", "--name-only").splitlines()
    assert log[0] == f"{ended.commit} work/feature-greet-a-user: write 1"
    assert set(log[2:]) == {
        "src/app.py", "src/more/deep.py", ".graphmem/data/work.ndjson", ".graphmem/data/event.ndjson",
    }  # fmt: skip
    assert project.repository("status", "--short") == "?? notes.txt"


def link(path: Path) -> Path:
    path.symlink_to("/etc/passwd")
    return path


CHANGES: dict[str, Callable[[FlowProject], Any]] = {
    "a file beside": lambda p: p.write("lib/x.py", "x"),
    "the settings": lambda p: p.write(".graphmem/config.toml", "governance = true\n"),
    "a definition": lambda p: p.write(".graphmem/cycles/code.md", "---\noutput: code\nstages: []\n---\n"),
    "a file renamed out of reach": lambda p: (p.folder / "src/old.py").rename(p.folder / "old.py"),
    "a file renamed into reach": lambda p: (p.folder / "other.py").rename(p.folder / "src/other.py"),
    "a file deleted": lambda p: (p.folder / "other.py").unlink(),
    "a mode changed": lambda p: (p.folder / "other.py").chmod(0o755),
    "a link that points outside": lambda p: (p.folder / "src/passwd").symlink_to("/etc/passwd"),
    "a link that climbs out": lambda p: (p.folder / "src/up").symlink_to("../../secret"),
    "a link in the place of a file": lambda p: os.replace(link(p.folder / "src/new.py"), p.folder / "src/old.py"),
    "a nested repository": lambda p: Repository(p.folder / "src/inner").commit("x"),
    "a commit of its own": lambda p: (p.write("lib/y.py", "y"), p.repository.commit("slipped in")),
    "a file hidden from git": lambda p: (
        p.repository("update-index", "--assume-unchanged", "other.py"), p.write("other.py", "changed"),
    ),
    "a name that is odd": lambda p: p.write("-n\n\"x\".txt", "x"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_stage_may_not_write_makes_the_work_fail_and_is_not_committed(project: FlowProject, name: str) -> None:
    project.write("other.py", "o = 1\n")
    project.write("src/old.py", "o = 1\n")
    project.repository.commit("more")
    project.start()
    project.begin("write")
    CHANGES[name](project)
    head = project.repository("rev-parse", "HEAD")
    ended = project.end()
    assert ended.result == "unexpected_files" and ended.unexpected_files and ended.commit is None
    assert project.repository("rev-parse", "HEAD") == head
    found = project.memory.store.works.show()
    assert found.status == "failed" and str(found.reason).startswith("unexpected_files: stage write changed ")
    assert name == "a definition" or (found.next is not None and found.next.action == "failed")


def test_within_reach_files_may_be_renamed_deleted_made_executable_and_linked(project: FlowProject) -> None:
    project.write("src/old.py", "o = 1\n")
    project.write("src/gone.py", "g = 1\n")
    project.repository.commit("more")
    project.start()
    project.begin("write")
    (project.folder / "src/old.py").rename(project.folder / "src/new.py")
    (project.folder / "src/gone.py").unlink()
    (project.folder / "src/new.py").chmod(0o755)
    (project.folder / "src/link.py").symlink_to("new.py")
    assert project.end().result == "done"
    assert project.repository("status", "--short") == ""
    assert project.repository("ls-files", "-s", "src").split("\t")[0].startswith("120000")


def test_ignored_files_are_not_looked_at(project: FlowProject) -> None:
    project.write(".gitignore", "*.pyc\n")
    project.repository.commit("ignore")
    project.start()
    project.begin("write")
    project.write("src/app.pyc", "x")
    project.write("lib.pyc", "x")
    assert project.end().files == []


def test_a_stage_without_files_of_its_own_may_write_none(project: FlowProject) -> None:
    project.start()
    project.run("write", src__app_py="a = 1\n")
    project.begin("test")
    project.write("src/app.py", "a = 2\n")
    assert project.end().unexpected_files == ["src/app.py"]


def test_a_stage_begins_with_a_clean_tree(project: FlowProject) -> None:
    project.start()
    project.write(".graphmem/flows/feature.md", "---\nstart: [code]\n---\nChanged.\n")
    token = project.memory.store.works.next().token
    with pytest.raises(Refused, match="differs from HEAD: a stage begins with a clean tree"):
        project.memory.store.stages.begin(token)
    project.repository("checkout", "-q", ".graphmem/flows")
    assert project.memory.store.stages.begin(token).stage == "write"  # it was not used


def test_one_stage_is_active_and_one_over_its_time_is_taken_over(project: FlowProject) -> None:
    project.start()
    project.begin("write")
    with pytest.raises(Refused, match="is active in this clone until"):
        project.memory.store.stages.retry()
    project.clock.time += timedelta(hours=2)
    with pytest.raises(Refused, match="has expired"):
        project.end()
    again = project.memory.store.stages.retry()
    assert (again.action, again.stage) == ("dispatch", "write")
    project.memory.store.stages.begin(again.token)
    project.token = again.token
    assert project.end().result == "done"
    assert [one.stage for one in project.memory.store.works.show().stages] == ["write"]


def test_a_failed_stage_runs_again_once_it_is_retried(project: FlowProject) -> None:
    project.start()
    project.begin("write")
    project.write("lib.py", "x")
    project.end()
    with pytest.raises(Refused, match="unexpected_files"):
        project.memory.store.stages.begin(project.token)
    (project.folder / "lib.py").unlink()
    again = project.memory.store.stages.retry()
    project.memory.store.stages.begin(again.token)
    project.token = again.token
    assert project.end().result == "done"
    with pytest.raises(Refused, match="failed or is over its time"):
        project.memory.store.stages.retry()


def test_where_git_refuses_the_commit_the_work_has_failed(
    project: FlowProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> str:
        raise Unavailable("the disk is full")

    project.start()
    project.begin("write")
    monkeypatch.setattr(worktree, "commit_changes", refused)
    ended = project.end()
    assert ended.result == "failed" and "the disk is full" in str(ended.reason)
    assert "the disk is full" in str(project.memory.store.works.show().reason)


@pytest.mark.parametrize("step", ["before the event", "before the commit", "after the commit"])
def test_an_end_that_was_cut_off_is_repeated_and_done_once(
    project: FlowProject, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    class Killed(BaseException):
        pass

    project.start()
    project.begin("write")
    project.write("src/app.py", "a = 1\n")
    place, name = {
        "before the event": (module, "write"),
        "before the commit": (worktree, "commit_changes"),
        "after the commit": (leases, "drop"),
    }[step]

    def killed(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(place, name, killed)
        with pytest.raises(Killed):
            project.end()
    assert project.end().result == "done"
    assert [one.stage for one in project.memory.store.works.show().stages] == ["write"]
    assert project.repository("log", "--format=%s", "-2").splitlines()[0] == "work/feature-greet-a-user: write 1"
    assert project.repository("show", "HEAD:src/app.py") == "a = 1" or "a = 1" in project.repository(
        "show", "HEAD~1:src/app.py"
    )


# --- rows -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", STAGE_RIGHTS)
def test_rows_are_checked_against_the_table_by_hand_made_ones_too(kind: StageKind) -> None:
    lease = Lease(
        work="work/w", cycle="code", stage="s", kind=kind, iteration=1, nonce="n", exp=0.0, begun_at=START,
        branch="work/w", tree="", head="",
    )  # fmt: skip
    rights = STAGE_RIGHTS[kind]
    rows: list[tuple[dict[str, Any], bool]] = [
        ({"kind": "feedback"}, True),
        ({"kind": "run"}, True),
        ({"kind": "event", "type": "ran"}, True),
        ({"kind": "failure"}, False),
        ({"kind": "failure", "sources": ["extractor/x"]}, rights.memory),
        ({"kind": "entity", "sources": ["extractor/x"]}, rights.memory),
        ({"kind": "work"}, False),
        ({"kind": "item", "stage": "s"}, rights.adds),
        ({"kind": "item", "stage": "other"}, False),
        ({"kind": "item"}, False),
        ({"kind": "event", "type": "work-stage-ended", "id": "n-end", "data": {"run": "n"}}, True),
        ({"kind": "event", "type": "work-stage-begun", "id": "n"}, True),
        ({"kind": "event", "type": "work-stage-ended", "id": "x", "data": {"run": "other"}}, False),
        ({"kind": "event", "type": "work-retried", "id": "x"}, False),
        ({"kind": "event", "type": "item-moved", "data": {"run": "other", "to": "resolved"}}, False),
        ({"kind": "event", "type": "item-moved", "data": "odd"}, False),
    ]
    for after in ("actioned", "wont-fix", "resolved", "rejected", "deadlocked"):
        rows.append(({"kind": "event", "type": "item-moved", "data": {"run": "n", "to": after}}, after in rights.moves))
    for row, is_allowed in rows:
        assert may_write(lease, row) is is_allowed, row


def test_a_row_that_was_written_by_hand_is_unexpected(project: FlowProject) -> None:
    item = project.reviewed()
    project.begin("write")
    path = project.folder / ".graphmem/data/event.ndjson"
    row = {
        "kind": "event", "id": "forged", "type": "item-moved", "at": "2026-11-02T00:00:00.000Z",
        "subject": item.ref, "data": {"from": "open", "to": "actioned", "who": "forge", "run": "another"},
    }  # fmt: skip
    path.write_text(path.read_text() + json.dumps(row) + "\n")
    assert project.end().unexpected_files == ["event/forged"]


def test_what_a_person_writes_meanwhile_is_not_taken_for_the_stage_s(project: FlowProject) -> None:
    project.start()
    project.begin("write")
    with pytest.raises(Refused, match=r"stage write \(forge\) of work/feature-greet-a-user is active"):
        project.memory.failures.add("it broke", fix="mend it")
    with project.person():
        project.memory.failures.add("it broke", fix="mend it")
        item = project.memory.store.items.add("look here").item
    project.memory.feedback("it-broke", helped=True)
    ended = project.end()
    assert ended.result == "done", ended
    assert project.memory.get("failure/it-broke").record.kind == "failure"
    assert project.memory.store.items.list().items[0].ref == item.ref
    project.memory.failures.add("after the stage", fix="it may")


# --- the commands of a stage ----------------------------------------------------------------------------------------


def test_a_quench_stage_runs_its_checks_and_what_fails_becomes_an_item(tmp_path: Path) -> None:
    project = FlowProject(tmp_path / "p", checks={"syntax": "grep -q right src/app.py", "always": "exit 0"})
    with project.memory:
        project.start()
        project.run("write", src__app_py="wrong\n")
        project.begin("test")
        with pytest.raises(Refused, match="has not run its commands"):
            project.end()
        done = project.memory.store.stages.run(project.token)
        assert [(one.name, one.passed) for one in done.checks] == [("syntax", False), ("always", True)]
        assert len(done.items) == 1 and project.memory.store.stages.run(project.token).items == []  # a repeat
        project.end()
        (item,) = project.memory.store.items.list().items
        assert item.source == "quench:syntax" and "grep -q right src/app.py fails (exit status 1)" in item.text
        for text, state in (("still\n", "rejected"), ("right\n", "resolved")):
            project.begin("write")
            project.write("src/app.py", text)
            project.memory.store.items.action(item.ref, token=project.token)
            project.end()
            project.begin("test")
            project.memory.store.stages.run(project.token)
            project.end()
            assert project.memory.store.items.show(item.ref).item.state == state
        assert project.memory.store.works.next(peek=True).stage == "review"


def test_a_check_whose_time_is_up_or_that_cannot_run_has_not_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "VALIDATION_S", 0.3)
    project = FlowProject(tmp_path / "p", checks={"slow": "sleep 20", "absent": "no-such-program", "odd": "exit 7"})
    with project.memory:
        project.start()
        project.run("write", src__app_py="a\n")
        project.begin("test")
        done = project.memory.store.stages.run(project.token)
        assert [one.passed for one in done.checks] == [False, False, False]
        texts = " ".join(one.text for one in project.memory.store.items.list().items)
        assert "its time was up" in texts and "it cannot run" in texts and "exit status 7" in texts


def test_a_check_gets_no_token(tmp_path: Path) -> None:
    project = FlowProject(tmp_path / "p", checks={"look": 'test -z "$GRAPHMEM_STAGE_TOKEN"'})
    with project.memory:
        project.start()
        project.run("write", src__app_py="a\n")
        project.begin("test")
        variables = {**os.environ, "GRAPHMEM_STAGE_TOKEN": str(project.token)}
        with called_from(Surroundings(str(project.folder), variables)):
            assert project.memory.store.stages.run().checks[0].passed


def test_what_is_committed_outside_of_a_stage_is_looked_at_again(project: FlowProject) -> None:
    project.start()
    for stage in ("write", "test", "review"):
        project.run(stage, **({"src__app_py": "a = 1\n"} if stage == "write" else {}))
    assert project.memory.store.works.next().action == "done"
    project.write("src/app.py", "a = 'slipped in'\n")
    project.repository.commit("slipped in")
    found = project.memory.store.works.next(peek=True)
    assert (found.action, found.stage, found.reasons) == (
        "dispatch", "test", ["test has not run since the last change"],
    )  # fmt: skip
    with pytest.raises(Refused, match="is not done"):
        project.memory.store.works.finish()
    project.run("test")
    project.run("review")
    assert project.memory.store.works.next(peek=True).action == "done"


def test_a_failed_stage_leaves_no_commit_of_its_own_behind(project: FlowProject) -> None:
    project.start()
    project.begin("write")
    project.write("lib.py", "x = 1\n")
    project.repository("add", "lib.py")
    project.repository("commit", "-q", "-m", "slipped in")
    assert project.end().unexpected_files == ["lib.py"]
    with pytest.raises(Refused, match="has commits that the stage made by itself"):
        project.memory.store.stages.retry()
    project.repository("revert", "--no-edit", "HEAD")
    assert project.memory.store.stages.retry().action == "dispatch"


def test_a_stage_cannot_commit_what_was_there_untracked(project: FlowProject) -> None:
    project.write("notes.txt", "not of the stage")
    project.start()
    project.begin("write")
    project.repository("add", "notes.txt")
    project.repository("commit", "-q", "-m", "slipped in")
    assert project.end().unexpected_files == ["notes.txt"]


def test_commands_of_a_branch_run_only_where_they_are_trusted(tmp_path: Path) -> None:
    project = FlowProject(tmp_path / "p", checks={"mark": "touch ran"})
    with project.memory:
        project.write(".graphmem/artefacts/code.md", '---\nfiles: ["src/**"]\nvalidation: {mark: touch ran2}\n---\n')
        project.repository.commit("another command")
        project.start()
        project.run("write", src__app_py="a\n")
        project.begin("test")
        with pytest.raises(Refused, match="the validation of 'code' comes with the branch"):
            project.memory.store.stages.run(project.token)
        assert not (project.folder / "ran2").exists()
        assert "touch ran2" in project.memory.store.trust().commands


EXTRACTOR = """---
command: [/bin/sh, find.sh]
writes: [part]
---
"""


def assaying(folder: Path, script: str, more: str = "") -> FlowProject:
    """Return a project whose cycle begins with an extractor, which is trusted."""
    stages = "\n  - {name: learn, kind: assay}\n  - {name: write, kind: forge}\n"
    project = FlowProject(folder, stages=stages, more=f"extractors: [parts]\n{more}")
    project.memory.types.add_entity("part")
    project.write(".graphmem/extractors/parts.md", EXTRACTOR)
    project.write("find.sh", script)
    project.repository.commit("extractor")
    trust_all(project.memory)
    project.start()
    project.begin("learn")
    return project


FINDS = """echo '{"kind":"entity","type":"part","name":"lid"}'\n"""


def test_an_assay_stage_writes_what_its_extractors_find(tmp_path: Path) -> None:
    project = assaying(tmp_path / "p", FINDS)
    with project.memory:
        with pytest.raises(Refused, match="through its extractors only"):
            project.memory.entities.add("part", "cap")
        with pytest.raises(Refused, match="has not run its commands"):
            project.end()
        assert project.memory.store.stages.run(project.token).failed is None
        assert project.end().result == "done"
        assert project.memory.get("part/lid").record.ref == "part/lid"
        assert "part" in project.repository("show", "HEAD", "--name-only")


@pytest.mark.parametrize("script", ["exit 3\n", "echo not-json\n", 'echo \'{"kind":"entity"}\'\n'])
def test_an_extractor_that_aborts_or_prints_what_does_not_parse_makes_the_work_fail(
    tmp_path: Path, script: str
) -> None:
    project = assaying(tmp_path / "p", script)
    with project.memory:
        done = project.memory.store.stages.run(project.token)
        assert done.failed is not None and done.failed.startswith("extractor 'parts': ")
        assert project.memory.store.works.show().reason == done.failed
        project.write("find.sh", FINDS)


@pytest.mark.parametrize("place", ["cycle", "flow"])
def test_an_assay_stage_stays_within_the_scope_of_its_cycle_or_flow(tmp_path: Path, place: str) -> None:
    project = assaying(tmp_path / "p", FINDS, "memory: narrow\n" if place == "cycle" else "")
    with project.memory:
        if place == "flow":
            project.write(".graphmem/flows/feature.md", "---\nstart: [code]\nscope: narrow\n---\n")
        with project.person():
            project.memory.store.scopes.add("narrow", read=("part",), write=("failure",))
        with pytest.raises(GraphmemError, match="may not write 'part'"):
            project.memory.store.stages.run(project.token)


def test_a_person_begins_and_ends_the_stage_that_is_for_people(tmp_path: Path) -> None:
    stages = "\n  - {name: write, kind: forge}\n  - {name: look, kind: human-appraise}\n"
    project = FlowProject(tmp_path / "p", stages=stages)
    with project.memory:
        project.start()
        with project.person(), pytest.raises(Refused, match="is for a person now"):
            project.memory.store.stages.begin()
        project.run("write", src__app_py="a\n")
        assert project.memory.store.works.next().action == "human"
        with pytest.raises(Refused, match="no person typed it"):
            project.memory.store.stages.begin()
        with project.person():
            assert project.memory.store.stages.begin().kind == "human-appraise"
            project.memory.store.items.add("say hello too")
            assert project.memory.store.stages.end().result == "done"
        assert project.memory.store.works.next(peek=True).stage == "write"


def test_a_stage_of_another_branch_is_not_ended_here(project: FlowProject) -> None:
    project.start()
    project.begin("write")
    project.repository("switch", "-q", "-c", "elsewhere")
    with pytest.raises(Refused, match="began on branch 'work/feature-greet-a-user'"):
        project.end()


@pytest.mark.long
def test_ten_thousand_files_are_one_stage(project: FlowProject) -> None:
    project.start()
    project.begin("write")
    os.makedirs(project.folder / "src/many")
    for number in range(10_000):
        (project.folder / f"src/many/{number}.txt").write_text(str(number))
    ended = project.end()
    assert ended.result == "done" and len(ended.files) == 10_000
