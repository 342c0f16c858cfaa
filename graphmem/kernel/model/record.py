"""What every record has, and how a record becomes a row and a row a record."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from typing import Annotated, Any, ClassVar, NamedTuple, Self, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, JsonValue, computed_field, model_validator

from graphmem.kernel.model.field import (
    Count,
    Day,
    Flag,
    GrowingSet,
    Item,
    Limit,
    StringSet,
    Text,
    Time,
    Versions,
    as_set,
    format_time,
)
from graphmem.names import SLUG, collapsed, slug, text_key
from graphmem.patterns import lazy_re

R = TypeVar("R", bound="Record")
Row = dict[str, JsonValue]
CHECKED = object()  # the context in which a row is validated that was checked before: nothing dear is checked again


TIME = lazy_re(r"\d{4}-\d\d-\d\d[T ][\d:.,+Z-]+")
INDEXED_CHARACTERS = 64 * 1024  # of a record; an import may keep any number


def is_absent(value: object) -> bool:
    """Return whether a field holds nothing: an answer leaves it out."""
    return not value


def united(*texts: str | None) -> str:
    """Return texts of a record in one, a line each; one that repeats another blurs what both say to the model."""
    return "\n".join(dict.fromkeys(filter(None, texts)))


def _texts_in(value: object) -> Iterator[str]:
    """Yield the texts of a JSON value, wherever they are in it, but for times."""
    if isinstance(value, str):
        yield from () if TIME.fullmatch(value) else (value,)
    elif isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _texts_in(part)


class Frozen(BaseModel):
    """A value: never changed, compared by content, unknown fields kept."""

    # A command uses few of the models, and to build one costs 5 ms: each is built when it is first used.
    model_config = ConfigDict(frozen=True, extra="allow", protected_namespaces=(), defer_build=True)

    derived: ClassVar[frozenset[str]] = frozenset({"updated_at"})  # in answers and never in rows
    fixed: ClassVar[frozenset[str]] = frozenset()  # beside the name, what identifies a row
    states: ClassVar[tuple[tuple[str, ...], ...]] = ()  # fields that say one thing together and are merged together

    kind: str
    created_at: Time
    edited: dict[str, Time] = Field(default_factory=dict)
    by: Item | None = Field(None, exclude_if=is_absent)  # who changed it last; ``model/authors.py``
    via: Item | None = Field(None, exclude_if=is_absent)  # and through what
    authors: dict[str, tuple[Item, Item]] = Field(default_factory=dict, exclude_if=is_absent)  # of the rest, by field

    @computed_field  # type: ignore[prop-decorator]
    @property
    def updated_at(self) -> Time:
        """The latest of ``created_at`` and the times in ``edited``."""
        return max((self.created_at, *self.edited.values())) if self.edited else self.created_at

    @property
    def writers(self) -> frozenset[str]:
        """The names of those who wrote something of it."""
        return frozenset(filter(None, (self.by, *(by for by, _ in self.authors.values()))))

    @model_validator(mode="before")
    @classmethod
    def complete(cls, values: Any) -> Any:
        """Complete what is given before it is checked."""
        return cls.completed(values)

    @classmethod
    def completed(cls, values: Any) -> Any:
        """Take a row or an answer: a known field that is ``null`` is absent, what is derived is dropped."""
        if not isinstance(values, dict) or (None not in values.values() and cls.derived.isdisjoint(values)):
            return values
        known = _known_names(cls)
        return {k: v for k, v in values.items() if k not in cls.derived and not (v is None and k in known)}

    def to_row(self) -> Row:
        """Return the canonical fields of this record: what holds its default is left out, times are texts."""
        values = self.__dict__
        row: Row = {
            alias: plain(values[name])
            for name, alias, default in _given_fields(type(self), frozenset(self.__pydantic_fields_set__))
            if values[name] != default
        }
        if self.__pydantic_extra__:
            row.update((name, plain(value)) for name, value in self.__pydantic_extra__.items())
        return row

    def replaced(self, changes: Mapping[str, object]) -> Self:
        """Return a checked copy with other values, by their names in a row; ``None`` takes a value away."""
        values = {alias: getattr(self, name) for name, alias, _ in row_fields(type(self))}
        return type(self).model_validate(values | (self.__pydantic_extra__ or {}) | dict(changes))


@cache
def _known_names(model: type[Frozen]) -> frozenset[str]:
    """Return the names that the fields of ``model`` have in a row."""
    return frozenset(alias for _, alias, _ in row_fields(model))


@cache
def row_fields(model: type[Frozen]) -> tuple[tuple[str, str, object], ...]:
    """Return the name, the name in a row and the default of each field of ``model``."""
    return tuple(
        (name, field.alias or name, field.get_default(call_default_factory=True) if not field.is_required() else ...)
        for name, field in model.model_fields.items()
    )


@lru_cache(1024)  # rows of a kind have few sets of fields
def _given_fields(model: type[Frozen], given: frozenset[str]) -> tuple[tuple[str, str, object], ...]:
    """Return ``row_fields`` of those fields of ``model`` that are given."""
    return tuple(field for field in row_fields(model) if field[0] in given and field[1] not in model.derived)


def plain(value: object) -> JsonValue:
    """Return a field's value as JSON: times as texts, integral numbers without a point."""
    if type(value) in SCALARS:
        return value  # type: ignore[return-value]  # a JSON scalar
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= 2**53 else value
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, BaseModel):
        return {k: plain(v) for k, v in value.model_dump(by_alias=True, exclude_defaults=True).items()}
    return [plain(item) for item in value]  # type: ignore[attr-defined]  # what is left is a list or a tuple


