"""What the page of the memory shows."""

from graphmem.kernel.registry import Feature

FEATURE = Feature(
    operations={
        "operations": "view",
    },
    on_store="view",
)
