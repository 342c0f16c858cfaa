"""Errors of the command line: words, hints, exit statuses, and one document with ``--json``."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.doors.cli.app import command_line, run, without_memory
from graphmem.doors.cli.help import help_of
from graphmem.doors.cli.verbs import VERBS

ROOT = Path(__file__).parents[3]
QUERY = (
    "such as: graphmem query \"ModuleNotFoundError: No module named 'pkg_resources'\" --explain;"
    " see: graphmem query --help"
)


@pytest.fixture(autouse=True)
def _a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    Memory.init(tmp_path)


@pytest.mark.parametrize(
    ("typed", "status", "message", "hint"),
    [
        ("querry x", 2, "no command 'querry' in graphmem", "did you mean query?"),
        ("add failur", 2, "no command 'failur' in graphmem add", "did you mean failure?"),
        ("campaign zzz", 2, "no command 'zzz' in graphmem campaign", "see: graphmem campaign --help"),
        ("list --limt 3", 2, "no such option: --limt", "did you mean --limit?"),
        (
            "query --- x",
            2,
            "no such option: ---",
            "a text that begins with - goes after a -- of its own; see: graphmem query --help",
        ),
        (
            "query one two",
            2,
            "unexpected argument: two",
            "a text of several words needs quotes; see: graphmem query --help",
        ),
        (
            "session prefer 'short answers'",
            2,
            "unexpected argument: short answers",
            "it takes options only; see: graphmem session prefer --help",
        ),
        ("get a 'b c'", 2, "unexpected argument: b c", "it takes REF; see: graphmem get --help"),
        ("supersede --dry-run a b", 2, "no such option: --dry-run", "graphmem undo takes it back"),
        (
            "status --at HEAD",
            2,
            "no such option: --at",
            "only what is answered from the files of a commit takes it, such as: graphmem list --at COMMIT",
        ),
        ("get a --colour", 2, "no such option: --colour", "see: graphmem get --help"),
        ("version", 2, "no command 'version' in graphmem", "did you mean --version?"),
        ("query", 2, "missing argument 'TEXT'", QUERY),
        ("list --limit q", 2, "--limit is 'q'", "a whole number"),
        ("list --limit=-1", 2, "--limit -1 is out of bounds", "at least 0"),
        ("--lock-timeout x list", 2, "--lock-timeout is 'x'", "a number"),
        ("related x --max-hops 9", 2, "--max-hops 9 is out of bounds", "from 1 to 6"),
        ("related x --min-strength nan", 2, "--min-strength nan is out of bounds", "at least 0"),
        (
            "context x --tier critcal",
            2,
            "unknown --tier 'critcal'",
            "one of: critical, productive, exploration, background",
        ),
        ("prune --min-importance inf", 2, "--min-importance is inf", "a finite number"),
        ("related x --direction up", 2, "--direction is 'up'", "one of: out, in, both"),
        *(
            (
                f"cypher --timeout {given} RETURN+1",
                2,
                f"--timeout {shown} is out of bounds",
                "above 0, at most 3,600",
            )
            for given, shown in (("0", "0"), ("1e300", "1e+300"), ("nan", "nan"), ("inf", "inf"), ("-1", "-1"))
        ),
        ("cypher", 2, "give a query, or --named NAME", "see: graphmem cypher --list"),
        (
            "feedback x",
            2,
            "say which memory, and whether it helped",
            "graphmem feedback REF --helped, or --failed, or --wrong --note TEXT; not both",
        ),
        (
            "feedback x --helped --failed",
            2,
            "say which memory, and whether it helped",
            "graphmem feedback REF --helped, or --failed, or --wrong --note TEXT; not both",
        ),
        ("edit x", 2, "nothing to change", "give a field, such as --fix TEXT, or --unset FIELD"),
        ("export --check --to x", 2, "--check writes nothing, --to writes a copy", "give one of them"),
        ("campaign complete x --status done", 2, "--status is 'done'", "one of: complete, partial, failed"),
        ("get nothing", 1, "nothing is named 'nothing'", "see: graphmem list"),
        ("add --ndjson nothing", 1, "file 'nothing' is not there", None),
        ("add --ndjson .", 4, "'.' cannot be read: is a directory", None),
        ("list --dir nowhere", 4, "'nowhere' holds no .graphmem folder", "make one with: graphmem init"),
        (
            "add entity clas x",
            3,
            "entity type 'clas' is not declared",
            "declare it with: graphmem type add entity clas",
        ),
        ("demo", 3, "…has a .graphmem already", "take an empty folder: graphmem demo FOLDER"),
    ],
)
def test_an_error_says_what_is_wrong_and_what_would_be_right(
    capsys: pytest.CaptureFixture[str], typed: str, status: int, message: str, hint: str | None
) -> None:
    assert run(shlex.split(typed)) == status
    out, err = capsys.readouterr()
    said = err.splitlines()
    assert out == ""
    assert said[0].startswith("error: ") and said[0].endswith(message.removeprefix("…"))
    assert said[1:] == ([f"hint: {hint}"] if hint else [])
    assert run(["--json", *shlex.split(typed)]) == status
    error = json.loads(capsys.readouterr().err)["error"]
    assert error["message"].endswith(message.removeprefix("…")) and error["hint"] == hint
    assert error["code"] in ("usage", "not_found", "unavailable", "refused", "bad_input")


def test_a_usage_error_is_one_document_also_where_the_option_stands_last(capsys: pytest.CaptureFixture[str]) -> None:
    for typed in (["query", "--json"], ["list", "--limt", "3", "--json"], ["quer", "--json"], ["add", "--json"]):
        assert run(typed) == 2
        assert json.loads(capsys.readouterr().err)["error"]["code"] == "usage"


def test_after_two_dashes_nothing_is_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["get", "--", "--json"]) == 1
    assert capsys.readouterr().err.startswith("error: nothing is named '--json'")


def test_what_is_said_beside_an_error_is_in_its_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / ".graphmem" / "config.toml").write_text("format = 99\n")
    assert run(["add", "failure", "--trigger", "x", "--json"]) == 3
    error = json.loads(capsys.readouterr().err)["error"]
    assert error["details"]["notes"] == [
        "graphmem: the store has format 99, newer than this graphmem's 1: reading only"
    ]


def test_bytes_that_are_no_text_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["query", "a\udcff"]) == 2
    assert capsys.readouterr().err == "error: argument 'a\\udcff' is not text: it holds bytes that are not UTF-8\n"
    assert run(["--json", "query", "a\udcff"]) == 2
    assert json.loads(capsys.readouterr().err)["error"]["code"] == "usage"


def test_a_group_without_a_command_shows_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    for typed in (["campaign"], ["type", "add"]):
        assert run(typed) == 2
        out, err = capsys.readouterr()
        assert out == "" and err.startswith(f"Usage: {' '.join(['graphmem', *typed])} ")


def test_no_command_shows_where_you_are_and_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run([]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"store: {tmp_path}, 0 records")
    assert err.startswith("graphmem: all commands: graphmem --help\n")
    monkeypatch.chdir(tmp_path.parent)
    assert run([]) == 0
    out, err = capsys.readouterr()
    assert "    graphmem init     make one for this project\n" in out
    assert err == ""


def every_command() -> list[tuple[str, object]]:
    """Return every command by the words it is called with."""
    root = command_line()
    found: list[tuple[str, object]] = []

    def walk(command: object, path: str) -> None:
        below = getattr(command, "commands", {})
        if not below:
            found.append((path, command))
        for name, child in below.items():
            walk(child, f"{path} {name}")

    for name in VERBS:
        walk(root.get_command(None, name), f"graphmem {name}")
    return found


def test_every_command_has_help_with_an_example_that_calls_it() -> None:
    for path, command in every_command():
        text = help_of(command, path)
        assert f"\nExample:\n  {path}" in text, path
        assert max(map(len, text.partition("Example:")[0].splitlines())) <= 80, path
        for param in command.params:  # type: ignore[attr-defined]
            assert param.help, f"{path}: {param.name} has no help"


def graphmem(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line as a process of its own."""
    given = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(
        [sys.executable, "-m", "graphmem", *arguments], env=given, capture_output=True, text=True, check=False
    )


