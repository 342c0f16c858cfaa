"""``inbox …``."""

import typer

from graphmem.cli import text
from graphmem.cli.app import Noun
from graphmem.cli.caller import invocation_of
from graphmem.cli.options import argument, option
from graphmem.contract.inbox import (
    AddItemRequest,
    DismissItemRequest,
    FinishItemRequest,
    Item,
    ItemType,
    ListItemsRequest,
    TakeItemRequest,
)

app = typer.Typer(cls=Noun, no_args_is_help=True, rich_markup_mode=None, add_completion=False)
SHOWN_OF_AN_ID = 8


@app.callback()
def inbox() -> None:
    """Keep what is to be looked at later."""


@app.command(epilog='Example: graphmem inbox add "a dark mode" --type feature')
def add(
    ctx: typer.Context,
    content: str = argument(AddItemRequest, "content", metavar="TEXT"),
    item_type: ItemType = option(AddItemRequest, "type", metavar="TYPE"),
) -> None:
    """Add an item."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.inbox.add(content, type=item_type)
    invocation.answer(answer, line(answer.item))


@app.command("list", epilog="Example: graphmem inbox list")
def list_items(
    ctx: typer.Context,
    everything: bool = option(ListItemsRequest, "everything", "--all"),
) -> None:
    """Show the items that are not processed."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.inbox.items(everything=everything)
    invocation.answer(answer, "\n".join(map(line, answer.items)))
    if not answer.items:
        invocation.say("the inbox is empty")


@app.command(epilog="Example: graphmem inbox take")
def take(
    ctx: typer.Context,
    item: str | None = argument(TakeItemRequest, "id", metavar="[ID]"),
) -> None:
    """Begin to work on an item."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.inbox.take(item)
    invocation.answer(answer, line(answer.item))


@app.command(epilog="Example: graphmem inbox dismiss 3f2a91c0")
def dismiss(
    ctx: typer.Context,
    item: str = argument(DismissItemRequest, "id", metavar="ID"),
) -> None:
    """Set an item aside without working on it."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.inbox.dismiss(item)
    invocation.answer(answer, line(answer.item))


@app.command("done", epilog="Example: graphmem inbox done 3f2a91c0")
def finish(
    ctx: typer.Context,
    item: str = argument(FinishItemRequest, "id", metavar="ID"),
    error: str | None = option(FinishItemRequest, "error", metavar="TEXT"),
) -> None:
    """Note that an item was worked on, or what went wrong."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.inbox.finish(item, error=error)
    invocation.answer(answer, line(answer.item))


def line(item: Item) -> str:
    """Return an item in one line."""
    note = f"  ({text.one_line(item.note)})" if item.note else ""
    return f"{item.id[:SHOWN_OF_AN_ID]}  [{item.status}, {item.type}] {text.one_line(item.content)}{note}"
