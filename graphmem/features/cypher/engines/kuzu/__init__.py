"""The engine Kuzu: everything of this package that knows it."""
