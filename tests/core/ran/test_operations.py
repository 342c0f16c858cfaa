"""Ran: a command that fails and then passes says what helped, once, and to the session it belongs to."""

import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory, Unavailable
from graphmem.constants import OFFERED_ERRORS, RUN_DAYS
from graphmem.core.ran.operations import Ran, run_command
from graphmem.kernel.system.lock import locked
from tests.forked import processes
from tests.sample import Clock, data, open_memory

TESTS = ["make", "test"]
PORT = "Error: EADDRINUSE 0.0.0.0:80"
UNKNOWN = "ValueError: the price list is empty"


def fails(memory: Memory, log: str = PORT, **options: Any) -> Ran:
    return memory.ran(TESTS, status=1, log=log.encode().split(b"\n"), **options)


def edit(memory: Memory) -> None:
    """Change a file of the project, as somebody who fixes something."""
    with (memory.store.client.root / "fixed.py").open("a") as file:
        file.write("pass\n")


def passes(memory: Memory, **options: Any) -> Ran:
    """A pass after a change; without one, ``again``."""
    edit(memory)
    return again(memory, **options)


def again(memory: Memory, **options: Any) -> Ran:
    return memory.ran(TESTS, status=0, **options)


def helped(memory: Memory, ref: str) -> int:
    return int(memory.get(ref).record.model_dump().get("helped", 0))


@pytest.fixture
def known(memory: Memory) -> Memory:
    """A failure with a fix, and two patterns that solve it, one better than the other."""
    memory.failures.add("the port is taken", name="port", match="EADDRINUSE", fix="stop the other server")
    memory.patterns.add("ports clash", "let the system choose the port", name="free-port")
    memory.patterns.add("ports clash in CI", "run one job at a time", name="one-job")
    memory.relations.link("free-port", "solves", "port")
    memory.relations.link("one-job", "solves", "port", weight=0.5)
    return memory


def test_a_pass_after_a_known_failure_counts_what_was_shown_once(known: Memory) -> None:
    failed = fails(known)
    assert failed.log is not None and [hit.ref for hit in failed.log.results] == ["failure/port"]
    assert (failed.status, failed.again) == (1, [])
    assert fails(known).again == ["failure/port"]
    assert passes(known).helped == ["failure/port"]
    assert passes(known) == Ran(status=0)
    assert [helped(known, ref) for ref in ("port", "free-port", "one-job")] == [1, 0, 0]  # one credit
    record = known.get("port").record.model_dump()
    assert record["failed"] == 0  # that it failed again says nothing: nobody knows whether the fix was tried
    fails(known)
    passes(known)
    assert helped(known, "port") == 2


def test_a_pass_without_a_failure_says_and_writes_nothing(known: Memory, tmp_path: Path) -> None:
    assert passes(known) == Ran(status=0)
    assert not data(tmp_path, "feedback").exists()


def test_sessions_commands_and_folders_do_not_mix(known: Memory, tmp_path: Path) -> None:
    fails(known, session="ann")
    assert passes(known).helped == []
    assert passes(known, session="bob").helped == []
    assert known.ran(["make"], status=0, session="ann").helped == []
    assert known.ran(TESTS, status=0, session="ann", folder=tmp_path / "sub").helped == []
    assert passes(known, session="ann").helped


def run(memory: Memory, line: str, *, log: str | None = None, **options: Any) -> Ran:
    given: dict[str, Any] = {"log": log.encode().split(b"\n")} if log else {}
    return memory.ran(line.split(), status=1 if log else 0, **given, **options)


def test_a_pass_of_a_command_that_looks_at_more_settles_what_failed(known: Memory, tmp_path: Path) -> None:
    run(known, "pytest tests/test_port.py -x", log=PORT, session="ann")
    edit(known)
    assert run(known, "pytest tests/test_shop.py", session="ann").helped == []
    assert run(known, "pytest -m slow", session="ann").helped == []
    assert run(known, "pytest", session="bob").helped == []
    assert run(known, "pytest", session="ann", folder=tmp_path / "web").helped == []
    assert run(known, "pytest -q", session="ann").helped == ["failure/port"]
    assert run(known, "pytest tests/test_port.py -x", session="ann") == Ran(status=0)  # it was settled


