"""Search, logs, context, traversal and Cypher."""
