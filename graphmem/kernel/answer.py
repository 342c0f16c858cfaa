"""The base of all answers: one model an operation, the same JSON from every front end (docs/reference/json.md)."""

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, SerializeAsAny, SkipValidation

from graphmem.kernel.model import AnyRecord, Pattern
from graphmem.kernel.model.record import Record
from graphmem.kernel.system.user import OF_USER

# A record was checked when it was read; its shown name, such as ``beta~0a1b2c``, cannot be given to a record.
if TYPE_CHECKING:
    Shown: TypeAlias = AnyRecord
    ShownPattern: TypeAlias = Pattern
else:
    Shown = ShownPattern = Annotated[SerializeAsAny[Record], SkipValidation]


Store = Literal["project", "user"]  # where a result comes from


class Part(BaseModel):
    """Base of what answers hold: a value."""

    model_config = ConfigDict(
        defer_build=True, frozen=True, validate_by_name=True, validate_by_alias=True, serialize_by_alias=True
    )


class Answer(Part):
    """
    Base of all answers.

    ``notices`` are lines to report beside the answer, such as the bad lines of a file; left out where there are none.
    """

    notices: list[str] = Field(default=[], exclude_if=lambda notices: not notices)


def address(ref: str, store: Store) -> str:
    """Return a reference as it is shown beside those of the project: one of the user's own store is marked."""
    return f"{OF_USER}{ref}" if store == "user" else ref
