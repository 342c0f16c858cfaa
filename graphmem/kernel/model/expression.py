"""
Match expressions: in the syntax of RE2, or, where RE2 refuses one, in that of the module `regex`.

RE2 runs an expression in time linear in the text. What it refuses (look-around, back-references, very large repeats)
goes to `regex`, which can be given a time limit. Both get the text as it is; ``^`` and ``$`` are the ends of a line.
Which literals an expression needs, and how large it is, is read from its text; in doubt it needs none and is large.
The dialect: docs/guides/matching-logs.md.
"""

import math
import re
from functools import cached_property
from typing import Any, NamedTuple

from graphmem.constants import GENERAL_ITEMS, LINEAR_STEPS
from graphmem.kernel.model.field import MATCH_CHARACTERS
from graphmem.patterns import lazy_re

MOST_GROUPS = 30  # nested; the engines take more than twice as many before the stack of Python ends

TOKEN = lazy_re(
    r"""
      \\(?: x[0-9a-fA-F]{2} | u[0-9a-fA-F]{4} | [pP](?:\{[^}]*\}|[A-Z]) | [0-9]{1,3} | . )  # an escape
    | \[\^?\]? (?: \\. | \[:\^?\w+:\] | [^\]\\] )* \]                                      # a class
    | \(\?\#[^)]*\) | \(\?[ims]*(?:-[ims]+)?\)                                            # a comment, flags
    | \((?:\?(?: P?<[a-zA-Z_]\w*> | [ims]*(?:-[ims]+)?: | <?[=!] | > )?)?                 # the beginning of a group
    | (?: [*+?] | \{[^{}]*\} ) [?+]?                                                      # how often
    | .""",
    re.DOTALL | re.VERBOSE,
)
AT_LEAST = lazy_re(r"\{0*([1-9][0-9]{,6})[0-9]*(?:,[0-9]*)?\}")  # of a longer number its beginning: large enough
ESCAPED = lazy_re(r"\\(?:[\W]|[AbBdDsSwWzZtnrfva]|[xupP0-9].+|[0-9])", re.DOTALL)  # that both engines read alike
LOOK = lazy_re(r"\(\?<?[=!]")
OF_A_LINE = ("\\A", "\\z", "\\Z")
DOTLESS = str.maketrans({"\u0130": "i", "\u0131": "i"})  # which `regex` takes for an i where the case does not matter


class Malformed(ValueError):
    """What neither engine takes for an expression."""


class Atom(NamedTuple):
    """
    A part of an expression.

    Attributes:
        literal: the character that it is; empty if it is not one.
        needs: literals of which every text that the part finds holds at least one; ``("",)`` if none is known.
        size: how many items it has with its counted repeats written out, each once more than it says.
    """

    literal: str = ""
    needs: tuple[str, ...] = ("",)
    size: int = 1


class Scanner:
    """Reads the text of an expression, as far as both engines read it in the same way."""

    def __init__(self, text: str) -> None:
        self.tokens = TOKEN.findall(text)[::-1]
        self.is_understood = True
        self.is_of_a_line = False
        self.depth = 0
        self.whole = self.alternatives()
        if self.tokens or not self.is_understood:  # or there is an end of a group too many
            counts = [*AT_LEAST.findall(text), *["1"] * text.count("+")]
            self.whole = Atom(size=len(text) * math.prod(int(count) + 1 for count in counts))

    @property
    def next(self) -> str:
        return self.tokens[-1] if self.tokens else ""

    def alternatives(self) -> Atom:
        """Read to the end of a group, or of the expression."""
        parts = [self.sequence()]
        while self.next == "|":
            self.tokens.pop()
            parts.append(self.sequence())
        needs = tuple(need for part in parts for need in part.needs)
        return Atom(needs=needs if all(needs) else ("",), size=sum(part.size for part in parts))

    def sequence(self) -> Atom:
        """Read items, and choose among what they need: the choice whose shortest literal is longest."""
        best: tuple[str, ...] = ("",)
        run = ""
        size = 0
        while self.next not in ("", "|", ")"):
            item = self.item(self.tokens.pop())
            least, is_repeated = 1, False
            # Also a fuzzy match of `regex`, which is taken for "perhaps never".
            while self.next[:1] in ("*", "+", "?") or (self.next[:1] == "{" and len(self.next) > 1):
                count = _least_of(self.tokens.pop())
                item, least, is_repeated = item._replace(size=item.size * (count + 1)), least * count, True
            size += item.size
            run += item.literal if least else ""
            if item.literal and not is_repeated:
                continue
            best = max(best, (run,), item.needs if least else ("",), key=lambda needs: min(map(len, needs)))
            run = ""
        return Atom(needs=max(best, (run,), key=lambda needs: min(map(len, needs))), size=size)

    def item(self, token: str) -> Atom:
        """Read what begins with a token."""
        if token[0] == "(" and not token.endswith(")"):
            return self.group(token)
        if token[0] == "\\":
            self.is_understood &= ESCAPED.fullmatch(token) is not None
            self.is_of_a_line |= token in OF_A_LINE
            return Atom(token[1:] if token.isascii() and not token[1:].isalnum() else "")
        return Atom(token if len(token) == 1 and token not in ".^$*+?{" else "")

    def group(self, token: str) -> Atom:
        """Read a group to its end; what a look-around finds is not of the text that is found."""
        self.is_understood &= token != "(?" and self.next[:1] != "*"
        self.depth += 1
        if self.depth > MOST_GROUPS:
            raise Malformed(f"groups nested over {MOST_GROUPS} deep")
        inner = self.alternatives()
        self.depth -= 1
        if self.tokens:
            self.tokens.pop()
        return inner if token[-1] not in "=!" else Atom(size=inner.size)


