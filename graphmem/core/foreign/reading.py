"""What was read of another tool's file: rows in graphmem's form, and an account of all that the file holds."""

import contextlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from graphmem.constants import IMPORT_BYTES
from graphmem.core.foreign.forge import Issue, ReviewThread
from graphmem.errors import BadInput, NotFound, Refused, Unavailable
from graphmem.kernel.model import MODELS
from graphmem.kernel.model.field import ITEM_CHARACTERS, LIST_ITEMS, TEXT_BYTES, format_time, parse_time
from graphmem.kernel.model.vocabulary import KEPT_FREE, RESERVED, EntityType, RelationType
from graphmem.kernel.ndjson import BadLine, Lines, Row, decode, encode, refuse_long
from graphmem.kernel.system import safe_files
from graphmem.names import DEVICE, GIVEN_SLUG, TYPE_NAME, text_key
from graphmem.patterns import lazy_re

LOOK_BYTES = 2**20  # of a file, by which its format is recognised
LOOK_LINES = 20
CAMEL = lazy_re(r"(?<=[a-z0-9])(?=[A-Z])")
TITLE_CHARS = 200  # of a title that is longer than a text can be
OWN = "graphmem"  # in a file that graphmem wrote: the fields of a record that the format would give other values
IDENTITY = frozenset({"kind", "from", "to"})  # fields of a row that the form itself says
NO_TIME = "1970-01-01T00:00:00.000Z"  # of what was taken out, nobody knows when


class Skip(NamedTuple):
    """Something of the input that does not become a record or an edge, and why."""

    place: str
    reason: str


class Draft(NamedTuple):
    """
    A row for the store, as far as the file says it.

    Args:
        place: where in the input it stands.
        links: links of the input that are fields of this row: each the field and the reference in it.
        may_wait: an edge that is written although an end is missing; it comes alive when the end does.
    """

    row: Row
    place: str
    links: tuple[tuple[str, str], ...] = ()
    may_wait: bool = False


@dataclass
class ForeignInput:
    """
    All that one input holds.

    Args:
        format: the name of the format, which begins the origin of each record: ``beads:bd-12``.
        types: the types that the rows need, by name; those of them that the project lacks are declared.
        read: how many of each of its nouns the input holds.
        dangling: links to what the input does not hold.
        run: fields of the run state.
        heard: what people said on a forge; what is to be learned of it waits for a review.
    """

    format: str
    drafts: list[Draft] = field(default_factory=list)
    types: dict[str, EntityType | RelationType] = field(default_factory=dict)
    read: Counter[str] = field(default_factory=Counter)
    skipped: list[Skip] = field(default_factory=list)
    dangling: int = 0
    run: Row = field(default_factory=dict)
    heard: list[Issue | ReviewThread] = field(default_factory=list)

    def origin(self, number: object) -> str:
        """Return the origin of what has this id in the input."""
        return f"{self.format}:{number}"

    def skip(self, place: str, reason: str) -> None:
        """Note what is left out, and why."""
        self.skipped.append(Skip(place, reason))

    def add(self, row: Row, place: str, *links: tuple[str, str], may_wait: bool = False) -> None:
        """Add a row for the store."""
        self.drafts.append(Draft(row, place, links, may_wait))

    def entity_type(self, name: str) -> str:
        """Return the entity type for a word of the input, and have it declared."""
        made = type_name(name)
        self.types.setdefault(made, EntityType(type=made, description=f"From {self.format}: {one_line(name)}."))
        return made

    def relation_type(self, name: str, source: str, target: str, *, symmetric: bool = False) -> str:
        """Return the relation type for a word of the input, and have it declared for these ends."""
        made = type_name(name)
        if (known := self.types.get(made)) is None:
            known = RelationType(
                type=made, sources=(), targets=(), symmetric=symmetric,
                description=f"From {self.format}: {one_line(name)}.",
            )  # fmt: skip
        if isinstance(known, RelationType):
            sources, targets = (
                tuple(dict.fromkeys((*ends, end))) for ends, end in ((known.sources, source), (known.targets, target))
            )
            self.types[made] = known.model_copy(update={"sources": sources, "targets": targets})
        return made


def one_line(text: str) -> str:
    """Return a text on one line."""
    return " ".join(text.split())


