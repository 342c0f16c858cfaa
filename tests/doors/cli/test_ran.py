"""``ran``: the output and the status are the command's, what graphmem says comes after it on standard error."""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.doors.cli.app import run
from tests.sample import data, state_of

FAILS = ["ran", "--", "sh", "-c", "echo out; echo 'Error: EADDRINUSE :80' >&2; exit ${STATUS:-3}"]
FULL = [">/dev/full"] if Path("/dev/full").exists() else []  # not on macOS
SHOWN = """\
Error: EADDRINUSE :80
graphmem: 1 known failure
failure/port  [its expression]
    > Error: EADDRINUSE :80
    fix: free it
"""


@pytest.fixture(autouse=True)
def _a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    Memory.init(tmp_path)
    with Memory(tmp_path) as memory:
        memory.failures.add("port taken", name="port", match="EADDRINUSE", fix="free it")


def test_fixes_are_shown_after_a_failure_and_a_pass_says_that_they_helped(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert run(FAILS) == 3
    assert tuple(capfd.readouterr()) == ("out\n", SHOWN)
    assert run(FAILS) == 3
    hint = "the same as before; to say that a fix does not help: graphmem feedback failure/port --failed\n"
    assert tuple(capfd.readouterr()) == ("out\n", SHOWN + hint)
    monkeypatch.setenv("STATUS", "0")
    (tmp_path / "fixed.py").touch()
    time.sleep(0.02)  # what was written a moment before a run is its own
    assert run(FAILS) == 0
    said = "graphmem: recorded as having helped: failure/port\n"
    assert tuple(capfd.readouterr()) == ("out\n", f"Error: EADDRINUSE :80\n{said}")
    assert run(FAILS) == 0
    assert tuple(capfd.readouterr()) == ("out\n", "Error: EADDRINUSE :80\n")
    assert len(data(tmp_path, "feedback").read_bytes().splitlines()) == 1


def test_a_failure_that_is_only_alike_is_not_called_known(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("GRAPHMEM_EMBEDDING_MODEL")  # it is found by its meaning
    trigger = "AssertionError: assert b'{\"a\":1}' == b'{\"a\": 1}'"
    assert run(["add", "failure", "--trigger", trigger, "--name", "json", "--fix", "compare parsed JSON"]) == 0
    capfd.readouterr()
    other = "E   AssertionError: assert {'name': 'x', 'id': 3} == {'name': 'y', 'id': 3}"
    assert run(["ran", "--", "sh", "-c", f"echo {shlex.quote(other)}; exit 1"]) == 1
    said = capfd.readouterr().err
    assert said.startswith("graphmem: no known failure\n") and "failure/json" not in said


def test_the_offer_can_be_pasted_into_a_shell(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    error = "ValueError: it's $HOME `id` \x1b[2J\x9b\u202e gone"
    command = [
        "ran",
        "--",
        sys.executable,
        "-c",
        f"import os; os.path.exists('ok') or os.write(2, {error.encode()!r}) and exit(1)",
    ]
    assert run(command) == 1
    (tmp_path / "ok").touch()
    capfd.readouterr()
    time.sleep(0.02)
    assert run(command) == 0
    _, said = capfd.readouterr()
    first, offer = said.splitlines()
    assert first == "graphmem: what failed before passes now; to remember what fixed it:"
    assert not set(said) & {"\x1b", "\x9b", "\u202e"}
    words = shlex.split(offer)
    assert words[:4] == ["graphmem", "add", "failure", "--trigger"]
    assert words[4].startswith("ValueError: it's $HOME `id`") and words[5:] == ["--symptom", "…", "--fix", "…"]
    assert run(words[1:]) == 3  # nothing was put in the place of the …
    assert run([word.replace("…", "it was empty") for word in words[1:]]) == 0


def test_a_command_that_passes_with_nothing_changed_is_flaky(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """It writes beside what it tests, which is no cause."""
    command = ["ran", "--", "sh", "-c", "test -e ran && rm ran || { touch ran; echo 'Error: EADDRINUSE :80'; exit 1; }"]
    assert run(command) == 1
    capfd.readouterr()
    assert run(command) == 0
    first, mark = capfd.readouterr().err.splitlines()
    assert first == "graphmem: passed again with nothing changed: flaky, so no fix is credited"
    assert mark == "    to mark it: graphmem edit failure/port --flaky"
    assert not data(tmp_path, "feedback").exists()
    assert run(shlex.split(mark)[4:]) == 0


def test_json_is_one_line_on_standard_error_and_quiet_is_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["--json", *FAILS]) == 3
    out, err = capfd.readouterr()
    assert out == "out\n"
    answer = json.loads(err.splitlines()[-1])
    assert (answer["status"], answer["log"]["results"][0]["ref"]) == (3, "failure/port")
    assert run(["ran", "-q", *FAILS[2:]]) == 3
    assert capfd.readouterr().err == "Error: EADDRINUSE :80\n"


def test_what_is_said_begins_on_a_line_of_its_own(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["ran", "sh", "-c", "printf 'no end' >&2; exit 1"]) == 1
    assert capfd.readouterr().err == "no end\ngraphmem: no known failure\n"


def test_options_after_the_command_are_its_own(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["ran", "echo", "--json", "-q", "--name", "x"]) == 0
    assert capfd.readouterr().out == "--json -q --name x\n"


@pytest.mark.parametrize(
    ("command", "status", "reason"),
    [("no-such-command", 127, "no such file or directory"), ("./plain", 126, "permission denied")],
)
def test_a_command_that_cannot_be_started_is_told_as_by_a_shell(
    command: str, status: int, reason: str, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "plain").write_text("exit 0\n")
    assert run(["ran", command]) == status
    assert tuple(capfd.readouterr()) == ("", f"error: {command!r} cannot be run: {reason}\n")


def no_store(folder: Path) -> str:
    (folder / ".graphmem").rename(folder / "elsewhere")
    return "no .graphmem folder"


def damaged(folder: Path) -> str:
    (folder / ".graphmem" / "config.toml").write_text("format = [")
    return "config.toml"


def read_only_state(folder: Path) -> str:
    shutil.rmtree(folder / ".graphmem" / "state")
    (folder / ".graphmem" / "state").write_text("")
    return "state"


@pytest.mark.parametrize("trouble", [no_store, damaged, read_only_state])
@pytest.mark.parametrize("status", ["0", "3"])
def test_whatever_ails_the_store_the_command_runs_and_its_status_is_passed_on(
    trouble: object, status: str, capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(trouble)
    word = trouble(tmp_path)
    monkeypatch.setenv("STATUS", status)
    assert run(FAILS) == int(status)
    out, err = capfd.readouterr()
    said = err.removeprefix("Error: EADDRINUSE :80\n")
    assert out == "out\n"
    assert "Traceback" not in said
    if trouble is read_only_state:  # what is known is shown, and the run is kept in the user's cache
        assert said == "" if status == "0" else "failure/port" in said
        assert "not kept" not in said
        with Memory(tmp_path) as memory:
            assert memory.store.client.layout.private is not None
            assert (status == "3") is bool(memory.store.client.state.read_all("ran", bytes))
        return
    if trouble is damaged:  # the defaults hold, and what is known is shown
        assert word in said and ("failure/port" in said) is (status == "3")
        return
    assert said.count("\n") <= 1
    assert said == "" or (said.startswith("graphmem: nothing was recorded: ") and word in said)
    assert said


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-", *FULL])
@pytest.mark.slow
def test_a_closed_or_full_stream_does_not_change_the_status(closed: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f'"$@" {closed}', "sh", sys.executable, "-m", "graphmem", "ran", "--", "sh", "-c", "exit 4"],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        check=False,
    )
    assert done.returncode == 4
    assert b"Traceback" not in done.stderr


def test_a_run_that_was_told_to_stop_says_nothing_about_the_memory(tmp_path: Path) -> None:
    code = "echo EADDRINUSE; echo ready; kill -TERM $PPID; sleep 20"
    done = subprocess.run(
        [sys.executable, "-m", "graphmem", "ran", "--", "sh", "-c", code],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        timeout=15,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (143, b"EADDRINUSE\nready\n", b"")
    assert state_of(tmp_path).read_all("ran", bytes) == {}
