"""
Formats: what tools print, as data (docs/guides/formats.md).

A format is a block of a TOML file of this package, or of a project's own `.graphmem/formats/`: a pattern that a line
has, in RE2, and what the line then says. All patterns are one set of RE2, so a line is looked at once, however many
tools there are.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, Literal, NamedTuple, get_args

import re2

from graphmem.core.logs.pattern_set import set_options
from graphmem.kernel.model.failure import Identity
from graphmem.kernel.system import foreign
from graphmem.patterns import lazy_re

Kind = Literal["problem", "test", "begin", "pass", "frame", "call", "outer", "more", "file", "place", "log", "skip"]
FAMILIES = "general compilers linters tests packages builds runtime databases infrastructure vcs network".split()
# Short forms in patterns. A place is a file with a line; each part of it is optional where a tool leaves it out.
MACROS = {
    "{file}": r"(?P<file>(?:[A-Za-z]:[\\/])?[^\s:()\[\]'\",|<>]+(?:\.\w{1,10}|/[^\s:()\[\]'\",|]+)"
    r"|[Mm]akefile|[Dd]ockerfile)",
    "{line}": r"(?P<line>\d{1,7})",
    "{column}": r"(?P<column>\d{1,5})",
    "{name}": r"[A-Za-z_$][\w$]*",
    "{rule}": r"(?P<code>[@\w][\w@/:.+=-]*\w)",
}
GROUPS = frozenset({"file", "line", "column", "severity", "code", "message", "test", "function"})


class Format(NamedTuple):
    """
    One form of a line that a tool prints.

    Attributes:
        tool: whose; family: see ``FAMILIES``.
        kind: what the line is: a problem; the title of a test that failed, begins or passed; a frame of a trace, or of
            Go the call whose place is in the next line; an outer line, which only says that something failed; more of
            the message before it; the file that the next lines are about; the place of the problem before it; that
            what follows is what a test had logged; nothing to read.
        text: of the pattern, which a line has from its beginning to its end.
        identity: what makes two of these the same problem; None where the message decides.
        before: of a frame: it comes before its error, innermost last.
        is_strong: it says that something is wrong whatever else the output says.
        template: what stands for the message where two are compared, if the tool words one problem in several ways.
    """

    tool: str
    family: str
    kind: Kind
    text: str
    source: str
    identity: Identity | None = None
    before: bool = False
    is_strong: bool = True
    template: str | None = None
    examples: tuple[dict[str, Any], ...] = ()

    @property
    def pattern(self) -> Any:
        """The pattern, made when it is first needed: of a table few are."""
        return _compiled(self.text)


@cache
def _compiled(text: str) -> Any:
    """Return a pattern for whole lines, as RE2 has it."""
    return re2.compile(rf"(?:{text})\s*$")


class BadFormat(ValueError):
    """A block of a file of formats that cannot be read."""


def _expanded(pattern: str) -> str:
    """Return a pattern with its short forms written out."""
    for short, long in MACROS.items():
        pattern = pattern.replace(short, long)
    return pattern


def read(text: str, source: str, family: str, *, is_checked: bool = True) -> list[Format]:
    """
    Return the formats of a file; those of the package are checked by its tests.

    Raises:
        BadFormat: the text is no TOML, or a block has an unknown field, a value that is not allowed, or a pattern that
            RE2 refuses; the message names the block and the value.
    """
    try:
        found = foreign.toml(text)
    except ValueError as error:
        raise BadFormat(f"{source}: {error}") from None
    family = str(found.pop("family", family))
    if family not in FAMILIES:
        raise BadFormat(f"{source}: the family {family!r} is not one of {', '.join(FAMILIES)}")
    blocks = found.pop("format", [])
    if found or not isinstance(blocks, list):
        raise BadFormat(f"{source}: unknown entries {', '.join(sorted(found)) or 'format'}; write [[format]] blocks")
    return [
        _block_of(block, f"{source}, block {number}", family, is_checked=is_checked)
        for number, block in enumerate(blocks, 1)
    ]


def _block_of(block: Any, where: str, family: str, *, is_checked: bool) -> Format:
    """Return one format."""
    if is_checked:
        refuse_bad_block(block, where)
    return Format(
        block["tool"], family, block.get("kind", "problem"), _expanded(block["pattern"]), where,
        block.get("identity"), bool(block.get("before")), not block.get("weak", False), block.get("template"),
        tuple(block.get("examples", ())),
    )  # fmt: skip


def refuse_bad_block(block: Any, where: str) -> None:
    """Raise ``BadFormat`` for a block that cannot be read as a format."""
    if not isinstance(block, dict) or not {"tool", "pattern"} <= block.keys():
        raise BadFormat(f"{where}: a block needs `tool` and `pattern`")
    texts = ("tool", "pattern", "kind", "identity", "template")
    if wrong := next((name for name in texts if not isinstance(block.get(name, ""), str)), None):
        raise BadFormat(f"{where}: {wrong} is {block[wrong]!r}; a text would be right")
    examples = block.get("examples", [])
    if not (isinstance(examples, list) and all(isinstance(one, dict) and "text" in one for one in examples)):
        raise BadFormat(f"{where}: examples are {examples!r}; tables, each with a `text`, would be right")
    known = {"tool", "pattern", "kind", "identity", "before", "weak", "template", "examples"}
    if unknown := sorted(block.keys() - known):
        raise BadFormat(f"{where}: unknown field {unknown[0]!r}; the fields are {', '.join(sorted(known))}")
    kind, identity = block.get("kind", "problem"), block.get("identity")
    if kind not in get_args(Kind):
        raise BadFormat(f"{where}: the kind {kind!r} is not one of {', '.join(get_args(Kind))}")
    if identity is not None and identity not in get_args(Identity):
        raise BadFormat(f"{where}: the identity {identity!r} is not one of {', '.join(get_args(Identity))}")
    names = re.findall(r"\(\?P<(\w+)>", _expanded(block["pattern"]))
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise BadFormat(f"{where}: the group {twice[0]!r} is twice in the pattern; one of the two would stay empty")
    try:
        pattern = _compiled(_expanded(block["pattern"]))
    except re2.error as error:
        raise BadFormat(f"{where}: RE2 refuses the pattern {block['pattern']!r}: {error}") from None
    if unknown := sorted(set(pattern.groupindex) - GROUPS):
        raise BadFormat(f"{where}: unknown group {unknown[0]!r}; the groups are {', '.join(sorted(GROUPS))}")


class Table:
    """Formats with one set of RE2 over their patterns."""

    def __init__(self, formats: Iterable[Format], hints: Sequence[str] = ()) -> None:
        self.formats = [*formats]
        self.set = re2.Set.SearchSet(set_options())
        for one in self.formats:
            # Also in a line with something before it, such as the mark of a runner.
            self.set.Add(rf"(?m)(?:^|[\s|\]>:;=)\"*])(?:{one.text})(?:[\s\"']*$|\\\\n|\")")
        for hint in hints:
            self.set.Add(f"(?m){hint}")
        self.set.Compile()

    def may_hold(self, text: str) -> bool:
        """Return whether a piece of a log, of several lines, may hold one that tells something."""
        return bool(self.set.Match(text))

    def of(self, line: str) -> list[Format] | None:
        """Return the formats that a line may have, in their order; None where it has neither one nor a hint."""
        found = self.set.Match(line)
        if not found:
            return None
        count = len(self.formats)
        return [self.formats[number] for number in sorted(found) if number < count]


def _text_of(file: Traversable) -> str:
    """Return the text of a file of the package."""
    return file.read_bytes().decode()


EXAMPLES = lazy_re(r"(?ms)^examples = \[\n.*?^\]\n")  # half of the time to read a file, and only for tests


@cache
def digest() -> bytes:
    """Return a digest of the files that formats and words of the package are in."""
    folder = resources.files("graphmem.core.logs")
    files = [folder.joinpath("words.txt"), *(folder.joinpath("tables", f"{name}.toml") for name in FAMILIES)]
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).digest()


@cache
def packaged() -> tuple[Format, ...]:
    """Return the formats of the package, those of a tool before the general ones."""
    folder = resources.files("graphmem.core.logs").joinpath("tables")
    found = [
        one
        for name in (f"{family}.toml" for family in FAMILIES)
        if folder.joinpath(name).is_file()
        for one in read(EXAMPLES.sub("", _text_of(folder.joinpath(name))), name, name[:-5], is_checked=False)
    ]
    # What a frame is no tool words; what all tools say comes after what one says.
    return tuple(sorted(found, key=lambda one: (one.kind not in ("frame", "call"), one.family == "general")))


def of_project(texts: Iterable[tuple[str, str]]) -> Iterator[Format | BadFormat]:
    """Yield the formats of a project's own files, and what is wrong with those that are left out."""
    for name, text in texts:
        try:
            yield from read(text, name, "general")
        except BadFormat as error:
            yield error
