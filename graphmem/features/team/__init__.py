"""More than one clone: a memory in a ref of its own, and what the clones of it give each other."""

from graphmem.kernel.registry import Feature

FEATURE = Feature(
    nouns={"ledger": "The rows, and the place that they are in."},
    operations={"sync": "sync", "move": "ledger.move"},
    on_store="sync ledger",
    verbs={"sync": "sync", "ledger": "ledger.move"},
    text="text",
)
