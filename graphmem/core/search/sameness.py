"""
What two texts say of one failure, or of two: their words, names, codes and classes, side by side.

What a question shares with a stored failure speaks for it; what is in the same place of the same message and differs
speaks against it: another module, table, option or status is another failure, however alike the rest is.
docs/concepts/retrieval.md, "Whether anything is known".
"""

import builtins
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from graphmem.core.logs.report import is_repeat
from graphmem.core.logs.volatile import stable
from graphmem.core.records.dedup import EMPTY, HEADS, TURNING, differing, stemmed, telling
from graphmem.patterns import lazy_re

LONGEST = 4_000  # characters of a text that are compared
MESSAGE = 64  # tokens of a message at most
LEAST_RUN, LEAST_SHARE = 2, 0.3  # tokens of a message, and share of it, by which a question has the message
MOST_SHARE = 0.6  # of a message, from which a sentence has most of it
CLASS = lazy_re(
    r"\b(?:[A-Za-z_]\w*(?:\.|::))*"
    r"([A-Z]\w*(?:Error|Exception|Failure|Fault|Interrupt|Violation|Warning|Timeout|Expired|NotFound|Exit))\b"
)
# A number that says which failure it is; any other counts, measures or dates something.
CODE = lazy_re(
    r"\b[A-Z]{1,6}-?\d{2,6}\b(?!\s+\d\d:\d\d)|\bE(?!RROR|X)[A-Z]{4,}\b|\bSQLSTATE\W{1,2}\w{5}\b"
    r"|(?i:\berrno\s+\d+|\b(?:status|code|exit|http|got|expected|error)[ :=]+\d{1,5}\b)"
    r"|\(\d+: "
)
BEFORE_CODE = frozenset("expected got status code errno http error exit signal".split())
TOKEN = lazy_re(r"[A-Za-z_@][\w./@-]*\w|[A-Za-z]|\d+(?:\.\d+)*")
WORD = lazy_re(r"(?<![A-Za-z0-9])[A-Za-z]{2,}(?![A-Za-z0-9])")
NUMBER = lazy_re(r"(?<![\w.])\d+(?:\.\d+)*(?!\w)")
LONG_NAME = 8  # letters of the last part of a dotted name that says which it is, such as a class of a module
END = lazy_re(r"\n|[.;!?](?=\s|$)")  # of a sentence or a line
BEFORE = lazy_re(r"[:\n]|[.;!?](?=\s|$)")  # what ends that which is only put before a message
COLON = lazy_re(r":(?=\s)")
OPENING = lazy_re(r"[\[(]")  # of what a message adds in brackets
COMMA = lazy_re(r",(?=\s)")
SAYING = frozenset(
    "said says saying saw see seeing get gets got gives gave throws threw raises raised reports reported with"
    " error".split()
)
NOT = lazy_re(r"\bcannot\b|n['’]t\b")
# What is before a message and not of it: a class, a mark, a program.
HEAD = lazy_re(
    r"(?:\w+[.:])*\w*(?:error|exception|failure|warning|notfound|violation|timeout|expired|exit)"
    r"|error|err|fatal|panic|uncaught|remote|e"
)
SMALL = frozenset(
    "a an and are as at be but by can do does for from had has have how i if in into is it its me my of on or our so"
    " than that the their then there these they this to was we were what when where which who why will with you your"
    " error exception failed fails fail failure get got getting please after before any".split()
)


class Text(NamedTuple):
    """A text taken apart for comparing."""

    shown: str  # without what changes from run to run
    lowered: str  # as it is, and as it is shown
    tokens: tuple[str, ...]  # in their order
    spans: tuple[tuple[int, int], ...]  # where each token is
    pieces: frozenset[str]  # the tokens, and the parts of compound ones
    words: frozenset[str]  # stems of the words of its message: no class, code or number, no small words
    names: frozenset[str]  # telling names: identifiers, paths, versions, quoted texts
    classes: frozenset[str]
    codes: frozenset[str]
    numbers: frozenset[str]  # those that say which failure it is, by the rules of near-duplicates


