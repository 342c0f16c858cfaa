"""The inbox: what is to be looked at later. An item is the event that added it; its moves are events too."""

from typing import Annotated, Any, Literal

from pydantic import Field

from graphmem.core.records.events import event, events_of_type
from graphmem.core.records.moves import ITEM_MOVES, refuse_move
from graphmem.core.records.screening import screened
from graphmem.errors import BadInput, NotFound
from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.model import Event
from graphmem.kernel.model.field import format_time
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.request import InputRequest, Request
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot, Writing

ItemType = Literal["evolve", "reference", "feature"]
ItemStatus = Literal["pending", "processing", "processed", "error"]
ItemId = Annotated[str, Field(description="Id of the item, or its first characters")]


class AddItemRequest(InputRequest):
    """Something that is to be looked at later."""

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


class FinishItemRequest(InputRequest):
    """Which item is done with, and how it ended."""

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


ADDED, MOVED = "inbox-added", "inbox-moved"


def _read_items(snapshot: Snapshot) -> dict[str, Item]:
    """Return every item by its id, the oldest first, as its moves leave it."""
    found: dict[str, Item] = {}
    for one in events_of_type(snapshot, ADDED):
        data = one.data if isinstance(one.data, dict) else {}
        found[one.id] = Item.model_validate(
            {
                "id": one.id,
                "type": data.get("type") if data.get("type") in ("evolve", "reference", "feature") else "feature",
                "content": str(data.get("content", "")),
                "at": format_time(one.at),
                "status": "pending",
            }
        )
    for one in events_of_type(snapshot, MOVED):
        data = one.data if isinstance(one.data, dict) else {}
        if one.subject in found and data.get("to") in ITEM_MOVES:
            changes = {"status": data["to"], "note": data.get("note"), "since": format_time(one.at)}
            found[one.subject] = found[one.subject].model_copy(update=changes)
    return found


def page_fields(client: Client) -> dict[str, list[Item]]:
    """Return the items that the page shows: those that are not processed."""
    with client.reading() as snapshot:
        return {"inbox": [one for one in _read_items(snapshot).values() if one.status != "processed"]}


@operation("inbox.add", writes=True, example='graphmem inbox add "a dark mode" --type feature')
def add_item(snapshot: Writing, request: AddItemRequest) -> ItemChanged:
    """Add an item."""
    request = screened(snapshot, request, "inbox")
    if not request.content.strip():
        raise BadInput("the item is empty", hint='say what is to be looked at: graphmem inbox add "dark mode"')
    made = event(snapshot, ADDED, snapshot.now, None, {"type": request.type, "content": request.content})
    snapshot.commit([made])
    assert isinstance(made.record, Event)
    return ItemChanged(item=_read_items(snapshot)[made.record.id])


@operation(
    "inbox.items", command="inbox list", example="graphmem inbox list", takes={"everything": Taken(flag="--all")}
)
def list_items(snapshot: Snapshot, request: ListItemsRequest) -> ItemList:
    """Return the items that are not processed, or all, the oldest first."""
    found = _read_items(snapshot).values()
    return ItemList(items=[one for one in found if request.everything or one.status != "processed"])


@operation("inbox.take", writes=True, positional=1, example="graphmem inbox take", arguments=1)
def take_item(snapshot: Writing, request: TakeItemRequest) -> ItemChanged:
    """Begin to work on an item, by its id; the oldest that is pending if not given."""
    return _move(snapshot, request.id, "processing", None)


@operation("inbox.dismiss", writes=True, example="graphmem inbox dismiss 3f2a91c0")
def dismiss_item(snapshot: Writing, request: DismissItemRequest) -> ItemChanged:
    """Set an item aside without working on it."""
    return _move(snapshot, request.id, "processed", "dismissed")


@operation("inbox.finish", writes=True, command="inbox done", example="graphmem inbox done 3f2a91c0")
def finish_item(snapshot: Writing, request: FinishItemRequest) -> ItemChanged:
    """Note that an item was worked on, or what went wrong."""
    request = screened(snapshot, request, "inbox")
    return _move(snapshot, request.id, "error" if request.error else "processed", request.error)


def _move(snapshot: Writing, identity: str | None, after: str, note: str | None) -> ItemChanged:
    """Record the move of an item; without an id, of the oldest that is pending."""
    found = _read_items(snapshot)
    item = _choose(found, identity)
    refuse_move(ITEM_MOVES, f"item {item.id}", item.status, after, may_stay=False, since=item.since)
    said: dict[str, Any] = {"from": item.status, "to": after, "note": note}
    snapshot.commit([event(snapshot, MOVED, snapshot.now, item.id, said)])
    return ItemChanged(item=_read_items(snapshot)[item.id])


def _choose(found: dict[str, Item], identity: str | None) -> Item:
    """
    Return an item by its id or the beginning of it.

    Raises:
        NotFound: no item is meant, or several are.
    """
    if identity is None:
        fitting = [one for one in found.values() if one.status == "pending"][:1]
    else:
        fitting = [one for one in found.values() if one.id == identity] or [
            one for one in found.values() if identity and one.id.startswith(identity)
        ]
    if len(fitting) != 1:
        what = f"{len(fitting)} items begin with {identity!r}" if fitting else f"no item {identity or 'is pending'!r}"
        raise NotFound(what, hint="see: graphmem inbox list --all")
    return fitting[0]
