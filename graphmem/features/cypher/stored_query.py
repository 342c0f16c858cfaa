"""
The stored queries: one statement a file, its parameters and columns in its header, run by name.

A file's header: line 1 is a sentence; ``// write`` if it writes; ``// param NAME TYPE meaning``;
``// column NAME TYPE``; ``// cost WHAT`` if it looks at more than the neighbourhood of a record.
Labels and relation types that vary are as ``{label}``, ``{from}``, ``{to}``, ``{relation}`` and are filled only
with names of the checked vocabulary, back-quoted.

A statement is openCypher for every engine. Where an engine needs other words, a file beside it, such as
``hybrid.open.cypher``, has the statement in its dialect: ``kuzu``, or ``open`` for others.
``{shortest}`` lets Kuzu, which may take a relation again and again, look for shortest paths only.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources.abc import Traversable

from graphmem.errors import NotFound, Usage
from graphmem.kernel.suggest import did_you_mean
from graphmem.kernel.system.files import shipped
from graphmem.patterns import lazy_re

PLACEHOLDER = lazy_re(r"\{(label|from|to|relation)\}")


@dataclass(frozen=True)
class Stored:
    """A stored query."""

    name: str
    sentence: str
    text: str
    is_write: bool
    parameters: Mapping[str, str]
    columns: Mapping[str, str]
    cost: str | None  # what it looks at beyond the neighbourhood of a record
    dialects: Mapping[str, str] = field(default_factory=dict)  # its statement for engines that need other words

    @property
    def placeholders(self) -> frozenset[str]:
        """The names whose place is taken by labels and relation types."""
        return frozenset(PLACEHOLDER.findall(self.text))

    def filled(self, names: Mapping[str, str], dialect: str = "kuzu") -> str:
        """Return the statement in a dialect with its placeholders filled, each with a name of the vocabulary."""
        text = self.dialects.get(dialect, self.text).replace("{shortest}", " SHORTEST " if dialect == "kuzu" else "")
        return PLACEHOLDER.sub(lambda match: quoted(names[match[1]]), text)

    def refuse_parameters(self, given: Mapping[str, object]) -> None:
        """Raise ``Usage`` where the parameters given are not exactly those declared: the engine itself is silent."""
        refuse_parameters(f"query {self.name!r}", frozenset(self.parameters), given)


def refuse_parameters(what: str, declared: frozenset[str], given: Mapping[str, object]) -> None:
    """Raise ``Usage`` for a parameter that is missing or that nothing asks for."""
    takes = f"it takes: {', '.join(sorted(declared)) or 'none'}"
    for name in sorted(declared - given.keys()):
        raise Usage(f"{what} misses parameter {name!r}", hint=f"give it as -p {name}=VALUE")
    for name in sorted(given.keys() - declared):
        raise Usage(f"{what} has no parameter {name!r}", hint=takes)


def quoted(name: str) -> str:
    """Return a label or relation type in back-quotes; a checked name holds none itself."""
    return f"`{name}`"


@cache
def stored(name: str) -> Stored:
    """
    Return a stored query.

    Raises:
        NotFound: no stored query has that name.
    """
    queries = all_stored()
    if name not in queries:
        reads = [query.name for query in queries.values() if not query.is_write]  # the others are refused by name
        raise NotFound(f"no stored query {name!r}", hint=did_you_mean(name, reads) or "see: graphmem cypher --list")
    return queries[name]


@cache
def all_stored() -> Mapping[str, Stored]:
    """Return every stored query, by name."""
    return {query.name: query for query in sorted(read(shipped("queries"), ""), key=lambda query: query.name)}


def read(folder: Traversable, prefix: str) -> Iterator[Stored]:
    """Yield the queries below a folder."""
    texts = {item.name: item.read_text(encoding="utf-8") for item in folder.iterdir() if item.name.endswith(".cypher")}
    for name, text in texts.items():
        stem, *dialect = name.removesuffix(".cypher").split(".")
        if not dialect:
            others = sorted(other for other in texts if other.startswith(f"{stem}.") and other != name)
            dialects = {other.split(".")[1]: _statement(texts[other]) for other in others}
            yield replace(parse(f"{prefix}{stem}", text), dialects=dialects)
    for item in folder.iterdir():
        if item.is_dir():
            yield from read(item, f"{prefix}{item.name}/")


def parse(name: str, text: str) -> Stored:
    """
    Return the query that a file holds.

    Raises:
        ValueError: it has no sentence, or a line of its header does not say what it declares.
    """
    header = [line.removeprefix("//").strip() for line in text.split("\n") if line.startswith("//")]
    if not header or not header[0]:
        raise ValueError("its first line does not say what it is for")
    declared: dict[str, dict[str, str]] = {"param": {}, "column": {}}
    for line in header[1:]:
        word, *rest = line.split()[:3] or [""]
        if word in declared:
            if len(rest) < 2:
                raise ValueError(f"the line {line!r} declares nothing: a name and a type are missing")
            declared[word][rest[0]] = rest[1]
    cost = next((line.removeprefix("cost").strip() for line in header[1:] if line.startswith("cost ")), None)
    return Stored(name, header[0], _statement(text), "write" in header, declared["param"], declared["column"], cost)


def _statement(text: str) -> str:
    """Return what a file holds below its header."""
    return "\n".join(line for line in text.split("\n") if not line.startswith("//")).strip().removesuffix(";")
