"""
Decides, before anything runs, whether a query of a user only reads.

This is the dialect of Kuzu 0.11.3: the text is cut into tokens as that engine cuts it. A walk over them knows at each
token whether the grammar wants an *operand* (then every word is a name, whatever it spells), is *after* one (then
a word can only be a keyword, and must be one of the words below), or wants a *clause*. So ``RETURN n.set AS load ORDER
BY load`` passes and ``MATCH (n) SET n.x = 1`` does not. Nothing that is not listed passes.
Source: docs/guarantees.md, "Queries of others".
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from graphmem.errors import Refused
from graphmem.kernel.graph import ReadQuery
from graphmem.patterns import lazy_re


class Kind(Enum):
    """What a token is; ``SPACE`` covers comments too."""

    SPACE = auto()
    WORD = auto()
    QUOTED = auto()
    STRING = auto()
    NUMBER = auto()
    PARAMETER = auto()
    MARK = auto()


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the query and where it begins."""

    kind: Kind
    text: str
    at: int

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.at + len(self.text)

    @property
    def word(self) -> str:
        """The token in capitals if it can be a keyword: only ASCII letters have capitals for the engine."""
        return self.text.upper() if self.kind is Kind.WORD and self.text.isascii() else ""

    @property
    def name(self) -> str:
        """The token as a name, without back-quotes."""
        return self.text[1:-1] if self.kind is Kind.QUOTED else self.text


class Expected(Enum):
    """What the grammar wants next: ``OPERATOR`` represents whatever can follow a complete operand or pattern."""

    CLAUSE = auto()
    FUNCTION = auto()
    BY = auto()
    OPERAND = auto()
    OPERATOR = auto()


# Table functions that read the catalog and nothing else.
FUNCTIONS = frozenset(
    ["show_tables", "table_info", "show_connection", "show_functions", "show_indexes", "db_version", "current_setting"]
)
# Scalar functions that change something; every other one computes a value from its arguments.
CHANGING = frozenset({"nextval", "currval"})

# Where a clause must begin. ALL follows UNION, LOGICAL follows EXPLAIN; the engine knows that they are nowhere else.
CLAUSES = {
    **dict.fromkeys(["MATCH", "UNWIND", "WITH", "RETURN"], Expected.OPERAND),
    **dict.fromkeys(["OPTIONAL", "EXPLAIN", "LOGICAL", "PROFILE", "ALL"], Expected.CLAUSE),
    "CALL": Expected.FUNCTION,
}
# After an operand, where names cannot be.
OPERATORS = {
    **dict.fromkeys(["MATCH", "UNWIND", "WITH", "RETURN"], Expected.OPERAND),
    **dict.fromkeys(
        ["WHERE", "SKIP", "LIMIT", "YIELD", "AS", "AND", "OR", "XOR", "IN", "STARTS", "ENDS", "CONTAINS", "IS"],
        Expected.OPERAND,
    ),
    **dict.fromkeys(["WHEN", "THEN", "ELSE", "HINT", "JOIN", "MULTI_JOIN"], Expected.OPERAND),
    **dict.fromkeys(["END", "ASC", "ASCENDING", "DESC", "DESCENDING"], Expected.OPERATOR),
    **dict.fromkeys(["OPTIONAL", "UNION"], Expected.CLAUSE),
    "ORDER": Expected.BY,
    "CALL": Expected.FUNCTION,
}
# Where an operand is wanted: words that the engine takes for no name, after which it still is (STARTS *WITH*).
PREFIXES = frozenset(["NOT", "DISTINCT", "CASE", "WHEN", "WHERE", "WITH"])
# Words that the engine takes for a label only in back-quotes.
RESERVED = frozenset(
    (
        "ACYCLIC ALL AND ANY ASC ASCENDING CASE CAST COLUMN CREATE DBTYPE DEFAULT DESC DESCENDING DISTINCT ELSE "
        "END ENDS EXISTS FALSE GLOB GROUP HEADERS HINT IN INSTALL JOIN MACRO MULTI_JOIN NONE NOT NULL ON ONLY "
        "OPTIONAL OR ORDER PRIMARY PROFILE SHORTEST SINGLE STARTS TABLE THEN TRAIL TRUE UNION UNWIND WHEN WHERE "
        "WITH WSHORTEST XOR "
    ).split()
)

