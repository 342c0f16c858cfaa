"""Extractors: programs that print entities and edges."""