def test_a_pass_of_another_command_with_nothing_changed_says_nothing(known: Memory) -> None:
    run(known, "pytest tests/test_port.py", log=PORT)
    assert run(known, "pytest") == Ran(status=0)  # the other tests may set up what that one needs
    edit(known)
    assert run(known, "pytest tests/test_port.py").helped == ["failure/port"]


def test_one_pass_settles_all_that_it_looks_at_with_one_report(known: Memory) -> None:
    run(known, "go test ./shop", log=PORT)
    run(known, "go test ./...", log=f"{PORT}\n{UNKNOWN}")
    edit(known)
    found = run(known, "go test ./...")
    assert (found.helped, found.no_pass) == (["failure/port"], None)
    assert run(known, "go test ./shop") == Ran(status=0)
    assert helped(known, "port") == 1


def test_a_narrower_pass_settles_the_tests_that_failed_and_no_others(known: Memory, tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_a.py").write_text("def test_x():\n    assert shop()\n")
    log = f"{PORT}\nFAILED tests/test_a.py::test_x - OSError\n=== 1 failed, 8 passed in 1.2s ==="
    for line in ("pytest tests/test_b.py", "pytest tests/test_a.py::test_y", "pytest tests/test_a.py"):
        run(known, "pytest", log=log, folder=tmp_path)
        edit(known)
        assert bool(run(known, line, folder=tmp_path).helped) is (line == "pytest tests/test_a.py"), line


@pytest.mark.parametrize("line", ["ruff check; pytest", "ruff check || pytest", "ruff check | grep x && pytest"])
def test_where_a_status_is_hidden_no_other_command_is_settled(known: Memory, line: str) -> None:
    command = run_command(known.store.client, [line], line, folder=Path(), session=None, name=None)
    assert command.checks == ()


@pytest.mark.parametrize(
    ("file", "text", "line", "runs"),
    [
        ("package.json", '{"scripts": {"test": "vitest run"}}', "npm test", "vitest"),
        ("package.json", '{"scripts": {"lint": "eslint src && tsc"}}', "pnpm run lint", "eslint src, tsc"),
        ("package.json", '{"scripts": {"lint": "eslint src", "prelint": "x"}}', "npm run lint", "npm lint"),
        ("package.json", '{"scripts": {"lint": "eslint src; tsc"}}', "npm run lint", "npm lint"),
        ("package.json", '{"scripts": {"lint": "eslint src"}}', "npm run lint -- --fix", "npm lint"),
        ("package.json", '{"scripts": 7}', "npm run lint", "npm lint"),
        ("package.json", "[" * 100_000, "npm run lint", "npm lint"),
        ("Makefile", "all: test\n\ntest:  # all\n\t@go vet .\n\tgo test ./cart\n", "make test", "go vet, go test cart"),
        ("Makefile", "test:\n\tgo vet ./...\n\t-go test ./cart\n", "make test", "make test"),
        ("Makefile", "test: lint\n\tgo test ./...\n", "make test", "make test"),
        ("Makefile", "test:\n\t$(GO) test ./...\n", "make test", "make test"),
        ("justfile", "check:\n    ruff check .\n    mypy\n", "just check", "ruff check, mypy"),
        ("justfile", "check:\n    {{python}} -m mypy\n", "just check", "just check"),
    ],
)  # fmt: skip
def test_a_script_of_the_project_is_what_it_runs(
    memory: Memory, tmp_path: Path, file: str, text: str, line: str, runs: str
) -> None:
    (tmp_path / file).write_text(text)
    command = run_command(memory.store.client, [line], line, folder=tmp_path, session=None, name=None)
    assert (
        ", ".join(" ".join([check.name, *(one for one in check.targets if one != ".")]) for check in command.checks)
        == runs
    )


def test_a_script_behind_a_link_is_not_read(
    memory: Memory, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "Makefile"
    outside.write_text("test:\n\tgo test ./...\n")
    (tmp_path / "Makefile").symlink_to(outside)
    command = run_command(memory.store.client, ["make", "test"], "make test", folder=tmp_path, session=None, name=None)
    assert [check.name for check in command.checks] == ["make test"]


def test_runs_of_one_name_settle_each_other(known: Memory) -> None:
    fails(known, name="tests")
    assert passes(known).helped == []
    assert known.ran(["pytest", "-k", "port"], status=0, name="tests", folder=Path("/")).helped


def test_what_comes_and_goes_by_itself_or_is_only_alike_is_shown_and_not_counted(memory: Memory) -> None:
    memory.failures.add("now and then", name="flaky", match="flake", fix="wait", flaky=True)
    memory.failures.add("ModuleNotFoundError: No module named 'yaml'", name="yaml", fix="pip install pyyaml")
    failed = fails(memory, "flake\nModuleNotFoundError: No module named 'toml'")
    assert failed.log is not None
    assert [(hit.ref, hit.by) for hit in failed.log.results] == [
        ("failure/flaky", "match"),
        ("failure/yaml", "near"),
    ]
    assert failed.log.results[1].verdict == "same_rule"
    passed = passes(memory)
    assert (passed.helped, passed.unknown) == ([], ["ModuleNotFoundError: No module named 'toml'"])


def test_an_error_that_nobody_knows_is_offered_after_the_pass_unless_it_is_known_by_then(memory: Memory) -> None:
    fails(memory, f"collecting\nE   {UNKNOWN}\nTypeError: a cart has no owner\nfatal: it\n")
    assert passes(memory).unknown == [UNKNOWN, "TypeError: a cart has no owner"]
    assert passes(memory) == Ran(status=0)
    fails(memory, UNKNOWN)
    memory.failures.add(UNKNOWN, name="no-prices", fix="load them first")
    assert passes(memory) == Ran(status=0)
    again = fails(memory, f'  File "/else/where.py", line 7, in load\n{UNKNOWN}')  # the offered trigger finds it
    assert again.log is not None and [hit.ref for hit in again.log.results] == ["failure/no-prices"]
    assert passes(memory).helped == ["failure/no-prices"]


def test_a_failed_assertion_is_offered_and_found_once_it_is_recorded(memory: Memory) -> None:
    log = ">       assert 3 == 4\nE       assert 3 == 4\n\ntest_sum.py:2: AssertionError\n1 failed in 0.1s"
    fails(memory, log)
    assert passes(memory).unknown == ["assert 3 == 4"]
    memory.failures.add("assert 3 == 4", name="sum", fix="carry the one")
    again = fails(memory, log)
    assert again.log is not None and [(hit.ref, hit.by) for hit in again.log.results] == [("failure/sum", "line")]


def test_beside_a_known_failure_the_other_errors_are_not_offered(known: Memory) -> None:
    fails(known, f"{PORT}\n{UNKNOWN}")
    assert passes(known).unknown == []


def test_few_errors_are_offered_however_many_there_were(memory: Memory) -> None:
    fails(memory, "\n".join(f"ValueError: the {word} list is empty" for word in ("red", "green", "blue", "grey")))
    assert len(passes(memory).unknown) == OFFERED_ERRORS


def test_a_known_failure_without_a_fix_is_named_after_the_pass(memory: Memory) -> None:
    memory.failures.add(UNKNOWN, name="no-prices")
    memory.failures.add("TypeError: a cart has no owner", name="no-owner")
    fails(memory, f"{UNKNOWN}\nTypeError: a cart has no owner")
    memory.edit("no-owner", {"fix": "give it one"})
    assert passes(memory) == Ran(status=0, unfixed=["failure/no-prices"])


def test_the_report_is_about_the_task_and_what_was_reported_before_stays(known: Memory) -> None:
    known.feedback("port", helped=False, task="ci/7")
    fails(known)
    assert passes(known, task="ci/7").helped == []
    record = known.get("port").record.model_dump()
    assert (record["helped"], record["failed"]) == (0, 1)
    fails(known)
    assert passes(known, task="ci/7").helped == []


def test_a_rename_is_followed_and_what_is_gone_is_left_out(known: Memory) -> None:
    known.failures.add("the disk is full", name="disk", match="ENOSPC", fix="remove the logs")
    fails(known, f"{PORT}\nError: ENOSPC")
    known.rename("port", "any-port")
    known.store.purge(["failure/disk"], yes=True)
    assert passes(known).helped == ["failure/any-port"]


def test_of_a_failure_without_a_fix_of_its_own_the_strongest_pattern_is_credited(known: Memory) -> None:
    known.failures.add("the socket is taken", name="socket", match="ESOCK")
    known.relations.link("one-job", "solves", "socket")
    fails(known, f"{PORT}\nError: ESOCK")
    assert passes(known).helped == ["failure/port", "pattern/one-job"]


def test_a_failure_of_long_ago_belongs_to_no_session(tmp_path: Path) -> None:
    clock = Clock()
    with open_memory(tmp_path, clock=clock) as memory:
        memory.failures.add("the port is taken", name="port", match="EADDRINUSE", fix="stop the other server")
        fails(memory)
        clock.back(-timedelta(days=RUN_DAYS + 1))
        assert passes(memory) == Ran(status=0)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:3_000])


