"""What was last read of the ledger, in SQLite: derived, and what every other derived form follows."""
