"""Problems: what went wrong, as an output tells it, and what makes it the same elsewhere."""

import re
from dataclasses import dataclass, field

from graphmem.core.logs.message import MessagePart, MessageTemplate, message_of
from graphmem.kernel.model.failure import Identity
from graphmem.patterns import lazy_re

TRIGGER_LINES, TRIGGER = 8, 400  # lines of a trigger, and characters of one of them
BARE = lazy_re(r"\w*Assert\w*|.*ExpectationNotMet\w*|ComparisonFailure|failure", re.IGNORECASE)  # checks of tests
FRAME_ONLY = lazy_re(
    r"index out of (?:range|bounds)|out of bounds|nil pointer|null ?pointer|null reference|object reference not set"
    r"|division by zero|divide by zero|nil map|out of memory|deadlock|heap space|segmentation fault|segfault"
    r"|sigsegv|core dumped|access violation|bus error|list index|"
    r"timed? ?out|deadline exceeded|assertion|unwrap\(\)|stack overflow|maximum (?:call stack|recursion)|out of range"
    r"|without (?:running )?(?:any )?assertions|concurrent map|use after free|double free|must not be null"
    r"|value is null|nonetype",
    re.IGNORECASE,
)
OF_NOTHING = lazy_re(
    r"\b(?:of|is|for|on|in|a) (?:an? )?(?:nil|null|undefined|none\b|nonetype)|key .* not found", re.IGNORECASE
)
MOST_CLAUSES = 3  # of a message that it is found by


@dataclass(slots=True)
class LogProblem:
    """
    One thing that went wrong.

    Attributes:
        number: the line that tells it, from 1. text: this line as it is without what carries it, and without its place.
        message: what is said; code: the rule, the error code or the class, empty where it has none.
        tool, family: of its format; empty where general rules read it. identity: see ``formats``.
        file, line, column: where, as printed. frame: the innermost function of the project's own code.
        test: the title of the test that failed. more: what else belongs to the message.
        is_strong: it says that something is wrong whatever the rest says.
    """

    number: int
    text: str
    message: str
    code: str = ""
    tool: str = ""
    family: str = ""
    identity: Identity | None = None
    file: str = ""
    line: int | None = None
    column: int | None = None
    frame: str = ""
    is_own: bool = False
    test: str = ""
    title: str = ""
    more: list[str] = field(default_factory=list)
    is_strong: bool = True
    is_outer: bool = False
    is_logged: bool = False  # a test that failed had logged it
    is_read: bool = True  # a rule or a format read it; else it is a line of a record as it is
    is_likely: bool = False  # it says so where nothing says that the run passed
    severity: str = "error"
    fixed: str | None = None  # the template that the format gives
    numbers: list[int] = field(default_factory=list)  # all lines that tell it, the first ones where there are many

    @property
    def said(self) -> MessageTemplate:
        """The message taken apart; where it continues in other lines, with these."""
        found = message_of(" ".join([self.message, *self.more]) if self.more else self.message)
        if self.fixed is None:
            return found
        if self.identity == "names" and self.message and not any(piece.is_name for piece in found.pieces):
            found = found._replace(pieces=(MessagePart(self.message, "name"),), words=1)  # a name may be any word
        return found._replace(template=self.fixed)

    @property
    def is_class(self) -> bool:
        """Return whether the code is the class of an error."""
        return bool(self.code) and self.code[0].isupper() and self.code.isidentifier() and not self.code.isupper()

    @property
    def is_telling(self) -> bool:
        """Return whether there is more to it than that something went wrong."""
        said = self.said
        return not self.is_outer and bool(
            said.words >= 2 or (said.words and said.names) or self.code or self.test or self.fixed is not None
        )

    @property
    def by(self) -> Identity:
        """What makes it the same problem elsewhere."""
        if self.identity is not None:
            return self.identity
        if _is_bare(self):
            return "frame"
        return "names" if self.said.is_about else "message"

    @property
    def is_of_nothing(self) -> bool:
        """Return whether something was asked of a value that is not there: the same name says little then."""
        return OF_NOTHING.search(self.message) is not None

    @property
    def keys(self) -> tuple[str, ...]:
        """What the same problem has too, or the same rule for other names."""
        template = self.said.template
        found = [f"t:{one.template}" for one in (self.said, *_clauses(self.message)) if _tells(one)]
        if self.code:
            found.append(f"c:{self.code.casefold()}" if not self.is_class else f"k:{self.code.casefold()} {template}")
        if names := " ".join(piece.text.rpartition("/")[2].casefold() for piece in self.said.pieces if piece.is_name):
            found.append(f"n:{template} {names}")  # of many with one template the very one
        if self.test:
            found.append(f"x:{self.test.casefold()}")
        return tuple(found)

    @property
    def label(self) -> str:
        """Its code and the names that its message is about, to name a record by; without both, what it says."""
        said = [piece for piece in self.said.pieces if piece.sort != "number"]
        names = [piece for piece in said if piece.is_telling]
        shown = [_end_of_path(piece.text) for piece in (names if self.code and names else said)]
        return " ".join(filter(None, [self.code or self.tool, *shown, _end_of_path(self.test)]))

    @property
    def trigger(self) -> str:
        """The lines that find it again, as the trigger of a failure."""
        where = [self.title] if self.test and self.by == "frame" and self.title and self.test not in self.text else []
        said = [self.message] if self.text == self.title and self.message not in self.text else []
        lines = [*where, self.text, *said, *self.more]
        return "\n".join(line.strip()[:TRIGGER] for line in lines[:TRIGGER_LINES])


def _end_of_path(text: str) -> str:
    """Return the last part of the path of a file or of a folder; any other name as it is."""
    last = text.rstrip("/").rpartition("/")[2]
    return last if text.startswith(("/", ".", "~")) or "." in last else text


def _tells(said: MessageTemplate) -> bool:
    """Return whether a message is found by what it says."""
    return said.words >= 2 or bool(said.words and "*" in said.template)


def _clauses(message: str) -> list[MessageTemplate]:
    """Return what follows each colon of a message: another tool may say that alone."""
    starts = [found.end() for found in re.finditer(r": (?=\S)", message)][:MOST_CLAUSES]
    return [message_of(message[start:]) for start in starts]


def _is_bare(problem: LogProblem) -> bool:
    """Return whether nothing of the message tells which bug it is: only the frame or the test does."""
    if BARE.fullmatch(problem.code) or (problem.test and not problem.said.is_about):
        return True
    return not problem.said.is_about and FRAME_ONLY.search(problem.message or problem.code) is not None
