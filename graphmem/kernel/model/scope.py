"""A scope: the kinds and entity types whose records a caller may read, and those whose records it may write."""

from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

from graphmem.kernel.model.field import Item, Line
from graphmem.kernel.model.vocabulary import ANY
from graphmem.names import TYPE_NAME


class Scope(BaseModel):
    """What a caller that is bound to it may read and write; ``any`` is all kinds and types, now and later."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: Item
    description: Line = ""
    read: tuple[Item, ...] = ()
    write: tuple[Item, ...] = ()

    @model_validator(mode="after")
    def validate_names(self) -> Self:
        """Refuse a name that no file could carry, and one that no kind or type could have."""
        for name in (self.name, *self.read, *self.write):
            if not TYPE_NAME.fullmatch(name):
                raise ValueError(f"{name!r} is not a lower-case letter, then up to 63 of a-z 0-9 _")
        return self

    @property
    def reads(self) -> frozenset[str] | None:
        """The kinds and entity types that it may read; None for all."""
        return None if ANY in self.read else frozenset(self.read)

    @property
    def writes(self) -> frozenset[str] | None:
        """The kinds and entity types that it may write; None for all."""
        return None if ANY in self.write else frozenset(self.write)
