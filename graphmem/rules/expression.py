"""
Match expressions: what Python's `re` reads in one, in the syntax of the engines that run it.

RE2 runs an expression in time linear in the text; what it cannot run (look-around, back-references) goes to the module
`regex`, which can be given a time limit. Both differ from Python in what is a word, a digit or a space, so those are
spelled out. An expression is looked for in lines: ``\\A`` and ``\\Z`` are the ends of a line.
"""

import re
import re._constants as op
import re._parser as parser
from functools import cache, cached_property
from typing import Any

LAST, LAST_ASCII = 0x10FFFF, 0x7F
Ranges = tuple[tuple[int, int], ...]
DIGIT: Ranges = ((0x30, 0x39),)  # in ASCII, as the two below
WORD: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
SPACE: Ranges = ((0x09, 0x0D), (0x20, 0x20))
ANY_SPACE: Ranges = (
    (0x09, 0x0D), (0x1C, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029),
    (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000),
)  # fmt: skip
ANY_WORD = r"\p{L}\p{N}_"
NEWLINE = 0x0A


class NotLinear(Exception):
    """What RE2 cannot run."""


class Expression:
    """A match expression that Python's `re` takes, as the engines take it; what is not asked for is not made."""

    def __init__(self, text: str) -> None:
        self.parsed = parser.parse(text, re.MULTILINE)

    @cached_property
    def linear(self) -> "Writer | None":
        """For RE2; None where it cannot run it."""
        writer = Writer(is_linear=True)
        try:
            writer.write(self.parsed)
        except NotLinear:
            return None
        return writer

    @cached_property
    def general(self) -> "Writer":
        """For the module `regex`."""
        writer = Writer(is_linear=False)
        writer.write(self.parsed)
        return writer

    @cached_property
    def size(self) -> int:
        """How many items it has with its counted repeats written out, as an engine may do: ``(?:ab{3}){2}`` has 8."""
        return size_of(self.parsed)

    @property
    def literals(self) -> tuple[str, ...]:
        """
        Lower-case literals of which every text that the expression finds holds at least one.

        An empty literal is in every text: nothing is known of such an expression but that it has to be run.
        """
        return tuple(sorted({literal.lower() for literal in of_sequence(self.parsed)}))


class Writer:
    """
    Writes what Python's parser read in the syntax of one engine.

    Attributes:
        text: what was written.
        is_for_ascii: RE2 gives Python's answer for text in ASCII only.
        can_span: the expression can find text that holds a line end.
    """

    def __init__(self, *, is_linear: bool) -> None:
        self.is_linear = is_linear
        self.text = ""
        self.is_for_ascii = False
        self.can_span = False

    def write(self, parsed: Any) -> None:
        """Write a whole expression; ``^`` and ``$`` are the ends of every line."""
        flags = parsed.state.flags
        self.is_for_ascii = bool(flags & re.IGNORECASE)
        self.text = f"(?m{'i' if flags & re.IGNORECASE else ''}){self.sequence(parsed, flags)}"

    def sequence(self, parsed: Any, flags: int) -> str:
        return "".join(self.item(code, value, flags) for code, value in parsed)

    def item(self, code: Any, value: Any, flags: int) -> str:
        match code:
            case op.LITERAL:
                self.can_span |= value == NEWLINE
                return character(value)
            case op.NOT_LITERAL:
                return self.charset([(op.NEGATE, None), (op.LITERAL, value)], flags)
            case op.ANY:
                return self.charset([(op.NEGATE, None), *([] if flags & re.DOTALL else [(op.LITERAL, NEWLINE)])], flags)
            case op.IN:
                return self.charset(value, flags)
            case op.BRANCH:
                return f"(?:{'|'.join(self.sequence(branch, flags) for branch in value[1])})"
            case op.SUBPATTERN:
                return self.group(value, flags)
            case op.MAX_REPEAT | op.MIN_REPEAT:
                return self.repeat(value, flags) + ("?" if code is op.MIN_REPEAT else "")
            case op.AT:
                return self.place(value, flags)
        if self.is_linear:
            raise NotLinear
        return self.general_item(code, value, flags)

    def general_item(self, code: Any, value: Any, flags: int) -> str:
        """Return an item that only the module `regex` has."""
        match code:
            case op.POSSESSIVE_REPEAT:
                return self.repeat(value, flags) + "+"
            case op.ATOMIC_GROUP:
                return f"(?>{self.sequence(value, flags)})"
            case op.ASSERT | op.ASSERT_NOT:
                sign = "=" if code is op.ASSERT else "!"
                return f"(?{'' if value[0] > 0 else '<'}{sign}{self.sequence(value[1], flags)})"
            case op.GROUPREF:
                return rf"(?:\g<{value}>)"
            case op.GROUPREF_EXISTS:
                return f"(?({value[0]}){self.sequence(value[1], flags)}|{self.sequence(value[2] or (), flags)})"
        return "(?!)"  # op.FAILURE, an empty look-ahead that must not hold

    def group(self, value: Any, flags: int) -> str:
        """Return a group, with what it changes of the flags; only where it may be referred to does it capture."""
        number, added, removed, parsed = value
        inner = (flags & ~(TYPES if added & TYPES else 0) | added) & ~removed
        self.is_for_ascii |= bool(inner & re.IGNORECASE)
        body = f"(?{'i' if inner & re.IGNORECASE else '-i'}:{self.sequence(parsed, inner)})"
        return body if self.is_linear or number is None else f"({body})"

    def repeat(self, value: Any, flags: int) -> str:
        least, most, parsed = value
        return f"(?:{self.sequence(parsed, flags)}){{{least},{'' if most is op.MAXREPEAT else most}}}"

    def place(self, code: Any, flags: int) -> str:
        if code in (op.AT_BEGINNING, op.AT_BEGINNING_STRING):
            return "^"
        if code in (op.AT_END, op.AT_END_STRING):
            return "$"
        is_edge = code is op.AT_BOUNDARY
        if self.is_linear:
            self.is_for_ascii = True
            return r"\b" if is_edge else r"\B"
        word = f"[{written(WORD) if flags & re.ASCII else ANY_WORD}]"
        inside, outside = ("!", "=") if is_edge else ("=", "!")
        return f"(?:(?<={word})(?{inside}{word})|(?<!{word})(?{outside}{word}))"

    def charset(self, items: Any, flags: int) -> str:
        """Return a class of characters; one that lacks the characters of words is an alternative of its own."""
        is_negated = bool(items) and items[0][0] is op.NEGATE
        parts = [self.member(code, value, flags) for code, value in items[is_negated:]]
        nested = [part for part in parts if part.startswith("[")]
        plain = "".join(part for part in parts if not part.startswith("["))
        self.can_span |= is_negated != has_newline(items[is_negated:])
        if is_negated:
            first = "".join(f"(?!{part})" for part in nested)
            return f"(?:{first}{f'[^{plain}]' if plain else '(?s:.)'})"
        return f"(?:{'|'.join([*([f'[{plain}]'] if plain else []), *nested])})"

    def member(self, code: Any, value: Any, flags: int) -> str:
        """Return one item of a class."""
        if code is op.LITERAL:
            return character(value)
        if code is op.RANGE:
            return written((value,))
        is_ascii, name = bool(flags & re.ASCII), str(value)
        is_not = "_NOT_" in name
        if name.endswith("SPACE"):
            return written(without(SPACE if is_ascii else ANY_SPACE) if is_not else SPACE if is_ascii else ANY_SPACE)
        ranges = DIGIT if name.endswith("DIGIT") else WORD
        if self.is_linear:
            self.is_for_ascii |= not is_ascii
            # Beyond ASCII there are letters that fold to ASCII ones, which a class of all others must not bring in.
            return written(without(ranges, LAST_ASCII if self.is_for_ascii else LAST) if is_not else ranges)
        members = written(ranges) if is_ascii else r"\p{Nd}" if ranges is DIGIT else ANY_WORD
        return f"[^{members}]" if is_not else members


