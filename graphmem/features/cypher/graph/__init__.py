"""The graph: a mirror of the catalog for Cypher. Nothing but Cypher needs it (docs/concepts/graph.md)."""
