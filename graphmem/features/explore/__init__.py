"""Explorations: several agents look at a project at the same time."""
