"""Readers of other programs' files: bytes in, rows or events out. They know nothing of a store, and trust nothing."""
