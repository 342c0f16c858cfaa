"""What operations on the inbox take and return."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from graphmem.errors import BadInput, GraphmemError
from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.request import Request

ItemType = Literal["evolve", "reference", "feature"]
ItemStatus = Literal["pending", "processing", "processed", "error"]
ItemId = Annotated[str, Field(description="Id of the item, or its first characters")]


class AddItemRequest(Request):
    """Something that is to be looked at later."""

    refusal: ClassVar[type[GraphmemError]] = BadInput

    content: str = Field(description="What is to be looked at")
    type: ItemType = Field("feature", description="What it is")


class ListItemsRequest(Request):
    """Which items of the inbox to return."""

    everything: bool = Field(False, description="Return processed items too")


class TakeItemRequest(Request):
    """Which item to work on."""

    id: str | None = Field(None, description="Id of the item, or its first characters; the oldest pending if not given")


class DismissItemRequest(Request):
    """Which item not to work on."""

    id: ItemId


class FinishItemRequest(Request):
    """Which item is done with, and how it ended."""

    refusal: ClassVar[type[GraphmemError]] = BadInput

    id: ItemId
    error: str | None = Field(None, description="What went wrong, if it did")


class Item(Part):
    """An item of the inbox; ``note`` says that it was dismissed, or what went wrong, ``since`` when it was moved."""

    id: str
    type: ItemType
    content: str
    at: str
    status: ItemStatus
    note: str | None = None
    since: str | None = None


class ItemChanged(Answer):
    """An item as it is now."""

    item: Item


class ItemList(Answer):
    """The items of the inbox, the oldest first."""

    items: list[Item]
