"""Harvest: candidates from what a project has already, and their review (docs/concepts/harvest.md)."""
