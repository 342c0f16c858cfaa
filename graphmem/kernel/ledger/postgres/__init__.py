"""A place of rows in a PostgreSQL server, which many machines share (docs/decisions/0054-rows-in-postgresql.md)."""
