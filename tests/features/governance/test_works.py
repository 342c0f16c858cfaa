"""Works: begun on a branch of their own, shown with what is next, moved on, given up."""

import json
from pathlib import Path

import pytest

from graphmem.doors.cli.app import run as cli
from graphmem.errors import GraphmemError, NotFound, Refused, Unavailable, Usage
from tests.features.governance.flow_project import FlowProject
from tests.sample import open_memory


def test_a_work_begins_on_a_branch_of_its_own_and_nothing_else_changes(project: FlowProject) -> None:
    project.write("notes.txt", "mine")
    head = project.repository("rev-parse", "HEAD")
    found = project.memory.store.works.start("feature", "Greet a user", goal="it greets")
    assert (found.ref, found.branch, found.base_branch) == (
        "work/feature-greet-a-user", "work/feature-greet-a-user", "main",
    )  # fmt: skip
    assert found.base_commit == head and found.next is not None and found.next.stage == "write"
    assert project.repository("symbolic-ref", "HEAD") == "refs/heads/work/feature-greet-a-user"
    assert (project.folder / "notes.txt").read_text() == "mine"
    assert [one.ref for one in project.memory.store.works.list().works] == [found.ref]
    assert [hit.ref for hit in project.memory.query("greet a user").results] == [found.ref]


def test_to_start_a_work_again_changes_nothing(project: FlowProject) -> None:
    """The answer was lost."""
    first = project.memory.store.works.start("feature", "Greet a user")
    assert project.memory.store.works.start("feature", "Greet a user").ref == first.ref
    assert len(project.repository("branch", "--list").splitlines()) == 2
    with pytest.raises(Refused, match="is of work/feature-greet-a-user"):
        project.memory.store.works.start("feature", "Another one")
    project.repository("checkout", "-q", "-f", "main")
    with pytest.raises(Refused, match="is there already"):
        project.memory.store.works.start("feature", "Greet a user")


def test_a_work_without_what_it_needs_is_refused_and_says_what_would_be_right(
    project: FlowProject, tmp_path: Path
) -> None:
    works = project.memory.store.works
    for given, error, message in (
        (("featur", "x"), NotFound, "no flow 'featur'"),
        (("feature", "x", {"cycle": "guide"}), Refused, "does not begin with 'guide'"),
        (("feature", "…"), GraphmemError, "has no letter or digit"),
    ):
        with pytest.raises(error, match=message):
            works.start(*given[:2], **(given[2] if len(given) > 2 else {}))
    project.repository("checkout", "-q", "--detach")
    with pytest.raises(Unavailable, match="HEAD is detached"):
        works.start("feature", "x")
    with open_memory(tmp_path / "plain") as plain, pytest.raises(Refused, match="has no flows"):
        plain.store.works.start("feature", "x")
    (tmp_path / "plain/.graphmem/flows").mkdir()
    (tmp_path / "plain/.graphmem/flows/feature.md").write_bytes(
        (project.folder / ".graphmem/flows/feature.md").read_bytes()
    )
    (tmp_path / "plain/.graphmem/cycles").mkdir()
    (tmp_path / "plain/.graphmem/artefacts").mkdir()
    for name in ("cycles/code.md", "artefacts/code.md", "cycles/guide.md", "artefacts/guide.md"):
        (tmp_path / f"plain/.graphmem/{name}").write_bytes((project.folder / f".graphmem/{name}").read_bytes())
    with open_memory(tmp_path / "plain") as plain, pytest.raises(Unavailable, match="no git repository"):
        plain.store.works.start("feature", "x")


def test_next_says_what_runs_and_why_and_a_look_writes_nothing(project: FlowProject) -> None:
    ref = project.start()
    before = project.repository("status", "--short")
    looked = project.memory.store.works.next(ref, peek=True)
    assert (looked.action, looked.stage, looked.token, looked.reasons) == (
        "dispatch", "write", None, ["write has not run yet"],
    )  # fmt: skip
    found = project.memory.store.works.next()
    assert found.token and found.model_copy(update={"token": None}) == looked
    assert project.repository("status", "--short") == before
    project.memory.store.stages.begin(found.token)
    with pytest.raises(Refused, match="stage write of work/feature-greet-a-user is active"):
        project.memory.store.works.next()
    assert project.memory.store.works.next(peek=True).stage == "write"


