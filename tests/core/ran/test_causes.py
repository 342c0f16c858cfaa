"""Causes: a pass counts for what was handed out only where something changed in between that may be why it passes."""

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from graphmem.core.ran.operations import Ran
from graphmem.features.hooks.contract import HookAnswer
from tests.sample import data, open_memory

ERROR = "httpx.PoolTimeout: no free connection"
TESTS = ["pytest", "-q"]


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def without_git(folder: Path) -> Memory:
    (folder / "src").mkdir()
    (folder / "src" / "pool.py").write_text("SIZE = 1\n")
    memory = open_memory(folder)
    memory.failures.add(ERROR, name="pool", fix="close responses")
    memory.patterns.add("streams", "read them to the end", name="stream")
    memory.relations.link("stream", "solves", "pool")
    return memory


def in_git(folder: Path) -> Memory:
    memory = without_git(folder)
    git(folder, "init", "-q")
    (folder / ".gitignore").write_text("*.local\n/out/\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "all")
    return memory


@pytest.fixture(params=[without_git, in_git])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    with request.param(tmp_path) as memory:
        yield memory


@pytest.fixture
def repository(tmp_path: Path) -> Any:
    with in_git(tmp_path) as memory:
        yield memory


def fails(memory: Memory) -> Ran:
    return memory.ran(TESTS, status=1, log=[ERROR.encode()])


def passes(memory: Memory, began: float | None = None) -> Ran:
    return memory.ran(TESTS, status=0, began=began)


def hook(memory: Memory, name: str, tool: str = "Bash", **given: Any) -> HookAnswer:
    event = {"hook_event_name": name, "session_id": "s", "tool_name": tool, **given}
    return memory.store.hook("claude-code", json.dumps(event))


def types(memory: Memory, command: str, error: str | None = None) -> HookAnswer:
    """A command of an agent, which its client reports before and after."""
    given: dict[str, Any] = {"tool_input": {"command": command}}
    hook(memory, "PreToolUse", **given)
    if error is not None:
        return hook(memory, "PostToolUseFailure", error=f"Exit code 1\n{error}", **given)
    return hook(memory, "PostToolUse", tool_response={"stdout": "3 passed", "stderr": ""}, **given)


def change(folder: Path) -> None:
    (folder / "src" / "pool.py").write_text("SIZE = 100\n")


def add_file(folder: Path) -> None:
    (folder / "src" / "new.py").write_text("")


def remove_file(folder: Path) -> None:
    (folder / "src" / "pool.py").unlink()


def make_executable(folder: Path) -> None:
    (folder / "src" / "pool.py").chmod(0o755)


def set_variable(folder: Path) -> None:
    (folder / ".env").write_text("SIZE=100\n")


def install_package(folder: Path) -> None:
    (folder / ".venv" / "lib" / "python3.11" / "site-packages" / "yaml").mkdir(parents=True)


CHANGES = [change, add_file, remove_file, make_executable, set_variable, install_package]


@pytest.mark.parametrize("change", CHANGES)
def test_a_pass_after_a_change_credits_one_thing(project: Memory, change: Callable[[Path], None]) -> None:
    fails(project)
    change(project.store.client.root)
    assert passes(project, time.time() + 1).helped == ["failure/pool"]


@pytest.mark.parametrize("name", ["README.md", "docs/guide.rst", "LICENSE"])
def test_an_edit_of_prose_is_no_cause(project: Memory, name: str) -> None:
    fails(project)
    file = project.store.client.root / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("how it works\n")
    assert passes(project, time.time() + 1).helped == []


def test_a_report_that_a_failure_was_not_helped_counts_for_what_was_shown_for_it(project: Memory) -> None:
    project.edit("pool", {"fix": None})
    fails(project)
    project.feedback("failure/pool", helped=False)
    change(project.store.client.root)
    assert passes(project, time.time() + 1).helped == []


def test_the_same_run_again_that_passes_is_flaky_and_credits_nothing(project: Memory, tmp_path: Path) -> None:
    fails(project)
    passed = passes(project)
    assert (passed.helped, passed.is_flaky, passed.flaky) == ([], True, ["failure/pool"])
    assert not data(tmp_path, "feedback").exists()
    assert passes(project) == Ran(status=0)


def test_what_the_run_itself_writes_is_no_cause(project: Memory, tmp_path: Path) -> None:
    lock = tmp_path / "run.lock"
    lock.touch()
    fails(project)
    began = time.time()
    time.sleep(0.02)
    (tmp_path / "report.xml").touch()
    lock.unlink()
    assert passes(project, began).is_flaky


def test_what_graphmem_and_test_tools_write_is_no_cause(project: Memory, tmp_path: Path) -> None:
    fails(project)
    project.failures.add("KeyError: 'port'", name="port", fix="export PORT")
    (tmp_path / "src" / "__pycache__").mkdir()
    (tmp_path / "src" / "__pycache__" / "pool.pyc").touch()
    assert passes(project).is_flaky


def test_a_commit_of_what_was_there_is_no_cause_and_another_branch_is_one(repository: Memory, tmp_path: Path) -> None:
    git(tmp_path, "branch", "before")
    change(tmp_path)
    add_file(tmp_path)
    fails(repository)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "work")
    assert passes(repository).is_flaky
    fails(repository)
    git(tmp_path, "checkout", "-q", "before")
    assert passes(repository).helped == ["failure/pool"]


