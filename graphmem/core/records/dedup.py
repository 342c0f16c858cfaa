"""
What makes two texts the same memory (docs/concepts/retrieval.md, "Near-duplicates").

Two texts are one memory only if they say the same phrases: the same words, in the same order within a phrase, bound to
the same prepositions, and negated alike. A text that differs in a library, a version, an error code, a direction, a
"not", or in any word that says something, is another memory; one that differs only in a line number, an address, a
duration, white space, the order of its phrases, fillers or listed synonyms is the same. In doubt they are two: a missed
merge leaves a variant, a wrong one answers wrongly.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from graphmem.core.logs.report import is_repeat, report_of
from graphmem.patterns import lazy_re

WORD = lazy_re(r"[^\W_]+(?:[._/:\\@+'’-]+[^\W_]+|_)*", re.UNICODE)
PIECE = lazy_re(  # a word with a sign, a path's beginning or a ++ that is of it; or a mark
    rf"(?:(?<![^\s(=,:])-(?=\d)|\.{{0,2}}/)?{WORD.pattern}(?:\+\+|\#)?"
    r"|[,;:.!?()\[\]{}—–]|(?<=\s)-+(?=\s)|[-=]>|→|[<>+*/&|=~^%]+"
)
DURATION = lazy_re(  # but for one that says how long something took, which changes from run to run
    r"(?<!after )(?<!took )(?<!in )(?<!within )(?<![\w.,])(\d+(?:[.,]\d+)?)\s*"
    r"(ms|s|secs?|seconds?|min|minutes?|h|hours?|days?|weeks?|months?)\b"
)
SOFT = lazy_re(r"[,;](?=\s|$)")  # punctuation that one writes and another leaves out
QUOTES = lazy_re("['\"`“”‘’,;]")
CAMEL = lazy_re(r"[a-z][A-Z]|[A-Z]{2,}\d|[A-Z]{2}[a-z]")
NOT = lazy_re(
    r"\bcan(?:not| not|['’]t)\b|\b(?:won|shan)['’]t\b|n['’]t\b|\b(?:fail(?:s|ed|ing)?|unable) to\b", re.IGNORECASE
)
ASIDES = lazy_re(  # what a person says beside what happened
    r"\b(?:(?:in|on|for|of|to) (?:our|my|this) (?:project|repo|repository|code ?base|case)|as far as i can tell"
    r"|(?:just )?for the record|as it turned out|(?:today )?(?:we|i) (?:noticed|found|saw|see)(?: that)?|once more"
    r"|it (?:seems|appears|looks like)(?: that)?)\b|['’](?:s|re|ve|ll|d|m)\b"
)
BECAUSE = lazy_re(r"\bdue to\b|\b(?:this happens )?because(?: of)?\b|\breason:|\bthe (?:cause|reason) is(?: that)?\b")
NOT_ALL = lazy_re(r"\bnot (all|every|each|only|always)\b")  # says something else than "all not"
WHENEVER = lazy_re(r"\b(?:every|each) time\b")
ENDINGS = ("ing", "ed", "es", "s", "e")  # of words that are inflected; others make another word
STEM = 3  # letters that a word keeps at least
MANY_WORDS = 4  # that two similar texts share, whatever their length: measured, docs/benchmarks/diagnosis.md
MOST_PHRASES = 24  # of a text whose phrases may be in another order
ORDER = "the order of words"  # named where two texts have the same words in other places

# Words that say nothing of their own.
EMPTY = frozenset(
    "a an the this that these those is are was were be been being am do does did done has have had having will would"
    " shall it its we i you they he she our your my their there here so just very"
    " really quite also too get gets got getting of as and or but again still already simply basically actually"
    " apparently unfortunately somehow note which please".split()
)
# What begins a phrase: prepositions and conjunctions, each with the one that represents it.
HEADS = {
    word: group.split()[0]
    for group in (
        "in on at inside within",
        "to into onto towards",
        "from",
        "for",
        "by",
        "with using",
        "without",
        "before",
        "after",
        "until till",
        "when if while whenever once",
        "because since",
        "unless",
        "although though however",
        "during",
        "through via",
        "between",
        "under",
        "over",
        "than",
        "against",
        "about",
        "off",
        "out",
        "up",
        "down",
        "instead",
        "then",
    )
    for word in group.split()
} | dict.fromkeys("and but or as so".split(), "")  # these only begin one
# Words that turn a phrase into its opposite. "It fails" and "it does not work" both have one.
QUOTED = lazy_re(r"(?<!\w)'([^'\n]{0,120})'(?!\w)|\"([^\"\n]{0,120})\"|`([^`\n]{0,120})`")
TURNING = frozenset("not no never none neither nor impossible".split())
FAILING = frozenset(
    "fail fails failed failing failure break breaks broke broken breaking crash crashes crashed".split()
)
GROUPS = (
    "error errors problem problems issue issues bug bugs defect trouble",
    "start begin launch boot",
    "stop end finish terminate quit",
    "show display print",
    "fix repair solve resolve",
    "find locate detect",
    "missing absent lacking",
    "need require",
    "wrong incorrect",
    "invalid bad",
    "remove delete",
    "hang freeze stall stuck",
    "use used utilise utilize",
    "refuse reject deny decline",
    "allow permit",
    "large big huge",
    "small tiny",
    "run execute",
    "receive obtain",
    "return give yield",
    "raise throw",
    "folder directory",
    "occur happen arise",
    "work",
    "may might could",
    "colour color",
    "initialise initialize",
    "serialise serialize",
    "normalise normalize",
    "cancelled canceled",
)


class Phrase(NamedTuple):
    """A piece of a text: what binds it to the rest, whether it is negated, and its words, by their stems."""

    head: str
    is_negated: bool
    words: tuple[str, ...]


class TextParts(NamedTuple):
    """A text without its volatile parts, taken apart: telling tokens, all tokens, phrases, and the words of these."""

    text: str
    telling: frozenset[str]
    tokens: frozenset[str]
    phrases: tuple[Phrase, ...]
    words: Counter[str]


def signature(text: str) -> str:
    """Return what two reports of one memory have in common to the letter."""
    return report_of(text).text.casefold()


def telling(text: str) -> frozenset[str]:
    """Return the identifiers, versions, numbers, paths, codes and quoted names of a text, in lower case."""
    text = report_of(text).text
    quoted = {part.strip().casefold() for match in QUOTED.finditer(text) for part in match.groups() if part}
    words = {
        word.casefold()
        for word in WORD.findall(text)
        if not word.replace("-", "").replace("'", "").isalpha()
        or CAMEL.search(word)
        or (word.isupper() and len(word) > 1)
    }
    return frozenset(part for part in quoted | words if part.strip("._/:\\@+-'’"))


def differing(left: str, right: str) -> frozenset[str]:
    """
    Return what makes two similar texts two memories; nothing where they say the same.

    Telling tokens that the other text does not hold, then words that only one of them has, then a "not", then the order
    of words.
    """
    if is_repeat(left, right):
        return frozenset()
    first, second = _parts_of(left), _parts_of(right)
    missing = {
        token
        for one, other in ((first, second), (second, first))
        for token in one.telling
        if token not in other.tokens and (WORD.fullmatch(token) or bare(token) not in bare(other.text))
    }
    if missing:
        return frozenset(missing)
    if _says_same(first.phrases, second.phrases) or _says_same(
        *(phrases(SOFT.sub(" ", p.text)) for p in (first, second))
    ):
        return frozenset()
    only = (first.words - second.words) + (second.words - first.words)
    if only:
        written = {meaning(word): word for text in (second.text, first.text) for word in WORD.findall(text)}
        return frozenset(written.get(word, word.removeprefix("~")) for word in only)
    turned = [sum(phrase.is_negated for phrase in part.phrases) % 2 for part in (first, second)]
    return frozenset({ORDER if turned[0] == turned[1] else "not"})


def _says_same(left: Sequence[Phrase], right: Sequence[Phrase]) -> bool:
    """
    Return whether two texts have the same phrases in the same order, but for one piece that was moved as a whole.

    Such a piece begins with a preposition or a conjunction: "when it starts, X" and "X when it starts" are one, but not
    "A for B, C for D" and "C for B, A for D".
    """
    if left == right:
        return True
    if len(left) != len(right) or len(left) > MOST_PHRASES or Counter(left) != Counter(right):
        return False
    size = len(left)
    for start, end in combinations(range(size + 1), 2):
        if left[start].head:
            rest, piece = [*left[:start], *left[end:]], left[start:end]
            if any([*rest[:place], *piece, *rest[place:]] == list(right) for place in range(len(rest) + 1)):
                return True
    return False


def are_variants(left: str, right: str) -> bool:
    """
    Return whether two similar texts are about one thing, and say much the same of it.

    They are about one thing if they share a telling name, or half of the words of the shorter. They say much the same
    if they share four words, or half of the words of both: a name alone, or one word of two, makes no variants.
    """
    first, second = _parts_of(left), _parts_of(right)
    common = (first.words & second.words).total()
    sizes = first.words.total(), second.words.total()
    has_name = any(not token.isdigit() for token in first.telling & second.telling)
    return (has_name or 2 * common >= max(2, min(sizes))) and (common >= MANY_WORDS or 4 * common >= sum(sizes))


@lru_cache(32_768)  # one text is compared with many; 2 KB each
def _parts_of(text: str) -> TextParts:
    """Return a text taken apart."""
    plain_text = signature(text)
    found = phrases(plain_text)
    words = Counter(word for phrase in found for word in _words_of(phrase))
    spoken = " ".join(" ".join(line.row for line in report_of(text).lines if not line.is_error).split())
    spans = {f"{number} {unit[0]}" for number, unit in DURATION.findall(spoken.casefold())}
    tokens = frozenset({plain_text, *WORD.findall(plain_text), *spans})
    return TextParts(plain_text, telling(text) | spans, tokens, found, words)


def bare(text: str) -> str:
    """Return a text without quotation marks, and commas."""
    return QUOTES.sub("", text)


def _words_of(phrase: Phrase) -> tuple[str, ...]:
    """Return the words of a phrase, the one that binds it among them unless it says nothing."""
    return (phrase.head, *phrase.words) if phrase.head else phrase.words


def same_memory(left: str, right: str) -> bool:
    """Return whether two similar texts say the same."""
    return not differing(left, right)


def phrases(text: str) -> tuple[Phrase, ...]:
    """Return the phrases of a text in lower case."""
    found: list[Phrase] = []
    head, is_negated, words = "", False, list[str]()

    for piece in PIECE.findall(plain(text)):
        for word in re.split(r"[-'’]", piece) if WORD.fullmatch(piece) else [piece]:
            if word in HEADS or not word.strip(",;:.!?()[]{}—–-"):
                if words or head:
                    found.append(Phrase(head, is_negated, tuple(words)))
                    is_negated = False  # a "not" before a preposition is of the phrase that it begins
                    words.clear()
                head = HEADS.get(word, "")
            elif word in TURNING:
                is_negated = not is_negated
            elif word in FAILING:
                is_negated = not is_negated
                words.append("~work")
            elif word and word not in EMPTY:
                words.append(meaning(word))
    if words or head or is_negated:
        found.append(Phrase(head, is_negated, tuple(words)))
    return tuple(found)


def plain(text: str) -> str:
    """Return a text in lower case, its negations as "not", without what is reported beside what happened."""
    text = NOT_ALL.sub(r"not\1", ASIDES.sub(" ", NOT.sub(" not ", text.casefold())))
    return WHENEVER.sub("when", BECAUSE.sub("because", text))


def meaning(word: str) -> str:
    """Return what represents a word and its synonyms: a stem."""
    return SYNONYMS.get(stemmed(word), stemmed(word))


def stemmed(word: str) -> str:
    """
    Return a word without its ending; what is more than a word, such as a path or a name of code, as it is.

    A stemmer for search (Snowball's for English) takes words for one that are made from each other: operator and
    operation, author and authorization, import and important. Here that would merge different memories
    (docs/benchmarks/diagnosis.md, "Near-duplicates").
    """
    if not word.isalpha():
        return word
    if word.endswith(("ies", "ied")) and len(word) > STEM + 2:
        return f"{word[:-3]}y"
    for ending in ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= STEM and not word.endswith("ss"):
            is_doubled = ending in ("ing", "ed") and stem[-1] == stem[-2] and stem[-1] not in "lsz"
            return stem[:-1] if is_doubled else stem
    return word


SYNONYMS = {stemmed(word): f"~{group.split()[0]}" for group in GROUPS for word in group.split()}
