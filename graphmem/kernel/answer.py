"""The base of all answers: one model an operation, the same JSON from every front end (docs/reference/json.md)."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny, SkipValidation
from typing_extensions import TypeVar

from graphmem.errors import Usage
from graphmem.kernel.model import AnyRecord
from graphmem.kernel.model.record import Record
from graphmem.kernel.system.user import STORES, store_of
from graphmem.names import for_user

RecordT_co = TypeVar("RecordT_co", bound=Record, default=AnyRecord, covariant=True)

if TYPE_CHECKING:
    Shown = Annotated[RecordT_co, SkipValidation]
else:

    class Shown:
        """
        A record in an answer; for type checkers, of the kind in brackets.

        It was checked when it was read; its shown name, such as ``beta~0a1b2c``, cannot be given to a record.
        """

        def __class_getitem__(cls, kind: object) -> object:
            return Annotated[SerializeAsAny[Record], SkipValidation]


Store = Literal["project", "user", "organisation"]  # where a result comes from


class Holds(NamedTuple):
    """What an answer of several kinds holds, such as the record of ``Changed[Failure]``."""

    kind: Any


class Part(BaseModel):
    """
    Base of what answers hold: a value.

    Where it is generic, brackets say for type checkers, and for the generated ``api.pyi``, what it holds; it is one
    model with one JSON Schema.
    """

    model_config = ConfigDict(
        defer_build=True, frozen=True, validate_by_name=True, validate_by_alias=True, serialize_by_alias=True
    )

    if not TYPE_CHECKING:

        def __class_getitem__(cls, kind: object) -> object:
            return Annotated[cls, Holds(kind)]


class Answer(Part):
    """
    Base of all answers.

    ``notices`` are lines to report beside the answer, such as the bad lines of a file; left out where there are none.
    """

    notices: list[str] = Field(default=[], exclude_if=lambda notices: not notices)


def address(ref: str, store: Store) -> str:
    """Return a reference as it is shown beside those of the project: one of another store is marked."""
    return ref if store == "project" else f"{store}:{ref}"


def store_named(refs: Iterable[str]) -> str:
    """Return which store references are of, or raise ``Usage`` where they are of two."""
    by_store = {store_of(ref)[0]: ref for ref in refs} or {"project": ""}
    if len(by_store) > 1:
        first, second, *_ = by_store.values()
        raise Usage(f"{first!r} and {second!r} are in two stores", hint="a call works on one")
    return next(iter(by_store))


def of_store(store: Store, text: str) -> str:
    """Return a notice or a hint of a store beside the project's as one of the project's answer."""
    return f"of {STORES[store]}: {for_user(text) if store == 'user' else text}"