def test_a_work_goes_on_to_a_target_once_all_is_done(project: FlowProject) -> None:
    ref = project.start()
    advance = project.memory.store.works.advance
    with pytest.raises(Refused, match="is not done: write has not run yet"):
        advance(ref, "guide")
    for stage in ("write", "test", "review"):
        project.run(stage, **({"src__app_py": "a = 1\n"} if stage == "write" else {}))
    found = project.memory.store.works.next()
    assert (found.action, found.targets, found.token) == ("done", ["guide"], None)
    with pytest.raises(Refused, match="not a target"):
        advance(ref, "code")
    moved = advance(ref, "guide")
    assert moved.cycles == ["code", "guide"] and moved.next is not None and moved.next.stage == "draft"
    assert advance(ref, "guide").cycles == ["code", "guide"]  # the answer was lost
    assert project.run("draft", guide__greet_md="# Greet\n").result == "done"


def test_a_work_that_was_given_up_takes_no_more(project: FlowProject) -> None:
    ref = project.start()
    assert project.memory.store.works.abandon(ref, reason="no time").status == "open"
    assert project.memory.store.works.abandon(ref, reason="no time", yes=True).status == "abandoned"
    assert project.memory.store.works.next(peek=True).reasons == ["the work was abandoned: no time"]
    with pytest.raises(Refused, match="is abandoned: no time"), project.person():
        project.memory.store.items.add("more")
    assert project.memory.store.works.list().works == []
    assert [one.status for one in project.memory.store.works.list(everything=True).works] == ["abandoned"]


def test_a_branch_is_made_for_what_belongs_on_it(project: FlowProject) -> None:
    branch = project.memory.store.works.branch
    for given, message in (
        (("work", "x"), "named by a flow"),
        (("config", "x", "feature"), "named by no flow"),
    ):
        with pytest.raises(Usage, match=message):
            branch(given[0], given[1], flow=given[2] if len(given) > 2 else None)  # type: ignore[arg-type]
    with pytest.raises(Refused, match="a dry run tries a config branch out"):
        branch("dry-run", "x", flow="feature")
    assert branch("config", "Stricter review").branch == "config/stricter-review"
    made = branch("dry-run", "greet", flow="feature")
    assert (made.branch, made.base) == ("dry-run/stricter-review/feature-greet", "config/stricter-review")
    found = project.memory.store.works.start("feature", "greet")
    assert (found.branch, found.base_branch) == (made.branch, made.base)


def test_from_a_config_branch_a_work_is_a_dry_run(project: FlowProject) -> None:
    project.memory.store.works.branch("config", "stricter")
    found = project.memory.store.works.start("feature", "greet")
    assert (found.branch, found.base_branch) == ("dry-run/stricter/feature-greet", "config/stricter")


def test_the_command_line_and_the_page_show_where_a_work_is(
    project: FlowProject, capsys: pytest.CaptureFixture[str]
) -> None:
    item = project.reviewed()
    (shown,) = project.memory.store.view().works
    assert (
        shown.model_dump().items() >= {"next": "dispatch write", "why": ["1 item to act on"], "unresolved": 1}.items()
    )
    assert cli(["--dir", str(project.folder), "work", "show"]) == 0
    out = capsys.readouterr().out
    for part in ("work/feature-greet-a-user", "code/review (appraise) 1: ended", item.ref, "[open, appraise:review]",
                 "next: dispatch write (forge), iteration 2: 1 item to act on"):  # fmt: skip
        assert part in out
    assert cli(["--dir", str(project.folder), "--json", "work", "next", "--peek"]) == 0
    assert json.loads(capsys.readouterr().out)["items"] == [item.ref]
