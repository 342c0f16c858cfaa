"""What the readers of reports share: the report itself, and how the checks in it ended."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from graphmem.core.logs.output_problem import OutputProblem
from graphmem.features.harvest.check_pairs import CheckOutcome, CheckResult, CheckRun, plain_text
from graphmem.patterns import lazy_re

MOST_CHECKS = 200_000  # of one report
MOST_FAILED = 2_000  # failed checks of one report whose output is kept
NAME = 500  # characters of the name of a check
OUTPUT = 20_000  # characters of what is printed of one failed check, that are looked at
COMMIT = lazy_re(r"[0-9a-f]{7,40}")
WORSE: tuple[CheckOutcome, ...] = ("skipped", "passed", "flaky", "failed")
NO_NAME, TOO_MANY = "a check has no name", "the report has more checks than are read"
NO_REASON = "a check that failed does not say why"


class Unreadable(ValueError):
    """A report that cannot be read, and why."""


@dataclass
class CheckReport:
    """
    One report under way.

    Attributes:
        name: as the user knows it.
        at: when its file was written, in canonical form: of what the report gives no time for.
        commit: the one that it is of, where the report does not name it; empty where nobody said.
        platform: what the name says about where it ran.
        counts: the checks in it, by how they ended.
        unread: what of it could not be read, by reason.
    """

    path: Path
    name: str
    at: str
    commit: str = ""
    platform: str = ""
    counts: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)
    results: dict[str, CheckResult] = field(default_factory=dict)
    runs: dict[tuple[str, str], CheckRun] = field(default_factory=dict)
    failed: int = 0

    def run(self, at: str | None = None, commit: str = "") -> CheckRun:
        """Return a run of this report; one object for all checks of it."""
        key = at or self.at, commit or self.commit
        return self.runs.setdefault(key, CheckRun(*key, self.name))

    def add(
        self,
        name: str,
        outcome: CheckOutcome,
        run: CheckRun,
        problem: OutputProblem | None = None,
        output: str = "",
        file: str = "",
    ) -> None:
        """Take how a check ended; of one that ran more than once under one name, the worst is kept."""
        self.counts[outcome] += 1
        name = " ".join(plain_text(name).split())[:NAME]
        if not name:
            self.unread[NO_NAME] += 1
            return
        name = f"{name} ({self.platform})" if self.platform else name
        known = self.results.get(name)
        if known is None and len(self.results) >= MOST_CHECKS:
            self.unread[TOO_MANY] += 1
        elif known is None or WORSE.index(outcome) > WORSE.index(known.outcome):
            is_bad = outcome in ("failed", "flaky")
            if is_bad and problem is None:
                self.unread[NO_REASON] += 1
            self.failed += is_bad
            kept = output[:OUTPUT] if is_bad and self.failed <= MOST_FAILED else ""
            self.results[name] = CheckResult(name, outcome, run, problem, kept, file)
