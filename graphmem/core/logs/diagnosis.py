"""
Diagnosis: which problems an output reports, each with what makes it the same elsewhere.

An output is read once, from front to back. A line is what the first format that it has says it is (`formats.py`); what
no format knows is read by general rules (`general.py`).
"""

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

import re2

from graphmem.core.logs.check import CheckCommand, checks
from graphmem.core.logs.formats import Format, Table, of_project, packaged
from graphmem.core.logs.formats import digest as formats_digest
from graphmem.core.logs.general import HINTS, RAISED, code_last, general, of_class
from graphmem.core.logs.line import messages
from graphmem.core.logs.pattern_set import require_room
from graphmem.core.logs.prefixes import forms, without_escapes
from graphmem.core.logs.problem import BARE, TRIGGER_LINES, LogProblem
from graphmem.kernel.formats_in_use import OF_PROJECT, Texts
from graphmem.patterns import lazy_re

LONGEST, LINE = 16_000, 1_000  # characters of a line, with and without what steers a terminal, that are read
MOST_PROBLEMS = 1_000  # different ones of one output that are kept
MOST_NUMBERS = 1_000  # lines of one problem that are listed

OF_JOB = lazy_re(r"section_|Cleaning up |Uploading |Finished in |Ran \d|Time: ")  # ends what tests say
OF_PYTEST = lazy_re(r"^E {2,}")
PROGRESS = lazy_re(r"\s+\[ *\d+%\]$")  # of pytest -v, after the test
LIBRARY = lazy_re(
    r"site-packages|dist-packages|node_modules|[/\\]lib[/\\]python\d|^(?:node|internal|native|webpack):|^<"
    r"|^/usr/(?:lib|local/go|include|share)"
    r"|/go/pkg/mod/|^/rustc/|\.cargo/registry|/goroot/|/go/src/(?:runtime|testing)/|/vendor/bundle/|/gems/"
    r"|/vendor/|libexec"
    r"|^(?:java|javax|jdk|sun|com\.sun|kotlin|scala|groovy|org\.(?:junit|apache|springframework|gradle"
    r"|hibernate|testng|mockito|assertj|hamcrest))\."
    r"|^(?:<.* as core|__rustc|testing|runtime|panic|reflect|core|std|alloc|System|Microsoft|Xunit|NUnit)(?:\."
    r"|::|\()|/\.rbenv/|/\.nvm/|_pytest|pluggy"
)
# What says how a run ended.
FAILED = lazy_re(
    r"\b[1-9]\d*\s+(?:\w+\s+){0,2}(?:errors?|failed|failures?|failing|problems?|issues?|broken|errored)\b"
    r"|\bFAIL(?:ED|URE|S)?\b|\bfailed\b.{0,20}\b[1-9]"
    r"|(?:[Ee]rrors?|[Ff]ailures?|[Ff]ailed|failing|Issues found|problems?)\s?[:=]\s?[1-9]"
    r"|exit(?:ed with)?(?: code| status)?[ :]+[1-9]|^ℹ fail [1-9]"
)
PASSED = lazy_re(
    r"\b(?:0|[Nn]o)\s+(?:\w+\s+){0,2}(?:errors?|failed|failures?|failing|problems?|issues?|remaining|broken)\b"
    r"|\bfail(?:ed|ures?)?[:= ]+0\b|[Ee]rrors?: 0\b"
    r"|[Aa]ll (?:checks|tests|files)\b.{0,30}\b(?:passed|ok|formatted|valid)|^\s*OK\b|^PASS(?:ED)?\b"
    r"|\b[1-9]\d* passed\b|\b[1-9]\d* passing\b|[Ss]uccess(?:ful(?:ly)?)?\b|^Done\b|\bBUILD SUCCESS|^ok\s"
    r"|^ℹ fail 0"
    r"|\bno errors\b|(?<!\b0 )\bpassed\b"
)


