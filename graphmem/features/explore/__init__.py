"""Explorations: several agents look at a project at the same time."""

from graphmem.kernel.registry import Feature

FEATURE = Feature(
    nouns={
        "explorations": "Several agents look at a project at the same time; what they find becomes one record.",
    },
    operations={
        "operations": "explorations.start explorations.report explorations.wait explorations.aggregate",
    },
    verbs={
        "explore": "explorations.start explorations.report explorations.wait explorations.aggregate",
    },
    text="text",
)
