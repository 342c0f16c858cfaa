"""What tools print: which problems an output reports, and whether two problems are the same."""

from graphmem.kernel.registry import Feature

FEATURE = Feature(operations={}, extends={"digest": "diagnosis.digest", "formats": "project_formats.read_formats"})
