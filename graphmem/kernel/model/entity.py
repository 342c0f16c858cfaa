"""An entity: a thing of the project, such as a class, a file, a service, of a type the project declares."""

from typing import Annotated, Any, Literal

from pydantic import Strict

from graphmem.kernel.model.field import ITEM_CHARACTERS, VALUE_BYTES, Item, Limit
from graphmem.kernel.model.record import Record
from graphmem.names import composed, printable


class Entity(Record):
    """A named thing; ``value`` holds what belongs to the thing itself, edges hold how it relates to others."""

    fixed = frozenset({"type"})
    says = "value"

    kind: Literal["entity"]
    type: Item
    value: Annotated[str, Strict(), Limit(VALUE_BYTES)] = ""

    @classmethod
    def completed(cls, values: Any) -> Any:
        """Names are compared in NFC, so that is how a record has them, however its row was typed."""
        values = super().completed(values)
        if isinstance(values, dict):
            names = {name: composed(values[name]) for name in ("key", "name") if isinstance(values.get(name), str)}
            values = {**values, **names} if any(values[name] != text for name, text in names.items()) else values
        return values

    @classmethod
    def refuse_name(cls, name: str) -> None:
        if not name.strip() or len(name) > ITEM_CHARACTERS or not printable(name):
            raise ValueError(
                f"name {name[:80]!r} is not printable text of 1 to {ITEM_CHARACTERS} characters on one line"
            )

    @property
    def record_type(self) -> str:
        return self.type

    @property
    def search_text(self) -> str:
        return f"{self.name}\n{self.value}" if self.value else self.name
