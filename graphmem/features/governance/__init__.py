"""Guarded work: what may follow what in a project, who may write what, and what was found wrong."""

from graphmem.kernel.registry import Feature

FEATURE = Feature(operations={}, extends={"check": "definitions.check"})