class Comparison(NamedTuple):
    """What a question and a failure say of each other; each sign is in [0, 1]."""

    held: float  # share of the words that the other side has, the larger of both directions
    whole: float  # 1 if the question has all of the failure's message in one piece
    names_held: float  # 1 if the failure has telling names and the question has all of them
    other_class: float  # 1 if both name classes of errors, and no common one
    other_code: float  # 1 if both have codes, and no common one
    other_names: float  # 1 if each has telling names that the other lacks
    other_word: float  # 1 if the question has the failure's message with other words in it
    new_words: float  # share of the words of an error in the question that the failure lacks

    @property
    def is_other(self) -> bool:
        """Whether something says that they are two errors."""
        return bool(self.other_word or self.other_class or (self.other_code and not self.whole))

    @property
    def values(self) -> tuple[float, ...]:
        """What the weights are for, in their order: the larger each is, the likelier they are the same."""
        return tuple(-value if name in AGAINST else value for name, value in self._asdict().items())


AGAINST = frozenset({"other_class", "other_code", "other_names", "other_word", "new_words"})


class Excerpt(NamedTuple):
    """A piece of a message that is in a question word for word."""

    length: int = 0
    end: int = 0  # after its last token, in the question
    end_in_message: int = 0


@lru_cache(4_096)
def _taken_apart(text: str) -> Text:
    """Return a text as it is compared."""
    shown = "\n".join(map(stable, text[:LONGEST].splitlines()))
    plain = CODE.sub(" ", CLASS.sub(" ", shown))
    found = list(TOKEN.finditer(shown))
    tokens = tuple(token[0].lower() for token in found)
    words = (word.lower() for word in WORD.findall(NOT.sub(" not", plain)))
    return Text(
        shown=shown,
        lowered=f"{text}\n{shown}".lower(),
        tokens=tokens,
        spans=tuple(token.span() for token in found),
        pieces=frozenset(
            piece for token in tokens for piece in (token, _last_part(token), *re.split(r"[./_@-]", token))
        ),
        words=frozenset(stemmed(word) for word in words if word not in SMALL),
        names=frozenset(name for name in telling(plain) if not name.replace(".", "").replace(",", "").isdigit()),
        classes=frozenset(found[1] for found in CLASS.finditer(text)),
        codes=frozenset(re.sub(r"\W+", " ", found[0].lower()) for found in CODE.finditer(text)),
        numbers=frozenset(piece for name in telling(shown) for piece in NUMBER.findall(name)),
    )


def compared(question: str, trigger: str, full: str) -> Comparison:
    """
    Return how a question and a failure compare.

    Args:
        question: what was asked: a message, a log, a prompt.
        trigger: what the failure says went wrong.
        full: all of its text.
    """
    asked, stored, record = _taken_apart(question), _taken_apart(trigger), _taken_apart(full)
    run = longest_excerpt(asked.tokens, _message_of(stored))
    part = _taken_apart(_sentence(asked, run))
    has_message = bool(asked.classes or asked.codes) and not _is_class_alone(stored)
    missing = [name for name in stored.names if not _is_named(name, asked)]
    new = [name for name in part.names if not _is_named(name, record)]
    return Comparison(
        held=max(held(asked.words, record.words), held(stored.words, asked.words)),
        whole=float(_is_whole(asked, stored)),
        names_held=float(bool(stored.names) and not missing),
        other_class=float(other_class(asked, stored) is not None),
        other_code=float(_are_apart(asked.codes, stored.codes)),
        other_names=float(bool(missing and new)),
        other_word=float(_other_part(question, trigger, run) is not None),
        new_words=1.0 - _share(part.words, record.words) if has_message and part.words else 0.0,
    )


def _other_part(question: str, trigger: str, run: Excerpt) -> tuple[str, ...] | None:
    """Return what a question has in the place of a piece of a message, and that piece; or a word that turns it."""
    asked, stored = _taken_apart(question), _taken_apart(trigger)
    if run.length < max(LEAST_RUN, LEAST_SHARE * len(_message_of(stored))):  # too little of the message
        return None
    found: tuple[str, ...] | None = _other_number(asked, stored, run)
    if found is None and not _is_whole(asked, stored):
        part = _sentence(asked, run)
        found = _other_words(asked, stored, run) or _other_name(part, asked, stored, run) or turned(part, stored.shown)
    return None if found is None or is_repeat(question, trigger) else found


def _other_name(part: str, asked: Text, stored: Text, run: Excerpt) -> tuple[str, str] | None:
    """Return a telling name of a sentence and one of the message that it is most of, each only in one of both."""
    if run.length < MOST_SHARE * len(_message_of(stored)):
        return None
    missing = sorted(name for name in stored.names if not _is_named(name, asked))
    new = sorted(name for name in _taken_apart(part).names if not _is_named(name, stored))
    return (new[0], missing[0]) if missing and new else None


