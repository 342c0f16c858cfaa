"""
JUnit XML, as the runners of many languages write it, read as a stream.

A report may come from a stranger: one with a document type or an entity is refused before it is expanded, and no part
of it is kept that is larger than what is looked at.
"""

import re
from dataclasses import dataclass, field
from xml.parsers import expat

from graphmem.core.foreign.reading import time_of
from graphmem.features.harvest.check_pairs import CheckOutcome, plain_text, problem_in_test
from graphmem.features.harvest.reports.report import COMMIT, OUTPUT, CheckReport, Unreadable
from graphmem.kernel.system import safe_files
from graphmem.patterns import lazy_re

CHUNK = 2**16
LONGEST = 32  # bytes of the number of a character, with what follows an escape
MOST_TAG = 2**20  # bytes of one tag with its attributes
MOST_DEPTH = 100  # elements in each other
OUTCOMES: dict[str, CheckOutcome] = {
    "failure": "failed", "error": "failed", "skipped": "skipped", "flakyFailure": "flaky", "flakyError": "flaky",
}  # fmt: skip
SAID = (*OUTCOMES, "rerunFailure", "rerunError")
CUT_OFF = "the report is cut off: what comes after its last whole test is missing"
# Characters that XML has not, as they are and by their numbers: many runners write the colours of what a test prints.
ESCAPE = rb"(?:\x1b|&#(?:0*27|x0*1[bB]);)"
NOT_XML = lazy_re(
    ESCAPE + rb"\[[\d;?]*[A-Za-z]"  # with what it says to a terminal
    rb"|[\x01-\x08\x0b\x0c\x0e-\x1f]|&#(?:0*(?:[1-8]|1[124-9]|2\d|3[01])|x0*(?:[1-8bcefBCEF]|1[\da-fA-F]));"
)
SUITES = ("testsuite", "testsuites")
OF_COMMIT = lazy_re(  # names of properties; not those of a base or a parent
    r"(?:(?:git|vcs|scm|ci|build|github|gitlab|circle|head|source)[._-]?)*(?:commit|revision|sha1?)"
    r"(?:[._-]?(?:id|sha1?|hash|full))*",
    re.IGNORECASE,
)
Attributes = dict[str, str]


@dataclass
class Case:
    """A test under way: its attributes, how it ended, and why."""

    given: Attributes
    outcome: CheckOutcome = "passed"
    message: str = ""
    text: list[str] = field(default_factory=list)
    size: int = 0


class JUnitReader:
    """Reads one document; what it holds goes into the report."""

    def __init__(self, report: CheckReport) -> None:
        self.report = report
        self.path = list[str]()
        self.suites: list[tuple[str | None, str]] = [(None, "")]  # time and commit of the suites that are open
        self.case: Case | None = None
        self.is_said = False  # within what says why this case failed
        self.parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self.refuse
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.text

    def read(self) -> None:
        """Read the file of the report; raise ``Unreadable`` where it is not a whole document of this form."""
        fed = 0
        with safe_files.opened(self.report.path) as file:
            try:
                rest = b""
                while data := file.read(CHUNK):
                    data, rest = legal(rest + data)
                    self.parser.Parse(data, False)
                    fed += len(data)
                    if fed - self.parser.CurrentByteIndex > MOST_TAG:
                        raise Unreadable(f"a tag has more than {MOST_TAG:,} bytes")
                self.parser.Parse(legal(rest, is_end=True)[0], False)
                self.parser.Parse(b"", True)
            except expat.ExpatError as error:
                if not data and self.report.counts:  # the tests before the cut ended as it says
                    self.report.unread[CUT_OFF] += 1
                    return
                reason = expat.errors.messages.get(error.code, "not well-formed")
                cut = "is cut off" if not data else "is not XML"
                raise Unreadable(f"the report {cut}: {reason} in line {error.lineno}") from None
            except Unreadable:
                raise
            except (LookupError, TypeError, ValueError) as error:  # of a codec of Python, which the document names
                raise Unreadable(f"the report is in an encoding that is not read: {error}") from None

    def refuse(self, *declared: object) -> None:
        """Refuse a document that declares a type: an entity in it could become any amount of text."""
        raise Unreadable("the report declares a document type, which is not read")

    def start(self, name: str, given: Attributes) -> None:
        """Begin an element."""
        if not self.path and name not in SUITES:
            raise Unreadable(f"the report is XML, but its root is {name[:40]!r} and not testsuites or testsuite")
        self.path.append(name)
        if len(self.path) > MOST_DEPTH:
            raise Unreadable(f"the report has more than {MOST_DEPTH} elements in each other")
        if name in SUITES:
            at, commit = self.suites[-1]
            self.suites.append((time_of(given.get("timestamp")) or at, commit))
            for key, value in given.items():
                self.take_property(key, value)
        elif name == "testcase":
            self.case = Case(given)
        elif name == "property" and self.case is None:
            self.take_property(given.get("name", ""), given.get("value", ""))
        elif self.case is not None and name in SAID and self.path[-2] == "testcase":
            self.ended(self.case, OUTCOMES.get(name, "failed"), given)

    def take_property(self, name: str, value: str) -> None:
        """Take a property of a suite, if it names the commit."""
        if OF_COMMIT.fullmatch(name) and COMMIT.fullmatch(value.lower()):
            self.suites[-1] = self.suites[-1][0], value.lower()

    def ended(self, case: Case, outcome: CheckOutcome, given: Attributes) -> None:
        """Take how a test ended; of several things that failed in it, the first is kept."""
        self.is_said = not case.message and not case.text
        if self.is_said:
            case.message = given.get("message", "")[:OUTPUT] or given.get("type", "")[:OUTPUT]
        if case.outcome != "failed":
            case.outcome = outcome

    def text(self, data: str) -> None:
        """Take the text of what says why a test failed, its beginning; that of a long one is not kept."""
        if (
            self.is_said
            and self.case is not None
            and self.case.size < OUTPUT
            and self.path[-1] in (*SAID, "stackTrace")
        ):
            self.case.text.append(data[: OUTPUT - self.case.size])
            self.case.size += len(data)

    def end(self, name: str) -> None:
        """End an element."""
        self.path.pop()
        if name in SUITES:
            self.suites.pop()
        elif name == "testcase" and self.case is not None:
            self.take(self.case)
            self.case = None
        elif name in SAID:
            self.is_said = False

    def take(self, case: Case) -> None:
        """Take a test that is complete."""
        holder, title = (plain_text(case.given.get(name, "")) for name in ("classname", "name"))
        file = plain_text(case.given.get("file", ""))
        text, message = plain_text("".join(case.text)), plain_text(case.message)
        problem = None
        if case.outcome in ("failed", "flaky"):
            problem = problem_in_test(holder, title, message, text, file)
        at, commit = self.suites[-1]
        run = self.report.run(time_of(case.given.get("timestamp")) or at, commit)
        output = text if message in text else f"{message}\n{text}".strip()
        self.report.add(".".join(filter(None, (holder, title))), case.outcome, run, problem, output, file)


def legal(data: bytes, *, is_end: bool = False) -> tuple[bytes, bytes]:
    """Return a piece of a document without characters that XML has not, and the end of it that may begin one."""
    if b"\0" in data:  # UTF-16
        return data, b""
    begins = max(data.rfind(sign, max(0, len(data) - LONGEST)) for sign in (b"&", b"\x1b"))
    data, rest = (data, b"") if begins < 0 or is_end else (data[:begins], data[begins:])
    return NOT_XML.sub(b"", data), rest


def read(report: CheckReport) -> None:
    """Read a report in JUnit's XML."""
    JUnitReader(report).read()