def test_a_closed_standard_input_is_an_error_in_words() -> None:
    line = f'"{sys.executable}" -m graphmem add --ndjson - <&-'
    given = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["sh", "-c", line], env=given, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.splitlines()[0]) == (2, "error: standard input is closed")


def test_a_read_only_store_is_read(tmp_path: Path) -> None:
    """Root may write anywhere, so for root there is nothing to see."""
    if os.geteuid() == 0:
        pytest.skip("root writes anywhere")
    assert run(["add", "failure", "--trigger", "x"]) == 0
    (tmp_path / ".graphmem").chmod(0o555)
    try:
        assert run(["list"]) == 0
        assert run(["add", "failure", "--trigger", "y"]) == 4
    finally:
        (tmp_path / ".graphmem").chmod(0o755)


def test_help_is_the_same_on_every_terminal() -> None:
    narrow, wide = graphmem("--help", COLUMNS="80"), graphmem("--help", COLUMNS="200")
    assert narrow.stdout == wide.stdout != ""
    assert narrow.stderr == ""


@pytest.mark.long
def test_a_reader_that_has_read_enough_is_no_error(tmp_path: Path) -> None:
    rows = "".join(f'{{"kind":"failure","name":"f{n}","trigger":"{"long " * 100}{n}"}}\n' for n in range(500))
    (tmp_path / "rows.ndjson").write_text(rows)
    assert run(["add", "--ndjson", "rows.ndjson"]) == 0
    for command in ("list --json", "list", "--help"):
        line = f'"{sys.executable}" -m graphmem {command} | head -c 1 >/dev/null; exit $((${{PIPESTATUS[0]}}))'
        done = subprocess.run(
            ["bash", "-c", line],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), command


@pytest.mark.long
def test_the_shell_completes_commands_options_and_references() -> None:
    assert run(["add", "failure", "--name", "no-yaml", "--trigger", "ImportError"]) == 0

    def completed(line: str) -> list[str]:
        words = {"_GRAPHMEM_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
        done = graphmem(**words)
        assert done.stderr == ""  # it would be in the prompt
        return done.stdout.split()

    assert completed("graphmem qu") == ["query"]
    assert completed("graphmem list --li") == ["--limit"]
    assert completed("graphmem get failure/") == ["failure/no-yaml"]
    assert completed("graphmem get no") == ["no-yaml"]
    assert completed("graphmem link no-yaml so") == ["solves"]
    assert completed("graphmem cypher --named failure/u") == ["failure/unsolved"]


def test_no_terminal_gets_an_escape_sequence_it_did_not_ask_for() -> None:
    done = graphmem("stats", NO_COLOR="1", TERM="xterm-256color", FORCE_COLOR="1")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("error", "what"),
    [
        (RuntimeError("can't start new thread"), "another thread"),
        (ImportError("libffi.so.8: failed to map segment from shared object"), "another library"),
        (SystemError("error return without exception set"), "what a library does"),
        (RuntimeError("a bug"), None),
        (ImportError("no module named x"), None),
        (SystemError("another one"), None),
    ],
)
def test_a_library_without_memory_is_no_fault_of_graphmem(error: Exception, what: str | None) -> None:
    assert without_memory(error) == what
