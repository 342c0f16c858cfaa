"""Campaigns as plans: the tasks, what depends on what, and campaigns that are alike."""

from graphmem.kernel.registry import Feature

FEATURE = Feature(
    operations={
        "similar_campaigns": "similar",
    },
    verbs={
        "similar": "similar",
    },
    text="text",
)
