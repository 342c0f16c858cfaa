"""The ledger: NDJSON in git, the source of truth, and the catalog of what was last read of it."""
