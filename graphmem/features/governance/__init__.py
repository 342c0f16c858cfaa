"""Guarded work: flows with stages, whose rules hold although an agent would rather skip them."""

from graphmem.kernel.lazy import lazy_modules
from graphmem.kernel.registry import Feature

FEATURE = Feature(
    nouns={
        "works": "Works of a flow: on a branch of their own, through stages, to one commit that is attested.",
        "stages": "Stages: one is active in a clone, and writes what its kind may write.",
        "items": "Review items: what checks, reviewers and people found in a work.",
    },
    operations={
        "works": "works.start works.branch works.list works.show works.next works.advance works.abandon",
        "stages": "stages.begin stages.run stages.end stages.retry",
        "items": "items.add items.list items.show items.action items.wont_fix items.resolve items.reject",
    },
    on_store="works stages items",
    verbs={
        "work": "works.start works.list works.show works.next works.advance works.abandon works.branch",
        "stage": "stages.begin stages.run stages.end stages.retry",
        "item": "items.add items.list items.show items.action items.wont_fix items.resolve items.reject",
    },
    text="text",
    extends={
        "check": "definitions.check",
        "commands": "stages.validations",
        "page": "show.page_fields",
        "write": "guard.refuse_write",
    },
)

__getattr__ = lazy_modules(__name__)
