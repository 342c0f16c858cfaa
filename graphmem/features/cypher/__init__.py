"""Cypher, and the graph that answers it."""

from graphmem.kernel.registry import Feature

FEATURE = Feature(
    extends={"check": "project_queries.wrong_queries", "graph": "engines.open_mirror"},
    nouns={"graph": "The graph of a memory, in a server with those of other projects."},
    operations={"operations": "cypher cypher_named queries", "projects": "graph.push cypher_projects"},
    on_store="cypher_named queries graph cypher_projects",
    verbs={"cypher": "cypher", "graph": "graph.push"},
    text="text",
)
