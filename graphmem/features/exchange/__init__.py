"""Import and dump: the files of other programs."""

from graphmem.kernel.registry import Feature

FEATURE = Feature(
    nouns={"imports": "Files of other programs."},
    operations={"operations": "imports.file", "dump": "dump"},
    verbs={"import": "imports.file"},
    text="text",
)
