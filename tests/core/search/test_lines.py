"""Match finds a trigger that is in a log to the letter, whatever tool wrote it and whatever is printed before it."""

from collections.abc import Iterator
from pathlib import Path
from time import thread_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import Memory
from graphmem.core.logs.line import bare, forms, messages
from graphmem.doors.cli.app import run
from graphmem.kernel.model import Failure
from tests.core.search.test_match import found, told
from tests.pace import within
from tests.runners import RUNNERS, Runner
from tests.sample import open_memory

# Triggers as people copy them from the output of real tools.
TRIGGERS = """
FAILED tests/test_cli.py::test_optimize[tables0] - assert 1662976 < 1662976
FAILED tests/test_transform.py::test_x
ERROR tests/test_db.py::test_load - sqlite3.OperationalError: no such table: cats
E       sqlite_utils.db.InvalidColumns: Invalid columns {'nosuchcol'} for table
AssertionError: assert 3 == 4
InvalidColumns: Invalid columns {'other'} for table
DoesNotExist: Author matching query does not exist.
shop.errors.NoStock: 0 left of SKU-77
KeyError: 'price'
StopIteration
npm ERR! code ERESOLVE
npm error code EACCES
npm ERR! peer dep missing: react@18
yarn: error An unexpected error occurred: "https://registry.yarnpkg.com: ETIMEDOUT".
ELIFECYCLE  Command failed with exit code 1.
make: *** No rule to make target 'foo'.  Stop.
make: *** [Makefile:12: all] Error 2
ninja: build stopped: subcommand failed.
main.go:3:2: no required module provides package github.com/foo/bar; to add it:
./main.go:9:5: undefined: frobnicate
go: go.mod file not found in current directory or any parent directory; see 'go help modules'
--- FAIL: TestCheckout (0.00s)
exit status 2
panic: runtime error: invalid memory address or nil pointer dereference
error[E0425]: cannot find value `x` in this record type
thread 'main' panicked at src/main.rs:2:5:
src/app.ts(12,7): error TS2322: Type 'string' is not assignable to type 'number'.
sqlite_utils/utils.py:56: error: Incompatible return value type (got "None", expected "str")
  12:5  error  'foo' is assigned a value but never used  no-unused-vars
app.py:3:1: F401 'os' imported but unused
ld: cannot find -lssl
/usr/bin/ld: main.o: in function `main': undefined reference to `pow'
foo.c:3:5: warning: implicit declaration of function 'bar' [-Wimplicit-function-declaration]
curl: (60) SSL certificate problem: unable to get local issuer certificate
fatal: not a git repository (or any of the parent directories): .git
error: failed to push some refs to 'origin'
CONFLICT (content): Merge conflict in README.md
Error response from daemon: pull access denied for foo/bar
ERROR: Could not find a version that satisfies the requirement nosuch==1.0
bash: jq: command not found
E: Unable to locate package libfoo-dev
Segmentation fault (core dumped)
Killed
ModuleNotFoundError: No module named 'sqlite_fts4'
sqlite3.OperationalError: near "5": syntax error
java.lang.NullPointerException: Cannot invoke "String.length()" because "s" is null
org.apache.maven.BuildFailure: There are test failures.
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.0.0:test
Could not resolve all files for configuration ':app:debugRuntimeClasspath'.
Error: Process completed with exit code 1.
2026-11-22 10:00:01,123 ERROR worker: the queue `orders` is full
dial tcp 127.0.0.1:5432: connect: connection refused
terraform: Error: Unsupported argument on main.tf line 3
0/3 nodes are available: 3 Insufficient cpu.
""".strip("\n").splitlines()
# Of several lines, very short, with tabs, quotes, and other scripts.
TRIGGERS += [
    "Traceback (most recent call last):\n  File \"a.py\", line 3, in total\n    return x['a']\nKeyError: 'a'",
    "assert 5 == 6\n +  where 5 = len(items)\n\n +  and 6 is what was asked for",
    "error: linking with `cc` failed\n  = note: /usr/bin/ld: cannot find -lpq\ncollect2: error: ld returned 1",
    "OOM",
    "100%",
    "a\tb\t\tc is not a table",
    "it's \"quoted\" `and` 'more'",
    "größe überschreitet – das Maß 3 µs",
    "文件不存在: 配置",
    "C:\\Users\\ann\\x.txt is not there",
    'x = {"a": 1}',
]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with open_memory(tmp_path_factory.mktemp("triggers")) as memory:
        for number, trigger in enumerate(TRIGGERS):
            memory.failures.add(trigger, name=f"t{number}", dedup=False)
        yield memory