def type_name(word: str) -> str:
    """
    Return the name of a type for any word: ``discovered-from`` gives ``discovered_from``.

    What graphmem has a meaning of its own for is told apart: ``depends_on`` gives ``their_depends_on``; so is a word
    that Windows has a meaning for, as ``aux``.
    """
    words = CAMEL.sub("_", word).lower()
    found = "_".join("".join(char if char.isalnum() and char.isascii() else " " for char in words).split())
    if TYPE_NAME.fullmatch(found):
        return f"their_{found}"[:64] if found in RESERVED | KEPT_FREE or DEVICE.fullmatch(found) else found
    return f"x_{text_key(found[:40], word).replace('-', '_').replace('.', '_')}"[:64]


def slug_of(number: str) -> str:
    """Return the key for an id of the input: the id itself where it can be one, else what is made of it."""
    return number if GIVEN_SLUG.fullmatch(number) and len(number) <= 100 else text_key(number, number)


def task_name(campaign: str, number: str) -> str:
    """
    Return the key of a task for its id in the input, the same in every clone.

    The three digits are the last number in the id. A running number would be another one in the next file.
    """
    digits = number[len(number.rstrip("0123456789")) :]
    return f"{campaign}/{int(digits[-3:] or 0):03}-{slug_of(number)}"


def rings(needs: Mapping[str, Sequence[str]]) -> set[tuple[str, str]]:
    """Return which needs to leave out so that nothing waits for itself: those that close a ring, in the given order."""
    closing: set[tuple[str, str]] = set()
    done, under_way = set[str](), set[str]()
    for start in needs:
        path = [(start, iter(needs[start]))] if start not in done else []
        under_way.update(one for one, _ in path)
        while path:
            one, rest = path[-1]
            need = next(rest, None)
            if need is None:
                path.pop()
                under_way.remove(one)
                done.add(one)
            elif need in under_way:
                closing.add((one, need))
            elif need not in done:
                path.append((need, iter(needs.get(need, ()))))
                under_way.add(need)
    return closing


class Fields:
    """The fields of an object of the input; what is not taken is left, and kept as it is."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.left = {name: value for name, value in given.items() if value not in (None, "", [], {})}

    def text(self, name: str, most: int = TEXT_BYTES) -> str | None:
        """Take a text; one that is longer than its place is left, and so is anything else."""
        value = self.left.get(name)
        if not isinstance(value, str) or not value.strip() or len(value.encode("utf-8", "replace")) > most:
            return None
        self.left.pop(name)
        return value

    def time(self, name: str) -> str | None:
        """Take a time; one without a zone is in UTC."""
        made = time_of(self.left.get(name))
        if made is not None:
            self.left.pop(name)
        return made

    def texts(self, name: str) -> list[str]:
        """Take a list of short texts."""
        value = self.left.get(name)
        if not isinstance(value, list) or len(value) > LIST_ITEMS or not all(map(is_item, value)):
            return []
        self.left.pop(name)
        return value

    def chosen(self, name: str, choices: Sequence[str]) -> Row:
        """Take a word that is one of those known here, as a field of its name."""
        return {name: self.left.pop(name)} if self.left.get(name) in choices else {}

    def rest(self, format_name: str) -> Row:
        """Return what is left as the one field that keeps it; nothing where nothing is left."""
        return {f"x_{format_name.replace('-', '_')}": self.left} if self.left else {}


def own_fields(made: Row, row: Row) -> Row:
    """Return the fields of a row that reading its form alone makes otherwise; those that it must not make are null."""
    with contextlib.suppress(ValueError):  # a form alone may be no record: its name can be one that is refused here
        timed = {"created_at": row["created_at"], **made}
        canonical = MODELS[row["kind"]].model_validate(timed).to_row()
        made = {name: value for name, value in canonical.items() if name != "created_at" or name in made}
    return {name: row.get(name) for name in sorted({*made, *row} - IDENTITY) if row.get(name) != made.get(name)}


def with_own(made: Row, own: object) -> Row:
    """Return what was made of a form, with the fields that ``own_fields`` found."""
    given = own if isinstance(own, dict) else {}
    found = {**made, **{name: value for name, value in given.items() if name not in IDENTITY}}
    return {name: value for name, value in found.items() if value is not None}


def take_own(given: Row) -> Row:
    """Take the own fields out of an object of the input; none where graphmem did not write it."""
    found: Row = given.pop(OWN) if isinstance(given.get(OWN), dict) else {}
    return found


def kept_in(row: Row, name: str) -> Row:
    """Return what a row keeps of another tool's fields; nothing where it was not an import that wrote it."""
    found = row.get(name)
    return found if isinstance(found, dict) else {}