SCALARS = frozenset({str, bool, int, type(None)})


class Alternate(BaseModel):
    """Another text for ``field`` of the same record, kept beside the current one."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    field: Item
    text: Text
    at: Time | None = None  # when the text was given; None in rows of older versions
    helped: Count = 0  # of a fix, in answers: the reports made while it was the first to try
    failed: Count = 0
    disputed: Count = 0  # of a fix, in answers: reports made while it was the first to try that it is wrong


Alternates = Annotated[tuple[Alternate, ...], Field(json_schema_extra={"uniqueItems": True})]


class OwnEdge(NamedTuple):
    """An edge that is a field of a row: its ends as references, and what it says beside them."""

    source: str
    type: str
    target: str
    says: tuple[tuple[str, JsonValue], ...] = ()


@dataclass(frozen=True)
class Refers:
    """
    Says in the annotation of a field that it holds a reference of another record, or several.

    Args:
        kind: the only kind that the field names, so that a bare name is enough; None for any.
        edge: the relation type of the edges that the field makes; None where it makes none.
        is_incoming: these edges begin at the record that the field names.
        is_required: a record of that name has to be there when the field is written.
    """

    kind: str | None = None
    edge: str | None = None
    is_incoming: bool = False
    is_required: bool = False

    def full(self, ref: str) -> str:
        """Return the reference that a value of the field means, with its kind."""
        return ref if "/" in ref or self.kind is None else f"{self.kind}/{ref}"


class Record(Frozen):
    """A node of the memory: it has a key, a name, and may be archived."""

    derived = frozenset({"updated_at", "ref"})
    states: ClassVar[tuple[tuple[str, ...], ...]] = (("archived_at", "archive_reason", "superseded_by"),)
    counted: ClassVar[frozenset[str]] = frozenset()  # fields that follow from facts; a row has where they begin
    refers: ClassVar[Mapping[str, Refers]] = {}  # by field, from the annotations
    references: ClassVar[tuple[str, ...]] = ()  # fields that hold references of other records
    single_references: ClassVar[tuple[str, ...]] = ("superseded_by",)  # fields that hold one
    named_from: ClassVar[str] = ""  # the field that a name is made from where none is given
    says: ClassVar[str] = ""  # the field that says what it is about; that of its name, if there is one
    word: ClassVar[str] = ""  # what that field is called where a record is quoted; its name, if not given
    advises: ClassVar[tuple[tuple[str, str], ...]] = ()  # fields that say what to do or why, each with its word
    parts: ClassVar[tuple[tuple[str, str], ...]] = ()  # fields that say more, each with its word
    identity: ClassVar[tuple[str, ...]] = ()  # fields whose texts make the key; without them the name is the key

    name: Item
    key: Item = ""
    aliases: GrowingSet = ()
    sources: GrowingSet = ()
    archived_at: Time | None = None
    archive_reason: Text | None = None
    superseded_by: Annotated[Item | None, Refers()] = None
    alternates: Alternates = ()

    @classmethod
    def completed(cls, values: Any) -> Any:
        """The key is in a row only where it differs from the name."""
        values = super().completed(values)
        if isinstance(values, dict) and "key" not in values and "name" in values:
            return {**values, "key": values["name"]}
        return values

    @model_validator(mode="after")
    def validate_name(self) -> Self:
        """Refuse a name that cannot be typed or that is not a slug."""
        for name in (self.name, self.key, *self.aliases):
            self.refuse_name(name)
        return self

    @classmethod
    def refuse_name(cls, name: str) -> None:
        """Raise ``ValueError`` for a name that this kind cannot have; the message holds what would be right."""
        if not SLUG.fullmatch(name):
            raise ValueError(
                f"name {name!r} is not a slug (a-z 0-9 - _ . up to 120); {slug(name) or 'name'!r} would be"
            )

    @property
    def record_type(self) -> str:
        """The first part of the reference: the kind, for an entity its type."""
        return self.kind

    @property
    def key_ref(self) -> str:
        """The reference by key: how rows name this record, and its key text."""
        return f"{self.record_type}/{self.key}"

    @computed_field  # type: ignore[prop-decorator]
    @property
    def ref(self) -> str:
        """The reference by current name."""
        return f"{self.record_type}/{self.name}"

    @property
    def identity_text(self) -> str:
        """The text that says which record it is; empty where its name does."""
        return collapsed(" ".join(getattr(self, field) for field in self.identity))

    @property
    def text_key(self) -> str:
        """The key made from the text, whatever the name: two branches that write down one thing make one record."""
        return text_key(getattr(self, self.named_from), self.identity_text)

    @property
    def plain_name(self) -> str:
        """The name for a record that was given none, where it is free; empty where the text has no letter or digit."""
        return slug(getattr(self, self.named_from))

    @property
    def other_names(self) -> tuple[str, ...]:
        """The names under which it is found too: aliases, and names that a merge set aside."""
        return (*self.aliases, *(found.text for found in self.alternates if found.field == "name"))

    def texts(self, field: str) -> tuple[str, ...]:
        """What is in a field of text, where anything does, and what merges set aside of it."""
        current = getattr(self, field)
        return (*((current,) if current else ()), *(found.text for found in self.alternates if found.field == field))

    @property
    def headline(self) -> str:
        """What it is about, in one text; empty where nothing says it."""
        return getattr(self, self.says, None) or ""

    @property
    def qualifier(self) -> str:
        """How it is, in a few words before its headline."""
        return ""

    @property
    def is_archived(self) -> bool:
        return self.archived_at is not None

    @property
    def is_pinned(self) -> bool:
        """Whether it is kept from being archived, and first among what ranks equally; few kinds can be."""
        return getattr(self, "pinned", False)

    @property
    def search_text(self) -> str:
        """The text that represents the record in search; empty where it is not searched."""
        return ""

    @property
    def meanings(self) -> tuple[str, ...]:
        """The texts whose vectors find the record: its search text first; none where it is not searched."""
        return (self.search_text,) if self.search_text else ()

    @property
    def indexed_text(self) -> str:
        """
        The text whose words find the record: what its vectors are of, what merges set aside, and what an import kept.

        An import keeps what has no place of its own in a field that begins with ``x_``, such as the notes of an issue.
        """
        aside = (found.text for found in self.alternates if found.field not in ("name", "match"))
        kept = (value for name, value in (self.model_extra or {}).items() if name.startswith("x_"))
        return "\n".join((*self.meanings, *aside, *_texts_in(list(kept))))[:INDEXED_CHARACTERS]

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        """Collect which fields refer to other records, and which one says what a record is about."""
        cls.says = cls.says or cls.named_from
        cls.word = cls.word or cls.says
        marked = {
            name: [one for one in field.metadata if isinstance(one, Refers)] for name, field in cls.model_fields.items()
        }
        cls.refers = {name: found[0] for name, found in marked.items() if found}
        is_list = {name: get_origin(cls.model_fields[name].annotation) is tuple for name in cls.refers}
        cls.references = tuple(name for name in cls.refers if is_list[name])
        cls.single_references = tuple(name for name in cls.refers if not is_list[name])

    def refs_in(self, field: str) -> tuple[str, ...]:
        """Return the references in a field, with their kinds."""
        value = getattr(self, field)
        values = value if isinstance(value, tuple) else (value,)
        return tuple(self.refers[field].full(ref) for ref in values if ref is not None)

    @property
    def own_edges(self) -> Iterator[OwnEdge]:
        """The edges that are fields of this record."""
        for field, refers in self.refers.items():
            for ref in self.refs_in(field) if refers.edge else ():
                ends = (ref, self.key_ref) if refers.is_incoming else (self.key_ref, ref)
                yield OwnEdge(ends[0], refers.edge or "", ends[1])

    @staticmethod
    def refuse_blank(field: str, text: str) -> None:
        """Raise ``ValueError`` for a text without a word in it: nothing could find it."""
        if not text.strip():
            raise ValueError(f"{field} is empty; say {'what was observed' if field == 'trigger' else 'it in words'}")

    def to_row(self) -> Row:
        row = super().to_row()
        if row.get("key") == row.get("name"):
            del row["key"]
        return row


class MemoryRecord(Record):
    """What failures, patterns and lessons share: it is learned, reported on and merged."""

    derived = Record.derived | {"disputed"}

    tags: StringSet = ()
    files: StringSet = ()
    cites: StringSet = ()
    helped: Count = 0
    failed: Count = 0
    disputed: Count = 0  # reports since the last edit that it is wrong
    pinned: Flag = False

    @property
    def subject(self) -> str:
        """The text that two memories are compared by: what was observed."""
        text: str = getattr(self, self.named_from)
        return text


class Triggered(MemoryRecord):
    """A memory of what to do when something is observed."""

    trigger: Text
    framework: Text | None = None  # what the work was built with
    versions: Versions = Field(default_factory=dict)  # of the packages that it was seen with
    check_after: Day | None = None  # from when on its author no longer relies on it

    @model_validator(mode="after")
    def validate_trigger(self) -> Self:
        """Refuse a trigger without a word in it."""
        self.refuse_blank("trigger", self.trigger)
        return self


def limits(model: type[Frozen]) -> dict[str, Limit]:
    """Return the limit of each field of ``model`` that has one, by its name in a row."""
    found: dict[str, Limit] = {}
    for name, field in model.model_fields.items():
        optional = [getattr(part, "__metadata__", ()) for part in get_args(field.annotation)]  # of ``Text | None``
        for item in (*field.metadata, *(item for metadata in optional for item in metadata)):
            if isinstance(item, Limit):
                found.setdefault(field.alias or name, item)
    return found


def references_in(record: Record) -> Iterator[str]:
    """Yield the references in the fields of a record."""
    for field in record.references:
        yield from getattr(record, field)
    yield from filter(None, (getattr(record, field) for field in record.single_references))


def with_references(record: R, shown: Mapping[str, str | None]) -> R:
    """Return a record with other references in its fields, where ``shown`` has one; None takes a reference out."""
    changes: dict[str, Any] = {}
    for field in record.references:
        if not shown.keys().isdisjoint(refs := getattr(record, field)):
            changes[field] = as_set(new for ref in refs if (new := shown.get(ref, ref)) is not None)
    for field in record.single_references:
        changes[field] = shown.get(getattr(record, field), getattr(record, field))
    changes = {field: value for field, value in changes.items() if value != getattr(record, field)}
    return record.model_copy(update=changes) if changes else record
