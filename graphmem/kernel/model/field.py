"""The types that fields are made of: texts with their limits, sets, numbers and times, and their canonical JSON."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, Strict, WithJsonSchema

from graphmem.kernel.versions import by_name, pairs

TEXT_BYTES = 16 * 1024  # UTF-8 bytes of a text
ITEM_CHARACTERS = 256  # characters of one item of a list
MOST_VERSIONS = 100  # packages whose versions a record has
LIST_ITEMS = 100  # items of a list that people write
GROWING_ITEMS = 10_000  # items of a list that grows by itself: sources, aliases, alternates
VALUE_BYTES = 4 * 1024  # UTF-8 bytes of an entity's value
MATCH_CHARACTERS = 1_000  # characters of a match expression
SYMPTOM_CHARACTERS = 300  # characters of a symptom


@dataclass(frozen=True)
class Limit:
    """What a command takes in at most; a file or a merge may hold more (records.md, "Limits")."""

    size: int  # UTF-8 bytes of a text
    items: int = 0  # items of a list; 0 for a text
    characters: int = 0  # characters of a text or of one item of a list; 0: the bytes count


def parse_time(value: object) -> datetime:
    """Return an instant in UTC, cut to milliseconds, from an aware datetime or ISO 8601 text with a time zone."""
    if isinstance(value, str | datetime):
        return instant(value)
    raise ValueError("expected a time such as 2026-11-01T09:30:00.000Z")


@lru_cache(maxsize=4096)  # rows that were written together share their times
def instant(value: str | datetime) -> datetime:
    """Do the work of ``parse_time``."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
        if moment.tzinfo is None:
            raise ValueError
        moment = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("expected a time with its zone, such as 2026-11-01T09:30:00.000Z") from None
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


@lru_cache(maxsize=4096)
def format_time(value: datetime) -> str:
    """Return the canonical text of an instant in UTC: ``2026-11-01T09:30:00.000Z``."""
    return value.isoformat(timespec="milliseconds")[:23] + "Z"


def passes_through(metadata: Iterable[object], check: Callable[..., object]) -> bool:
    """Return whether the values of a field with this metadata go through a function."""
    return any(getattr(item, "func", None) is check for item in metadata)


def as_set(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values once each, by code point: the form of a set in a row."""
    return tuple(sorted(set(values)))


def as_day(value: str) -> str:
    """Return a day as ISO 8601 writes it: ``2027-01-31``."""
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError:
        raise ValueError("expected a day such as 2027-01-31") from None


def _one_line(value: str) -> str:
    """Return a value that is on one line, as it is shown in a line of an answer."""
    if value.splitlines() not in ([], [value]):
        raise ValueError("expected a text without a line end")
    return value


def as_versions(versions: dict[str, str | tuple[str, ...]]) -> dict[str, str | tuple[str, ...]]:
    """Return versions by the name of their package, in the order of names: the form in a row."""
    if not all(name.strip() and version.strip() for name, version in pairs(versions)):
        raise ValueError('expected the name of a package and its version, such as {"werkzeug": "2.3.8"}')
    found = by_name(pairs(versions))
    return {name: version if isinstance(version, str) else tuple(version) for name, version in found.items()}


Time = Annotated[
    datetime,
    BeforeValidator(parse_time),
    PlainSerializer(format_time, return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
Text = Annotated[str, Strict(), Limit(TEXT_BYTES)]
Item = Annotated[str, Strict()]
Line = Annotated[str, Strict(), AfterValidator(_one_line)]
StringSet = Annotated[tuple[Item, ...], AfterValidator(as_set), Limit(0, LIST_ITEMS, ITEM_CHARACTERS)]
GrowingSet = Annotated[tuple[Item, ...], AfterValidator(as_set), Limit(0, GROWING_ITEMS, ITEM_CHARACTERS)]
TextSet = Annotated[tuple[Item, ...], AfterValidator(as_set), Limit(TEXT_BYTES, LIST_ITEMS)]
TextList = Annotated[tuple[Item, ...], Limit(TEXT_BYTES, LIST_ITEMS)]
Number = Annotated[float, Strict(), Field(ge=0, le=2**53, allow_inf_nan=False)]
Count = Annotated[int, Strict(), Field(ge=0, le=2**53)]
Flag = Annotated[bool, Strict()]
Day = Annotated[str, Strict(), AfterValidator(as_day)]
Versions = Annotated[
    dict[Item, Item | tuple[Item, ...]], AfterValidator(as_versions), Limit(0, MOST_VERSIONS, ITEM_CHARACTERS)
]
