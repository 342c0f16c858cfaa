"""``inbox …``."""

import re

from graphmem.doors.cli import text
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Taken, noun, passes
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
from graphmem.names import quoted

app = noun("Keep what is to be looked at later.")
SHOWN_OF_AN_ID = 8  # characters of an id that graphmem made; one of another tool is a name that people know
MADE_HERE = re.compile(r"[0-9a-f]{32}")


@app.command(epilog='Example: graphmem inbox add "a dark mode" --type feature')
@passes("inbox.add", AddItemRequest, content=Taken("TEXT"), type=Taken("TYPE"))
def add(invocation: Invocation, answer: ItemChanged) -> None:
    """Add an item."""
    invocation.answer(answer, line(answer.item))


@app.command("list", epilog="Example: graphmem inbox list")
@passes("inbox.items", ListItemsRequest, everything=Taken(flag="--all"))
def list_items(invocation: Invocation, answer: ItemList) -> None:
    """Show the items that are not processed."""
    invocation.answer(answer, "\n".join(map(line, answer.items)))
    if not answer.items:
        invocation.say("the inbox is empty")


@app.command(epilog="Example: graphmem inbox take")
@passes("inbox.take", TakeItemRequest, arguments=1)
def take(invocation: Invocation, answer: ItemChanged) -> None:
    """Begin to work on an item."""
    invocation.answer(answer, line(answer.item))


@app.command(epilog="Example: graphmem inbox dismiss 3f2a91c0")
@passes("inbox.dismiss", DismissItemRequest)
def dismiss(invocation: Invocation, answer: ItemChanged) -> None:
    """Set an item aside without working on it."""
    invocation.answer(answer, line(answer.item))


@app.command("done", epilog="Example: graphmem inbox done 3f2a91c0")
@passes("inbox.finish", FinishItemRequest)
def finish(invocation: Invocation, answer: ItemChanged) -> None:
    """Note that an item was worked on, or what went wrong."""
    invocation.answer(answer, line(answer.item))


def line(item: Item) -> str:
    """Return an item in one line."""
    note = f"  ({text.one_line(item.note)})" if item.note else ""
    identity = item.id[:SHOWN_OF_AN_ID] if MADE_HERE.fullmatch(item.id) else quoted(item.id)
    return f"{identity}  [{item.status}, {item.type}] {text.one_line(item.content)}{note}"
