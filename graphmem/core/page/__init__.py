"""The page to look at the memory in a browser: its data, its parts, and what puts them together."""

from graphmem.kernel.registry import Feature

FEATURE = Feature(
    operations={
        "operations": "view",
    },
    on_store="view",
)