def _least_of(token: str) -> int:
    """Return how often at least a repeat finds what is before it; 0 for any other token."""
    if token[:1] == "+":
        return 1
    counted = AT_LEAST.match(token)
    return int(counted[1]) if counted else 0


class Expression:
    """
    A match expression; what is not asked for is not worked out.

    Attributes:
        needs: literals of which every text that it finds holds at least one; ``("",)`` if none is known.
        is_large: `regex` does not get it, since it may compile it for minutes.
        is_of_a_line: it names the ends of the text, which are those of a line: it is not looked for across lines.

    Raises:
        Malformed: its groups are nested too deep.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.needs: tuple[str, ...] = ("",)
        self.is_large = self.is_of_a_line = True
        if len(text) <= MATCH_CHARACTERS:  # a file may hold a longer one
            scanner = Scanner(text)
            self.needs = scanner.whole.needs
            self.is_large = scanner.whole.size > GENERAL_ITEMS
            self.is_of_a_line = scanner.is_of_a_line

    @property
    def literals(self) -> tuple[str, ...]:
        """
        Literals, as ``folded`` returns them, of which every text that the expression finds holds at least one.

        An empty literal is in every text: nothing is known of such an expression but that it has to be run.
        """
        return tuple(sorted({folded(need) for need in self.needs}))

    @cached_property
    def linear(self) -> Any:
        """RE2's program, or None where RE2 refuses the expression."""
        import re2  # noqa: PLC0415 - 8 ms that few commands need

        try:
            return re2.compile(f"(?m){self.text}", linear_options())
        except re2.error:
            return None

    @cached_property
    def general(self) -> Any:
        """
        The program of the module `regex`.

        Raises:
            Malformed: it refuses the expression.
        """
        import regex  # noqa: PLC0415 - 25 ms that few expressions need

        try:
            return regex.compile(self.text, regex.MULTILINE)
        except (regex.error, ValueError, OverflowError, RecursionError) as error:
            raise Malformed(str(error)) from None

    @cached_property
    def looks_over_lines(self) -> bool:
        """Return whether what it looks around at may be another line: one line alone does not decide a hit."""
        has_newline = "\\n" in self.text or "\n" in self.text
        return has_newline and LOOK.search(self.text) is not None and self.linear is None

    @cached_property
    def is_linear(self) -> bool:
        """Return whether RE2 runs the expression in so few steps a byte that it needs no time limit."""
        return self.linear is not None and self.linear.programsize <= LINEAR_STEPS


def linear_options() -> Any:
    """Return how RE2 is asked: for where an expression is found, and for nothing of its groups."""
    import re2  # noqa: PLC0415 - as above

    options = re2.Options()
    options.never_capture, options.log_errors = True, False
    return options


def folded(text: str) -> str:
    """Return a text so that what differs in case only is the same, letter by letter."""
    return text.translate(DOTLESS).casefold()


def refuse_malformed(text: str) -> None:
    """
    Raise ``Malformed`` for what neither engine takes; a very large expression of `regex` is taken without asking it.
    """
    expression = Expression(text)
    if expression.linear is None and not expression.is_large:
        expression.general  # noqa: B018 - raises
