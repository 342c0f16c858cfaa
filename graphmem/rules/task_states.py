"""How the task at hand may move from stage to stage; the agent of the session moves it."""

from collections.abc import Mapping

from graphmem.errors import Refused
from graphmem.model.blackboard import TaskStage

MOVES: Mapping[TaskStage, tuple[TaskStage, ...]] = {
    "pending": ("in_progress", "blocked"),
    "in_progress": ("pending", "blocked", "complete"),
    "blocked": ("pending", "in_progress"),
    "complete": (),
}


def refuse_move(before: TaskStage, after: TaskStage) -> None:
    """Raise ``Refused`` for a move that no task makes; to stay is none."""
    if after != before and after not in MOVES[before]:
        legal = ", ".join(MOVES[before]) or "none; another text begins another task"
        raise Refused(f"the task is {before}; it cannot become {after}", hint=f"legal from {before}: {legal}")
