"""What a run of tests says of itself: how many ran, which failed, which passed (docs/guides/running-tests.md)."""

import ast
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from graphmem.patterns import lazy_re

COUNT = lazy_re(r"(\d{1,7}) (pass(?:ed|ing)|fail(?:ed|ing|ures?)?|errors?)\b")
SUMMARY = lazy_re(
    r"^(?:=+ )?\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected)\b.* in [\d.:]+ ?s"  # pytest
    r"|^ *Tests:? +\d|^ *\d+ (?:passing|failing)\b|^test result: "  # Jest and Vitest, Mocha, Cargo
)
RAN = lazy_re(r"^Ran (\d{1,7}) tests? in ")  # unittest
LEFT_OUT = lazy_re(r"\b(?:skipped|expected failures|unexpected successes)=(\d{1,7})")
NONE = lazy_re(r"^\?? *\S*\s.*\[no test(?:s to run| files)\]|^no tests ran in |^No tests found")
FAILED = lazy_re(r"^(?:FAILED|ERROR) (\S+\.py(?:::\S+)?)|^(?:\[gw\d+\] +\[ *\d+%\] )?(?:FAILED|ERROR) (\S+::\S+)")
SKIPS = lazy_re(r"\b(?:skip|xfail|expectedFailure)\b")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
ASSERTED = lazy_re(r"^E +(assert \S.*)|^(AssertionError: \S.*)")  # how pytest and unittest say what is not so
FAILED_IN = lazy_re(r"^FAIL: (\w+) \(")  # how unittest names the test before it
MOST_FAILED = 20  # tests that are kept of a run
LAST_LINES = 300  # of a run, that are kept
MOST_LINE = 2_000  # characters of a line that is looked at


@dataclass
class Tally:
    """
    What a run of tests says of itself, read line by line.

    Attributes:
        ran: tests that passed or failed; None where it does not say.
        passed: of these.
        is_empty: it says that there was no test.
        asserted: the first assertion that failed, as its runner shows it; of unittest with its test.
        failed: names of tests that failed, as pytest has them.
        last: its last lines.
    """

    ran: int | None = None
    passed: int = 0
    is_empty: bool = False
    asserted: str = ""
    failed: list[str] = field(default_factory=list)
    last: deque[str] = field(default_factory=lambda: deque(maxlen=LAST_LINES))
    test: str = ""  # of unittest: the one that the next lines are about

    def through(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Yield lines as they are, and read them."""
        for line in lines:
            self.read(line[:MOST_LINE].decode("utf-8", "replace").rstrip())
            yield line

    def read_all(self, lines: Iterable[bytes]) -> None:
        """Read lines."""
        for _ in self.through(lines):
            pass

    def read(self, line: str) -> None:
        """Read a line."""
        self.last.append(line)
        if SUMMARY.match(line):
            counts = [(int(number), word) for number, word in COUNT.findall(line)]
            self.add(sum(number for number, word in counts if word.startswith("pass")), sum(one for one, _ in counts))
        elif ran := RAN.match(line):
            self.add(int(ran[1]), int(ran[1]))
        elif line.startswith(("OK (", "FAILED (")) and self.ran:
            left_out = sum(map(int, LEFT_OUT.findall(line)))
            self.ran, self.passed = self.ran - left_out, self.passed - left_out
        elif not self.asserted and (found := ASSERTED.match(line)):
            self.asserted = found[1] or ": ".join(filter(None, [self.test, found[2]]))
        elif begun := FAILED_IN.match(line):
            self.test = begun[1]
        elif NONE.match(line):
            self.is_empty = True
        elif (named := FAILED.match(line)) and len(self.failed) < MOST_FAILED:
            self.failed.append(named[1] or named[2])

    def add(self, passed: int, ran: int) -> None:
        """Count the tests of a summary; a run may have several, one for each part of a project."""
        self.ran, self.passed = (self.ran or 0) + ran, self.passed + passed


def no_pass(before: int, tally: Tally) -> str | None:
    """Return why a run that passes does not say that what failed before passes: fewer tests ran; None where it may."""
    if tally.is_empty and before and not tally.passed:
        return "no test ran"
    if tally.ran is not None and tally.passed < before:
        return f"{tally.passed} passed, where {before} ran before"
    return None


def is_tested(source: str, function: str) -> bool:
    """Return whether a Python file still has a test that does something: not removed, emptied, or always skipped."""
    try:
        nodes = ast.walk(ast.parse(source))
        found = [one for one in nodes if isinstance(one, FUNCTIONS) and one.name == function]
    except (SyntaxError, ValueError, RecursionError):
        return True
    return any(any(map(_does, one.body)) and not any(map(_skips, one.decorator_list)) for one in found)


def _does(statement: ast.stmt) -> bool:
    """Return whether a statement does something: no text, ``...``, ``pass`` or ``return``."""
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return not (is_text or isinstance(statement, ast.Pass | ast.Return))


def _skips(decorator: ast.expr) -> bool:
    """Return whether a decorator keeps a test from failing, whatever happens."""
    return SKIPS.search(ast.unparse(decorator)) is not None