def test_files_that_git_ignores_are_no_cause_unless_the_agent_edits_one(repository: Memory, tmp_path: Path) -> None:
    settings = tmp_path / "settings.local"
    types(repository, "pytest -q", ERROR)
    settings.write_text("SIZE=1")
    assert types(repository, "pytest -q").helped == []
    types(repository, "pytest -q", ERROR)
    hook(repository, "PreToolUse", "Edit", tool_input={"file_path": str(settings)})
    assert types(repository, "pytest -q").helped == ["failure/pool"]


@pytest.mark.parametrize(
    ("command", "is_cause"),
    [
        ("docker compose up -d redis", True), ("pip install pyyaml", True), ("uv add pytest", True), ("kill 17", True),
        ("cd api && make migrate", True), ("npm install --save-dev jest", True), ("sudo systemctl restart db", True),
        ("sleep 5", False), ("git status && ls -l", False), ("ruff check . | tail", False), ("uv run pytest -x", False),
        ("npm run test:unit", False), ("python -c 'import yaml'", False), ("graphmem query pool", False),
        ("cat log; grep -n x log", False), ("pytest -q tests/test_pool.py", False), ("cargo clippy 2>&1", False),
        ("git commit -qam wip", False), ("git push origin main", False), ("git checkout other", True),
        ("for f in *; do cat $f; done", False), ("CI=1 go vet ./...", False), ("for f in *; do rm $f; done", True),
    ],
)  # fmt: skip
def test_a_command_that_changes_something_is_a_cause(repository: Memory, command: str, is_cause: bool) -> None:
    types(repository, "pytest -q", ERROR)
    types(repository, command)
    assert types(repository, "pytest -q").helped == (["failure/pool"] if is_cause else [])


def test_an_agent_is_told_once_that_a_failure_is_flaky_and_how_to_mark_it(repository: Memory) -> None:
    types(repository, "pytest -q", ERROR)
    assert "graphmem edit failure/pool --flaky" in types(repository, "pytest -q").text
    types(repository, "pytest -q", ERROR)
    assert types(repository, "pytest -q").text == ""


@pytest.mark.long
def test_flaky_passes_in_a_history_move_no_credit(repository: Memory, tmp_path: Path) -> None:
    """Twenty failures, of which each third is fixed and the others pass by themselves; by hooks and by ``ran``."""
    for number in range(20):
        types(repository, "pytest -q", ERROR)
        fails(repository)
        if number % 3 == 0:
            (tmp_path / "src" / "pool.py").write_text(f"SIZE = {number}\n")
        elif number % 3 == 1:
            git(tmp_path, "commit", "-qam", f"run {number}", "--allow-empty")
        began = time.time()
        assert len(types(repository, "pytest -q").helped) == (number % 3 == 0)
        assert len(passes(repository, began).helped) == (number % 3 == 0)
    hook(repository, "SessionEnd")
    rows = [json.loads(line) for line in data(tmp_path, "feedback").read_bytes().splitlines()]
    assert len(rows) == 14
    assert repository.get("pool").record.model_dump()["helped"] == 14


RED = f"FAILED src/test_pool.py::test_pool - {ERROR}\n{ERROR}\n1 failed, 2 passed in 0.12s"
TEST = "import httpx\n\n\ndef test_pool():\n    assert httpx.get('/')\n"


@pytest.mark.parametrize(
    ("test", "output", "why"),
    [
        (TEST, "1 passed, 2 skipped in 0.1s", "1 passed, where 3 ran before"),
        (TEST, "2 passed, 1 xfailed in 0.1s", "2 passed, where 3 ran before"),
        (None, "3 passed in 0.1s", "src/test_pool.py::test_pool is gone or tests nothing"),
        ("", "3 passed in 0.1s", "src/test_pool.py::test_pool is gone or tests nothing"),
        ("def test_ok(): pass\n", "3 passed in 0.1s", "src/test_pool.py::test_pool is gone or tests nothing"),
        ("def test_pool():\n    pass\n", "", "src/test_pool.py::test_pool is gone or tests nothing"),
        (f"@pytest.mark.skip\n{TEST[15:]}", "", "src/test_pool.py::test_pool is gone or tests nothing"),
        (TEST, "no tests ran in 0.01s", "no test ran"),
        (TEST, "3 passed in 0.1s", None),
        (f"@pytest.mark.skipif(WINDOWS)\n{TEST[15:]}", "4 passed in 0.1s", None),
        (TEST, "", None),
    ],
)
def test_tests_that_were_removed_skipped_or_emptied_are_no_pass(
    repository: Memory, tmp_path: Path, test: str | None, output: str, why: str | None
) -> None:
    path = tmp_path / "src" / "test_pool.py"
    path.write_text(TEST)
    repository.ran(TESTS, status=1, log=RED, folder=tmp_path)
    types(repository, "pytest -q", RED)
    change(tmp_path)
    path.unlink() if test is None else path.write_text(test)
    passed = repository.ran(TESTS, status=0, log=output, folder=tmp_path)
    assert (passed.no_pass, passed.helped) == (why, [] if why else ["failure/pool"])
    given: dict[str, Any] = {"tool_input": {"command": "pytest -q"}, "tool_response": {"stdout": output, "stderr": ""}}
    answer = hook(repository, "PostToolUse", **given)
    assert (why or "") in answer.text and answer.helped == passed.helped
    path.write_text(TEST)
    assert repository.ran(TESTS, status=0, log="3 passed in 1s", folder=tmp_path).helped == (
        [] if not why else ["failure/pool"]
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_where_git_does_not_answer_nothing_is_credited(repository: Memory, tmp_path: Path) -> None:
    fails(repository)
    change(tmp_path)
    (tmp_path / ".git" / "HEAD").chmod(0)
    assert passes(repository).is_flaky