def overwrite(path: Path) -> None:
    path.write_bytes(b" " * 10_000)


def link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


def test_a_failure_is_shown_also_where_the_run_cannot_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    with open_memory(tmp_path, said=said) as memory:
        memory.failures.add("the port is taken", name="port", match="EADDRINUSE", fix="stop the other server")

        def read_only(*_: object, **__: object) -> None:
            raise Unavailable("Read-only file system")

        monkeypatch.setattr("graphmem.kernel.machine.state.State.changing", read_only)
        answer = fails(memory)
        assert answer.log is not None
        assert [hit.ref for hit in answer.log.results] == ["failure/port"]
        assert any("does not credit" in line for line in said)


def test_a_state_behind_a_link_is_taken_as_empty_and_not_written(tmp_path: Path) -> None:
    said: list[str] = []
    with open_memory(tmp_path, said=said) as memory:
        memory.failures.add("the port is taken", name="port", match="EADDRINUSE", fix="stop the other server")
        fails(memory)
        link(memory.store.client.layout.state_file)
        fails(memory)
        assert passes(memory).model_copy(update={"notices": []}) == Ran(status=0)
        assert memory.store.client.layout.state_file.is_symlink()
        assert any("is taken as empty" in line for line in said)


@pytest.mark.parametrize("damage", [cut, overwrite, Path.unlink])
def test_a_damaged_state_is_an_empty_one_and_is_said(damage: Callable[[Path], object], tmp_path: Path) -> None:
    said: list[str] = []
    with open_memory(tmp_path, said=said) as memory:
        memory.failures.add("the port is taken", name="port", match="EADDRINUSE", fix="stop the other server")
        fails(memory)
        damage(memory.store.client.layout.state_file)
        said.clear()
        assert passes(memory).model_copy(update={"notices": []}) == Ran(status=0)
        assert [line for line in said if "is taken as empty" in line or damage is Path.unlink] or damage is Path.unlink
        fails(memory)
        assert passes(memory).helped == ["failure/port"]


def fail_once(folder: Path, number: int) -> None:
    os.environ["GRAPHMEM_EMBEDDING_MODEL"] = "none"
    with Memory(folder) as memory:
        memory.ran(TESTS, status=1, log=[PORT.encode()], session=f"s{number}")


@pytest.mark.long
def test_runs_at_once_lose_nothing_of_each_other(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.failures.add("the port is taken", name="port", match="EADDRINUSE", fix="stop the other server")
        children = [processes.Process(target=fail_once, args=(tmp_path, number)) for number in range(6)]
        for child in children:
            child.start()
        for child in children:
            child.join(60)
        assert [child.exitcode for child in children] == [0] * 6
        assert all(passes(memory, session=f"s{number}").helped for number in range(6))


def test_while_somebody_else_writes_it_is_refused_and_the_next_pass_counts(known: Memory) -> None:
    fails(known)
    known.store.client.ledger.place.lock_timeout_s = 0.05
    with locked(known.store.client.ledger.files.lock, timeout_s=1), pytest.raises(Unavailable):
        passes(known)
    assert passes(known).helped == ["failure/port"]
