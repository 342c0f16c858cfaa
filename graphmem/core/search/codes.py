"""The codes, versions and names that a question says, and what has another one in their place."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from graphmem.constants import BESIDE
from graphmem.patterns import lazy_re

# Python before 3.11.4 reads a possessive group that repeats wrongly; nothing here ever goes back.
TOKEN = lazy_re(r"(?<![A-Za-z0-9])[A-Za-z0-9]+(?:[._/:\\+-]+[A-Za-z0-9]+)*")
NAME = lazy_re(r"_|[a-z][A-Z]")  # of a token without digits: what no word of prose has
WORD = lazy_re(r"[A-Za-z0-9]+")
# A code that a program prints: ERR_PNPM_OUTDATED_LOCKFILE, TS2307, ORA-01017, 0x80070005.
PRINTED = lazy_re(r"[A-Z]{2,}[A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z]{1,8}-?\d{3,}[A-Z]?|0x[0-9A-Fa-f]{6,16}")
PIECE = lazy_re(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True)
class SaidCode:
    """A code or name as the index has its words: ``e0382``, ``v3 1 0``, ``get user by id``."""

    words: str
    neighbour: re.Pattern[str]  # finds what is like it, itself too

    @property
    def is_number(self) -> bool:
        """Whether a number tells it, and no word: ``ts2307``."""
        return len(self.words.split()) == 1 or self.words.split()[-1].isdigit()

    def is_in(self, words: str) -> bool:
        """Return whether a text, its words in lower case with one blank between them, has it."""
        return f" {self.words} " in f" {words} "

    def is_replaced_in(self, words: str) -> bool:
        """Return whether a text has another one in its place."""
        return not self.is_in(words) and self.neighbour.search(f" {words} ") is not None


def codes(text: str) -> list[SaidCode]:
    """Return the codes of a text: tokens with digits that are not plain numbers, and names of programs."""
    tokens = dict.fromkeys(TOKEN.findall(text.replace("__", "_")))
    return [_code_of(token) for token in tokens if _is_code(token)]


def printed_codes(text: str) -> list[SaidCode]:
    """Return the codes of a text that programs print with an error."""
    return [_code_of(token) for token in dict.fromkeys(TOKEN.findall(text)) if PRINTED.fullmatch(token)]


def plain_words(text: str) -> str:
    """Return the words of a text in lower case with one blank between them, as a code is found in it."""
    return " ".join(WORD.findall(text)).lower()


def _is_code(token: str) -> bool:
    """Return whether a token is a code or a name of a program."""
    return (any(map(str.isdigit, token)) and not token.isdigit()) or NAME.search(token) is not None


def _code_of(token: str) -> SaidCode:
    """
    Return the code that a token is.

    Its neighbours begin as it does, up to its first digit, and go on with another number: ``node18`` and ``node20``.
    What begins with a digit shares its first number (``3.11`` and ``3.12``, ``42P01`` and ``42703``); a name without
    digits all but its last part. Of letters with a number (``arm64``), the number with other letters is one too.
    """
    words = plain_words(token)
    begun = re.match(r"\d+|\D+(?=\d)", words)
    head = begun[0] if begun else words[: -len(PIECE.findall(token)[-1])]
    rest = words[len(head) :].lstrip()
    follows = "[0-9]" if rest[:1].isdigit() else "[a-z0-9]"
    pattern = rf" {re.escape(head)}{' ' if words[len(head)] == ' ' else ''}{follows}"
    if number := re.fullmatch(r"[a-z]+(\d+)", words):
        pattern += rf"| [a-z]+{number[1]} "
    return SaidCode(words, re.compile(pattern))


def codes_first(
    relevances: Mapping[int, float], asked: Collection[SaidCode], texts: Mapping[int, str]
) -> Mapping[int, float]:
    """
    Return relevances that put texts with a code of the question before texts with another code in its place.

    Args:
        relevances: of the candidates.
        asked: the codes of the question.
        texts: the words of the candidates, in lower case with one blank between them.
    """
    found = dict(relevances)
    for code in asked:
        holders = [number for number, words in texts.items() if code.is_in(words)]
        others = [number for number, words in texts.items() if code.is_replaced_in(words)]
        best = max((found[number] for number in holders), default=0.0)
        top = max((found[number] for number in others), default=0.0)
        if best and top > best * BESIDE:
            found |= {number: min(1.0, found[number] * max(1.0, top / best)) for number in holders}
            found |= {number: found[number] * BESIDE for number in others}
    return found