def turned(part: str, trigger: str) -> tuple[str, ...] | None:
    """Return the words by which sentences that are the same else say something else: "not", or "before", "after"."""
    found = sorted(differing(part, trigger), key=lambda word: word not in _taken_apart(part).tokens)
    is_turned = len(found) == 2 and HEADS.keys() >= set(found)
    return tuple(found) if is_turned or (found and set(found) <= TURNING) else None


def other_class(asked: Text, stored: Text) -> tuple[str, str] | None:
    """Return a class of errors in a question and the one in a message, where no class is in both, of one library."""
    if _are_apart(asked.classes, stored.classes):
        return min(asked.classes), min(stored.classes)
    pairs = [
        (_libraries(name, asked.tokens), _libraries(name, stored.tokens)) for name in asked.classes & stored.classes
    ]
    if pairs and all(_are_apart(*pair) for pair in pairs):
        return min(pairs[0][0]), min(pairs[0][1])
    return None


def _is_whole(asked: Text, stored: Text) -> bool:
    """Return whether a question has all of a message in one piece, but for words that say nothing."""
    if _is_class_alone(stored):
        return any(_has_class(asked, name, stored.tokens) for name in asked.classes & stored.classes)
    start = _start_of(stored, has_program=True)
    message = [token for token in stored.tokens[start : start + MESSAGE] if token not in EMPTY]
    return (
        longest_excerpt([token for token in asked.tokens if token not in EMPTY], message).length
        == len(message)
        >= LEAST_RUN
    )


def _has_class(asked: Text, name: str, stored: Sequence[str]) -> bool:
    """Return whether a question names the class of a message, one of a library, and of no other library."""
    if hasattr(builtins, name):
        return False
    return not _are_apart(_libraries(name, asked.tokens), _libraries(name, stored))


def _libraries(name: str, tokens: Sequence[str]) -> frozenset[str]:
    """Return the libraries that a class is of, by the tokens of a text that say so."""
    return frozenset(token.split(".")[0] for token in tokens if token.endswith(f".{name.lower()}"))


def _is_class_alone(stored: Text) -> bool:
    """Return whether a message is nothing but the class of an error."""
    return bool(stored.classes) and all(map(_is_head, stored.tokens))


def _sentence(text: Text, run: Excerpt) -> str:
    """Return the sentence or line of a text that a piece is in; all of it where there is no piece to speak of."""
    if run.length < LEAST_RUN:
        return text.shown
    first, last = text.spans[run.end - run.length][0], text.spans[run.end - 1][1]
    before = [found.end() for found in END.finditer(text.shown, 0, first)]
    after = END.search(text.shown, last)
    return text.shown[before[-1] if before else 0 : after.start() if after else None]


def _is_named(name: str, text: Text) -> bool:
    """Return whether a text has a name, or of a class its last part."""
    plain = name.removesuffix("()").removesuffix(".__init__")
    parts = plain.split(".")
    is_dotted = len(parts) > 1 and len(parts[-1]) >= LONG_NAME and all(map(str.isidentifier, parts))
    return _last_part(name) in text.lowered or (parts[-1] if is_dotted else _last_part(plain)) in text.lowered


def _last_part(name: str) -> str:
    """Return the telling part of a name: the file of a path, since its folders differ from machine to machine."""
    return name.rstrip("/").rpartition("/")[2]


def is_message(trigger: str) -> bool:
    """Return whether a trigger is as short as a message of an error; a longer one describes what happened."""
    return len(_taken_apart(trigger).tokens) <= MESSAGE


def _share(of: frozenset[str], held: frozenset[str]) -> float:
    """Return the share of some words that are among others."""
    return len(of & held) / len(of) if of else 0.0


