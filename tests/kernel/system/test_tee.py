"""A command that is run as a child cannot tell the difference, and neither can whoever reads its output."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.constants import KEPT_FIRST_BYTES, KEPT_LAST_BYTES
from graphmem.kernel.system.tee import RetainedOutput, run
from tests.pace import patience

RUN = [
    sys.executable,
    "-c",
    "import sys; from graphmem.kernel.system.tee import run; sys.exit(run(sys.argv[1:]).status)",
]
HERE = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]
LISTENER = """
import os, signal, sys, time
def take(number, frame):
    os.write(1, b"got %d\\n" % number)
    sys.exit(7)
signal.signal(int(sys.argv[1]), take)
os.write(1, b"ready\\n")
time.sleep(60)
"""  # `print` may not be called in a handler: the signal may come while another one is under way


def python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-c", code, *arguments]


def started(command: list[str], **options: Any) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([*RUN, *command], stdout=subprocess.PIPE, env=HERE, **options)


@pytest.mark.usefixtures("capfd")
def test_the_lines_of_each_stream_are_kept_and_the_status_is_the_commands() -> None:
    code = r"import os; os.write(1, b'a\xff\0\r\n\x1b[31mb'); os.write(2, b'\n\nno end'); os._exit(9)"
    with run(python(code)) as ended:
        assert (ended.status, ended.is_interrupted, ended.is_cut) == (9, False, False)
        assert [*ended.lines()] == [b"a\xff\0\r", b"\x1b[31mb", b"", b"", b"no end"]


def test_bytes_pass_untouched(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    every = bytes(range(256)) * 1000
    with run(python("import os, sys; os.write(2, b'e'); sys.stdout.buffer.write(bytes(range(256)) * 1000)")):
        pass
    assert tuple(capfdbinary.readouterr()) == (every, b"e")


def test_a_partial_line_comes_at_once_and_standard_input_is_the_commands() -> None:
    child = started(python("print('name? ', end='', flush=True); print('hello', input())"), stdin=subprocess.PIPE)
    assert child.stdin is not None and child.stdout is not None
    assert child.stdout.read(6) == b"name? "
    out, _ = child.communicate(b"you\n", timeout=20)
    assert (out, child.returncode) == (b"hello you\n", 0)


def test_where_both_streams_are_one_file_their_order_stays() -> None:
    code = "import os\nfor n in range(500): os.write(1 + n % 2, b'%d\\n' % n)"
    out, _ = started(python(code), stderr=subprocess.STDOUT).communicate(timeout=20)
    assert out.split() == [b"%d" % n for n in range(500)]


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_reaches_the_command_which_decides_how_it_ends(number: signal.Signals) -> None:
    if signal.getsignal(number) == signal.SIG_IGN:
        pytest.skip("it is ignored here, as where nohup runs the tests, and so in every child")
    child = started(python(LISTENER, str(int(number))), start_new_session=True)
    assert child.stdout is not None and child.stdout.readline() == b"ready\n"
    child.send_signal(number)
    assert child.communicate(timeout=20)[0] == b"got %d\n" % number
    assert child.returncode == 7


def test_death_by_a_signal_is_told_as_a_shell_tells_it() -> None:
    child = started(python("import time; print(flush=True); time.sleep(60)"), start_new_session=True)
    assert child.stdout is not None and child.stdout.readline()
    child.terminate()
    child.communicate(timeout=20)
    assert child.returncode == 128 + signal.SIGTERM


def test_what_was_ignored_before_stays_ignored() -> None:
    code = "import signal; print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN)"
    done = subprocess.run(
        ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", *RUN, *python(code)],
        stdout=subprocess.PIPE,
        env=HERE,
        check=True,
    )
    assert done.stdout == b"True\n"


AT_A_TERMINAL = """
import os, pty, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.executable, sys.argv[1:])
said = b""
while b"ready" not in said:
    said += os.read(terminal, 1000)
for _ in range(25):
    os.write(terminal, b"\\x03")
    time.sleep(0.04)
while b"count" not in said:
    said += os.read(terminal, 1000)
sys.stdout.buffer.write(said)
"""
COUNTER = """
import signal, time
count = []
signal.signal(signal.SIGINT, lambda *_: count.append(1))
print("ready", flush=True)
time.sleep(1.5)
print("count", len(count), flush=True)
"""


def test_an_interrupt_from_the_terminal_comes_once() -> None:
    done = subprocess.run(python(AT_A_TERMINAL, *RUN, *python(COUNTER)), stdout=subprocess.PIPE, env=HERE, check=True)
    assert 1 <= int(done.stdout.split()[-1]) <= 25  # two that come close together may be one


def test_a_command_whose_reader_is_gone_ends_as_it_would_in_a_pipe() -> None:
    child = started(["yes"])
    assert child.stdout is not None and child.stdout.readline() == b"y\n"
    child.stdout.close()
    assert child.wait(20) == 128 + signal.SIGPIPE


@pytest.mark.long
def test_a_process_that_the_command_left_behind_holds_nobody(capfd: pytest.CaptureFixture[str]) -> None:
    begin = time.monotonic()
    with run(["sh", "-c", "sleep 20 & echo done"]) as ended:
        assert ended.status == 0
    assert time.monotonic() - begin < 10 * patience()
    assert capfd.readouterr().out == "done\n"


PEAK = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(child.pid, 0)
print(status, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024), flush=True)
os._exit(0)
"""  # in a small process: what the tests hold would count as the child's before it begins


def test_a_hundred_megabytes_take_no_memory() -> None:
    code = "import sys\nfor n in range(1_600): sys.stdout.write('x' * 63 * 1024 + '\\n')"
    done = subprocess.run(python(PEAK, *RUN, *python(code)), stdout=subprocess.PIPE, env=HERE, check=True)
    status, peak = map(int, done.stdout.split())
    assert status == 0
    assert peak < 60 * 2**20


@given(st.lists(st.binary(max_size=30).map(lambda data: data.replace(b"\0", b"\n"))))
def test_the_ends_of_a_stream_are_kept_whatever_its_pieces(pieces: list[bytes]) -> None:
    first, last = 16, 24
    kept = RetainedOutput(first, last)
    for piece in pieces:
        kept.write(piece)
    whole = b"".join(pieces)
    parts = [whole] if len(whole) <= first + last else [whole[:first], whole[-last:]]
    expected = [line for part in parts for line in (part[:-1] if part.endswith(b"\n") else part).split(b"\n") if part]
    assert [*kept.lines()] == expected
    assert kept.is_cut == (len(whole) > first + last)
    kept.file.close()


@pytest.mark.usefixtures("capfd")
def test_of_a_long_stream_the_first_and_the_last_are_kept() -> None:
    lines_too_many = 2 * (KEPT_FIRST_BYTES + KEPT_LAST_BYTES) // 80_000
    code = f"print('first')\nfor n in range({lines_too_many}): print('x' * 79_999)\nprint('last')"
    with run(python(code)) as ended:
        lines = [*ended.lines()]
    assert (lines[0], lines[-1], ended.is_cut) == (b"first", b"last", True)
    assert sum(map(len, lines)) <= KEPT_FIRST_BYTES + KEPT_LAST_BYTES
