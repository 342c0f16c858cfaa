"""A place of rows in a Redis server or cluster, for many projects (docs/decisions/0054-rows-in-postgresql.md)."""