STAMPED = lazy_re(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z(?: |$)")  # of runners of CI; what follows is as it was printed


Outcome = Literal["passed", "failed", "unclear"]


class Diagnosis(NamedTuple):
    """
    What an output tells.

    Attributes:
        outer: lines that only say that something failed.
        outcome: what the output says of it.
        check: what the command checked, part by part; empty where no command is given.
    """

    problems: list[LogProblem]
    outer: list[LogProblem]
    outcome: Outcome
    check: tuple[CheckCommand, ...] = ()


MOST_TABLES = 8  # of projects, whose formats one process keeps ready


def _table() -> Table:
    """Return the formats in use: those of the package, and before them those of a project."""
    return _made(OF_PROJECT.get())


@lru_cache(MOST_TABLES)
def _made(texts: Texts) -> Table:
    """Return the formats of a project's files and of the package as one table."""
    require_room()
    own = [one for one in of_project(texts) if isinstance(one, Format)]
    try:
        return Table([*own, *packaged()], HINTS)
    except re2.error:  # each is small enough for RE2, and all together are not
        return Table(packaged(), HINTS)


def digest() -> str:
    """Return a digest of the formats in use: what is kept of a diagnosis was made with them."""
    return hashlib.sha256(formats_digest() + repr(OF_PROJECT.get()).encode()).hexdigest()


def diagnose(output: str, command: str = "", formats: Table | None = None) -> Diagnosis:
    """Return what an output tells; ``command`` is the command line that printed it."""
    reader = Reader(formats)
    output = output if output.isascii() else output.encode("utf-8", "replace").decode()  # RE2 takes no half characters
    for number, line in enumerate(output.split("\n"), 1):
        reader.read(number, line)
    return reader.end()._replace(check=checks(command))


def statement(text: str, formats: Table | None = None) -> list[LogProblem]:
    """
    Return the problems of a text that was recorded as what went wrong: the trigger of a failure.

    A text of which nothing reads as a problem is one by its lines.
    """
    return _statement_by(text, formats or _table())


@lru_cache(4_096)
def _statement_by(text: str, formats: Table) -> list[LogProblem]:
    """Return the same by some formats."""
    reader = Reader(formats, is_statement=True)
    lines = text.split("\n")[:200]
    for number, line in enumerate(lines, 1):
        reader.read(number, line)
    found = reader.end()
    if any(problem.is_telling for problem in found.problems):
        if len(found.problems) == 1 and (test := found.problems[0]).test and not test.message:
            said = (line.strip() for line in lines if line.strip() and test.test not in line)
            test.message = next(said, "")
        return found.problems
    outer = {problem.number for problem in found.outer}
    kept = [(number, line.strip()) for number, line in enumerate(lines, 1) if line.strip() and number not in outer]
    if not kept:
        return found.outer
    return [_of_line(number, line[:LINE]) for number, line in kept[:TRIGGER_LINES]]


def frame_in(line: str) -> Format | None:
    """Return the format by which a line is a frame of a trace; None for any other line."""
    found = [one for one in _table().of(line) or () if one.kind in ("frame", "call")]
    return next((one for one in found if any(one.pattern.match(form) for form in forms(line))), None)


RULE_LAST = lazy_re(r"(?P<message>\S+ \S+ .*\S) \((?P<code>[a-z][a-z\d]{3,30})\)")  # as golangci-lint names its linters


def _of_line(number: int, line: str) -> LogProblem:
    """Return a line of a record that nothing reads as a problem, as one."""
    found = RULE_LAST.fullmatch(line)
    message, code = (found["message"], found["code"]) if found else code_last(line)
    return LogProblem(number, line, message, code, is_read=False)


class Reader:
    """
    Reads an output line by line.

    Args:
        is_statement: the text is what somebody recorded: all of it is about what went wrong.
    """

    def __init__(self, formats: Table | None = None, *, is_statement: bool = False) -> None:
        self.formats = formats or _table()
        require_room()
        self.is_statement = is_statement
        self.found: list[LogProblem] = []
        self.seen: dict[tuple[str, str, str, str], LogProblem] = {}  # problems by what makes two lines tell one
        self.outer: list[LogProblem] = []
        self.before: list[
            tuple[str, bool, str]
        ] = []  # frames before their error: whether each is the project's, its file
        self.open: LogProblem | None = None  # the last problem, as long as more of it may follow
        self.depth = 0  # of the last one of them: blanks before it
        self.call = ""
        self.test = self.title = ""  # of the test that failed, whose lines these are
        self.is_logged = False  # the next lines are what a test logged
        self.begun = 0  # how many problems there were when a test began
        self.tests: list[LogProblem] = []  # tests that failed, each as a problem
        self.file = self.code = ""  # that the next lines are about
        self.last_problem = 0  # the line that told one last
        self.passed_at = self.failed_at = 0

    @property
    def is_waiting(self) -> bool:
        """Return whether the next line may say more of what was read."""
        return bool(self.open or self.before or self.test)

    # --- a line ---

    def read(self, number: int, line: str) -> None:
        """Take the next line."""
        text = (without_escapes(line[:LONGEST]) if "\x1b" in line or "\r" in line else line)[:LINE].rstrip()
        if text[:1].isdigit() and (stamp := STAMPED.match(text)):
            text = text[stamp.end() :]
            if not text:
                return
        if not text:
            return
        if text[0] == "{" and text[-1] == "}":  # the message in JSON is the message
            for message in messages(text):
                for part in message.splitlines():
                    if part.strip():
                        self.take_text(number, part.rstrip())
            return
        self.take_text(number, text)

    def take_text(self, number: int, text: str) -> None:
        """Take a line without what steers a terminal."""
        if text[-1] == "]":
            text = PROGRESS.sub("", text)
        formats = self.formats.of(text)
        if formats is None and not self.before:
            self.passed_by(text)
            return
        for form in forms(text) if formats else ():
            for one in formats or ():
                if hit := one.pattern.match(form):
                    self.take(one, hit.groupdict(), number, form, _indent(text))
                    return
        self.ended(number, text)
        if self.before and _indent(text) > self.depth and not self.is_statement:
            return  # the code of a frame
        raised = RAISED.match(text) if self.before else None
        found = of_class(number, text, raised) if raised else general(number, text, is_statement=self.is_statement)
        is_message = self.open is not None and self.open.number == number - 1 and not self.open.message
        if found is not None and not (is_message and not found.code):
            self.add(found)
        else:
            self.passed_by(text)

    def passed_by(self, text: str) -> None:
        """Take a line that tells nothing: with it, what was before may be complete."""
        if self.test and self.tests and not self.tests[-1].message and not text[:1].isspace():
            self.why(text)
        if self.open is not None and self.open.is_class and not self.open.message:
            self.open.message = text.strip()
            self.open.text = f"{self.open.text} {self.open.message}"
        if not text[:1].isspace() and not self.is_statement:
            self.before, self.open = [], None

    def why(self, text: str) -> None:
        """Take the line after the title of a test as what it says."""
        if not OF_JOB.match(text):
            self.tests[-1].message = text.strip()

    def ended(self, number: int, text: str) -> None:
        """Note what a line says of how the run ended."""
        if FAILED.search(text):
            self.failed_at = number
        elif PASSED.search(text):
            self.passed_at = number

    def take(self, one: Format, groups: dict[str, str | None], number: int, form: str, depth: int) -> None:
        """Take a line that a format knows."""
        said = {name: value.strip() for name, value in groups.items() if value}
        match one.kind:
            case "problem":
                self.add(self.problem(one, said, number, form))
            case "test":
                self.failed_test(one, said, number, form)
            case "outer":
                line = form.strip()
                self.failed_at, self.is_logged = number, False
                if len(self.outer) < TRIGGER_LINES or self.is_statement:
                    self.outer.append(LogProblem(number, line, line, tool=one.tool, family=one.family, is_outer=True))
                self.open, self.before = None, []
            case "frame":
                self.frame(one, said, depth)
            case "pass":
                self.passed(number)
            case "skip":
                self.ended(number, form)
                if form.startswith("Traceback "):  # another one follows
                    self.open = None
            case "log":
                self.is_logged = True
            case "begin":
                self.test, self.title, self.begun = said.get("test", ""), form.strip(), len(self.found)
                self.is_logged = False
            case _:
                self.take_more(one, said, form)

    def take_more(self, one: Format, said: dict[str, str], form: str) -> None:
        """Take a line that says more of the problem before it, or of what comes next."""
        match one.kind:
            case "call":
                self.call = said.get("function", "")
                if self.is_statement:
                    self.frame(one, said)
            case "file":
                self.file, self.code = said.get("file", ""), said.get("code", "")
            case "place" if self.open is not None and not self.open.line:
                self.open.file, self.open.line = said.get("file", ""), int(said.get("line", 0))
            case "more" if self.open is not None and len(self.open.more) < TRIGGER_LINES:
                self.open.more.append(said.get("message") or form.strip())

    def problem(self, one: Format, said: dict[str, str], number: int, form: str) -> LogProblem:
        """Return the problem that a format reads in a line."""
        message, code = said.get("message", ""), said.get("code", "")
        text = OF_PYTEST.sub("", form[_after_place(one, form) :]).strip()
        severity = said.get("severity", "error").lower()
        is_mild = severity.startswith(("warn", "note", "info", "help", "hint"))
        return LogProblem(
            number,
            text,
            message or (code and text) or text,
            code,
            one.tool,
            one.family,
            one.identity,
            said.get("file", "") or self.file,
            int(said["line"]) if "line" in said else None,
            int(said["column"]) if "column" in said else None,
            is_strong=one.is_strong and not is_mild,
            severity=severity,
            fixed=one.template,
            test=said.get("test", ""),
            title=form.strip() if "test" in said else "",
            is_likely=bool(code or "column" in said),
        )

    def frame(self, one: Format, said: dict[str, str], depth: int = 0) -> None:
        """Take a frame of a trace."""
        function, file = said.get("function", "") or self.call, said.get("file", "")
        self.call = ""
        is_own = not LIBRARY.search(file) and not LIBRARY.search(function)
        name = function.rpartition("/")[2] or file.replace("\\", "/").rpartition("/")[2]
        if one.before and not (self.is_statement and self.open is not None):
            self.before.append((name, is_own, file))
            self.depth = depth
        elif (
            self.open is not None
            and not self.open.is_outer
            and (not self.open.frame or (is_own and not self.open.is_own))
        ):
            self.open.frame, self.open.is_own = name, is_own
            self.open.file = self.open.file or (file if is_own else "")

    def passed(self, number: int) -> None:
        """Forget what a test has printed that passed."""
        if self.test and self.begun < len(self.found):
            gone = self.found[self.begun :]
            del self.found[self.begun :]
            self.seen = {key: one for key, one in self.seen.items() if all(one is not problem for problem in gone)}
        self.test = self.title = ""
        self.passed_at = number
        self.open = None

    def failed_test(self, one: Format, said: dict[str, str], number: int, form: str) -> None:
        """Take the title of a test that failed."""
        test, message = said.get("test", ""), said.get("message", "")
        self.failed_at, self.is_logged = number, False
        if self.test and self.test == test:  # it told before, what follows is its end
            for problem in self.found[self.begun :]:
                problem.test, problem.title = problem.test or test, problem.title or form.strip()
        elif (
            self.found
            and self.found[-1].number == number - 1
            and not self.found[-1].test
            and one.family == "tests"
            and one.before
        ):
            self.found[-1].test = test
        self.test, self.title = test, form.strip()
        self.open, self.before = None, []
        known = next((kept for kept in self.tests if kept.test == test), None)
        if known is None:
            known = LogProblem(
                number, form.strip(), message, tool=one.tool, family="tests", identity="frame", test=test,
                title=form.strip(), is_strong=one.is_strong, numbers=[number],
            )  # fmt: skip
            self.tests.append(known)
            told = general(number, message) if message else None
            if told is not None and told.code and not BARE.fullmatch(told.code):
                self.add(told)
        elif message and not known.message:
            known.message = message
        known.is_strong = known.is_strong or one.is_strong

    # --- problems ---

    def add(self, problem: LogProblem) -> None:
        """Keep a problem, once."""
        if self.before:
            own = [frame for frame in self.before if frame[1]]
            problem.frame, problem.is_own, file = (own or self.before)[-1]
            problem.file = problem.file or (file if own else "")
        self.before = []
        if self.test and not problem.test:
            problem.test, problem.title = self.test, self.title
        problem.file, problem.is_logged = problem.file or self.file, self.is_logged
        problem.code, self.code = problem.code or self.code, ""
        problem.numbers.append(problem.number)
        self.last_problem = problem.number
        self.open = problem
        known = self.seen.setdefault((problem.text, problem.code, problem.frame, problem.test), problem)
        if known is problem and len(self.found) < MOST_PROBLEMS:
            self.found.append(problem)
        elif len(known.numbers) < MOST_NUMBERS:
            known.numbers += problem.numbers[known is problem :]

    def end(self) -> Diagnosis:
        """Return what was read."""
        if self.is_statement and (self.test or self.tests):
            test, title = (self.tests[0].test, self.tests[0].title) if self.tests else (self.test, self.title)
            for problem in self.found:
                problem.test, problem.title = problem.test or test, problem.title or title
        told = [problem.test for problem in (*self.found, *self.tests) if problem.test]
        parents = {test.rpartition("/")[0] for test in told}  # of Go, which fail with what is in them
        told_of = parents.union(problem.test for problem in self.found)
        found = [*self.found, *(test for test in self.tests if test.test not in told_of)]
        found.sort(key=lambda problem: problem.number)
        strong = [problem for problem in found if problem.is_strong]
        last = max((max([problem.number, *problem.numbers]) for problem in strong), default=0)
        has_passed = self.passed_at > max(last, self.failed_at) and not self.is_statement
        if has_passed and not self.outer and not self.tests:
            return Diagnosis([], [], "passed")
        if strong:
            found = strong
        elif not self.is_statement and not (self.failed_at or self.outer):
            found = [problem for problem in found if problem.is_likely]
        if any(problem.is_telling for problem in found):
            found = [problem for problem in found if problem.is_telling]
        kept: dict[tuple[str, ...], LogProblem] = {}
        for problem in found:
            said = problem.said
            key = (problem.code, said.template, " ".join(said.names), problem.frame, problem.test)
            if (first := kept.setdefault(key, problem)) is not problem:
                first.numbers = sorted({*first.numbers, *problem.numbers})[:MOST_NUMBERS]
        has_failed = bool(strong or self.tests or self.failed_at or self.outer)
        return Diagnosis([*kept.values()], self.outer, "failed" if has_failed else "unclear")


def _after_place(one: Format, form: str) -> int:
    """Return where the place ends that a line begins with; 0 where what it says comes before."""
    hit = one.pattern.match(form)
    spans = {name: hit.span(number) for name, number in one.pattern.groupindex.items()}
    ends = {name: span for name, span in spans.items() if span[0] >= 0}
    said = min(
        (start for name, (start, _) in ends.items() if name in ("severity", "code", "message")), default=len(form)
    )
    place = [end for name, (_, end) in ends.items() if name in ("file", "line", "column") and end <= said]
    end = max(place, default=0)
    return end + len(form[end:]) - len(form[end:].lstrip(" \t:)-,]")) if end else 0


def _indent(text: str) -> int:
    """Return how many blanks a line begins with."""
    return len(text) - len(text.lstrip())


def misread(block: Format) -> Iterator[str]:
    """Yield what a block reads otherwise than its examples say, for blocks that read problems."""
    for example in block.examples if block.kind == "problem" else ():
        reader = Reader(Table([block]))
        reader.read(1, str(example.get("text", "")))
        if not reader.found:
            yield f"{block.source}: the pattern does not find the example {example.get('text', '')!r}"
            continue
        found = reader.found[0]
        read: dict[str, object] = {
            "code": found.code, "message": found.message, "file": found.file, "line": found.line, "test": found.test,
        }  # fmt: skip
        for name in example.keys() & read.keys():
            if example[name] != read[name]:
                yield f"{block.source}: reads the {name} {read[name]!r}, the example says {example[name]!r}"
        names = " ".join(found.said.names).casefold()
        for name in example.get("names", ()):
            if str(name).casefold() not in names:
                yield f"{block.source}: the example names {name!r}, which is not among {names!r}"