_ADD = "the ledger is the truth; use `graphmem add` or `graphmem link`"
_EDIT = "the ledger is the truth; use `graphmem edit`"
_FORGET = "the ledger is the truth; use `graphmem forget` or `graphmem unlink`"
_TABLES = "tables follow the types of the project and `graphmem rebuild`"
_EXTENSION = "queries run without extensions and without network"
_COMMIT = "a query only reads, so there is nothing to commit"
_DATABASE = "a query sees the graph of this project only"
REASONS = {
    "CREATE": ("changes the graph", _ADD),
    "MERGE": ("changes the graph", _ADD),
    "SET": ("changes the graph", _EDIT),
    "REMOVE": ("changes the graph", _EDIT),
    "FOREACH": ("changes the graph", _EDIT),
    "DELETE": ("changes the graph", _FORGET),
    "DETACH": ("changes the graph", _FORGET),
    "DROP": ("changes the tables", _TABLES),
    "ALTER": ("changes the tables", _TABLES),
    "COMMENT": ("changes the tables", _TABLES),
    "COPY FROM": ("reads a file and changes the graph", "the ledger is the truth; use `graphmem import`"),
    "COPY TO": ("writes a file", "use `graphmem cypher --format csv` or `graphmem export`"),
    "EXPORT": ("writes files", "use `graphmem export`"),
    "IMPORT": ("reads files and changes the graph", "the ledger is the truth; use `graphmem import`"),
    "LOAD": ("reads a file or loads an extension", "a query reads the graph only; use `graphmem import` for files"),
    "ATTACH": ("opens another database", _DATABASE),
    "USE": ("switches to another database", _DATABASE),
    **dict.fromkeys(["INSTALL", "UNINSTALL", "UPDATE", "FORCE"], ("changes the extensions", _EXTENSION)),
    **dict.fromkeys(["BEGIN", "COMMIT", "ROLLBACK", "CHECKPOINT"], ("belongs to a transaction", _COMMIT)),
}
READS = "a query is made of MATCH, OPTIONAL MATCH, UNWIND, WITH, RETURN, UNION and CALL of " + ", ".join(
    sorted(FUNCTIONS)
)

MATCH_HINT = "its regular expression is the property `expression`"

