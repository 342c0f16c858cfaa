"""What the memory holds, how well it does, and whether learning happens."""

from graphmem.kernel.registry import Feature

FEATURE = Feature(
    operations={
        "operations": "stats",
        "impact": "impact",
        "effectiveness": "verify_loop",
    },
    verbs={
        "stats": "stats",
        "verify-loop": "verify_loop",
    },
    text="text",
)
