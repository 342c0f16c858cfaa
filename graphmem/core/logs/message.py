"""
Messages: what a message says (its template), and of what (its names).

The template holds the words that messages of programs are made of; whatever else is in a message is a name: quoted
text, identifiers, paths, versions, and words that no message is made of. Two messages with one template say the same,
and of the same things if their names are the same.
"""

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib import resources
from typing import NamedTuple

from graphmem.core.logs.volatile import stable
from graphmem.patterns import lazy_re

LONGEST = 600  # characters of a message that are read
NAME = "*"
NUMBER = "#"
PIECE = lazy_re(
    r"(?P<quoted>(?<![\w'])'[^'\n]{0,200}'(?!\w)|\"[^\"\n]{0,200}\"|`[^`'\n]{0,200}[`']|‘[^’\n]{0,200}’|“[^”\n]{0,200}”"
    r"|«[^»\n]{0,200}»)"
    r"|(?P<path>file://[^\s'\")\],;:]+)"
    r"|(?P<url>[a-z][a-z+.-]{1,15}://[^\s'\")\],;]+)"
    r"|(?P<file>(?:[A-Za-z]:)?(?:[\w.@+~$=-]*[/\\])+[\w.@+~$*-]*[\w$*]|(?:[A-Za-z]:)?[/\\]"
    r"|[\w@+-]+(?:\.[\w+-]+)*\.[a-z]{1,5}(?=[\s:,;)]|$))"
    r"|(?P<version>[~^<>=]*\bv?\d+(?:\.\d+)+[\w.+-]*|[~^]\d+\b)"
    r"|(?P<number>(?<![\w])[-+]?\d[\d_,]*(?:\.\d+)?(?![\w]))"
    r"|(?P<word>[^\W\d_]+(?:['’][^\W\d_]{1,2})?(?![\w$.@#:-]*[\w$]))"
    r"|(?P<code>[@$#%&*]*[\w$]+(?:(?:::|->|[.@#:?!-])+[\w$]+)*[!?]?)",
)
# A number after one of these says which problem it is.
BEFORE_CODE = frozenset("errno err code status http signal exit error exception sqlstate port response".split())
STATUS = lazy_re(r"[1-5]\d\d")
ENDINGS = ("ies", "ied", "ing", "ed", "es", "s", "d", "ly", "able")
WORDY = lazy_re(r"[^\W\d_]+(?:-[^\W\d_]+)+")  # words joined by signs: read-only
CAMEL = lazy_re(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
LEAST_LAST = 6  # letters of the last part of a dotted name that may be alone
FEW = 0.34  # share of the words of a message that it is made of, below which it is in a language that is not listed


class MessagePart(NamedTuple):
    """
    A word, a number or a name of a message.

    Attributes:
        sort: ``word`` of the language of messages, ``number``, or a name: ``name``, ``path``, or ``odd`` for a word
            that is no more than unusual.
    """

    text: str
    sort: str

    @property
    def is_name(self) -> bool:
        """Return whether it is what the message is about, and not what it says of it."""
        return self.sort in ("name", "path", "odd")

    @property
    def is_telling(self) -> bool:
        """Return whether it tells which problem it is."""
        return self.sort in ("name", "path") and any(map(str.isalnum, self.text))


class MessageTemplate(NamedTuple):
    """
    What a message says.

    Attributes:
        pieces: its words, numbers and names, in their order.
        template: its words in lower case, its names as ``*``, those side by side as one, numbers that do not tell as
            ``#``.
        words: how many words the template has.
    """

    pieces: tuple[MessagePart, ...]
    template: str
    words: int

    @property
    def names(self) -> tuple[str, ...]:
        """Its names, those side by side as one."""
        found, is_open = list[str](), False
        for piece in self.pieces:
            if piece.is_name:
                found[-1:] = [f"{found[-1]} {piece.text}"] if is_open else [*found[-1:], piece.text]
            is_open = piece.is_name
        return tuple(found)

    @property
    def is_about(self) -> bool:
        """Return whether a name in it tells which problem it is: more than a word or a sign."""
        return any(piece.is_telling for piece in self.pieces)


@cache
def _vocabulary() -> frozenset[str]:
    """Return the words that messages are made of."""
    file = resources.files("graphmem.core.logs").joinpath("words.txt")
    text = file.read_bytes().decode()
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


@lru_cache(8_192)
def _is_listed(word: str) -> bool:
    """Return whether a word, in lower case, or what it is a form of, is one that messages are made of."""
    listed = _vocabulary()
    word = word.replace("’", "'").replace("n't", "nt")
    if word in listed:
        return True
    for ending in ENDINGS:
        if (
            word.endswith(ending)
            and len(stem := word.removesuffix(ending)) > 2
            and (
                stem in listed
                or f"{stem}e" in listed
                or f"{stem}y" in listed
                or (stem[-1] == stem[-2] and stem[:-1] in listed)
            )
        ):
            return True
    return any(
        word.startswith(prefix) and word.removeprefix(prefix) in listed for prefix in ("un", "re", "non", "mis", "in")
    )


def _is_said(word: str) -> bool:
    """Return whether a word, or a number that is a code, is of what a message says."""
    return word[0].isdigit() or _is_listed(word)


@lru_cache(4_096)
def message_of(text: str) -> MessageTemplate:
    """Return what a message says, and of what."""
    text = text[:LONGEST].strip()
    if " " in text and text[0] == text[-1] and text[0] in "'\"`" and text.count(text[0]) == 2:
        text = text[1:-1]
    found = [*_pieces_of(stable(text, is_error=True))]
    plain_words = [piece.text for piece in found if piece.sort == "word" and not piece.text[0].isdigit()]
    is_foreign = bool(plain_words) and sum(map(_is_listed, plain_words)) < FEW * len(plain_words)
    pieces = tuple(
        MessagePart(piece.text, "odd") if piece.sort == "word" and not (is_foreign or _is_said(piece.text)) else piece
        for piece in found
    )
    parts = list[str]()
    for piece in pieces:
        if not piece.is_name:
            parts.append(NUMBER if piece.sort == "number" else piece.text)
        elif parts[-1:] != [NAME]:
            parts.append(NAME)
    return MessageTemplate(pieces, " ".join(parts), sum(piece.sort == "word" for piece in pieces))


def _pieces_of(text: str) -> Iterator[MessagePart]:
    """Yield the pieces of a message, its words not yet told apart."""
    before = ""
    for found in PIECE.finditer(text):
        sort, piece = str(found.lastgroup), found[0]
        if sort == "quoted":
            inner = piece[1:-1].strip()
            if not inner:
                continue
            sort = "path" if _is_path(inner) else "name"
            piece = inner
        elif sort == "file":
            sort = "path"
        elif sort == "number":
            is_code = before in BEFORE_CODE or (
                STATUS.fullmatch(piece)
                and (before.isdigit() or text[found.end() : found.end() + 2].strip()[:1].isupper())
            )
            sort = "word" if is_code else sort
        elif sort == "word" and (
            CAMEL.search(piece) or (len(piece) > 3 and piece.isupper() and not _is_listed(piece.lower()))
        ):
            sort = "code"
        elif sort == "code" and WORDY.fullmatch(piece) and all(map(_is_listed, piece.lower().split("-"))):
            sort = "word"
        if sort == "word":
            piece = piece.lower()
        if sort == "path":
            piece = piece.replace("\\", "/").removeprefix("file://")
            # An absolute folder only says where a project is on a machine.
            last = piece.rstrip("/").rpartition("/")[2]
            if piece.startswith(("/", "~", "$")) and "." not in last.lstrip("."):
                continue
        before = piece.lower()
        yield MessagePart(piece, "name" if sort in ("code", "url", "version") else sort)


def _is_path(text: str) -> bool:
    """Return whether a quoted text is a path."""
    return " " not in text and ("/" in text or "\\" in text) and "://" not in text and not text.startswith("@")


def _same_end(left: str, right: str) -> bool:
    """Return whether two paths have the same end: where a project is differs from machine to machine."""
    first, second = (
        [part for part in path.strip("'\"").split("/") if part not in ("", ".", "..")] for path in (left, right)
    )
    if not first or not second:
        return first == second
    shared = 0
    while shared < min(len(first), len(second)) and first[-1 - shared] == second[-1 - shared]:
        shared += 1
    if not shared:
        return False
    are_absolute = all(path.startswith(("/", "~", "$")) for path in (left, right))
    # Of a package, the first part may be the name of the project.
    return are_absolute or shared >= min(len(first), len(second)) - (shared > 1)


def _equal(left: MessagePart, right: MessagePart) -> bool:
    """Return whether two pieces are the same, of a path its end."""
    if left.sort == right.sort == "path":
        return _same_end(left.text, right.text)
    if left.sort == right.sort == "number":
        return True
    one, other = plain(left.text), plain(right.text)
    if left.sort == right.sort == "name" and (f".{one}".endswith(f".{other}") or f".{other}".endswith(f".{one}")):
        return min(len(one), len(other)) >= LEAST_LAST or one == other  # a class with and without its module
    return left.is_name == right.is_name and one == other


def _alike(left: MessagePart, right: MessagePart) -> bool:
    """Return whether two pieces are the same, or both names, or both numbers."""
    if left.sort == right.sort == "number":
        return True
    return (left.is_name and right.is_name) or (left.sort == right.sort and left.text == right.text)


def within(
    inner: Sequence[MessagePart], outer: Sequence[MessagePart]
) -> Sequence[tuple[MessagePart, MessagePart]] | None:
    """Return each part of a message with the one in its place in a message that holds all of it; None without one."""
    size = len(inner)
    best: list[tuple[MessagePart, MessagePart]] | None = None
    for start in range(len(outer) - size + 1):
        if all(map(_alike, inner, outer[start : start + size])):
            pairs = [*zip(inner, outer[start : start + size], strict=True)]
            if all(_equal(*pair) for pair in pairs):
                return pairs
            best = best or pairs
    return best


CODE = lazy_re(r"[A-Z][A-Z\d_]{3,}")


def same_names(pairs: Sequence[tuple[MessagePart, MessagePart]]) -> bool:
    """
    Return whether the names in the same places of two messages are the same.

    A path tells only where it is the first name that tells, or there is no other: the others say where it happened. A
    code such as ``ENOENT`` says what went wrong, and of what is yet to come.
    """
    names = [pair for pair in pairs if pair[0].is_name]
    if any(not _equal(*pair) for pair in names if not (pair[0].sort == pair[1].sort == "path")):
        return False
    named = [pair for pair in names if not CODE.fullmatch(pair[0].text)]
    telling = next((pair for pair in named if pair[0].is_telling or pair[1].is_telling), None)
    return telling is None or _equal(*telling)


def plain(name: str) -> str:
    """Return a name without what one writes and another leaves out."""
    return name.strip(" '\"`.,;:()[]{}").removesuffix("()").removesuffix(".__init__").casefold()
