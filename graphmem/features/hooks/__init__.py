"""What the hooks of coding agents are answered."""

from graphmem.kernel.registry import Feature

FEATURE = Feature(
    operations={
        "operations": "hook",
    },
    on_store="hook",
    extends={"start": "events.start_said"},
)