def joined(fields: Fields, title: str, more: str) -> str:
    """Take a title, and a longer text if both fit into one: the title, an empty line, the text."""
    said = fields.text(title) or str(fields.left[title]).strip()[:TITLE_CHARS]  # a longer one is left as it is
    text = fields.text(more, TEXT_BYTES - len(said.encode()) - 2)
    return f"{said}\n\n{text}" if text else said


def is_item(value: object) -> bool:
    """Return whether a value can be an item of a list."""
    return isinstance(value, str) and bool(value.strip()) and len(value) <= ITEM_CHARACTERS


def json_of(text: object) -> Any:
    """Return the value that a text is in JSON; None for anything else, and for what no row can hold."""
    if not isinstance(text, str | bytes):
        return None
    try:
        value = json.loads(text)
        decode(encode({"value": value}))
    except (ValueError, TypeError, RecursionError):  # a row holds no integer beyond 2^53, and no deep nesting
        return None
    return value


def time_of(value: object) -> str | None:
    """Return a time of the input in canonical form; None for anything else."""
    if not isinstance(value, str | datetime):
        return None
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
        return format_time(parse_time(moment if moment.tzinfo else moment.replace(tzinfo=UTC)))
    except ValueError:
        return None


@dataclass(frozen=True)
class Source:
    """A file or a folder that is to be imported; links are not followed, and what is too large is refused."""

    path: Path

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return self.path.name

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return not self.path.is_symlink() and safe_files.is_folder(self.path)

    def below(self, name: str) -> "Source | None":
        """Return a file of this folder, if it is there and not too large."""
        found = safe_files.stat_of(self.path / name)
        return Source(self.path / name) if found is not None and found.st_size <= IMPORT_BYTES else None

    def refuse_unreadable(self) -> None:
        """
        Refuse what cannot be read.

        Raises:
            NotFound: there is nothing, or a link.
            Refused: the file is too large.
        """
        if self.path.is_symlink():
            raise Refused(f"{str(self.path)!r} is a symbolic link, which is not followed", hint="name what it leads to")
        if self.is_folder:
            return
        found = safe_files.stat_of(self.path)
        if found is None:
            raise NotFound(f"{str(self.path)!r} is neither a file nor a folder", hint="a file of another tool")
        if found.st_size > IMPORT_BYTES:
            raise Refused(
                f"{str(self.path)!r} has {found.st_size:,} bytes; at most {IMPORT_BYTES:,} are read",
                hint="import it in parts",
            )

    def read(self, most: int = IMPORT_BYTES) -> bytes:
        """Return the beginning of the file; nothing of a folder."""
        if self.is_folder:
            return b""
        try:
            return safe_files.read(self.path, most=most)
        except OSError as error:
            raise Unavailable(f"{str(self.path)!r} cannot be read: {error.strerror}") from None

    def objects(self, reading: ForeignInput) -> Iterator[tuple[str, Row]]:
        """Yield the JSON object on each line of the file, with its place; a line without one is skipped."""
        if self.is_folder:
            raise BadInput(f"{self.name!r} is a folder", hint="name the file in it")
        with safe_files.opened(self.path) as file:
            for number, line in enumerate(Lines(file), 1):
                if not line.strip():
                    continue
                place = f"{self.name}:{number}"
                try:
                    refuse_long(line)
                    yield place, decode(line)
                except BadLine as bad:
                    reading.read["line"] += 1
                    reading.skip(place, f"{bad.message}; expected {bad.expected}")

    @cached_property
    def first_object(self) -> Row | None:
        """The first JSON object that is on one of the first lines of the file, if there is one."""
        for line in self.read(LOOK_BYTES).splitlines()[:LOOK_LINES]:
            try:
                return decode(line.strip(b"\xef\xbb\xbf \t\r"))
            except BadLine:
                continue
        return None

    @cached_property
    def document(self) -> Row | None:
        """The JSON object that the whole file is, if it is one and has no object on each line."""
        head = self.read(LOOK_BYTES).lstrip(b"\xef\xbb\xbf \t\r\n")
        if not head.startswith(b"{"):
            return None
        try:
            decode(head.split(b"\n", 1)[0])
            has_lines = b"\n" in head.strip()
        except BadLine:
            has_lines = False
        try:
            return None if has_lines else decode(self.read().removeprefix(b"\xef\xbb\xbf"))
        except BadLine:
            return None


def ref_in(row: Row) -> str:
    """Return the reference by key of the record in a row."""
    return f"{row['type'] if row['kind'] == 'entity' else row['kind']}/{row.get('key', row['name'])}"
