"""
Tests that failed, in what runners of several languages print: each with why, and the file that its frames lead to.

Read are pytest, unittest, Jest, Vitest, Mocha, Cargo, Surefire, Gradle, RSpec, PHPUnit, dotnet and Go. Only what is
said of a test that failed is looked at: what a passing test or a program logs is no failure.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from graphmem.rules.signature import LIBRARY, LINE

HEADS = {  # how what is said of a test that failed begins, by runner
    "pytest": r"_{3,} (?:ERROR at (?:setup|teardown) of |ERROR collecting )?(?P<pytest>\S(?:.*\S)?) _{3,}",
    "unittest": r"(?:FAIL|ERROR): (?P<unittest>\w+) \([\w.]+\)(?: [(\[].*[)\]])?",
    "jest": r"\s*● (?P<jest>(?!Console$)\S.*)",
    "vitest": r"\s*FAIL\s+(?P<vitest>\S+ > .+)",
    "cargo": r"---- (?P<cargo>\S+) stdout ----",
    "surefire": r"(?:\[ERROR\] +)?(?P<surefire>[\w.$]+(?:\([^)]*\))?) +(?:-- )?Time elapsed: .*<<< (?:FAILURE|ERROR)!",
    "gradle": r"(?P<gradle>\S+ > .+) FAILED",
    "phpunit": r"\d+\) (?P<phpunit>[\w\\]+::\w+.*)",
    "dotnet": r"\s+Failed (?P<dotnet>\S+) \[.*\]",
    "rspec": r" {1,3}\d+\) (?P<rspec>\S.*)",  # and Mocha, whose titles go on in the next lines
}
HEAD = re.compile(rf"^(?:{'|'.join(HEADS.values())})\s*$")
END = re.compile(
    r"^(?:=+ |-{5,} Captured |⎯|failures:|Finished in |Failed examples:|Ran \d|Test(?:s| Suites| Files):? "
    r"|\[INFO\]|\[ERROR\]|Results:|FAILURES!|FAILURE: |\s*(?:PASS|RUN|FAIL)\b|\s+(?:Passed|Failed) \S|\s+console\.\w+"
    r"|\s*\d+ (?:passing|failing))"
)
AGAIN = re.compile(r"^(?:During handling of the above exception|The above exception was the direct cause)")
CODE = re.compile(r"^\s*(?:>?\s*\d+\s*\||> )")  # lines that quote the code
WHY = {
    "pytest": re.compile(r"^E\s+(\S.*)$"),
    "unittest": re.compile(
        r"^(?!ImportError: Failed to import test module: )((?:\w+\.)*[A-Z]\w*(?:Error|Exception|Warning)?: .*)$"
    ),
    "cargo": re.compile(r"^(?!thread |stack backtrace|note: )(\S.*)$|panicked at '(.*)', "),
    "rspec": re.compile(r"^\s+(?:Failure/Error: (?!\s*$))?(\S.*)$"),
    "dotnet": re.compile(r"^\s+(?!Error Message:)(\S.*)$"),
}
ANY = re.compile(r"^\s*(?!-{5,})(\S.*)$")
VALUES = re.compile(r"^\s*(?:E\s+)?((?:expected|received|actual|got|left|right)\b[^:\n]{0,30}:\s*\S.*)$", re.IGNORECASE)
PLACES = re.compile(
    r"(?P<file>[\w@.~+/\\-]+\.(?:py|rb|php|rs|[cm]?[jt]sx?|java|kt|scala|groovy|cs))(?::line |\", line |:)\d+\b"
)
SPLIT = re.compile(r"^(\s*(?:[\w.]+::)*(?:[\w.]+)(?:Error|Exception)):$")  # RSpec says why in the next line
# Of pytest's summary; why may be cut off where the terminal ended.
SHORT = re.compile(r"^(?:FAILED|ERROR) (?P<file>[^\s:]+\.py)::(?P<test>.+?) - (?!\w*\.\.\.$)(?P<why>\S.*)$")
GO_END = re.compile(r"^\s*--- (FAIL|PASS|SKIP): (\S+)")
GO_RUN = re.compile(r"^=== (?:RUN|CONT|NAME)\s+(\S+)?|^=== PAUSE")
GO_LINE = re.compile(r"^\s+([\w./-]+\.go):\d+: (\S.*)$")


@dataclass
class FailedTest:
    """
    A test that failed.

    Attributes:
        runner: what ran it, as in ``HEADS``; ``go test`` too.
        name: of the test, with what it is in.
        why: the line that says what went wrong; empty where none does.
        values: what was expected and what was there, where the next lines say so.
        file: the innermost file of the project in its frames, as they name it.
        lines: what was said of it, without quoted code.
    """

    runner: str
    name: str
    why: str = ""
    values: str = ""
    file: str = ""
    lines: list[str] = field(default_factory=list)


def failed_tests(lines: Sequence[str]) -> list[FailedTest]:
    """Return the tests that an output says have failed, in its order, each once."""
    found: dict[str, FailedTest] = {}
    lines = [line[:LINE] for line in lines]
    for one in (*blocks(lines), *in_go(lines), *in_summary(lines)):
        known = found.setdefault(one.name.replace("::", "."), one)
        if not (known.why or known.lines):
            found[one.name.replace("::", ".")] = one
    return list(found.values())


def blocks(lines: Sequence[str]) -> Iterator[FailedTest]:
    """Yield the tests that have a block of lines, with what it says."""
    current: FailedTest | None = None
    for line in [*lines, "== end"]:
        head = HEAD.match(line)
        if current is not None and (head or END.match(line)):
            yield completed(current)
            current = None
        if head:
            current = FailedTest(str(head.lastgroup), str(head[str(head.lastgroup)]))
        elif current is not None and AGAIN.match(line):
            current.lines = []
        elif current is not None and not is_code(current.runner, line):
            joined = current.lines and SPLIT.match(current.lines[-1])
            current.lines[-1:] = [f"{current.lines[-1]} {line.strip()}"] if joined else [*current.lines[-1:], line]


def is_code(runner: str, line: str) -> bool:
    """Return whether a line quotes the code of a test."""
    return CODE.match(line) is not None or (runner == "pytest" and line[:1].isspace())


def completed(one: FailedTest) -> FailedTest:
    """Return a test with what its lines say."""
    if one.runner == "rspec":
        title = next((number for number, line in enumerate(one.lines[:6], 1) if line.rstrip().endswith(":")), 0)
        if title and not any(line.strip().startswith("Failure/Error") for line in one.lines[:title]):
            one.name = " ".join([one.name, *(line.strip() for line in one.lines[:title])]).rstrip(":")
            one.lines = one.lines[title:]
    says = WHY.get(one.runner, ANY)
    why = next(filter(None, map(says.match, one.lines)), None)
    one.why = next(filter(None, why.groups()), "") if why else ""
    one.lines = [line for line in one.lines if "Failure/Error:" not in line]
    values = [found[1].strip() for line in one.lines if (found := VALUES.match(line)) and found[1] not in one.why]
    one.values = ", ".join(" ".join(value.split()) for value in values[:2])
    places = [found["file"] for line in one.lines for found in PLACES.finditer(line) if is_own(line, found["file"])]
    one.file = (places[-1] if one.runner in ("pytest", "unittest") else places[0]) if places else ""
    return one


def is_own(line: str, file: str) -> bool:
    """Return whether a frame is of the project."""
    return not (LIBRARY.search(file) or LIBRARY.match(line.strip().removeprefix("at ")))


def in_summary(lines: Sequence[str]) -> Iterator[FailedTest]:
    """Yield the tests that the summary of pytest names, with why."""
    for found in filter(None, map(SHORT.match, lines)):
        yield FailedTest("pytest", found["test"], found["why"], file=found["file"], lines=[found["why"]])


def in_go(lines: Sequence[str]) -> Iterator[FailedTest]:
    """Yield the tests of Go that failed, each with the last line that it logged before it ended, or the first after."""
    logged: dict[str, re.Match[str]] = {}  # by test
    running = failed = ""
    for line in lines:
        if begun := GO_RUN.match(line):
            running, failed = begun[1] or "", ""
        elif ended := GO_END.match(line):
            failed = ended[2] if ended[1] == "FAIL" else ""
            if failed and (before := logged.get(failed) or logged.pop("", None)):
                yield FailedTest("go test", failed, before[2], file=before[1])
                failed = ""
        elif said := GO_LINE.match(line):
            if failed:
                yield FailedTest("go test", failed, said[2], file=said[1])
                failed = ""
            else:
                logged[running] = said
        elif line[:1].strip():
            failed = ""
