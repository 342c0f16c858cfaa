"""Histories of three runners: a fix is credited where something changed that can be why a run passes, nowhere else."""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from graphmem import Memory
from tests.sample import open_memory

ERROR = "no free connection to the pool"


class Runner(NamedTuple):
    """A runner of tests: its command, the files that it tests, and what it prints."""

    command: str
    source: str
    test: str
    content: str
    red: str
    green: str
    fewer: str


RUNNERS = {
    "pytest": Runner(
        "pytest -q", "src/pool.py", "tests/test_pool.py",
        "def test_keeps_a_connection():\n    assert size() == 2\n",
        f"FAILED tests/test_pool.py::test_keeps_a_connection - RuntimeError: {ERROR}\n"
        f"E   RuntimeError: {ERROR}\n1 failed, 2 passed in 0.12s",
        "3 passed in 0.11s", "2 passed in 0.11s",
    ),
    "vitest": Runner(
        "npx vitest run", "src/pool.ts", "src/pool.test.ts",
        "test('keeps a connection', () => { expect(size()).toBe(2) })\n",
        " FAIL  src/pool.test.ts > pool > keeps a connection\n"
        f"Error: {ERROR}\n ❯ src/pool.test.ts:1:21\n\n Test Files  1 failed (1)\n      Tests  1 failed | 2 passed (3)",
        "      Tests  3 passed (3)", "      Tests  2 passed (2)",
    ),
    "go test": Runner(
        "go test ./...", "pool.go", "pool_test.go",
        "func TestKeepsAConnection(t *testing.T) { if size() != 2 { t.Fatal(size()) } }\n",
        f"--- FAIL: TestKeepsAConnection (0.00s)\n    pool_test.go:1: {ERROR}\nFAIL\nFAIL\tshop/pool\t0.003s\nFAIL",
        "ok  \tshop/pool\t0.003s", "",
    ),
}  # fmt: skip


class History:
    """A project in which a run fails with a known error, and what happens until it passes."""

    def __init__(self, memory: Memory, runner: Runner) -> None:
        self.memory, self.runner, self.folder = memory, runner, memory.store.client.root
        for name in (runner.source, runner.test, "README.md", "other.txt"):
            self.put(name, runner.content if name == runner.test else "size = 1\n")
        self.put(".gitignore", "*.local\n/build/\n")
        self.git("init", "-q")
        self.commit()
        memory.failures.add(runner.red, name="pool", fix="close what is open")

    def put(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def git(self, *words: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *who, *words], cwd=self.folder, check=True, capture_output=True)

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "work")

    def hook(self, name: str, tool: str = "Bash", **given: Any) -> list[str]:
        event = {"hook_event_name": name, "session_id": "s", "tool_name": tool, "cwd": str(self.folder), **given}
        return list(self.memory.store.hook("claude-code", json.dumps(event)).helped)

    def run(self, printed: str, command: str = "", *, fails: bool = False) -> list[str]:
        given: dict[str, Any] = {"tool_input": {"command": command or self.runner.command}}
        self.hook("PreToolUse", **given)
        if fails:
            return self.hook("PostToolUseFailure", error=f"Exit code 1\n{printed}", **given)
        return self.hook("PostToolUse", tool_response={"stdout": printed, "stderr": ""}, **given)


def nothing(one: History) -> None:
    """It is run again."""


def commit(one: History) -> None:
    one.commit()


def push(one: History) -> None:
    one.run("", "git push")


def prose(one: History) -> None:
    one.put("README.md", "# Pools\n")


def ignored(one: History) -> None:
    one.put("build/out.js", "1")


def look(one: History) -> None:
    one.run("size = 1", f"cat {one.runner.source}")


def remove_test(one: History) -> None:
    (one.folder / one.runner.test).unlink()


def empty_test(one: History) -> None:
    one.put(one.runner.test, "")


def rename_test(one: History) -> None:
    kept = one.runner.content
    for name in ("test_keeps_a_connection", "keeps a connection", "TestKeepsAConnection"):
        kept = kept.replace(name, f"{name[:4]}_other")
    one.put(one.runner.test, kept)


def remove_folder(one: History) -> None:
    remove_test(one)
    shutil.rmtree(one.folder / "src", ignore_errors=True)
    one.put("new.txt", "1")


def fix(one: History) -> None:
    one.put(one.runner.source, "size = 2\n")


def fix_and_commit(one: History) -> None:
    fix(one)
    one.commit()


def settings(one: History) -> None:
    one.put(".env", "POOL=2\n")


NO_CAUSES = (nothing, commit, push, prose, ignored, look, remove_test, empty_test, rename_test, remove_folder)
CAUSES = (fix, fix_and_commit, settings)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path) as memory:
        yield memory


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("act", NO_CAUSES)
def test_what_cannot_be_why_a_run_passes_credits_nothing(
    memory: Memory, runner: str, act: Callable[[History], None]
) -> None:
    one = History(memory, RUNNERS[runner])
    one.put("other.txt", "an edit that the failing run has seen")
    one.run(one.runner.red, fails=True)
    act(one)
    assert one.run(one.runner.green) == []


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("act", CAUSES)
def test_what_can_be_why_a_run_passes_credits_the_fix_once(
    memory: Memory, runner: str, act: Callable[[History], None]
) -> None:
    one = History(memory, RUNNERS[runner])
    one.run(one.runner.red, fails=True)
    act(one)
    assert one.run(one.runner.green) == ["failure/pool"]
    assert one.run(one.runner.green) == []


@pytest.mark.parametrize("runner", ["pytest", "vitest"])
def test_fewer_tests_than_before_are_no_pass(memory: Memory, runner: str) -> None:
    one = History(memory, RUNNERS[runner])
    one.run(one.runner.red, fails=True)
    fix(one)
    assert one.run(one.runner.fewer) == []
    assert one.run(one.runner.green) == ["failure/pool"]
