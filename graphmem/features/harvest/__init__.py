"""Candidates from what is there already: sessions of agents, logs of CI, the history, notes."""

from graphmem.kernel.lazy import lazy_modules
from graphmem.kernel.registry import Feature

FEATURE = Feature(
    nouns={
        "candidates": "Records that wait to be accepted, and what speaks for them.",
    },
    operations={
        "sessions": "imports.sessions",
        "notes": "imports.notes",
        "history": "imports.git",
        "ci": "imports.ci",
        "everything": "imports.all",
        "review": "candidates.review candidates.show candidates.accept candidates.dismiss",
        "prove": "candidates.prove candidates.check_proofs",
    },
    verbs={
        "import": "imports.sessions imports.notes imports.git imports.ci imports.all",
        "review": "candidates.review candidates.show candidates.accept candidates.dismiss candidates.prove",
    },
    text="text",
    extends={"heard": "forge.put_up", "import": "found.found", "page": "review.page_fields"},
)

__getattr__ = lazy_modules(__name__)
