"""The pytest plugin, in runs of pytest on suites of their own: what it shows and records, and what it leaves alone."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import graphmem.doors.pytest_plugin
from graphmem import Memory
from graphmem.constants import PYTEST_FAILURES, RUNS_BYTES
from tests.sample import data, open_memory, state_of

pytestmark = pytest.mark.process

# On the wheel the plugin comes as an entry point; a checkout may have been installed before there was one.
IS_INSTALLED = "GRAPHMEM_TEST_INSTALLED" in os.environ
ROOT = Path(__file__).parents[3]
BROKEN = "def price(cart):\n    return {'a': 1}[cart]\n"
FIXED = "def price(cart):\n    return {'a': 1, 'b': 2}[cart]\n"
SUITE = """\
from shop import price

def test_first():
    assert price("b") == 2

def test_second():
    assert price("b") < 3

def test_other():
    assert price("a") == 1
"""
SECTION = """\
----------------------------------- graphmem -----------------------------------
failure/no-b  [the same line]
    > E KeyError: 'b'
    fix: add b to the prices
"""
HELPED = "=================================== graphmem ===================================\nrecorded as having helped: "

Pytest = Callable[..., tuple[int, str]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    with open_memory(tmp_path) as memory:
        memory.failures.add("KeyError: 'b'", name="no-b", fix="add b to the prices")
    (tmp_path / "test_shop.py").write_text(SUITE)
    (tmp_path / "shop.py").write_text(BROKEN)
    return tmp_path


@pytest.fixture
def run(project: Path) -> Pytest:
    """Runs pytest with the plugin in the project, or in a folder below it; ``is_found`` as an entry point, if it is."""

    def run(
        *arguments: str, folder: str = ".", switch: str | None = "1", is_found: bool = False, **variables: str
    ) -> tuple[int, str]:
        own = {"PYTHONPATH": str(ROOT), "GRAPHMEM_EMBEDDING_MODEL": "none"}
        named = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "graphmem.doors.pytest_plugin"}
        own |= {} if is_found and IS_INSTALLED else named  # to find it, pytest imports all other plugins that are there
        switches = {} if switch is None else {"GRAPHMEM_PYTEST": switch}
        command = [sys.executable, "-B", "-m", "pytest", *arguments]
        env = without_ours(os.environ) | own | switches | variables
        done = subprocess.run(command, cwd=project / folder, env=env, capture_output=True, text=True, check=False)
        assert not done.stderr, done.stderr
        return done.returncode, done.stdout

    return run


def without_ours(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if not name.startswith(("GRAPHMEM_", "PYTEST_"))}


def fix(project: Path) -> None:
    """Fix the code, a moment before the next run."""
    (project / "shop.py").write_text(FIXED)
    time.sleep(0.03)


def reports(project: Path) -> list[str]:
    """Return the references that reports are about."""
    path = data(project, "feedback")
    return [json.loads(line)["ref"] for line in path.read_bytes().splitlines()] if path.exists() else []


def speaks(printed: str) -> bool:
    """Return whether pytest printed a section of graphmem's."""
    return re.search(r"[-=] graphmem [-=]", printed) is not None


@pytest.mark.long
def test_a_failure_has_its_known_fix_below_the_traceback_and_a_pass_says_that_it_helped(
    project: Path, run: Pytest
) -> None:
    status, printed = run(is_found=True)
    assert status == 1
    assert printed.count(SECTION) == 2
    assert f"shop.py:2: KeyError\n{SECTION}" in printed
    assert "2 failed, 1 passed" in printed
    assert reports(project) == []
    fix(project)
    status, printed = run()
    assert status == 0
    assert f"{HELPED}failure/no-b\n" in printed
    assert len(reports(project)) == 1
    status, printed = run()
    assert (status, speaks(printed), len(reports(project))) == (0, False, 1)
    (project / "shop.py").write_text(BROKEN)
    assert "failure/no-b  [the same line]  helped 1 of 1" in run()[1]


@pytest.mark.long
def test_nothing_is_done_unless_it_is_switched_on(project: Path, run: Pytest) -> None:
    for switch, options in ((None, ()), ("0", ("--graphmem",))):
        status, printed = run(*options, switch=switch, is_found=True)
        assert (status, SECTION in printed) == (1, False)
        assert state_of(project).read_all("ran", bytes) == {}
    assert SECTION in run("--graphmem", switch=None)[1]
    (project / "pytest.ini").write_text("[pytest]\naddopts = --graphmem\n")
    assert SECTION in run(switch=None)[1]


