"""What a program prints is bounded, and nothing that it started goes on."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graphmem.kernel.system.capture import Capture, capture
from tests.kernel.system.test_checks import is_gone
from tests.pace import within

SH = "/bin/sh"


def printed(folder: Path, script: str, *, seconds: float = 20.0, most_bytes: int = 10**6) -> Capture:
    return capture([SH, "-c", script], folder, os.environ, seconds=seconds, most_bytes=most_bytes, kept_bytes=20)


def test_both_streams_come_apart_and_all_of_the_output_comes(tmp_path: Path) -> None:
    end = printed(tmp_path, "echo a lot is said >&2; seq 100000; echo the end of it >&2; exit 3")
    assert (end.status, end.is_timed_out) == (3, False)
    assert end.output.split() == [str(number).encode() for number in range(1, 100_001)]
    assert end.errors == b"s said\nthe end of it\n"[-20:]


def test_words_are_no_shell_and_the_folder_is_the_one_that_is_named(tmp_path: Path) -> None:
    end = capture(["/bin/echo", "$HOME", "; ls"], tmp_path, {}, seconds=10, most_bytes=100, kept_bytes=100)
    assert end.output == b"$HOME ; ls\n"
    assert printed(tmp_path, "pwd").output.decode().strip() == str(tmp_path.resolve())


@pytest.mark.parametrize(("program", "status"), [("/no/such/program", 127), ("/etc/passwd", 126)])
def test_what_cannot_be_started_says_so(tmp_path: Path, program: str, status: int) -> None:
    end = capture([program], tmp_path, os.environ, seconds=10, most_bytes=100, kept_bytes=1000)
    assert end.status == status
    assert end.errors.decode().startswith(f"{program}: ")


def test_a_program_that_prints_without_end_is_ended(tmp_path: Path) -> None:
    end = printed(tmp_path, "sleep 600 & echo $! > child; yes", most_bytes=10**5)
    assert (end.status, end.is_timed_out) == (None, False)
    assert 10**5 < len(end.output) < 10**5 + 2**17
    assert is_gone(int((tmp_path / "child").read_text()))


def test_a_program_over_its_time_is_ended_with_what_it_started(tmp_path: Path) -> None:
    begin = time.monotonic()
    end = printed(tmp_path, "sleep 600 & echo $! > child; exec >&- 2>&-; wait", seconds=0.5)
    assert (end.status, end.is_timed_out) == (None, True)
    assert within(time.monotonic() - begin, 20)
    assert is_gone(int((tmp_path / "child").read_text()))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives a process its orphans")
def test_a_grandchild_in_a_session_of_its_own_ends_with_the_program(tmp_path: Path) -> None:
    script = "setsid sh -c 'echo $$ > child; exec sleep 600' & while ! [ -s child ]; do sleep 0.05; done; echo done"
    end = printed(tmp_path, script)
    assert (end.status, end.output) == (0, b"done\n")
    assert is_gone(int((tmp_path / "child").read_text()))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process of the end of its parent")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_what_graphmem_runs_ends_with_graphmem(tmp_path: Path, number: signal.Signals) -> None:
    """Ctrl-C ends the process at once: nothing that it started would look at its time any more."""
    call = (
        f"capture(['{SH}', '-c', 'echo $$ > child; sleep 600'], Path(), {{}}, seconds=600, most_bytes=1, kept_bytes=1)"
    )
    code = f"from pathlib import Path; from graphmem.kernel.system.capture import capture; {call}"
    started = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stderr=subprocess.DEVNULL)
    while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text():
        time.sleep(0.02)
    started.send_signal(number)
    started.wait(20)
    assert is_gone(int((tmp_path / "child").read_text()))
