"""What the memory says of the tests that failed, and what of those that failed before and passed now."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from graphmem.api import Memory
from graphmem.constants import PYTEST_FAILURES, PYTEST_LOCK_S
from graphmem.kernel.registry import printout
from graphmem.names import visible

if TYPE_CHECKING:
    import pytest

    Report = pytest.TestReport | pytest.CollectReport
    Named = tuple[str, Report]

TITLE = "graphmem"  # of the section


class Lookup:
    """
    Asks the memory of a project about a session of pytest.

    Args:
        project: the folder that holds ``.graphmem``.
        root: pytest's root, from which the ids of tests count.
    """

    def __init__(self, project: Path, root: Path) -> None:
        self.project, self.root = project, root

    def done(self, failed: "Sequence[Named]", settled: Sequence[str], began: float) -> list[str]:
        """
        Put what is known below the failures, report what helped, and return what was recorded.

        Args:
            failed: the names of the tests with their reports; one may fail, and fail again when it is taken down.
            settled: names of what failed before, and passed now.
            began: second since 1970 at which the session began.
        """
        with Memory(self.project, lock_timeout_s=PYTEST_LOCK_S) as memory:
            for reports in list(_by_message(failed).values())[:PYTEST_FAILURES]:
                name, first = reports[0]
                log = f"{first.longreprtext}\nFAILED {first.nodeid}\n"
                answer = memory.ran(["pytest", first.nodeid], status=1, log=log, folder=self.root, name=name)
                if section := printout("ran", answer, is_of_test=True).text:
                    for _, report in reports:
                        _add_section(report, visible(section))
            task = f"ran/{memory.store.client.new_id()}"  # one: what helped several tests is reported once
            answers = [
                memory.ran(["pytest", name], status=0, folder=self.root, name=name, task=task, began=began)
                for name in settled[:PYTEST_FAILURES]
            ]
        said = visible(printout("ran", *answers).text)
        return said.split("\n") if said else []


def _by_message(failed: "Sequence[Named]") -> "dict[str, list[Named]]":
    """Return failures by their messages: those that say the same have one cause, and are looked up once."""
    found: dict[str, list[Named]] = {}
    for name, report in failed:
        crash = getattr(report.longrepr, "reprcrash", None)
        found.setdefault(getattr(crash, "message", None) or report.longreprtext, []).append((name, report))
    return found


def _add_section(report: "Report", text: str) -> None:
    """Put a text below the traceback of a failure; one without a traceback has it beside what was captured."""
    if add := getattr(report.longrepr, "addsection", None):
        add(TITLE, text)
    else:
        report.sections.append((TITLE, text))
