"""Three programs of a user: they type check as strictly as mypy can without its plugins, and run on a real store."""

import subprocess
import sys
from pathlib import Path

import pytest

from graphmem import Memory, Task
from tests.typed import campaign_loop, ci_job, report

FOLDER = Path(__file__).parent


@pytest.mark.process
def test_programs_of_users_need_no_cast_under_strict_mypy(tmp_path: Path) -> None:
    programs = sorted(str(path) for path in FOLDER.glob("*.py") if not path.name.startswith("test_"))
    assert len(programs) == 3
    (config := tmp_path / "mypy.ini").write_text("[mypy]\nfollow_imports = silent\n")  # the programs are checked
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", config, "--cache-dir", tmp_path, *programs],
        capture_output=True, text=True, check=False, cwd=FOLDER.parents[1],
    )  # fmt: skip
    assert (done.stdout, done.returncode) == (f"Success: no issues found in {len(programs)} source files\n", 0)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that knows one failure and what solves it."""
    Memory.init(tmp_path)
    with Memory(tmp_path) as memory:
        memory.failures.add("No module named 'pkg_resources'", name="no-pkg", fix="pip install setuptools", cost=3)
        memory.patterns.add("A build tool dropped a module", "Pin setuptools below 81", name="pin")
        memory.relations.link("pattern/pin", "solves", "failure/no-pkg")
    return tmp_path


def test_a_job_of_ci_prints_what_to_do_and_keeps_what_is_new(project: Path) -> None:
    lines = (
        "ModuleNotFoundError: No module named 'pkg_resources'",
        "AttributeError: 'str' object has no attribute 'x'",
    )
    (log := project / "log").write_text("\n".join(lines))
    assert ci_job.report(project, log) == [
        "1: No module named 'pkg_resources': pip install setuptools; Pin setuptools below 81",
        "first: Pin setuptools below 81",
        "new: AttributeError: 'str' object has no attribute 'x', costs 1",
        "near: No module named 'pkg_resources'",
        "ok",
    ]


def test_a_loop_over_a_campaign_starts_what_is_ready(project: Path) -> None:
    def work(task: Task, prompt: str) -> str | None:
        assert task.objective in prompt
        return "No module named 'pkg_resources'" if task.objective == "Test the route" else None

    assert campaign_loop.loop(project, work) == [
        "sso/001-route: src/route.py",
        "sso/002-test: ",
        "sso/001-route: complete",
        "sso/002-test: Pin setuptools below 81",
        "Log in by SSO: partial",
    ]


def test_a_report_says_what_a_project_knows(project: Path) -> None:
    assert report.report(project) == [
        "failure/no-pkg: Pin setuptools below 81",
        "-solves-> pattern/pin",
        "Tokens live in the keychain: The disk is shared",
        "preference: Reads come before writes",
        "Tokens live in the keychain",
        "Reads come before writes",
    ]
