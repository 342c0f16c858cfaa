"""Sessions: what is being worked on here, what was decided, which constraints hold."""

from graphmem.kernel.lazy import lazy_modules
from graphmem.kernel.registry import Feature

FEATURE = Feature(
    nouns={
        "decisions": "What was decided, and why.",
        "constraints": "Rules that hold until a time or for ever.",
        "sessions": "The current task, decisions, constraints and preferences; without a name, of the whole project.",
    },
    operations={
        "operations": "sessions.show sessions.start sessions.work_on sessions.decide sessions.constrain"
        " sessions.prefer sessions.note sessions.end",
    },
    extends={"purge": "blackboard.clear_purged"},
    also={"decisions.add": "sessions.decide", "constraints.add": "sessions.constrain"},
    verbs={
        "session": "sessions.show sessions.start sessions.work_on sessions.decide sessions.constrain "
        "sessions.note sessions.end sessions.prefer",
    },
    text="text",
)

__getattr__ = lazy_modules(__name__)
