"""
What makes two texts the same memory (docs/concepts/retrieval.md, "Near-duplicates").

A sentence that differs only in a library, a version, an error code or a "not" is another memory; one that differs only
in a line number, an address, a duration, white space or in how it is worded is the same.
"""

import re
from collections import Counter

from graphmem.rules.signature import QUOTED, errors, stable

WORD = re.compile(r"[^\W_]+(?:[._/:\\@+'’-]+[^\W_]+|_)*", re.UNICODE)
CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2,}\d|[A-Z]{2}[a-z]")
NOT = re.compile(r"n['’]t\b|\bcannot\b", re.IGNORECASE)
ENDING = re.compile(r"(?:ations?|ions?|ings?|ers?|ors?|ments?|ies|ied|ed|es|s|ly|e|y)$")
STEM = 4  # letters that a word keeps at least
FEW = 2  # words: so many that stand in the place of others make another sentence

# Words that say nothing of their own; but for "from", "with", "before" and the like, which do.
EMPTY = frozenset(
    "a an the this that these those is are was were be been being am do does did done has have had having will would"
    " shall should may might must can could it its we i you they he she our your my their there here then so just very"
    " really quite also too get gets got getting of to for in on at by as and or but".split()
)
# Words that turn a sentence into its opposite. "It fails" and "it does not work" both have one.
TURNING = frozenset("not no never none neither nor without unable impossible".split())
FAILING = ("fail", "brea", "brok", "cras")
# Words of one group mean the same, by their first letters.
GROUPS = (
    "erro prob issu", "star begi laun boot", "stop end ends fini term quit", "show disp prin",
    "fix fixe repa solv reso",
    "find loca dete", "miss abse lack", "need requ", "wron inco inva bad", "remo dele", "hang free stal stuc",
    "use uses usin util", "beca sinc", "when if whil once", "refu reje deny deni decl", "allo perm", "larg big huge",
    "smal tiny", "run runs runn exec", "rece obta", "retu give yiel", "rais thro", "fold dire", "occu happ aris",
)  # fmt: skip
SYNONYMS = {stem: f"~{stems.split()[0]}" for stems in GROUPS for stem in stems.split()}


def signature(text: str) -> str:
    """Return what two reports of one memory have in common to the letter."""
    return stable(text).casefold()


def telling(text: str) -> frozenset[str]:
    """Return the identifiers, versions, numbers, paths, codes and quoted names of a text, in lower case."""
    text = stable(text)
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

    Telling tokens that the other text does not hold; the words that stand in the place of others; a "not".
    """
    texts = signature(left), signature(right)
    held = [{text, *WORD.findall(text)} for text in texts]
    missing = {
        token
        for found, words, text in ((telling(left), held[1], texts[1]), (telling(right), held[0], texts[0]))
        for token in found
        if token not in words and (WORD.fullmatch(token) or token not in text)
    }
    if missing:
        return frozenset(missing)
    first, second = (content(text) for text in texts)
    only = [first - second, second - first]
    if turns(texts[0]) != turns(texts[1]):
        return frozenset({"not"})
    if all(0 < sum(words.values()) <= FEW for words in only):
        return frozenset(word.removeprefix("~") for words in only for word in words)
    return frozenset()


def same_memory(left: str, right: str) -> bool:
    """Tell whether two similar texts say the same, or are the same error in the same place of a traceback."""
    return not differing(left, right) or is_same_traceback(left, right)


def is_same_traceback(left: str, right: str) -> bool:
    """Tell whether two tracebacks tell of the same errors, each in the same frame."""
    if "\n" not in left.strip() or "\n" not in right.strip():
        return False
    first, second = ([(error.exact, error.frame) for error in errors(text.splitlines())] for text in (left, right))
    return first == second and bool(first) and all(frame for _, frame in first)


def plain_words(text: str) -> list[str]:
    """Return the words of a text in lower case, "can't" and "cannot" as "not"."""
    return [
        part for word in WORD.findall(NOT.sub(" not", text)) for part in re.split(r"[-'’]", word.casefold()) if part
    ]


def turns(text: str) -> bool:
    """Tell whether a sentence is turned an odd number of times."""
    return sum(word in TURNING or word.startswith(FAILING) for word in plain_words(text)) % 2 == 1


def content(text: str) -> Counter[str]:
    """Return the words that say something, by their stems; those that mean the same under one of them."""
    words = (w for w in plain_words(text) if not (w in EMPTY or w in TURNING or w.startswith(FAILING)))
    return Counter(SYNONYMS.get(w[:STEM]) or stemmed(w) for w in words)


def stemmed(word: str) -> str:
    """Return a word without its ending."""
    return word[:STEM] + ENDING.sub("", word[STEM:]) if len(word) > STEM else word
