"""Who waits longer than a moment sees on a terminal that a command, or the service that runs it, is at work."""

import socket
import threading
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.doors.cli import caller
from graphmem.doors.cli.app import run
from graphmem.doors.service.caller import wait_for


@pytest.mark.in_this_process
def test_a_command_that_takes_long_shows_that_it_is_at_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Memory.init(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run(["validate"]) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(caller, "SILENT_S", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    for command in (["validate"], ["stats"]):
        assert run(command) == 0
        assert command[0] in capsys.readouterr().err
    assert run(["stats", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_a_caller_shows_that_the_service_is_at_work_until_it_answers(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphmem.doors.service.caller.SILENT_S", 0.1)
    here, there = socket.socketpair()
    with here, there:
        for is_terminal, shown in ((False, ""), (True, "graphmem: the service is at work\r\x1b[K")):
            monkeypatch.setattr("sys.stderr.isatty", lambda is_terminal=is_terminal: is_terminal)
            timer = threading.Timer(0.5, there.sendall, (b"x",))
            timer.start()
            wait_for(here)
            timer.join()
            assert here.recv(1) == b"x"
            assert capfd.readouterr().err == shown
            there.sendall(b"x")  # an answer that is there at once
            wait_for(here)
            assert here.recv(1) == b"x"
            assert capfd.readouterr().err == ""
