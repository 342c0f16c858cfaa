"""How answers of the inbox read on a terminal."""

from graphmem.features.inbox.operations import Item, ItemChanged, ItemList
from graphmem.kernel.registry import Printout, reads
from graphmem.kernel.text import one_line
from graphmem.names import quoted
from graphmem.patterns import lazy_re

SHOWN_OF_AN_ID = 8  # characters of an id that graphmem made; one of another tool is a name that people know
MADE_HERE = lazy_re(r"[0-9a-f]{32}")


@reads(ItemChanged)
def item_text(answer: ItemChanged) -> str:
    """Return the item as it is now."""
    return _line(answer.item)


@reads(ItemList)
def list_text(answer: ItemList) -> Printout:
    """Return a line for each item."""
    return Printout("\n".join(map(_line, answer.items)), "" if answer.items else "the inbox is empty")


def _line(item: Item) -> str:
    note = f"  ({one_line(item.note)})" if item.note else ""
    identity = item.id[:SHOWN_OF_AN_ID] if MADE_HERE.fullmatch(item.id) else quoted(item.id)
    return f"{identity}  [{item.status}, {item.type}] {one_line(item.content)}{note}"
