"""What a coordinating agent calls over MCP, and that other projects do not see it."""

from pathlib import Path
from typing import Any

from graphmem.doors.mcp import server
from graphmem.doors.mcp.tools import TOOLS
from tests.features.governance.flow_project import FlowProject
from tests.sample import open_memory


def called(project: FlowProject, **arguments: Any) -> dict[str, Any]:
    """Call the tool and return what a program gets."""
    project.memory.store.runtime.via = "mcp"
    found = server.result_of(TOOLS["work"], lambda: project.memory, arguments, None)
    assert not found.is_error, found.structured_content
    return dict(found.structured_content)


def test_a_flow_goes_through_the_tool_alone(project: FlowProject) -> None:
    started = called(project, action="start", flow="feature", objective="greet a user")
    assert started["branch"] == "work/feature-greet-a-user"
    for turn, stages in enumerate((("write", "test", "review"), ("write", "review"))):
        for stage in stages:
            step = called(project, action="next")
            assert (step["action"], step["stage"]) == ("dispatch", stage)
            called(project, action="begin", token=step["token"])
            items = [one["ref"] for one in called(project, action="items")["results"]]
            if stage == "write":
                project.write("src/app.py", f"turn = {turn}\n")
                for ref in items:
                    called(project, action="action", ref=ref, token=step["token"])
            elif stage == "review" and turn:
                called(project, action="resolve", ref=items[0], reason="it is clear now", token=step["token"])
            elif stage == "review":
                called(project, action="found", text="say what a turn is", file="src/app.py", token=step["token"])
            assert called(project, action="end", token=step["token"])["result"] == "done"
    assert called(project, action="next", peek=True)["stage"] == "test"  # what was changed is checked again
    assert called(project, action="show")["iteration"] == 2


def test_an_agent_is_no_person_and_reads_why(project: FlowProject) -> None:
    item = project.reviewed()
    project.memory.store.runtime.via = "mcp"
    with project.person():
        refused = server.result_of(
            TOOLS["work"], lambda: project.memory, {"action": "resolve", "ref": item.ref, "reason": "x"}, None
        )
    assert refused.is_error and "no person typed it" in str(refused.structured_content)


def test_the_tool_is_listed_in_a_project_with_flows_alone(project: FlowProject, tmp_path: Path) -> None:
    assert TOOLS["work"].is_offered(lambda: project.memory)
    with open_memory(tmp_path / "plain") as plain:
        assert [tool.name for tool in TOOLS.values() if not tool.is_offered(lambda: plain)] == ["work"]
