"""A relation: a typed, weighted edge between two records."""

from typing import Annotated, Literal, Self

from pydantic import Field, Strict, model_validator

from graphmem.kernel.model.field import GrowingSet, Item, Text
from graphmem.kernel.model.record import Alternates, Frozen
from graphmem.names import split_ref

MAX_WEIGHT = 2.0

Weight = Annotated[float, Strict(), Field(gt=0, le=MAX_WEIGHT, allow_inf_nan=False)]


class Relation(Frozen):
    """An edge that is a row of its own; its ends are references by key."""

    fixed = frozenset({"from", "type", "to"})

    kind: Literal["relation"]
    source: Annotated[Item, Field(alias="from")]
    type: Item
    target: Annotated[Item, Field(alias="to")]
    weight: Weight | None = None  # None: the default of its type
    note: Text | None = None
    sources: GrowingSet = ()
    similarity: Annotated[float, Strict(), Field(ge=0, le=1)] | None = None  # of a variant that was found, not given
    alternates: Alternates = ()

    @model_validator(mode="after")
    def validate_ends(self) -> Self:
        """Refuse an edge from a record to itself, and ends that are not references."""
        for field, ref in (("from", self.source), ("to", self.target)):
            if not all(split_ref(ref)):
                raise ValueError(
                    f"{field} {ref!r} is not a reference; kind/name would be, such as failure/import-error"
                )
        if self.source == self.target:
            raise ValueError(f"{self.source!r} is related to itself; an edge needs two records")
        return self
