"""Runs of commands: what failed is matched, what passes after it counts."""
