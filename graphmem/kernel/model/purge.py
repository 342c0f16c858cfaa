"""A row that was purged, without saying which: no merge and no old branch brings it back."""

from typing import Annotated, Any, Literal

from pydantic import Field

from graphmem.kernel.model.field import Item, Time
from graphmem.kernel.model.record import Frozen, Row


class Purge(Frozen):
    """The SHA-256 of a salt and the key text of a row; such a row is not read if it was created before ``at``."""

    fixed = frozenset({"hash"})

    kind: Literal["purge"]
    salt: Item
    hash: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    at: Time

    @classmethod
    def completed(cls, values: Any) -> Any:
        """A fact has one time, ``at``."""
        values = super().completed(values)
        return {**values, "created_at": values["at"]} if isinstance(values, dict) and "at" in values else values

    def to_row(self) -> Row:
        row = super().to_row()
        del row["created_at"]
        return row
