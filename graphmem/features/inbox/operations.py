"""The inbox: what is to be looked at later. An item is the event that added it; its moves are events too."""

from typing import Any

from graphmem.core.records.events import event, events_of_type
from graphmem.core.records.moves import ITEM_MOVES, refuse_move
from graphmem.core.records.screening import screened
from graphmem.errors import BadInput, NotFound
from graphmem.features.inbox.contract import (
    AddItemRequest,
    DismissItemRequest,
    FinishItemRequest,
    Item,
    ItemChanged,
    ItemList,
    ListItemsRequest,
    TakeItemRequest,
)
from graphmem.kernel.model import Event
from graphmem.kernel.model.field import format_time
from graphmem.kernel.registry import operation
from graphmem.kernel.store.snapshot import Snapshot, Writing

ADDED, MOVED = "inbox-added", "inbox-moved"


def items(snapshot: Snapshot) -> dict[str, Item]:
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


@operation("inbox.add", writes=True)
def add(snapshot: Writing, request: AddItemRequest) -> ItemChanged:
    """Add an item."""
    request = screened(snapshot, request, "inbox")
    if not request.content.strip():
        raise BadInput("the item is empty", hint='say what is to be looked at: graphmem inbox add "dark mode"')
    made = event(snapshot, ADDED, snapshot.now, None, {"type": request.type, "content": request.content})
    snapshot.commit([made])
    assert isinstance(made.record, Event)
    return ItemChanged(item=items(snapshot)[made.record.id])


@operation("inbox.items")
def listed(snapshot: Snapshot, request: ListItemsRequest) -> ItemList:
    """Return the items that are not processed, or all, the oldest first."""
    found = items(snapshot).values()
    return ItemList(items=[one for one in found if request.everything or one.status != "processed"])


@operation("inbox.take", writes=True, positional=1)
def take(snapshot: Writing, request: TakeItemRequest) -> ItemChanged:
    """Begin to work on an item, by its id; the oldest that is pending if not given."""
    return moved(snapshot, request.id, "processing", None)


@operation("inbox.dismiss", writes=True)
def dismiss(snapshot: Writing, request: DismissItemRequest) -> ItemChanged:
    """Set an item aside without working on it."""
    return moved(snapshot, request.id, "processed", "dismissed")


@operation("inbox.finish", writes=True)
def finish(snapshot: Writing, request: FinishItemRequest) -> ItemChanged:
    """Note that an item was worked on, or what went wrong."""
    request = screened(snapshot, request, "inbox")
    return moved(snapshot, request.id, "error" if request.error else "processed", request.error)


def moved(snapshot: Writing, identity: str | None, after: str, note: str | None) -> ItemChanged:
    """Record the move of an item; without an id, of the oldest that is pending."""
    found = items(snapshot)
    item = chosen(found, identity)
    refuse_move(ITEM_MOVES, f"item {item.id}", item.status, after, may_stay=False, since=item.since)
    said: dict[str, Any] = {"from": item.status, "to": after, "note": note}
    snapshot.commit([event(snapshot, MOVED, snapshot.now, item.id, said)])
    return ItemChanged(item=items(snapshot)[item.id])


def chosen(found: dict[str, Item], identity: str | None) -> Item:
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
