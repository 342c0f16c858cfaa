"""Commands that check something: bounded in time and output, and nothing of them goes on."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from graphmem.kernel.system.checks import CheckEnd, run_all
from tests.pace import within


def ended(folder: Path, *commands: str, seconds: float = 10.0, at_once: int = 4) -> list[CheckEnd]:
    return run_all(commands, folder, os.environ, at_once=at_once, seconds=seconds, kept_bytes=100)


@pytest.mark.parametrize(
    ("command", "status", "could_run"),
    [
        ("true", 0, True),
        ("exit 3", 3, True),
        ("kill -9 $$", 137, True),
        ("no-such-program-anywhere", 127, False),
        ("/etc/passwd", 126, False),
    ],
)
def test_a_command_ends_with_its_status(tmp_path: Path, command: str, status: int, could_run: bool) -> None:
    (end,) = ended(tmp_path, command)
    assert (end.status, end.could_run, end.is_timed_out) == (status, could_run, False)


def test_a_command_runs_in_the_folder_and_only_the_end_of_its_output_is_kept(tmp_path: Path) -> None:
    (tmp_path / "here").touch()
    (end,) = ended(tmp_path, "yes x | head -c 300000; ls; echo oops >&2")
    assert end.tail.endswith("here\noops\n")
    assert len(end.tail) == 100


def test_a_command_that_hangs_is_killed_with_its_children(tmp_path: Path) -> None:
    begin = time.monotonic()
    (end,) = ended(tmp_path, "sleep 600 & echo $! > child; sleep 600", seconds=0.5)
    assert end.is_timed_out
    assert end.could_run
    assert within(time.monotonic() - begin, 20)
    assert is_gone(int((tmp_path / "child").read_text()))


def test_what_a_command_leaves_running_is_killed_and_not_waited_for(tmp_path: Path) -> None:
    (end,) = ended(tmp_path, "sleep 600 & echo $! > child; echo done", seconds=60)
    assert (end.status, end.tail) == (0, "done\n")
    assert end.seconds < 20
    assert is_gone(int((tmp_path / "child").read_text()))


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives a process its orphans")
@pytest.mark.parametrize("rest", ["true", "sleep 600"])
@pytest.mark.parametrize(
    "leaves",
    ["setsid sh -c 'echo $$ > child; exec sleep 600'", "env -i setsid setsid sh -c 'echo $$ > child; sleep 600'"],
)
def test_what_leaves_its_session_does_not_outlive_the_command(tmp_path: Path, leaves: str, rest: str) -> None:
    (done,) = ended(tmp_path, f"{leaves} >/dev/null 2>&1 & while ! [ -s child ]; do sleep 0.1; done; {rest}", seconds=3)
    assert done.is_timed_out == (rest != "true")
    assert is_gone(int((tmp_path / "child").read_text()))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists the environments of processes")
@pytest.mark.parametrize(
    "kills",
    [
        "kill -9 $PPID",
        "kill -9 $PPID & kill -9 $PPID",
        "(sleep 0.3; kill -9 $PPID) & true",
        "kill -9 $(cut -d' ' -f4 /proc/$PPID/stat)",
    ],
)
@pytest.mark.parametrize(
    "leaves",
    [
        "sh -c 'echo $$ > child; exec sleep 600'",
        "setsid sh -c 'echo $$ > child; sleep 600'",
        "env -i setsid /bin/sh -c 'echo $$ > child; exec sleep 600'",
        "(env -i setsid setsid /bin/sh -c '(echo $PPID >/dev/null; exec sleep 600) & echo $! > child' &)",
    ],
)
def test_what_kills_its_reaper_does_not_outlive_it(tmp_path: Path, leaves: str, kills: str) -> None:
    line = f"{leaves} >/dev/null 2>&1 & while ! [ -s child ]; do sleep 0.1; done; {kills}; sleep 600"
    (done,) = ended(tmp_path, line, seconds=5)
    assert (done.status, done.is_timed_out) in ((137, False), (None, True))
    assert is_gone(int((tmp_path / "child").read_text()))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists the environments of processes")
def test_what_kills_both_reapers_does_not_outlive_them_where_it_kept_a_variable(tmp_path: Path) -> None:
    leaves = "setsid sh -c 'echo $$ > child; sleep 600' >/dev/null 2>&1 & while ! [ -s child ]; do sleep 0.1; done"
    ended(tmp_path, f"{leaves}; kill -9 $(cut -d' ' -f4 /proc/$PPID/stat) $PPID; sleep 600", seconds=5)
    assert is_gone(int((tmp_path / "child").read_text()))


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_a_command_can_be_interrupted_where_graphmem_ignores_it(tmp_path: Path) -> None:
    """As a shell leaves it for what it starts with ``&``; a test of the command may interrupt a child and wait."""
    was = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        (done,) = ended(tmp_path, "sleep 60 & kill -INT $$; wait", seconds=10)
    finally:
        signal.signal(signal.SIGINT, was)
    assert (done.status, done.is_timed_out) == (130, False)


def test_a_command_gets_the_environment_as_it_is_but_for_tokens(tmp_path: Path) -> None:
    given = {"A": "1", "GRAPHMEM_HTTP_TOKEN": "x", "GRAPHMEM_HTTP_TOKEN_WIKI": "y", "GRAPHMEM_HTTP_READ_TOKEN": "z"}
    (done,) = run_all(["env"], tmp_path, given, at_once=1, seconds=10, kept_bytes=1000)
    of_shell = ("PWD=", "_=", "SHLVL=", "OLDPWD=", "_GRAPHMEM_CHECK=")
    assert [line for line in done.tail.splitlines() if not line.startswith(of_shell)] == ["A=1"]


def test_a_command_that_stops_its_parent_or_ends_its_group_is_ended_too(tmp_path: Path) -> None:
    stopped, killed = ended(tmp_path, "kill -STOP $PPID; echo $$ > child; sleep 600", "kill -9 0", seconds=1)
    assert (stopped.is_timed_out, killed.status) == (True, 137)
    assert is_gone(int((tmp_path / "child").read_text()))


def test_a_command_that_closes_its_output_and_hangs_is_timed_out(tmp_path: Path) -> None:
    (end,) = ended(tmp_path, "exec >&- 2>&-; sleep 600", seconds=0.5)
    assert end.is_timed_out


def test_some_run_at_the_same_time_and_come_back_in_their_order(tmp_path: Path) -> None:
    found = ended(tmp_path, *(f"echo {number}; touch s{number}; while [ $(ls | grep -c s) -lt 2 ]; do sleep 0.05; done"
                              for number in range(4)), at_once=2)  # fmt: skip
    assert [end.tail for end in found] == ["0\n", "1\n", "2\n", "3\n"]
    assert {end.status for end in found} == {0}


def is_gone(pid: int) -> bool:
    """Return whether a process has ended, or ends within some seconds."""
    for _ in range(200):
        try:
            if Path(f"/proc/{pid}/stat").read_text().split(")")[-1].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.05)
    return False
