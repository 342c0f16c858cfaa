"""Every process that graphmem starts, in a folder whose modules and libraries leave a mark where one is run."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.doors.service import place
from graphmem.kernel.system.user import for_a_child
from tests.doors.service.project import Project, new_project, stopped, wait_until

MODULES = ("graphmem/__init__", "graphmem/__main__", "typer", "json", "numpy", "sitecustomize", "usercustomize", "kuzu")
# What runs the program, not the checkout's folder: `python -m` without -P would be the caller's own choice.
PROGRAM = [sys.executable, "-P", "-m", "graphmem"]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = new_project(tmp_path)
    for folder in (made.root, made.root / "below"):
        for name in MODULES:
            path = folder / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"open({str(tmp_path / 'MARK')!r}, 'a').write({name!r})\n")
    yield made
    stopped(made)
    assert not (tmp_path / "MARK").exists(), (tmp_path / "MARK").read_text()


def run(project: Project, *arguments: str, given: str = "", **variables: str) -> "subprocess.CompletedProcess[str]":
    environment = {**project.environment, "PYTHONPATH": "", **variables}
    command, folder = [*PROGRAM, *arguments], project.root / "below"
    return subprocess.run(
        command, cwd=folder, env=environment, input=given, capture_output=True, text=True, check=False
    )


def folder_of_the_service(project: Project) -> str:
    answer = project.ask({"manage": "status"})
    assert answer is not None
    return os.readlink(f"/proc/{answer['pid']}/cwd")


@pytest.mark.long
@pytest.mark.parametrize("way", ["serve", "hook", "autostart"])
@pytest.mark.slow
def test_the_service_runs_nothing_of_the_folder_that_it_is_started_in(project: Project, way: str) -> None:
    event = json.dumps({"hook_event_name": "SessionStart", "session_id": "s", "source": "startup"})
    match way:
        case "serve":
            assert run(project, "serve", "--detach").returncode == 0
        case "hook":
            run(project, "hook", "claude-code", given=event)
        case _:
            run(project, "list", GRAPHMEM_SERVICE_AUTOSTART="true")
    wait_until(project.is_answering)
    assert folder_of_the_service(project) == "/"
    assert run(project, "list").returncode == 0


@pytest.mark.long
def test_the_engine_runs_nothing_of_the_folder_that_a_query_is_typed_in(project: Project) -> None:
    done = run(project, "cypher", "RETURN 1")
    assert (done.returncode, "1" in done.stdout) == (0, True), done.stderr


@pytest.mark.long
def test_a_setting_of_a_project_starts_a_service_only_where_it_is_trusted(project: Project) -> None:
    (project.root / ".graphmem" / "config.toml").write_text("[service]\nautostart = true\n")
    config = {"XDG_CONFIG_HOME": str(project.runtime / "config")}
    done = run(project, "list", **config)
    assert (done.returncode, project.socket) == (0, None)
    assert "ignored: service.autostart = True of the project" in done.stderr
    digest = json.loads(run(project, "trust", "--json", **config).stdout)["digest"]
    assert run(project, "trust", "--yes", digest, **config).returncode == 0
    run(project, "list", **config)
    wait_until(project.is_answering)


@pytest.mark.parametrize("value", ['"true"', "1", "true", '"yes"'])
def test_no_form_of_a_setting_that_a_project_may_not_make_counts(tmp_path: Path, value: str) -> None:
    Memory.init(tmp_path)
    (tmp_path / ".graphmem" / "config.toml").write_text(f"[service]\nautostart = {value}\n")
    with Memory(tmp_path) as memory:
        assert not memory.store.client.settings.service.autostart


def test_no_service_reads_the_store_of_another_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".graphmem").mkdir()
    (tmp_path / "mine").mkdir()
    assert place.project_of([], str(tmp_path / "mine"), {}) == str(tmp_path)
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 2001)
    if user == 0:  # what is root's may be used by all
        os.chown(tmp_path / ".graphmem", 2002, -1)
    assert place.project_of([], str(tmp_path / "mine"), {}) is None
    assert place.project_of([], str(tmp_path / "mine"), {"GRAPHMEM_DIR": str(tmp_path)}) == str(
        tmp_path
    )  # who names it may use it


def test_a_store_that_is_a_link_has_no_service(tmp_path: Path) -> None:
    (tmp_path / "real" / ".graphmem").mkdir(parents=True)
    (tmp_path / "clone").mkdir()
    (tmp_path / "clone" / ".graphmem").symlink_to(tmp_path / "real" / ".graphmem")
    assert place.project_of([], str(tmp_path / "clone"), {}) is None


def test_a_child_takes_no_code_from_the_variables_of_its_caller() -> None:
    given = {
        "PYTHONPATH": f".{os.pathsep}{os.pathsep}/opt/modules",
        "PYTHONSTARTUP": "x.py",
        "LD_PRELOAD": "./x.so",
        "LD_LIBRARY_PATH": "lib",
        "HOME": "/home/me",
    }
    assert for_a_child(given) == {"HOME": "/home/me", "PYTHONPATH": "/opt/modules"}
