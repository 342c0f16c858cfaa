"""
Error signatures: what two reports of one error have in common, wherever and whenever it happened.

A signature is the class of an error, its message without what changes from run to run and from machine to machine, and
the telling frame: the innermost one of the project's own code. Read are tracebacks and error lines of Python, pytest,
Node, Java, Go, Rust, C compilers and shells; docs/concepts/retrieval.md, "Error signatures".
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from graphmem.logs.general import general
from graphmem.logs.volatile import stable

LINE = 1_000  # characters of a line that are read: an error is reported in fewer
TRIGGER_LINES = 1_000  # of a trigger that are read

# Without one of these a line reports no error, and needs no search.
ERROR_WORDS = (
    "error",
    "exception",
    "fail",
    "fatal",
    "fault",
    "panic",
    "critical",
    "severe",
    "warning",
    "interrupt",
    "violation",
    "timeout",
    "expired",
    "exit",
    "not found",
    "notfound",
    "no such file",
    "denied",
    "undefined reference",
    "in use",
    "refused",
    "not permitted",
    "no space left",
    "cannot ",
    "out of memory",
    "no rule to make",
    "no required module",
    "unknown ",
    "unrecognized ",
    "illegal option",
    "invalid option",
    "not defined",
    "import cycle",
    "exclude all",
    "(http ",
    "npm err",
    "already allocated",
)
TEMPORARY = re.compile(r"(?:(?:/private)?/(?:tmp|var/folders|var/tmp)|\$TMPDIR)/[^\s'\"`:,)]*", re.IGNORECASE)
ABSOLUTE = re.compile(r"(?<![\w./~-])(?:file://)?(?:~|[A-Za-z]:(?=[\\/]))?(?:[/\\]+[\w.+@~$-]+)*[/\\]+([\w.+@~$-]+)")
QUOTED = re.compile(r"(?<!\w)'([^'\n]{0,120})'(?!\w)|\"([^\"\n]{0,120})\"|`([^`\n]{0,120})`")
NUMBER = re.compile(
    r"(\b(?:errno|status|code|http|signal|exited with|error)[ :=#]{1,3})?(?<![\w.])\d+(?:([.,])\d+)*(?![\w.])", re.I
)

# A class of errors, at the beginning of a line or before a colon; and words that say that an error follows. With its
# package before it, or after a mark of pytest, any class is one.
CLASS = re.compile(
    r"(?:^|(?<=[\s(\"'|\]]))(?:[A-Za-z_$][\w$]*(?:\.|::))*"
    r"([A-Z][\w$]*(?:Error|Exception|Failure|Fault|Interrupt|Violation|Warning|Timeout|Expired|NotFound|Exit))"
    r"(?: \[[\w.-]+\])?(?::\s*(.*)|\s*$)"
)
ANY_CLASS = re.compile(r"^(?:E {2,}|(?=[a-z_]\w*\.))(?:[A-Za-z_]\w*\.)*([A-Z]\w*[a-z]\w*)(?::\s+(.*)|\s*$)")
MARK = re.compile(
    r"\b(fatal error|internal compiler error|error response from daemon|error|fatal|panic|failure|critical|severe)"
    r"(?:\[(\w+)\]| ([A-Z]{1,4}\d{2,6}))?\s?[:!]\s+(\S.*)",
    re.IGNORECASE,
)
PLAIN = re.compile(
    r"command not found|no such file or directory|permission denied|segmentation fault|undefined reference"
    r"|address already in use|connection refused|operation not permitted|no space left|cannot (?:find|open|allocate)"
    r"|out of memory|not found$|no rule to make target|no required module provides"
    r"|unknown (?:shorthand )?(?:flag|option|argument|command|linter)s?\b|unrecognized (?:option|argument)s?\b"
    r"|(?:illegal|invalid) option\b|provided but not defined|import cycle not allowed|build constraints exclude all"
    r"|^missing script:|unable to resolve|cannot connect to|connection to .{1,100} was refused"
    r"|parse error near|\(HTTP [45]\d\d\)$",
    re.IGNORECASE,
)
OF_RUNNER = re.compile(
    r"^ERROR: \w+ \([\w.]+\)|^ImportError: Failed to import test module: "
)  # of unittest; why follows
SHELL = re.compile(r"^(?:\S*/)?[\w.-]+: (?:line )?\d+: ")
LAST_OF_PYTHON = re.compile(r"^(?:\w+\.)*([A-Za-z_]\w*)(?:: (.*))?$")
LEAD = re.compile(
    r"^(?:E {2,}|[ |+-]*\| |│ |#\d{1,4} (?:\d{1,6}\.\d{1,6} )?|\[ERROR\] (?:\S+:\[\d+,\d+\] )?"
    r"|Caused by: |Exception in thread \"[^\"]*\" |Uncaught |##\[error\]|\[cause\]: "
    r"|npm (?:ERR!|error) |make(?:\[\d+\])?: \*\*\* |(?:FAILED|ERROR) [^\s:]+::.*? - )+"
)
PANIC = re.compile(r"panicked at (?:'(.*)', )?([^\s:]+):\d+(?::\d+)?:?$")

# Frames that are before their error, innermost last; and those that are after it, innermost first.
BEFORE = re.compile(r"^[ |]*File \"([^\"]+)\", line \d+(?:, in (\S+))?|^(\S+\.py):\d+: in (\S+)$")
AFTER = re.compile(
    r"^\s*at (?:async )?(?P<method>[\w.$/]+[.$][\w$<>]+)"
    r"\((?:[\w$]+\.(?:java|kt|scala|groovy)(?::\d+)?|Native Method|Unknown Source)\)"
    r"|^\s*at (?:async )?(?:(?P<call>[^(]+?) \()?(?P<script>(?:file://)?[^\s()]+?):\d+:\d+\)?$"
    r"|^\s+(?P<go>\S+\.go):\d+|^\s*-->\s(?P<rust>[^\s:]+):\d+|^(?P<test>\S+\.py):\d+: \w+$"
)
GO_CALL = re.compile(r"^([\w./-]+(?:\(\*?\w+\))?[\w.]*)\([^)]*\)$")
PLACE = re.compile(r"^((?:[A-Za-z]:)?[^\s:()]+\.\w{1,5})(?::\d+|\(\d+)")  # in which file a compiler found an error
LIBRARY = re.compile(
    r"site-packages|dist-packages|node_modules|[/\\]lib[/\\]python\d|^(?:node|internal)[:/]|<|^/usr/(?:lib|local/go|include)"
    r"|/go/pkg/mod/|^/rustc/|\.cargo/registry|^(?:java|javax|jdk|sun|com\.sun|kotlin|scala|org\.(?:junit|apache|springframework))\."
)
GENERIC = frozenset("error exception failure fatal panic critical severe warning runtimeerror assertionerror".split())


@dataclass
class Error:
    """
    One error of a text.

    Attributes:
        line: where it is reported, from 1. text: that line.
        name: the class, or the word that marks it; empty where a line only says what went wrong.
        message: what follows it. frame: the telling frame, empty where none is known.
    """

    line: int
    text: str
    name: str
    message: str
    frame: str = ""
    is_own: bool = field(default=False, repr=False)  # the frame is of the project

    @property
    def strict(self) -> str:
        """The error with every value in it, without its frame."""
        return f"{self.name}: {generalised(self.message)}".casefold()

    @property
    def exact(self) -> str:
        """
        The error without its frame: two reports with the same one say the same of it.

        In the same place of the code, numbers may differ; but for statuses and versions.
        """
        return NUMBER.sub(any_number, self.strict) if self.frame else self.strict


@lru_cache(8)  # each key of an error asks for it
def generalised(message: str) -> str:
    """
    Return a message as it would be in another run on another machine, in one sort of quotes.

    Names, values, numbers and versions stay: with another one it is another error.
    """
    message = ABSOLUTE.sub(r"\1", TEMPORARY.sub("<path>", message))
    return stable(QUOTED.sub(in_quotes, message), is_error=True).rstrip(" .")


def any_number(found: re.Match[str]) -> str:
    """Return what represents a number; a status or a version is itself."""
    return found[0] if found[1] or found[0].count(".") > 1 else "<n>"


def in_quotes(found: re.Match[str]) -> str:
    """Return a quoted value in the one sort of quotes."""
    return f"'{next(part for part in found.groups() if part is not None)}'"


def errors(lines: Iterable[str]) -> Iterator[Error]:
    """Yield the errors that a text reports, each with its telling frame."""
    reader = ErrorReader()
    for number, line in enumerate(lines, 1):
        yield from reader.read(number, line)
    yield from reader.end()


class ErrorReader:
    """Reads a log line by line."""

    def __init__(self) -> None:
        self.before: list[tuple[str, bool]] = []  # frames, and whether each is the project's own
        self.error: Error | None = None  # the last one, as long as its frames may follow
        self.call = ""  # of Go: the function that the next line tells the file of
        self.is_panic = False  # the next line says why

    def read(self, number: int, line: str) -> Iterator[Error]:
        """Take a line; yield the error before it, once it is complete."""
        line = line[:LINE].rstrip()
        call = GO_CALL.match(line)
        if self.is_panic and self.error is not None:
            self.is_panic, self.error.text, self.error.message = False, line.strip(), line.strip()
            return
        if found := BEFORE.match(line):
            path, function = found[1] or found[3], found[2] or found[4] or ""
            self.before.append((f"{tail(path)}:{function}", not LIBRARY.search(path)))
            return
        if self.error is not None and (found := AFTER.match(line)):
            self.take_frame(*after_frame(found, self.call))
            return
        self.call = tail(call[1]) if call else ""
        error = self.error_on(number, line)
        if error is not None or (line and not line[0].isspace() and not call and not line.startswith("goroutine ")):
            yield from self.end()
            self.error = error
            self.before = []

    def take_frame(self, frame: str, is_own: bool) -> None:
        """Keep the innermost frame of the project, or the innermost of all."""
        assert self.error is not None
        if not self.error.frame or (is_own and not self.error.is_own):
            self.error.frame, self.error.is_own = frame, is_own

    def error_on(self, number: int, line: str) -> Error | None:
        """Return the error that a line reports."""
        rule = general(number, line, is_statement=True)
        if rule is not None and rule.line and rule.code:  # the same one wherever it is broken
            return Error(number, line.strip(), rule.code, rule.said.template)
        if OF_RUNNER.match(line):
            return None
        lowered = line.lower()
        any_class = ANY_CLASS.match(line)
        if not (self.before or any_class or any(word in lowered for word in ERROR_WORDS)):
            return None
        if found := PANIC.search(line):
            self.is_panic = found[1] is None
            return Error(number, line.strip(), "panic", found[1] or "", tail(found[2]), True)
        text = LEAD.sub("", line).strip()
        innermost = self.before[-1] if self.before else ("", False)
        frame, is_own = next((found for found in reversed(self.before) if found[1]), innermost)
        if found := CLASS.search(text) or any_class:
            return Error(number, line.strip(), found[1], found[2] or "", frame, is_own)
        if self.before and not line[:1].isspace() and (found := LAST_OF_PYTHON.match(text)):
            return Error(number, line.strip(), found[1], found[2] or "", frame, is_own)
        if not frame and (found := PLACE.match(text)):
            frame, is_own = tail(found[1]), True
        if found := MARK.search(text):
            name = f"{found[1].lower()} {found[2] or found[3] or ''}".rstrip()
            return Error(number, line.strip(), name, found[4], frame, is_own)
        if PLAIN.search(text):
            return Error(number, line.strip(), "", SHELL.sub("", text), frame, is_own)
        return None

    def end(self) -> Iterator[Error]:
        """Yield the error whose frames may still follow: none does."""
        if self.error is not None:
            yield self.error
        self.error = None


def after_frame(found: re.Match[str], call: str) -> tuple[str, bool]:
    """Return a frame that is after its error, and whether it is the project's own."""
    if method := found["method"]:
        owner, _, name = method.replace("/", ".").rpartition(".")
        return f"{owner.rpartition('.')[2]}.{name}", not LIBRARY.search(method)
    path = found["script"] or found["go"] or found["rust"] or found["test"]
    return f"{tail(path)}:{found['call'] or call}", not LIBRARY.search(path.removeprefix("file://"))


def tail(path: str) -> str:
    """Return the last part of a path: where a checkout is differs from machine to machine."""
    return re.split(r"[/\\]", path)[-1]
