"""Guarded work: flows with stages, whose rules hold although an agent would rather skip them."""

from graphmem.kernel.lazy import lazy_modules
from graphmem.kernel.registry import Feature

FEATURE = Feature(
    nouns={
        "works": "Works of a flow: on a branch of their own, through stages, to one commit that is attested.",
        "stages": "Stages: one is active in a clone, and writes what its kind may write.",
        "snapshots": "What is kept of dry runs, to be looked at and compared.",
        "items": "Review items: what checks, reviewers and people found in a work.",
    },
    operations={
        "works": "works.start works.branch works.list works.show works.next works.advance works.abandon",
        "finish": "works.finish",
        "verify": "works.verify",
        "snapshots": "snapshots.list snapshots.show snapshots.diff",
        "stages": "stages.begin stages.run stages.end stages.retry",
        "items": "items.add items.list items.show items.action items.wont_fix items.resolve items.reject",
    },
    on_store="works stages items snapshots",
    verbs={
        "work": "works.start works.list works.show works.next works.advance works.abandon works.branch "
        "works.finish works.verify",
        "snapshot": "snapshots.list snapshots.show snapshots.diff",
        "stage": "stages.begin stages.run stages.end stages.retry",
        "item": "items.add items.list items.show items.action items.wont_fix items.resolve items.reject",
    },
    text="text",
    extends={
        "call": "place.note_call",
        "check": "definitions.check",
        "commands": "stages.validations",
        "page": "show.page_fields",
        "write": "guard.refuse_write",
    },
)

__getattr__ = lazy_modules(__name__)