def held(of: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of the words of a message that the other side has; a single word says nothing."""
    return _share(of, other) if len(of) > 1 else 0.0


def _are_apart(left: frozenset[str], right: frozenset[str]) -> bool:
    """Return whether both sides have some, and none in common."""
    return bool(left and right) and left.isdisjoint(right)


def _is_head(token: str) -> bool:
    """Return whether a token is before a message and not of it."""
    return HEAD.fullmatch(token) is not None or HEAD.fullmatch(token.rpartition(".")[2]) is not None


def _message_of(stored: Text) -> Sequence[str]:
    """Return the tokens of a message, without the class or mark before it."""
    start = _start_of(stored)
    return stored.tokens[start : start + MESSAGE]


def _start_of(stored: Text, *, has_program: bool = False) -> int:
    """
    Return the place of the first token of a message after the class or mark before it.

    Args:
        has_program: of "make: error: …" also the program is before it.
    """
    tokens = stored.tokens
    is_program = has_program and len(tokens) > 1 and _is_head(tokens[1]) and _is_cut(stored, 1, COLON)
    return next((place for place in range(int(is_program), len(tokens)) if not _is_head(tokens[place])), 0)


def _counts_only(tokens: Sequence[str], place: int) -> bool:
    """Return whether a token is a number that counts or measures something, and says not which failure it is."""
    token = tokens[place]
    return token[0].isdigit() and "." not in token and not (place and tokens[place - 1] in BEFORE_CODE)


def longest_excerpt(asked: Sequence[str], message: Sequence[str]) -> Excerpt:
    """Return the longest piece of a message that is in a question; numbers that only count match any number."""
    places: dict[str, list[int]] = {}
    for place, token in enumerate(message):
        places.setdefault(token, []).append(place)
    counts = [place for place in range(len(message)) if _counts_only(message, place)]
    best, lengths = Excerpt(), dict[int, int]()  # by the place of the last token: how long a piece ends there
    for end, token in enumerate(asked, 1):
        here = {*places.get(token, ()), *(counts if token[0].isdigit() else ())}
        lengths = {place: lengths.get(place - 1, 0) + 1 for place in here}
        for place, length in lengths.items():
            if length > best.length:
                best = Excerpt(length, end, place + 1)
    return best


def _other_words(asked: Text, stored: Text, run: Excerpt) -> tuple[str, str] | None:
    """
    Return a word of a question and the one of a message that it is in the place of, or None.

    The question has a piece of the message and, beside this piece, other words than the message. What is before a colon
    or in another sentence is not of the same message: one text may cut it off and another put something there.
    """
    message = _message_of(stored)
    start, start_in_message = run.end - run.length, run.end_in_message - run.length
    sides = []
    is_quoted = start and (asked.tokens[start - 1] in SAYING or _is_cut(asked, start, COMMA))
    if start_in_message and start and not (is_quoted or _is_cut(stored, _start_of(stored) + start_in_message, BEFORE)):
        sides.append((range(start_in_message), range(max(0, start - start_in_message), start)))
    rest = len(message) - run.end_in_message
    is_aside = rest and _is_cut(stored, _start_of(stored) + run.end_in_message, OPENING)
    if (
        rest
        and run.end < len(asked.tokens)
        and not (_is_cut(asked, run.end, END) or (is_aside and not _is_cut(asked, run.end, OPENING)))
    ):
        sides.append((range(run.end_in_message, len(message)), range(run.end, min(run.end + rest, len(asked.tokens)))))
    for places, places_in_question in sides:
        missing = next((message[place] for place in places if _is_missing(message, place, asked)), None)
        new = next((asked.tokens[place] for place in places_in_question if _is_new(asked.tokens[place], stored)), None)
        if missing and new:
            return new, missing
    return None


def _other_number(asked: Text, stored: Text, run: Excerpt) -> tuple[str, str] | None:
    """Return a number of a question and the one of a message that it is in the place of, if both say which failure."""
    message = _message_of(stored)
    for back in range(run.length, -2, -1):  # from the token before the piece to the one after it
        here, there = run.end - 1 - back, run.end_in_message - 1 - back
        if 0 <= here < len(asked.tokens) and 0 <= there < len(message):
            number, other = asked.tokens[here], message[there]
            if number != other and number in asked.numbers and other in stored.numbers:
                return number, other
    return None


def _is_cut(text: Text, place: int, mark: re.Pattern[str]) -> bool:
    """Return whether a mark is between a token and the one before it."""
    return mark.search(text.shown, text.spans[place - 1][1], text.spans[place][0]) is not None


def _is_missing(message: Sequence[str], place: int, asked: Text) -> bool:
    """Return whether a question lacks a token of a message that says something."""
    token = message[place]
    is_there = token in asked.pieces or _last_part(token) in asked.pieces or stemmed(token) in asked.words
    return _says_something(token) and not _counts_only(message, place) and not is_there


def _is_new(token: str, stored: Text) -> bool:
    """Return whether a message lacks a token of a question that says something."""
    is_there = token in stored.pieces or _last_part(token) in stored.pieces or stemmed(token) in stored.words
    return _says_something(token) and not token[0].isdigit() and not is_there


def _says_something(token: str) -> bool:
    """Return whether a token is more than a letter, a small word or what is before a message."""
    return len(token) > 1 and token not in SMALL and not _is_head(token)