TYPES = re.ASCII | re.UNICODE | re.LOCALE


def has_newline(items: Any) -> bool:
    """Tell whether the items of a class hold the line end."""
    return any(
        value == NEWLINE
        if code is op.LITERAL
        else value[0] <= NEWLINE <= value[1]
        if code is op.RANGE
        else value in (op.CATEGORY_SPACE, op.CATEGORY_NOT_WORD, op.CATEGORY_NOT_DIGIT)
        for code, value in items
    )


@cache
def character(code: int) -> str:
    """Return a character so that it stands for itself, also in a class."""
    char = chr(code)
    return char if (char.isascii() and char.isalnum()) or code > 0xFF else rf"\x{code:02x}"


@cache
def written(ranges: Ranges) -> str:
    """Return ranges of characters as the items of a class."""
    return "".join(f"{character(first)}-{character(last)}" for first, last in ranges)


@cache
def without(ranges: Ranges, last: int = LAST) -> Ranges:
    """Return the ranges of all other characters up to ``last``."""
    ends = [-1, *(last for _, last in ranges)]
    starts = [*(first for first, _ in ranges), last + 1]
    return tuple((end + 1, start - 1) for end, start in zip(ends, starts, strict=True) if start > end + 1)


def size_of(parsed: Any) -> int:
    """Return how many items a sequence has, counted repeats written out."""
    size = 0
    for code, value in parsed:
        if code in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            size += max(1, value[0]) * size_of(value[2])
        elif code is op.BRANCH:
            size += sum(map(size_of, value[1]))
        elif code is op.SUBPATTERN:
            size += size_of(value[3])
        elif code in (op.ASSERT, op.ASSERT_NOT):
            size += size_of(value[1])
        elif code is op.ATOMIC_GROUP:
            size += size_of(value)
        elif code is op.GROUPREF_EXISTS:
            size += size_of(value[1]) + size_of(value[2] or ())
        else:
            size += 1
    return size


def of_sequence(parsed: Any) -> list[str]:
    """Return the best choice among what the items of a sequence need: the one whose shortest literal is longest."""
    best: list[str] = [""]
    run = ""
    for code, value in [*parsed, (None, None)]:
        if code is op.LITERAL:
            run += chr(value)
            continue
        options = [[run]]
        run = ""
        if code is op.SUBPATTERN:
            options.append(of_sequence(value[3]))
        elif code is op.BRANCH:
            options.append([literal for branch in value[1] for literal in of_sequence(branch)])
        elif code in (op.MAX_REPEAT, op.MIN_REPEAT) and value[0] > 0:
            options.append(of_sequence(value[2]))
        for literals in options:
            if min(map(len, literals)) > min(map(len, best)):
                best = literals
    return best
