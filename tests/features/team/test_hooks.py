"""A memory in a server serves coding agents as one in the project's folder does: hooks, the service, paths of code."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doors.service.project import Project, stopped, wait_until
from tests.postgres import postgres

LOG = (
    "Traceback (most recent call last):\n  File \"shop.py\", line 3, in port\nValueError: bad port '80x' in settings\n"
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """A folder of code without a store; the environment names a memory in a server."""
    url = postgres().new_project("carla")
    made = Project(tmp_path / "code", Path(tempfile.mkdtemp(prefix="gm")))
    made.root.mkdir()
    assert made.here("team", "init", url).returncode == 0
    monkeypatch.setenv("GRAPHMEM_STORE", url)
    yield made
    stopped(made)


def test_a_hook_knows_what_another_machine_wrote(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("XDG_STATE_HOME", str(project.root.parent / "ana"))
        fix = "take the x out of settings.json"
        assert project.here("add", "failure", "--trigger", LOG.splitlines()[-1], "--fix", fix).returncode == 0
    event = {
        "hook_event_name": "PostToolUseFailure",
        "session_id": "1",
        "cwd": str(project.root),
        "tool_name": "Bash",
        "tool_input": {"command": "python shop.py"},
        "error": f"Exit code 1\n{LOG}",
    }
    said = project.run("hook", "claude-code", input=json.dumps(event))
    assert fix in json.loads(said.stdout)["hookSpecificOutput"]["additionalContext"]
    assert list(project.root.iterdir()) == []


def test_a_service_answers_for_the_server_and_no_folder(project: Project) -> None:
    """What it answers is what the process itself would; a memory in a folder is none of its business."""
    project.serve()
    (project.root / "shop.py").write_text("PORT = 80\n")
    failure = ("failure", "--name", "port", "--trigger", "port in use", "--fix", "see shop.py")
    assert project.run("add", *failure, "--cite", "shop.py").returncode == 0
    assert project.run("list").stdout == project.here("list").stdout
    assert project.run("query", "port in use").stdout.startswith("failure/port\n")
    assert project.requests() == 2  # what names a file runs where it was typed
    (project.root / "shop.py").write_text("PORT = 8080\n")
    assert "! cites shop.py (changed)" in project.run("query", "port in use").stdout
    assert project.run("--dir", str(project.root), "list").stderr.startswith("error: ")
    assert project.requests() == 3
    assert "the service has ended" in project.run("serve", "--stop").stdout
    wait_until(lambda: project.socket is None)
