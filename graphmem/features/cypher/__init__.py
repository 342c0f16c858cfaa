"""Cypher, and the graph that answers it."""
