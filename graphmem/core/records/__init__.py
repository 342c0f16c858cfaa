"""Records: how they come in, change, and go."""

from graphmem.kernel.lazy import lazy_modules
from graphmem.kernel.registry import Feature

FEATURE = Feature(
    nouns={
        "failures": "What went wrong, and what fixes it.",
        "patterns": "What works.",
        "entities": "Things of the project.",
        "user": "The user's own store, which is in no project.",
        "insights": "What several experiences agree on.",
        "relations": "Typed, weighted edges.",
        "events": "What happened: moves of tasks and phases, verdicts, and whatever a caller records.",
    },
    operations={
        "change": "failures.add patterns.add entities.add insights.add edit rename forget restore pin unpin",
        "copy": "user.promote user.adopt",
        "relations": "relations.link relations.unlink",
        "event_log": "events.add events.list",
        "bulk_add": "add_rows",
        "read": "get list names",
        "undo": "supersede undo undoable",
        "purge": "purge",
        "prune": "prune",
        "feedback": "feedback feedback_rows",
    },
)

__getattr__ = lazy_modules(__name__)
