"""A failure: an observable error and, once known, what resolves it."""

import re
import re._constants as op
import re._parser as parser
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import Strict, model_validator

from graphmem.model.field import MATCH_CHARACTERS, Flag, Limit, Number, Text
from graphmem.model.record import Triggered
from graphmem.names import slug

Expression = Annotated[str, Strict(), Limit(0, characters=MATCH_CHARACTERS)]


TRACEBACK = "Traceback (most recent call last)"
MOST_GROUPS = 30  # nested; the engines take more than twice as many before the stack of Python ends
GROUPS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()]", re.DOTALL)  # what opens and ends a group, not in a class
ERROR_LINE = re.compile(r"(?:[\w.$]+[.:])?[A-Z]\w*(?:Error|Exception)\b")  # of a stack trace that begins with code


class Failure(Triggered):
    """What went wrong (``trigger``) and what fixes it; without a fix and without a solving pattern it is unsolved."""

    named_from = "trigger"
    identity = ("trigger",)

    kind: Literal["failure"]
    fix: Text | None = None
    match: Expression | None = None  # Python `re` syntax; finds the failure in logs
    cost: Number | None = None  # thousands of tokens it took to learn
    flaky: Flag = False

    @classmethod
    def completed(cls, values: Any) -> Any:
        """An empty fix in a file is no fix: the failure is unsolved."""
        if isinstance(values, dict) and isinstance(fix := values.get("fix"), str) and not fix.strip():
            values = {name: value for name, value in values.items() if name != "fix"}
        return super().completed(values)

    @model_validator(mode="after")
    def check_match(self) -> Self:
        """Refuse an expression that does not compile."""
        if self.match is not None:
            try:
                refuse_malformed(self.match)
            except (re.error, RecursionError, OverflowError) as error:
                raise ValueError(f"match {self.match[:80]!r} is not a regular expression: {error}") from None
        return self

    @property
    def headline(self) -> str:
        """The line of the trigger that says what went wrong: of a traceback its error, not its first line."""
        lines = [line for line in self.trigger.splitlines() if line.strip()]
        if len(lines) > 1:
            starts = [place for place, line in enumerate(lines) if TRACEBACK in line]
            after = lines[starts[-1] + 1 :] if starts else []
            ends = [line for line in after if not line[0].isspace()] if starts else lines
            found = ends if starts else [line for line in ends if ERROR_LINE.match(line)]
            return found[0] if found else lines[0]
        return self.trigger

    @property
    def plain_name(self) -> str:
        return slug(self.headline)

    @property
    def search_text(self) -> str:
        return f"{self.trigger}\n{self.fix}" if self.fix else self.trigger


def refuse_malformed(expression: str) -> None:
    """
    Raise what `re.compile` raises for an expression, without compiling it.

    To compile 140 classes of all characters in any case, which fit into an expression, takes a second.
    """
    depth = 0
    for token in GROUPS.findall(expression):
        depth += (token == "(") - (token == ")")
        if depth > MOST_GROUPS:
            raise re.error(f"groups nested over {MOST_GROUPS} deep")
    refuse_open_lookbehind(parser.parse(expression))


def refuse_open_lookbehind(parsed: Any) -> None:
    """Raise `re.error` for a look-behind of no fixed width: the only error that the parser leaves to the compiler."""
    for code, value in parsed:
        if code in (op.ASSERT, op.ASSERT_NOT) and value[0] < 0:
            least, most = value[1].getwidth()
            if least != most:
                raise re.error("look-behind requires fixed-width pattern")
        for part in inner_patterns(value):
            refuse_open_lookbehind(part)


def inner_patterns(value: Any) -> Iterator[Any]:
    """Yield the patterns that an item of a pattern holds."""
    if isinstance(value, parser.SubPattern):
        yield value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from inner_patterns(part)
