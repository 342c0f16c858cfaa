"""Evidence: citations, versions, and what speaks against a record."""

from graphmem.kernel.registry import Feature

FEATURE = Feature(
    operations={"doubts": "stale"},
    verbs={"stale": "stale"},
    text="text",
)
