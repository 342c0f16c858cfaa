"""
The passage of a file that a symbol names: its definition, found by its form and its indentation, in any language.

No parser: a file that is being edited, or of an unknown language, has passages too, and the same text has
the same passage on every machine. Strings and comments are masked, so that no bracket or name in them counts.
Decision: docs/decisions/0010-code-anchors.md.
"""

import re
from itertools import islice
from textwrap import dedent

from graphmem.constants import AFTER_NAME, BEFORE_NAME, HEAD_LINES, NAMED_LINES
from graphmem.patterns import lazy_re

# What opens a string or a comment, to its end or to that of the text: nothing is scanned twice.
STRINGS = r'"(?:[^"\\\n]++|\\.)*+"?' + r"|'(?:[^'\\\n]++|\\.)*+'?"
TRIPLE = r'"""(?:[^"\\]++|\\.|"(?!""))*+(?:""")?' + r"|'''(?:[^'\\]++|\\.|'(?!''))*+(?:''')?"
SHARP = lazy_re(rf"{TRIPLE}|{STRINGS}|(?P<comment>#[^\n]*)", re.DOTALL)
SLASHES = lazy_re(rf"{STRINGS}|`(?:[^`\\]++|\\.)*+`?|(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))", re.DOTALL)
SHARP_SUFFIXES = frozenset("py pyi pyx rb sh bash zsh pl pm r jl ex exs nim cmake mk tcl yml yaml toml".split())
INSIDE = "\0"  # represents the characters of a string behind its first

KEYWORD = lazy_re(
    r"(?:^|[^\w.$])(?:class|def|defp|defmodule|defmacro|function|func|fun|fn|sub|proc|procedure|trait|interface|type"
    r"|module|mod|namespace|package|protocol|extension|object|record|const|let|var|val|define|macro_rules!|table|message"
    r"|service|rpc)\b(?:[ \t]*\([^()]*\))?(?:<[^>]*>)?[ \t*&]+$"
)
AGGREGATE = lazy_re(r"\b(?:struct|enum|union)[ \t]+$"), lazy_re(r"\s*[{:;<(]")
IMPLEMENTED = lazy_re(r"[ \t]*(?:unsafe[ \t]+)?impl\b.*")
CALLABLE = (
    lazy_re(
        r"[ \t]*(?!(?:if|else|elif|for|while|until|unless|switch|match|case|return|await|yield|new|throw|in|not)\b)"
        r"(?:[\w<>\[\],.:?@~]++[ \t*&]++)*?[*&]*(?:[\w<>~]+::)*"
    ),
    lazy_re(r"\s*\((?:[^()]++|\([^()]*+\))*+\)[^;{}()=]*+\{"),
)
ASSIGNED = lazy_re(r"[ \t]*(?:\w++[ \t]++)*?"), lazy_re(r"[ \t]*(?::[^=\n;{}()]*+)?=(?![=>])")


def definition(content: bytes, suffix: str, symbol: str) -> bytes | None:
    """
    Return how a file defines a symbol; None where it does not.

    Args:
        content: of the file.
        suffix: of its name, without the point.
        symbol: such as ``login``, ``Token.login`` or ``Token::login``.
    """
    text = content.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    parts = re.split(r"\.|::", symbol)
    if not all(part in text for part in parts):
        return None
    masked = mask(text, suffix).split("\n")
    spans = _spans_of(masked, symbol, range(len(masked)))
    if not spans and len(parts) > 1:
        spans = _spans_of(masked, parts[0], range(len(masked)))
        for part in parts[1:]:
            inside = [(range(*span), _indentation(masked[span[0]])) for span in spans]
            spans = [found for lines, outer in inside for found in _spans_of(masked, part, lines, outer)]
    lines = text.split("\n")
    found = [dedent("\n".join(lines[start:end])) for start, end in spans]
    return "\n".join(found).encode() if found else None


def mentions(content: bytes, symbol: str) -> bytes | None:
    """Return the lines that name a symbol, without their indentation; None without any."""
    word = _word_of(symbol)
    lines = content.decode("utf-8-sig", "replace").replace("\r\n", "\n").split("\n")
    found = [line.strip() for line in lines if symbol in line and word.search(line)]
    return "\n".join(found).encode() if found else None


def _word_of(name: str) -> re.Pattern[str]:
    """Return an expression that finds a name as a word of its own."""
    return re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")


