"""The log that `pytest --report-log` writes: a JSON object a line, in the order in which the tests ended."""

from collections.abc import Mapping
from typing import Any

from graphmem.core.foreign.reading import time_of
from graphmem.features.harvest.check_pairs import plain_text, problem_in_test
from graphmem.features.harvest.reports.report import OUTPUT, CheckReport
from graphmem.features.harvest.transcripts.session import rows, text_of, time_text

NOT_OVER = "the run was cut off"
MOST_ENTRIES = 50  # of a traceback


class ReportLogReader:
    """Reads one log: a test fails if one of its phases does, and passes if it was called and none does."""

    def __init__(self, report: CheckReport) -> None:
        self.report = report
        self.at: str | None = None
        self.reran = dict[str, Mapping[str, Any]]()  # of tests that were run again: how they failed
        self.called = dict[str, str]()  # tests that are under way: their outcome so far

    def read(self) -> None:
        """Read the file of the report."""
        is_over = False
        for row in rows(self.report.path, self.report.unread):
            match text_of(row, "$report_type"):
                case "TestReport":
                    self.take(row)
                case "CollectReport" if row.get("outcome") == "failed":
                    self.failed(text_of(row, "nodeid"), row)
                case "SessionFinish":
                    is_over = True
        if not is_over:
            self.report.unread[NOT_OVER] += 1

    def take(self, row: Mapping[str, Any]) -> None:
        """Take one phase of a test: ``setup``, ``call`` or ``teardown``."""
        name, when, outcome = (text_of(row, field) for field in ("nodeid", "when", "outcome"))
        self.at = self.at or time_of(time_text(row.get("start")))
        if outcome == "rerun":
            self.reran.setdefault(name, row)
        elif outcome == "failed":
            if self.called.get(name) != "failed":
                self.failed(name, row)
            self.called[name] = "failed"
        elif when == "call" or outcome == "skipped":
            self.called[name] = outcome
        if when == "teardown" and name in self.called:
            self.ended(name)

    def ended(self, name: str) -> None:
        """Take a test whose last phase is over."""
        outcome, again = self.called.pop(name), self.reran.pop(name, None)
        if outcome == "passed" and again is not None:
            self.failed(name, again, is_flaky=True)
        elif outcome in ("passed", "skipped"):
            self.report.add(name, "passed" if outcome == "passed" else "skipped", self.report.run(self.at))

    def failed(self, name: str, row: Mapping[str, Any], *, is_flaky: bool = False) -> None:
        """Take a phase of a test, or the collection of a file, that failed."""
        path, _, test = name.partition("::")
        *classes, title = test.split("::") if test else [path]
        text = plain_text(_printed(row.get("longrepr")))
        problem = problem_in_test(".".join(classes), title, "", text, path)
        self.report.add(name, "flaky" if is_flaky else "failed", self.report.run(self.at), problem, text, path)


def _printed(shown: object) -> str:
    """Return what pytest prints of a failure, from the form that the log has of it."""
    if isinstance(shown, str):
        return shown[:OUTPUT]
    if not isinstance(shown, Mapping):
        return ""
    crash, trace = (
        value if isinstance(value := shown.get(name), Mapping) else {} for name in ("reprcrash", "reprtraceback")
    )
    entries = trace.get("reprentries")
    lines = list[str]()
    for entry in entries[-MOST_ENTRIES:] if isinstance(entries, list) else ():
        held = entry.get("data") if isinstance(entry, Mapping) else None
        said = held.get("lines") if isinstance(held, Mapping) else None
        place = held.get("reprfileloc") if isinstance(held, Mapping) else None
        frame = ""
        if isinstance(place, Mapping):
            frame = f"{text_of(place, 'path')}:{place.get('lineno')}: {text_of(place, 'message')}"
        code = [line for line in said if isinstance(line, str)] if isinstance(said, list) else []
        is_short = isinstance(held, Mapping) and held.get("style") == "short"  # the place is before the code
        lines += filter(None, [frame, *code] if is_short else [*code, frame])
    return "\n".join(lines)[:OUTPUT] or text_of(crash, "message")[:OUTPUT]


def read(report: CheckReport) -> None:
    """Read a report log of pytest."""
    ReportLogReader(report).read()