# As in the engine's grammar: a next-line character or a zero-width space is not among them.
SPACES = frozenset(
    "\t\n\v\f\r \x1c\x1d\x1e\x1f\u00a0\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
ARROWS_AND_DASHES = (
    "\u27e8\u3008\ufe64\uff1c\u27e9\u3009\ufe65\uff1e\u00ad\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
)
MARKS = frozenset("()[]{}.,:;|=<>+-*/%^&!~" + ARROWS_AND_DASHES)
CLOSES = {")": "(", "]": "[", "}": "{"}
NUMBER = lazy_re(r"(?:\d+(?:\.\d+)?|\.\d+)[eE]-?\d+|\d*\.\d+|0|[1-9]\d*", re.ASCII)
INTEGER = lazy_re(r"0|[1-9]\d*", re.ASCII)
LINE = lazy_re(r"[^\r\n]*(?:\r?\n|\Z)")


def require_read(text: str) -> ReadQuery:
    """
    Return ``text`` with the names in it if it is one statement that only reads.

    Returns:
        The query with its parameters, and labels: every name after ``:`` or ``|`` outside braces, so perhaps
        a few that are none (the end of a slice).

    Raises:
        Refused: the query is empty, is several statements, or holds anything but reading clauses and table
            functions on the list; ``details`` has ``statement`` and ``offset``.

    Cost: one pass over the text. Source: docs/guarantees.md, "Queries of others".
    """
    walk = _walked(text)
    parameters = (token.text[1:] for token in walk.tokens if token.kind is Kind.PARAMETER)
    return ReadQuery(text, frozenset(parameters), frozenset(walk.tokens[place].name for place in walk.labels))


def renamed(text: str, types: Mapping[str, str | None], labels: Mapping[str, str | None]) -> str | None:
    """
    Return a query in which types have other names: as labels, and in strings that are a type, a label or a reference.

    Args:
        types, labels: the new name by the name; None for one that goes, which is taken out of ``:A|B`` and ``:A:B``.

    Returns:
        None where a pattern is left without a label.

    Raises:
        Refused: as ``check`` does.
    """
    walk = _walked(text)
    found = {name.lower(): new for name, new in labels.items()}  # the engine takes them in any case
    words = {token.name.lower() for token in walk.tokens if token.kind in (Kind.WORD, Kind.QUOTED)}
    strings = {
        **(labels if "label" in words else {}),
        **(types if "type" in words else {}),
    }  # label(n) = 'A', n.type = 'a'
    pieces = []
    for token in walk.tokens:
        if token.kind is Kind.STRING:
            name, slash, _ = token.text[1:-1].partition("/")
            if new := (types if slash else strings).get(name):
                pieces.append((token.at + 1, token.at + 1 + len(name), new))
    runs = list[list[int]]()  # labels of one pattern, with | or : between them
    for place in walk.labels:
        is_next = bool(runs) and all(token.text in ":|" for token in walk.tokens[runs[-1][-1] + 1 : place])
        runs[-1].append(place) if is_next else runs.append([place])
    for run in runs:
        old = [walk.tokens[place] for place in run]
        new_names = [found.get(token.name.lower(), token.text) for token in old]
        left = [*dict.fromkeys(name for name in new_names if name is not None)]
        if not left:
            return None
        if new_names != [token.text for token in old]:
            joint = text[old[0].end : old[1].at] if len(old) > 1 else ""
            plain = (f"`{name}`" if name.upper() in RESERVED else name for name in left)
            pieces.append((old[0].at, old[-1].end, joint.join(plain)))
    for start, end, new in sorted(pieces, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _walked(text: str) -> "_Walk":
    found = list(tokens(text))
    if found and found[-1].text == ";":
        found.pop()
    if not found:
        raise Refused("the query is empty", hint=READS)
    walk = _Walk(found)
    walk.run()
    return walk


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of ``text`` without white space and comments; refuse what is not closed or never valid."""
    at = 1 if text.startswith("\ufeff") else 0
    while at < len(text):
        kind, end = _next(text, at)
        if kind is not Kind.SPACE:
            yield Token(kind, text[at:end], at)
        at = end


def _next(text: str, at: int) -> tuple[Kind, int]:
    """Return the kind of the token that begins at ``at``, and where it ends."""
    char = text[at]
    if char in SPACES:
        return Kind.SPACE, at + 1
    if text.startswith(("//", "/*"), at):
        return Kind.SPACE, _comment_end(text, at)
    if char in "'\"":
        return Kind.STRING, _string_end(text, at)
    if char == "`":
        return Kind.QUOTED, _quoted_end(text, at)
    if _is_start(char):
        return Kind.WORD, _word_end(text, at)
    if char == "$":
        if parameter := INTEGER.match(text, at + 1):  # `$1SET` is the parameter 1 and a clause
            return Kind.PARAMETER, parameter.end()
        if not _is_start(text[at + 1 : at + 2] or " "):
            raise _broken("a parameter is $ and a plain name", text, at)
        return Kind.PARAMETER, _word_end(text, at + 1)
    if number := NUMBER.match(text, at):
        return Kind.NUMBER, number.end()
    if text.startswith("..", at):
        return Kind.MARK, at + 2
    if char in MARKS:
        return Kind.MARK, at + 1
    raise _broken(f"{char!r} appears in Cypher only in a string", text, at)


def _comment_end(text: str, at: int) -> int:
    """Return where a comment ends; the engine reads ``**`` in pairs, so ``/***/`` is not closed."""
    if text[at + 1] == "/":
        line = LINE.match(text, at)
        if line is None:
            raise _broken("a comment line ends with a line feed, not a carriage return alone", text, at)
        return line.end()
    here = at + 2
    while (star := text.find("*", here)) >= 0:
        if text.startswith("/", star + 1):
            return star + 2
        here = star + 2
    raise _broken("the comment is not closed (`**/` does not close it)", text, at)


def _string_end(text: str, at: int) -> int:
    """Return where a string ends; a backslash takes the next character with it."""
    here = at + 1
    while here < len(text) and text[here] != text[at]:
        here += 2 if text[here] == "\\" else 1
    if here >= len(text):
        raise _broken("the string is not closed", text, at)
    return here + 1


def _quoted_end(text: str, at: int) -> int:
    """Return where a back-quoted name ends; quoted pieces that touch are one name."""
    while text.startswith("`", at):
        close = text.find("`", at + 1)
        if close < 0:
            raise _broken("the back-quoted name is not closed", text, at)
        at = close + 1
    return at


def _word_end(text: str, at: int) -> int:
    while at < len(text) and _is_part(text[at]):
        at += 1
    return at


def _is_start(char: str) -> bool:
    return char.isidentifier() or unicodedata.category(char) == "Pc"


def _is_part(char: str) -> bool:
    """Return whether a name goes on with ``char``; currency signs count, so ``a$b`` is one name."""
    return f"a{char}".isidentifier() or unicodedata.category(char) in ("Pc", "Sc")


def _broken(message: str, text: str, at: int) -> Refused:
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    return Refused(f"{message} (line {line}, column {column})", details={"offset": at})


@dataclass
class _Walk:
    """Goes over the tokens once and refuses the first that is not allowed where it is."""

    tokens: list[Token]
    wanted: Expected = Expected.CLAUSE
    open: list[str] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)  # the places of the tokens

    def run(self) -> None:
        for place, token in enumerate(self.tokens):
            if token.kind is Kind.MARK:
                self.mark(place, token)
            elif self.wanted is Expected.CLAUSE:
                self.wanted = self.one_of(CLAUSES, place)
            elif self.wanted is Expected.FUNCTION:
                self.function(place, token)
            elif self.wanted is Expected.BY:
                self.wanted = self.one_of({"BY": Expected.OPERAND}, place)
            elif self.wanted is Expected.OPERATOR and token.kind is Kind.WORD:
                self.operator(place, token)
            else:
                self.operand(place, token)

    def mark(self, place: int, token: Token) -> None:
        if token.text == ";":
            raise Refused(
                "a query is one statement", hint="run them one by one", details={"statement": ";", "offset": token.at}
            )
        if self.wanted not in (Expected.OPERAND, Expected.OPERATOR) and token.text != "}":
            raise self.refusal(place)
        if token.text in "([{":
            self.open.append(token.text)
            self.wanted = Expected.CLAUSE if self.is_subquery(place) else Expected.OPERAND
        elif token.text in CLOSES:
            if not self.open or self.open.pop() != CLOSES[token.text]:
                raise Refused(f"{token.text!r} closes nothing", details={"offset": token.at})
            self.wanted = Expected.OPERATOR
        elif token.text == "*":  # everything, or a product
            self.wanted = Expected.OPERATOR if self.wanted is Expected.OPERAND else Expected.OPERAND
        elif token.text != "!":  # a factorial leaves things as they are
            self.wanted = Expected.OPERAND

    def is_subquery(self, place: int) -> bool:
        """Tell ``EXISTS {`` and ``COUNT {`` from the properties of a variable: ``(count {key: 1})``."""
        before, after = self.word(place - 1), self.tokens[place + 1 : place + 3]
        is_map = bool(after) and (after[0].text == "}" or after[-1].text == ":")
        return self.tokens[place].text == "{" and before in ("EXISTS", "COUNT") and not is_map

    def function(self, place: int, token: Token) -> None:
        name = token.name
        if token.kind not in (Kind.WORD, Kind.QUOTED) or not name.isascii() or name.lower() not in FUNCTIONS:
            raise self.refusal(place - 1)
        if self.text(place + 1) != "(":
            raise self.refusal(place - 1)
        self.wanted = Expected.OPERATOR

    def operator(self, place: int, token: Token) -> None:
        """Take a word after an operand; in brackets begins no clause, so other words may be there (types)."""
        if token.word in OPERATORS:
            self.wanted = OPERATORS[token.word]
        elif not self.open or token.word in REASONS or token.word == "COPY":
            raise self.refusal(place)

    def operand(self, place: int, token: Token) -> None:
        is_name = token.kind in (Kind.WORD, Kind.QUOTED)
        if is_name and self.text(place + 1) == "(" and token.name.lower() in CHANGING:
            raise Refused(
                f"{token.name}() is not allowed in a query: it changes a sequence",
                details={"statement": token.name, "offset": token.at},
            )
        if is_name and self.text(place - 1) == "." and token.name.lower() == "match":  # for a release: it was that once
            raise Refused(
                "a failure has no property 'match' in the graph",
                hint=MATCH_HINT,
                details={"statement": token.name, "offset": token.at},
            )
        if is_name and self.text(place - 1) in (":", "|") and self.open and self.open[-1] != "{":
            self.labels.append(place)
        self.wanted = Expected.OPERAND if token.word in PREFIXES else Expected.OPERATOR

    def one_of(self, words: dict[str, Expected], place: int) -> Expected:
        if (word := self.word(place)) not in words:
            raise self.refusal(place)
        return words[word]

    def word(self, place: int) -> str:
        return self.tokens[place].word if 0 <= place < len(self.tokens) else ""

    def text(self, place: int) -> str:
        return self.tokens[place].text if 0 <= place < len(self.tokens) else ""

    def refusal(self, place: int) -> Refused:
        """Return what to say about the token at ``place``, which is not allowed there."""
        token = self.tokens[place]
        statement, why, hint = token.word or token.text[:40], "it is not a clause that reads", READS
        if statement == "CALL" and self.text(place + 2) == "=":
            statement, why = f"CALL {self.text(place + 1)} = …", "it changes a setting"
            hint = "use the options of `graphmem cypher` for limits"
        elif statement == "CALL":
            statement, why = f"CALL {self.text(place + 1)[:40]}", "only functions that read the catalog can be called"
        elif statement == "COPY":
            statement = "COPY TO" if self.text(place + 1) == "(" else "COPY FROM"
        if statement in REASONS:
            reason, hint = REASONS[statement]
            why = f"it {reason}"
        return Refused(
            f"{statement} is not allowed in a query: {why}",
            hint=hint,
            details={"statement": statement, "offset": token.at},
        )