def mask(text: str, suffix: str) -> str:
    """Return a text of the same length with comments blank, and strings as their first character and ``INSIDE``."""

    def masked(found: re.Match[str]) -> str:
        if found["comment"] is not None:
            return re.sub(r"[^\n]", " ", found[0])
        return found[0][0] + re.sub(r"[^\n]", INSIDE, found[0][1:])

    return (SHARP if suffix.lower() in SHARP_SUFFIXES else SLASHES).sub(masked, text)


def _spans_of(masked: list[str], name: str, lines: range, outer: int = -1) -> list[tuple[int, int]]:
    """
    Return where each definition of a name begins and ends, the outermost ones only.

    Args:
        lines: that are looked at.
        outer: a definition is indented by more than this.
    """
    word, places = _word_of(name), list[int]()
    named = (place for place in lines if name in masked[place] and _indentation(masked[place]) > outer)
    for place in islice(named, NAMED_LINES):
        line = masked[place]
        below = "\n".join(["", *masked[place + 1 : place + HEAD_LINES]])[:AFTER_NAME]
        found = word.finditer(line, 0, BEFORE_NAME + len(name))
        if any(_is_definition(line[: one.start()], line[one.end() :][:AFTER_NAME] + below) for one in found):
            places.append(place)
    outermost = min((_indentation(masked[place]) for place in places), default=0)
    spans: list[tuple[int, int]] = []
    for place in places:
        if _indentation(masked[place]) == outermost and (not spans or place >= spans[-1][1]):
            spans.append((_with_decorators(masked, place, lines.start), _end_of(masked, place, lines.stop)))
    return spans


def _is_definition(before: str, after: str) -> bool:
    """Return whether a name is defined between what is before it on its line and what comes after it."""
    return bool(
        KEYWORD.search(before)
        or IMPLEMENTED.fullmatch(before)
        or (AGGREGATE[0].search(before) and AGGREGATE[1].match(after))
        or (CALLABLE[0].fullmatch(before) and CALLABLE[1].match(after))
        or (ASSIGNED[0].fullmatch(before) and ASSIGNED[1].match(after))
    )


def _indentation(line: str) -> int:
    """Return how many characters a line is indented by."""
    return len(line) - len(line.lstrip(" \t"))


def _with_decorators(masked: list[str], place: int, first: int) -> int:
    """Return where the decorators or attributes right above a definition begin, each on one line or several."""
    top, depth = place, 0
    for above in range(place - 1, max(first, place - HEAD_LINES) - 1, -1):
        depth -= _balance(masked[above])
        if depth < 0 or (depth == 0 and not masked[above].lstrip().startswith(("@", "#["))):
            break
        if depth == 0:
            top = above
    return top


def _end_of(masked: list[str], start: int, limit: int) -> int:
    """
    Return the line behind the definition that begins at ``start``.

    It goes on over what is blank, indented more, continued, inside a string or between brackets; its closing bracket is
    its last line, unless something is opened there again.
    """
    indent, end, depth = _indentation(masked[start]), start + 1, _balance(masked[start])
    for place in range(start + 1, limit):
        line = masked[place]
        bare, own = line.strip(), _indentation(line)
        is_continued = line.startswith(INSIDE) or masked[place - 1].endswith("\\")
        if bare and not is_continued and own <= indent:
            is_closer = bare[0] in ")]}" or re.fullmatch(r"end[;,).]*", bare) is not None
            if depth <= 0 and (own < indent or not (is_closer or _opens(bare))):
                break
            if is_closer and own == indent and bare[-1] not in "([{:" and not _goes_on(masked, place, limit, indent):
                return place + 1
        depth += _balance(line)
        end = place + 1 if bare else end
    return end


def _balance(line: str) -> int:
    """Return how many brackets a line opens, less those that it closes."""
    return sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))


def _opens(bare: str) -> bool:
    """Return whether a line without its indentation begins the body of what is above it."""
    return bare.startswith("{") or re.match(r"where\b", bare) is not None


def _goes_on(masked: list[str], place: int, limit: int, indent: int) -> bool:
    """Return whether the next line that is not blank begins a body, or is still inside of one."""
    below = next((masked[found] for found in range(place + 1, limit) if masked[found].strip()), "")
    return _opens(below.strip()) or _indentation(below) > indent
