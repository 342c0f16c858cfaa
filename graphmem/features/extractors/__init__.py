"""Extractors: programs that print entities and edges."""

from graphmem.kernel.registry import Feature

FEATURE = Feature(
    nouns={
        "extractors": "Programs that print entities and edges of the project, which are written as theirs.",
    },
    operations={
        "operations": "extractors.list extractors.add extractors.run",
    },
    on_store="extractors",
    extends={"extract python": "operations.python_lines"},
    verbs={
        "extract": "extractors.list extractors.run extractors.add",
    },
    text="text",
)
