"""Cypher, and the graph that answers it."""

from graphmem.kernel.registry import Feature

FEATURE = Feature(
    extends={"check": "project_queries.wrong_queries", "graph": "engines.open_mirror"},
    operations={"operations": "cypher cypher_named queries"},
    on_store="cypher_named queries",
    verbs={"cypher": "cypher"},
    text="text",
)
