"""Coding agents: what is written into their files, and what their hooks are answered."""

from graphmem.kernel.registry import Feature

FEATURE = Feature(
    operations={
        "hooks": "hook",
    },
)
