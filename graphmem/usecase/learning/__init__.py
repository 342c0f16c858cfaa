"""Lessons, experiences, sessions, test runs, and whether learning happens."""