@pytest.mark.parametrize("runner", RUNNERS.values(), ids=RUNNERS.keys())
@pytest.mark.long
def test_every_trigger_is_found_in_a_log_that_holds_it(stored: Memory, runner: Runner) -> None:
    log, places = list[str](), dict[str, range]()
    for number, trigger in enumerate(TRIGGERS):
        log.append(f"ok {number}")
        before = len(log)
        log += "\n".join(runner(trigger.splitlines())).split("\n")
        places[f"t{number}"] = range(before + 1, len(log) + 1)
    answer = told(stored, "\n".join(log))
    lines = {name: at for name, by, at in found(answer) if by == "line"}
    missed = [trigger for number, trigger in enumerate(TRIGGERS) if f"t{number}" not in lines]
    assert not missed
    wrong = {name: at for name, at in lines.items() if not set(at) <= set(places[name])}
    assert not wrong, "and no other line is it"


def test_the_command_line_shows_the_same_line(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.failures.add("KeyError: 'price'", name="no-price")
    log = tmp_path / "log"
    log.write_text('web-1  | {"level":"error","msg":"KeyError: \'price\'"}\r\n')
    assert run(["--dir", str(tmp_path), "match", str(log)]) == 0
    assert capsys.readouterr().out.startswith("failure/no-price  line 1  [the same line]\n")


@pytest.mark.long
@pytest.mark.parametrize(
    "line",
    [
        "the request failed: KeyError: 'price'",
        "after 3 tries the worker gave up with KeyError: 'price'",
        "KeyError: 'price' was raised in the cart",
        "expected ValueError, got KeyError: 'price'",
        "no KeyError: 'price'",
        "jq: KeyError: 'price'",
        '{"level":"error","msg":"no KeyError: \'price\'","hint":"KeyError: \'price\'"}',
        "2026-11-22 10:00:00,123 ERROR app.module: the request failed: KeyError: 'price'",
        "see [the page on KeyError] KeyError: 'price'",
        "KeyError: 'price'\\",
    ],
)
def test_a_line_that_says_more_than_a_trigger_is_not_it(stored: Memory, line: str) -> None:
    assert not [hit for hit in told(stored, f"{line}\nthe next line").results if hit.by == "line"]


@pytest.mark.parametrize(
    "line",
    [
        "E",
        "\\",
        "KeyError: 'price' \\",
        "\r" * 16_000,
        'msg="E" ' * 2_000,
        'msg="E\\nE\\nE" ' * 1_000,
        'a="' * 5_000,
        '"a":"' * 3_000,
        "a" * 16_000 + '="',
        'msg="\\\\' * 3_000,
        "\x1b]" * 8_000,
        "'" * 16_000,
        "[E] " * 4_000,
        "E " * 8_000 + "E",
    ],
)
def test_no_log_takes_long(memory: Memory, line: str) -> None:
    """A line that took more than time in proportion to its length, or lines that did, would take minutes here."""
    for number, trigger in enumerate(("E\nE\nfirst", "E\n" * 50 + "E", "KeyError: 'price'", "E")):
        memory.failures.add(trigger, name=f"t{number}", dedup=False)
    began = thread_time()
    memory.match(line.encode() for _ in range(200_000 // (len(line) + 100)))
    assert within(thread_time() - began, 10.0, thread_time)


def test_a_trigger_is_found_with_a_model_too(memory_with_model: Memory) -> None:
    for number, trigger in enumerate(TRIGGERS):
        memory_with_model.failures.add(trigger, name=f"t{number}", dedup=False)
    answer = told(memory_with_model, "\n".join(TRIGGERS))
    assert {name for name, by, _ in found(answer) if by == "line"} == {f"t{number}" for number in range(len(TRIGGERS))}


@pytest.mark.parametrize(
    ("trigger", "line"),
    [
        ("AssertionError: assert 3 == 4", "E   assert 3 == 4"),
        ("E   assert 3 == 4", "AssertionError: assert 3 == 4"),
        ("FAILED tests/a.py::test_b[1]", "tests/a.py::test_b[1] FAILED      [ 50%]"),
        ("make: *** [all] Error 2", "make[2]: *** [all] Error 2"),
        ("OperationalError: database is locked", "E   sqlite3.OperationalError: database is locked"),
        ("npm ERR! code ERESOLVE", "npm error code ERESOLVE"),
        ("no required module provides package x.org/y", "main.go:3:2: no required module provides package x.org/y"),
        ("NullPointerException: s is null", 'Exception in thread "main" java.lang.NullPointerException: s is null'),
        ("\x1b[31mThe build is broken\x1b[0m", "The build is broken"),
    ],
)
def test_a_prefix_hides_no_line(memory: Memory, trigger: str, line: str) -> None:
    memory.failures.add(trigger, name="a")
    assert found(told(memory, line)) == [("a", "line", [1])]


def test_a_run_of_lines_is_found_with_what_stands_before_each_and_blank_lines_between(memory: Memory) -> None:
    memory.failures.add("first\n  second\nthird", name="run")
    memory.failures.add("first\n  second\nfourth", name="other")
    log = "x\nfirst\nfirst\n\nweb-1 | second\n2026-11-22T10:00:00Z third\nfirst\nsecond\nthird party\n"
    assert found(told(memory, log)) == [("run", "line", [6])]


@pytest.mark.parametrize(
    ("trigger", "line"),
    [
        ("ModuleNotFoundError: No module named 'sqlite_fts4'", "ModuleNotFoundError: No module named 'yaml'"),
        ("KeyError: 'price'", "KeyError: 'stock'"),
        ("the job exited with exit status 1", "the job exited with exit status 2"),
        ('sqlite3.OperationalError: near "5": syntax error', 'sqlite3.OperationalError: near "(": syntax error'),
        ("Error: Python 3.12 is required", "Error: Python 3.13 is required"),
    ],
)
def test_another_telling_token_is_another_error(memory: Memory, trigger: str, line: str) -> None:
    memory.failures.add(trigger, name="a")
    assert [hit for hit in told(memory, line).results if hit.verdict == "same"] == []


def test_any_class_of_exception_is_one(memory: Memory) -> None:
    memory.failures.add("app.errors.NoStock: the shop has none", name="a")
    assert found(told(memory, "E   NoStock: the shop has none")) == [("a", "signature", [1])]
    log = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\napp.errors.NoStock: the shop has none'
    assert found(told(memory, log)) == [("a", "line", [3])]
    memory.edit("a", {"trigger": log})
    assert found(told(memory, "tests/t.py:3: in f\nE   app.errors.NoStock: the shop has none")) == [
        ("a", "signature", [2])
    ]


def test_without_a_model_an_error_is_found_by_its_words(memory: Memory) -> None:
    memory.failures.add("the nightly backup fails with a timeout error of the disk array", name="a")
    (hit,) = told(memory, "error: timeout of the disk array in the nightly backup").results
    assert (hit.ref, hit.by) == ("failure/a", "similarity")
    assert told(memory, "error: the printer has no paper").results == []


def test_a_text_that_is_added_loses_its_colours(memory: Memory) -> None:
    made = memory.failures.add("\x1b[31mValueError\x1b[0m: no such cart", name="a", fix="\x1b[1mmake one\x1b[0m").record
    assert isinstance(made, Failure)
    assert (made.trigger, made.fix) == ("ValueError: no such cart", "make one")


def test_a_query_that_is_a_trigger_is_exact(memory: Memory) -> None:
    memory.failures.add("make: *** No rule to make target 'foo'.  Stop.", name="a")
    (hit,) = memory.query("make: *** No rule to make target 'foo'. Stop.").results
    assert hit.factors.exact == 1.0


def test_a_trigger_that_is_mostly_prefix_stays_as_it_is() -> None:
    assert bare("ERROR: 17") == "ERROR: 17"
    assert bare("[ERROR] the disk is full") == "the disk is full"
    assert list(forms("E   ValueError: x")) == ["E ValueError: x", "ValueError: x"]


PARTS = ["::", "FAILED ", "a.", "- ", "x.py:1: ", "sh: ", "A", "-1", " | ", "[ERROR] ", "'", "10:00:00 ", '="', "\\"]


@settings(deadline=1_000)
@given(st.lists(st.sampled_from(PARTS), max_size=40))
def test_no_line_takes_long(parts: list[str]) -> None:
    """A line that matched in more than linear time would hang here."""
    line = "".join(parts) * 400
    list(forms(line))
    list(messages(line))
    bare(line)


@pytest.mark.parametrize(
    "line",
    [
        "[task 2026-02-13T22:00:07.123Z] 22:00:07     INFO - {}",
        "build\tRun tests\t2026-01-02T10:00:00.1234567Z {}",
        "\x1b_bk;t=1735776000000\x07{}",
        "[worker-1] [node 17] {}",
        "10:00AM ERR {}",
        "node17: {}",
        "<some-runner v2> {}",
    ],
)
def test_a_trigger_is_found_behind_what_a_runner_that_nobody_named_puts_before_it(memory: Memory, line: str) -> None:
    memory.failures.add("the price list of the cart is empty", name="a")
    assert found(told(memory, line.format("the price list of the cart is empty"))) == [("a", "line", [1])]
    assert found(told(memory, "it says that the price list of the cart is empty")) == []


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_log_is_read_in_the_encoding_that_its_first_bytes_say(memory: Memory, encoding: str) -> None:
    memory.failures.add("ValueError: no prices", name="a")
    log = "one\r\nValueError: no prices\r\nthree\r\n".encode(encoding)
    for lines in (log.splitlines(keepends=True), *([[log]] if encoding == "utf-16" else [])):
        assert found(memory.match(lines)) == [("a", "line", [2])]
