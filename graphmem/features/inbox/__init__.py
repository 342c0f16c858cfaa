"""The inbox: what is to be looked at later."""

from graphmem.kernel.registry import Feature

FEATURE = Feature(
    nouns={
        "inbox": "What is to be looked at later; it is committed, and several writers lose nothing.",
    },
    operations={
        "operations": "inbox.add inbox.items inbox.take inbox.dismiss inbox.finish",
    },
    verbs={"inbox": "inbox.add inbox.items inbox.take inbox.dismiss inbox.finish"},
    text="text",
    extends={"page": "operations.page_fields"},
)
