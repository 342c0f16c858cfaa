"""The files by which coding agents know graphmem: what goes into them, and how it gets in and out again."""