@pytest.mark.long
def test_workers_of_xdist_report_and_the_controller_asks(project: Path, run: Pytest) -> None:
    pytest.importorskip("xdist")
    status, printed = run("-p", "xdist", "-n", "2")
    assert status == 1
    assert printed.count(SECTION) == 2
    fix(project)
    status, printed = run("-p", "xdist", "-n", "2")
    assert status == 0
    assert f"{HELPED}failure/no-b\n" in printed
    assert len(reports(project)) == 1


@pytest.mark.long
def test_a_module_that_cannot_be_imported_is_a_failure_and_a_test_of_it_settles_it(project: Path, run: Pytest) -> None:
    with open_memory(project) as memory:
        memory.failures.add("ModuleNotFoundError: No module named 'shop'", name="no-shop", fix="mv store.py shop.py")
    shutil.move(project / "shop.py", project / "store.py")
    status, printed = run()
    assert status == 2
    assert "failure/no-shop  [the same line]\n" in printed
    fix(project)
    assert f"{HELPED}failure/no-shop\n" in run()[1]


@pytest.mark.long
def test_a_pass_with_nothing_changed_is_flaky_and_an_unknown_error_is_offered(project: Path, run: Pytest) -> None:
    (project / "test_flaky.py").write_text(
        "import os\ndef test_pool():\n    if os.environ.get('BUSY'):\n        raise TimeoutError('the pool is empty')\n"
    )
    (project / "writer.py").write_text(
        "import pathlib, time\ndef pytest_sessionfinish():\n    pathlib.Path('written').write_text(str(time.time()))\n"
    )
    other = ("-p", "writer", "--junitxml", "report.xml")  # what others write when the session ends is no change
    assert run("test_flaky.py", *other, BUSY="1")[0] == 1
    assert "nothing changed: flaky" in run("test_flaky.py", *other)[1]
    assert run("test_flaky.py", BUSY="1")[0] == 1
    fix(project)
    offer = "graphmem add failure --trigger 'TimeoutError: the pool is empty' --symptom '…' --fix '…'"
    assert offer in run("test_flaky.py")[1]


@pytest.mark.long
def test_a_test_that_was_emptied_is_no_pass(project: Path, run: Pytest) -> None:
    run("test_shop.py::test_first")
    (project / "test_shop.py").write_text("def test_first():\n    pass\n")
    time.sleep(0.03)
    status, printed = run()
    assert status == 0
    assert "not a pass of what failed before: test_shop.py::test_first is gone or tests nothing" in printed
    assert reports(project) == []


@pytest.mark.long
def test_a_test_that_passes_and_fails_when_it_is_taken_down_is_no_pass(project: Path, run: Pytest) -> None:
    suite = (
        "import pytest\n@pytest.fixture\ndef cart():\n    yield 'b'\n    {'a': 1}['b']\n"
        "def test_cart(cart):\n    from shop import price\n    assert price(cart)\n"
    )
    (project / "test_shop.py").write_text(suite)
    assert run()[1].count(SECTION) == 2
    fix(project)
    status, printed = run()
    assert (status, printed.count(SECTION), HELPED in printed) == (1, 1, False)
    (project / "test_shop.py").write_text(suite.replace("    {'a': 1}['b']\n", ""))
    time.sleep(0.03)
    assert f"{HELPED}failure/no-b\n" in run()[1]


@pytest.mark.long
def test_a_suite_below_the_project_has_its_path_in_the_names(project: Path, run: Pytest) -> None:
    for name in ("a", "b"):
        (project / name).mkdir()
        (project / name / "pytest.ini").write_text("[pytest]\n")
        for file in ("shop.py", "test_shop.py"):
            shutil.copy(project / file, project / name)
    assert SECTION in run("test_shop.py::test_first", folder="a")[1]
    fix(project / "b")
    assert not speaks(run(folder="b")[1])
    fix(project / "a")
    assert f"{HELPED}failure/no-b\n" in run(folder="a")[1]


@pytest.mark.parametrize("status", [0, 1])
@pytest.mark.slow
@pytest.mark.long
def test_no_store_or_a_locked_or_damaged_one_is_a_line_and_never_the_status(
    status: int, project: Path, run: Pytest
) -> None:
    run()
    if not status:
        fix(project)
    said = "the memory was not asked: "
    with state_of(project).changing():
        assert run()[0] == status  # a failure is shown all the same; a pass waits for the next run
    state_of(project).path.write_bytes(b"{" * 4_096)
    found, printed = run()
    assert (found, printed.count(said)) == (status, 1)
    shutil.rmtree(project / ".graphmem")
    found, printed = run()
    assert (found, printed.count(f"{said}there is no .graphmem folder at or above ")) == (status, 1)


