"""Where a list goes on: after the last record of the answer before, whatever was added or removed meanwhile."""

import base64
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Self

import orjson

from graphmem.core.records.record_contract import ListRequest
from graphmem.errors import Usage
from graphmem.kernel.model import Record


@dataclass(frozen=True)
class ListPlace:
    """
    The place of a record in a list: sorted by a field, those without a value last, then by type and name.

    Args:
        ref: of the record, with its shown name.
        value: of the field, as JSON; None without a field or a value.
    """

    ref: str
    value: Any = None

    @classmethod
    def of(cls, record: Record, request: ListRequest) -> Self:
        """Return the place of a record in the list that a request asks for."""
        value = None if request.sort is None else getattr(record, request.sort.removeprefix("-"), None)
        return cls(record.ref, orjson.loads(orjson.dumps(value, default=str)))

    @classmethod
    def given(cls, request: ListRequest) -> Self | None:
        """
        Return the place that the cursor of a request names; None without one.

        Raises:
            Usage: it is no cursor, or that of another list.
        """
        if request.cursor is None:
            return None
        try:
            data = request.cursor.encode("ascii")
            found = orjson.loads(base64.b64decode(data + b"=" * (-len(data) % 4), b"-_", validate=True))
        except ValueError:
            raise _no_cursor(request.cursor) from None
        match found:
            case [str(list_of), str(ref), value] if list_of == _list_asked(request):
                return cls(ref, value)
        raise _no_cursor(request.cursor)

    def cursor(self, request: ListRequest) -> str:
        """Return this place as the cursor of an answer."""
        data = orjson.dumps([_list_asked(request), self.ref, self.value])
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    @property
    def name(self) -> tuple[str, str]:
        """The type and the shown name."""
        record_type, _, name = self.ref.partition("/")
        return record_type, name

    def is_before(self, record: Record, request: ListRequest) -> bool:
        """Return whether a record comes after this place."""
        other = ListPlace.of(record, request)
        if (self.value is None) != (other.value is None):
            return other.value is None
        if self.value == other.value:
            return self.name < other.name
        try:
            is_less = self.value < other.value
        except TypeError:
            raise _no_cursor(str(request.cursor)) from None
        return bool(is_less) != str(request.sort).startswith("-")


def _list_asked(request: ListRequest) -> str:
    """Return what distinguishes one list from another: what is asked for, but where it begins and ends."""
    asked = [request.kind, sorted(set(request.tags)), request.archived, request.sort, request.by]
    return sha256(orjson.dumps(asked)).hexdigest()[:16]


def _no_cursor(given: str) -> Usage:
    """Return the error for a cursor that does not belong to the list that is asked for."""
    hint = "take it from the answer before, with the same parameters but the limit"
    return Usage(f"cursor {given[:80]!r} is not of this list", hint=hint, details={"field": "cursor"})
