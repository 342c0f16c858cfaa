"""What a record says, as the texts that a prompt quotes."""

from graphmem.model import (
    Campaign,
    Constraint,
    Decision,
    Entity,
    Experience,
    Exploration,
    Failure,
    Insight,
    Lesson,
    Pattern,
    Record,
    Task,
)
from graphmem.rules.fixes import fixes


def notes_of(record: Record) -> list[tuple[str, str]]:
    """Return the texts of a record, each with a word for what it is."""
    match record:
        case Failure():
            return [
                ("when", record.trigger),
                *((f"fix{', disputed' * fix.disputed}", fix.text) for fix in fixes(record)),
            ]
        case Pattern():
            return [("when", record.trigger), ("do", record.insight)]
        case Lesson():
            return [("lesson", record.description)]
        case Insight():
            return [("insight", record.statement)]
        case Experience():
            lessons = [("lesson", lesson) for lesson in record.lessons]
            return [("task", record.description), ("approach", record.approach), *lessons]
        case Constraint():
            return [("constraint", record.constraint)]
        case Decision():
            return [("decided", record.decision), *([("because", record.reasoning)] if record.reasoning else [])]
        case Exploration():
            parts = (("structure", record.structure), ("pattern", record.pattern), ("memory", record.memory))
            found = [("objective", record.objective), *parts, ("delta", record.delta)]
            return [(word, said) for word, said in found if said]
        case Campaign() | Task():
            return [("objective", record.objective)]
        case Entity():
            return [("value", record.value)] if record.value else []
    return []
