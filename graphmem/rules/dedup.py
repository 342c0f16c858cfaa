"""
What makes two texts the same memory: their telling tokens (docs/concepts/retrieval.md, "Near-duplicates").

A sentence that differs only in a library, a version or an error code is another memory; one that differs only in a
line number, an address, a duration or white space is the same.
"""

import re
from collections.abc import Sequence

# What changes from run to run, in the order in which it is generalised.
VOLATILE = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"\b\d{4}-\d\d-\d\d([t ]\d\d:\d\d(:\d\d)?([.,]\d+)?(z|[+-]\d\d:?\d\d)?)?\b", " "),
        (r"\b\d\d:\d\d:\d\d([.,]\d+)?\b", " "),
        (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", " "),
        (r"\b0x[0-9a-f]+\b", " "),
        (r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,}\b", " "),
        (r"(/private)?/(tmp|var/folders|var/tmp)/\S+", " "),
        (r"\b(line|lineno|column|col|pid|process|thread)[ :=#]+\d+\b", r"\1"),
        (r"(\.\w{1,5}):\d+(:\d+)?\b", r"\1"),
        (r"\b\d+([.,]\d+)?\s?(ns|us|µs|ms|s|sec|secs|seconds?|min|minutes?|hours?)\b", " "),
    )
)
WORD = re.compile(r"[^\W_]+(?:[._/:\\@+-]+[^\W_]+|_)*", re.UNICODE)
QUOTED = re.compile(r"'([^'\n]{1,80})'|\"([^\"\n]{1,80})\"|`([^`\n]{1,80})`")
CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2,}\d|[A-Z]{2}[a-z]")
STEM = 4  # letters that two forms of one word share


def stable(text: str) -> str:
    """Return the text without what changes from run to run; case stays, for it tells identifiers."""
    for pattern, replacement in VOLATILE:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())


def signature(text: str) -> str:
    """Return what two reports of one error have in common to the letter."""
    return stable(text).casefold()


def telling(text: str) -> frozenset[str]:
    """Return the identifiers, versions, numbers, paths, codes and quoted names of a text, in lower case."""
    text = stable(text)
    quoted = {part.casefold() for match in QUOTED.finditer(text) for part in match.groups() if part}
    words = {
        word.casefold()
        for word in WORD.findall(text)
        if not word.isalpha() or CAMEL.search(word) or (word.isupper() and len(word) > 1)
    }
    return frozenset(quoted | {word for word in words if word.strip("._/:\\@+-")})


def same_memory(left: str, right: str) -> bool:
    """Tell whether two similar texts say the same: equal telling tokens, and no word put in another's place."""
    return telling(left) == telling(right) and not is_substitution(words(left), words(right))


def words(text: str) -> list[str]:
    """Return the words of a text in their order, in lower case, without what is volatile."""
    return [word.casefold() for word in WORD.findall(stable(text))]


def is_substitution(left: Sequence[str], right: Sequence[str]) -> bool:
    """Tell whether two sentences are one with a word or two exchanged: a library, a tool, a place."""
    if len(left) != len(right):
        return False
    changed = [(a, b) for a, b in zip(left, right, strict=True) if a != b]
    return 0 < len(changed) <= 2 and any(a[:STEM] != b[:STEM] for a, b in changed)