@pytest.mark.long
def test_a_session_that_was_interrupted_counts_as_neither(project: Path, run: Pytest) -> None:
    (project / "test_stop.py").write_text("def test_stop():\n    raise KeyboardInterrupt\n")
    status, printed = run("test_shop.py", "test_stop.py")
    assert (status, speaks(printed)) == (2, False)
    assert state_of(project).read_all("ran", bytes) == {}
    assert SECTION in run("-x")[1]


@pytest.mark.parametrize("what", ["a link", "a pipe", "a large file", "no object"])
def test_a_file_of_failures_that_is_not_ours_is_a_line(what: str, project: Path, run: Pytest) -> None:
    path = state_of(project).path
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    fix(project)
    match what:
        case "a link":
            path.symlink_to("/etc/passwd")
        case "a pipe":
            os.mkfifo(path)
        case "a large file":
            path.write_bytes(b"{" + b" " * (RUNS_BYTES + 1) + b"}")
        case _:
            path.write_text("7" * 4_096)
    status, printed = run()
    assert (status, printed.count("the memory was not asked: ")) == (0, 1)


@pytest.mark.long
def test_warnings_as_errors_and_other_plugins_change_nothing(project: Path, run: Pytest) -> None:
    (project / "conftest.py").write_text(
        "def pytest_runtest_logreport(report):\n    report.sections.append(('mine', 'said by another'))\n"
        "def pytest_sessionfinish(session):\n"
        "    import json, warnings\n"
        "    warnings.simplefilter('error')\n"
        "    real = json.loads\n"
        "    json.loads = lambda text: warnings.warn('old', DeprecationWarning) or real(text)\n"
    )
    status, printed = run("-W", "error", "--strict-config", "--strict-markers", "--junitxml", "report.xml")
    assert (status, printed.count(SECTION)) == (1, 2)
    assert "said by another" in printed
    assert "add b to the prices" not in (project / "report.xml").read_text()
    fix(project)
    status, printed = run("-W", "error", "--junitxml", "report.xml")
    assert (status, f"{HELPED}failure/no-b\n" in printed) == (0, True)


@pytest.mark.long
def test_of_many_failures_those_with_other_messages_are_looked_up_up_to_a_number(project: Path, run: Pytest) -> None:
    with open_memory(project) as memory:
        memory.failures.add("boom", name="boom", match=r"boom \d+", fix="hold it")
    (project / "test_many.py").write_text(
        "import pytest\n@pytest.mark.parametrize('n', range(90))\n"
        "def test(n):\n    raise ValueError(f'boom {n // 3}')\n"
    )
    assert run("test_many.py")[1].count("fix: hold it") == 3 * PYTEST_FAILURES
    with Memory(project) as memory:
        assert len(memory.store.client.state.read_all("ran", bytes)) == PYTEST_FAILURES
    (project / "test_many.py").write_text(
        "import pytest\n@pytest.mark.parametrize('n', range(90))\ndef test(n):\n    n"
    )
    time.sleep(0.03)
    assert run("test_many.py")[1].count("failure/boom") == 1
    assert len(reports(project)) == 1


@pytest.mark.long
def test_what_is_only_alike_and_what_nobody_sees_is_not_shown(project: Path, run: Pytest) -> None:
    with open_memory(project) as memory:
        memory.failures.add("KeyError: 'shelf'", name="no-shelf", fix="build it")
    (project / "test_shop.py").write_text("def test():\n    {}['c']\n")
    assert "failure/" not in run()[1]
    (project / "test_shop.py").write_text(SUITE)
    assert not speaks(run("--tb=no")[1])
    fix(project)
    assert not speaks(run()[1])


def test_the_package_names_the_plugin_to_pytest() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert settings["project"]["entry-points"]["pytest11"] == {"graphmem": graphmem.doors.pytest_plugin.__name__}


def test_a_plugin_that_is_switched_off_imports_nothing_but_itself(project: Path, run: Pytest) -> None:
    (project / "test_shop.py").write_text(
        "import sys\ndef test():\n"
        "    ours = {name for name in sys.modules if name.startswith('graphmem')}\n"
        "    assert ours == {'graphmem', 'graphmem.doors', 'graphmem.doors.pytest_plugin'}\n"
    )
    assert run(switch=None)[0] == 0
