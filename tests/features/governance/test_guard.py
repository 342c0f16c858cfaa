"""The guard: what may be written on which branch, and what of a dry run is traced."""

import json
from collections.abc import Callable

import pytest

from graphmem import Memory
from graphmem.errors import Refused
from graphmem.features.governance.place import trace_of
from graphmem.features.governance.states import AREAS, Area, areas_of
from tests.features.governance.flow_project import FlowProject

WRITES: dict[Area, Callable[[Memory], object]] = {
    "definitions": lambda memory: memory.types.add_entity("part"),
    "memory": lambda memory: memory.failures.add("it broke", fix="mend it"),
    "governed": lambda memory: memory.store.works.start("feature", "greet"),
}
BRANCHES = ("config/stricter", "work/feature-greet", "dry-run/stricter/feature-greet", "main", "topic")


@pytest.mark.parametrize("branch", BRANCHES)
@pytest.mark.parametrize("area", ["definitions", "memory"])
def test_with_governance_on_a_write_stays_within_its_branches(project: FlowProject, branch: str, area: Area) -> None:
    project.write(".graphmem/config.toml", "governance = true\n")
    project.repository.commit("governance")
    if branch != "main":
        project.repository("switch", "-q", "-c", branch)
    for caller in (False, True):
        with project.opened() as memory:
            if area in areas_of(branch):
                WRITES[area](memory)
                return
            with pytest.raises(Refused, match=f"may not change on branch '{branch}'") as caught:
                if caller:
                    with project.person():
                        WRITES[area](memory)
                else:
                    WRITES[area](memory)
            assert str(caught.value).startswith(AREAS[area].partition(" (")[0])
            assert caught.value.details == {"branch": branch, "area": area} and caught.value.hint
    assert memory is not None


def test_reports_and_hooks_write_on_every_branch(project: FlowProject) -> None:
    project.memory.failures.add("it broke", fix="mend it")
    project.write(".graphmem/config.toml", "governance = true\n")
    project.repository.commit("governance")
    project.repository("switch", "-q", "-c", "config/stricter")
    with project.opened() as memory:
        memory.feedback("it-broke", helped=True)
        memory.events.add("deployed")


def test_without_governance_every_branch_takes_everything(project: FlowProject) -> None:
    for branch in BRANCHES:
        if branch != "main":
            project.repository("switch", "-q", "-c", branch)
        name = "".join(filter(str.isalpha, branch))
        project.memory.types.add_entity(name)
        project.memory.failures.add(f"it broke on {branch}", fix="mend it")


def test_a_project_cannot_be_freed_by_the_environment(project: FlowProject, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write(".graphmem/config.toml", "governance = true\n")
    monkeypatch.setenv("GRAPHMEM_GOVERNANCE", "false")
    with project.opened() as memory, pytest.raises(Refused, match="may not change on branch 'main'"):
        memory.types.add_entity("part")


def test_every_call_on_the_branch_of_a_dry_run_is_traced_without_its_token(project: FlowProject) -> None:
    project.memory.store.works.branch("config", "stricter")
    project.start()
    project.run("write", src__app_py="a = 1\n")
    with pytest.raises(Refused):
        project.memory.store.stages.end(project.token)
    project.memory.query("greet")
    path = trace_of(project.memory.store.client, "dry-run/stricter/feature-greet-a-user")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [one["operation"] for one in lines] == [
        "works.start", "works.next", "stages.begin", "stages.end", "stages.end", "query",
    ]  # fmt: skip
    assert lines[1]["answer"]["stage"] == "write" and lines[4]["error"]["code"] == "refused"
    assert str(project.token) not in path.read_text()
