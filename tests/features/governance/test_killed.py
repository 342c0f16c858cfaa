"""Killed at every step, a call of guarded work is repeated, and the work goes on as if nothing had been."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from pathlib import Path
from typing import Any

import pytest

from graphmem.errors import Refused
from graphmem.kernel.git import commands
from graphmem.kernel.machine.state import State
from graphmem.kernel.store.snapshot import Writing
from tests.features.governance.flow_project import FlowProject

STEPS: list[tuple[Any, str]] = [(commands, "start"), (Writing, "commit"), (State, "changing")]


class Killed(BaseException):
    """The process is gone."""


@contextmanager
def killed_at(step: int) -> Iterator[list[int]]:
    """Let the call of git, of the rows or of the state with that number, from 1, find the process gone."""
    calls = [0]
    with pytest.MonkeyPatch.context() as patch:
        for place, name in STEPS:
            real = getattr(place, name)

            def counted(*given: Any, real: Callable[..., Any] = real, **more: Any) -> Any:
                calls[0] += 1
                if calls[0] == step:
                    raise Killed
                return real(*given, **more)

            patch.setattr(place, name, counted)
        yield calls


def again(project: FlowProject, folder: Path) -> FlowProject:
    """Return a copy of a project, closed, in another folder."""
    shutil.copytree(project.folder, folder, symlinks=True)
    made = FlowProject.__new__(FlowProject)
    made.repository, made.folder, made.clock, made.token = (
        copy(project.repository),
        folder,
        project.clock,
        project.token,
    )
    made.repository.folder = folder
    made.memory = made.opened()
    return made


def start(project: FlowProject) -> object:
    return project.memory.store.works.start("feature", "greet a user")


def begin(project: FlowProject) -> object:
    return project.memory.store.stages.begin(project.token)


def end(project: FlowProject) -> object:
    return project.memory.store.stages.end(project.token)


def before(name: str, project: FlowProject) -> None:
    """Bring a project to where a call is made."""
    if name != "start":
        project.start()
        project.token = project.memory.store.works.next().token
    if name == "end":
        project.memory.store.stages.begin(project.token)
        project.write("src/app.py", "a = 1\n")


def finished(name: str, project: FlowProject) -> None:
    """Repeat what was killed, and go on to the end of the first stage."""
    if name == "start":
        start(project)
        project.token = project.memory.store.works.next().token
    if name in ("start", "begin"):
        try:
            begin(project)
        except Refused as error:  # it began, and its answer was lost
            assert error.details == {"token": "used"}, error
        project.write("src/app.py", "a = 1\n")
    try:
        ended = project.memory.store.stages.end(project.token)
        assert ended.result == "done", ended
    except Refused as error:  # it ended, and its answer was lost
        assert error.details == {"token": "used"}, error


@pytest.mark.slow
@pytest.mark.parametrize("name", ["start", "begin", "end"])
def test_a_call_that_is_killed_at_any_step_is_repeated(project: FlowProject, tmp_path: Path, name: str) -> None:
    before(name, project)
    act = {"start": start, "begin": begin, "end": end}[name]
    step = 0
    while True:
        step += 1
        clone = again(project, tmp_path / f"copy-{step}")
        with clone.memory:
            with killed_at(step) as calls, suppress(Killed):
                act(clone)
            with clone.opened() as clone.memory:
                finished(name, clone)
                found = clone.memory.store.works.show()
                assert [one.stage for one in found.stages] == ["write"] and found.status == "open", step
                assert found.next is not None and found.next.stage == "test"
                assert clone.repository("show", "HEAD:src/app.py") == "a = 1"
                assert clone.repository("status", "--short", "--untracked-files=no") == ""
                assert len(clone.repository("log", "--format=%s", "--grep=: write 1").splitlines()) >= 1
        shutil.rmtree(clone.folder)
        if calls[0] < step:
            assert step > 5
            return
