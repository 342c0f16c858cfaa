"""What the memory says of a session of pytest at its end; nothing is done for a test, and little where all pass."""

import os
import time
import warnings
from pathlib import Path

import pytest

from graphmem.doors.service.place import STORE, project_of, store_of
from graphmem.errors import GraphmemError, Unavailable
from graphmem.names import one_line, run_key

TICK_S = 0.01  # by which the times of files may be behind the clock


class Outcomes:
    """A plugin that asks the memory when the session ends; the terminal reporter has what failed and what passed."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.root = str(config.rootpath)
        self.project = project_of([], self.root, os.environ)  # before a test changes either
        place = os.path.relpath(self.root, self.project or self.root)
        is_above = place == "." or place.startswith("..")  # the latter where the memory is in a server
        self.place = "" if is_above else f"{place}/"
        self.began = time.time() - TICK_S
        self.lines: list[str] = []
        self.is_interrupted = False

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Note that the user ended the session; pytest ends it this way too, after an error of collection."""
        self.is_interrupted = excinfo.type is KeyboardInterrupt

    @pytest.hookimpl(trylast=True)  # after others have written their files, and before the failures are printed
    def pytest_sessionfinish(self) -> None:
        """Ask the memory; whatever goes wrong is a line, never the status of the session."""
        if self.is_interrupted:  # then it is unknown how it would have ended
            return
        try:
            with warnings.catch_warnings():  # the project may turn warnings into errors; those are not of its code
                warnings.simplefilter("ignore")
                self.lines = self.asked()
        except (Exception, KeyboardInterrupt) as error:  # the boundary of a front end
            message = error.message if isinstance(error, GraphmemError) else f"{type(error).__name__}: {error}"
            self.lines = [f"the memory was not asked: {one_line(message)}"]

    def pytest_terminal_summary(self, terminalreporter: "pytest.TerminalReporter") -> None:
        """Print what was recorded."""
        if self.lines:
            terminalreporter.write_sep("=", "graphmem")
        for line in self.lines:
            terminalreporter.write_line(line)

    def reports(self, *outcomes: str) -> list["pytest.TestReport | pytest.CollectReport"]:
        """Return the reports with these outcomes; none where pytest prints nothing."""
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        return [report for name in outcomes for report in (reporter.stats.get(name, ()) if reporter else ())]

    def asked(self) -> list[str]:
        """Show what is known of the failures, settle those before a pass, and return what was recorded."""
        if self.project is None:
            raise Unavailable(f"there is no {STORE} folder at or above {self.root!r}")
        failed = self.reports("failed", "error")
        failing = {self.name_of(report.nodeid) for report in failed}
        settled = [name for name in self.waiting() if name not in failing]
        failed = failed if self.config.getoption("tbstyle", "auto") != "no" else []  # then no fix is shown
        if not failed and not settled:
            return []
        from graphmem.doors.pytest_plugin.lookup import Lookup  # noqa: PLC0415 - 0.3 s that a session that passes saves

        return Lookup(Path(self.project), Path(self.root)).done(
            [(self.name_of(report.nodeid), report) for report in failed], settled, self.began
        )

    def name_of(self, nodeid: str) -> str:
        """Return the name of a test for runs of it: its id, with its path below the project."""
        return f"{self.place}{nodeid}"

    def waiting(self) -> list[str]:
        """Return the names of what passed and failed before; a module that has a test that passed was collected."""
        assert self.project is not None
        path = Path(store_of(self.project) or "", "state", "state.db")
        keys = dict[str, bytes]()
        if os.path.lexists(path):
            from graphmem.kernel.machine.state import State  # noqa: PLC0415 - not for a project without

            keys = State(path, _unread).read_all("ran", bytes)
        passed = [report.nodeid for report in self.reports("passed")] if keys else []
        passed += dict.fromkeys(nodeid.partition("::")[0] for nodeid in passed)
        return [name for name in map(self.name_of, passed) if run_key(None, name) in keys]


def _unread(why: str) -> None:
    """Raise ``Unavailable``: what failed before is not known."""
    raise Unavailable(why)
