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
    extends={"batch": "screening.refuse_secrets", "clues": "clues.clues_of"},
    on_store="names undoable feedback_rows purge prune",
    verbs={
        "add": "failures.add patterns.add entities.add insights.add",
        "rename": "rename",
        "forget": "forget",
        "restore": "restore",
        "pin": "pin",
        "unpin": "unpin",
        "event": "events.add",
        "promote": "user.promote",
        "adopt": "user.adopt",
        "prune": "prune",
        "get": "get",
        "list": "list",
        "link": "relations.link",
        "unlink": "relations.unlink",
        "supersede": "supersede",
        "purge": "purge",
        "undo": "undo",
        "feedback": "feedback",
    },
    text="text",
)

__getattr__ = lazy_modules(__name__)
