"""The run state of this machine, and the build run."""

from graphmem.kernel.lazy import lazy_modules
from graphmem.kernel.registry import Feature

FEATURE = Feature(
    nouns={
        "runs": "What is going on now on this machine, and the build run; it outlives the process that writes it.",
    },
    operations={
        "operations": "runs.show runs.set runs.done runs.change runs.require runs.begin runs.chunk "
        "runs.checkpoint runs.end runs.resume",
    },
    extends={
        "edit": "operations.note_edits",
        "page": "operations.page_fields",
        "purge": "run_file.clear_purged",
        "run_state": "operations.take_over",
    },
    verbs={
        "build": "runs.show runs.set runs.done runs.change runs.require runs.begin runs.chunk "
        "runs.checkpoint runs.end runs.resume",
    },
    text="text",
)

__getattr__ = lazy_modules(__name__)
