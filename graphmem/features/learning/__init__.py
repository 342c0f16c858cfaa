"""Lessons, experiences, sessions, and whether learning happens."""

from graphmem.kernel.lazy import lazy_modules
from graphmem.kernel.registry import Feature

FEATURE = Feature(
    nouns={
        "lessons": "What runs taught: seen again, fading, and injected into prompts.",
        "experiences": "What finished tasks taught.",
        "decisions": "What was decided, and why.",
        "constraints": "Rules that hold until a time or for ever.",
        "sessions": "The current task, decisions, constraints and preferences; without a name, of the whole project.",
    },
    operations={
        "add": "lessons.add experiences.add",
        "lessons": "lessons.learn lessons.decay lessons.inject",
        "experiences": "experiences.recall experiences.promote",
        "sessions": "sessions.show sessions.start sessions.work_on sessions.decide sessions.constrain"
        " sessions.prefer sessions.note sessions.end",
    },
    extends={"purge": "session_board.clear_purged"},
    also={"decisions.add": "sessions.decide", "constraints.add": "sessions.constrain"},
    verbs={
        "add": "lessons.add experiences.add",
        "learn": "lessons.learn",
        "experience": "experiences.recall",
        "promote": "experiences.promote",
        "decay": "lessons.decay",
        "inject": "lessons.inject",
        "session": "sessions.show sessions.start sessions.work_on sessions.decide sessions.constrain "
        "sessions.note sessions.end sessions.prefer",
    },
    text="text",
)

__getattr__ = lazy_modules(__name__)
