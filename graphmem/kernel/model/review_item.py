"""A review item: what a check, a reviewer or a person found in a piece of work; its state follows from its events."""

from typing import Annotated, Literal, Self

from pydantic import model_validator

from graphmem.kernel.model.field import Count, Item, StringSet, Text
from graphmem.kernel.model.record import Record, Refers


class ReviewItem(Record):
    """One finding; its name has a mark of all that it says, so that a finding is one record on all branches."""

    named_from = "text"

    kind: Literal["item"]
    work: Annotated[Item, Refers("work", edge="part_of")]
    source: Item  # such as quench:tests, appraise:style or human-appraise:ana
    stage: Item | None = None  # of the cycle that raised it; None where a person did without a stage
    iteration: Count = 0  # of the cycle in which it was raised
    artefact: Item = ""
    file: Item = ""  # path in the project
    about: Annotated[Item | None, Refers(edge="about")] = None  # the entity that it is about
    text: Text
    tags: StringSet = ()  # ids of laws

    @model_validator(mode="after")
    def validate_item(self) -> Self:
        """Refuse an item that says nothing."""
        self.refuse_blank("text", self.text)
        return self

    @property
    def qualifier(self) -> str:
        return self.source

    @property
    def search_text(self) -> str:
        return f"{self.text}\n{self.file}" if self.file else self.text
