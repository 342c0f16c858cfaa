"""Lessons, experiences, sessions, and whether learning happens."""
