"""
The states of what is worked on, and which state may follow which: one table each (docs/reference/states.md).

A table is data: the commands, their messages and the reference page are made from it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from graphmem.errors import Refused

Table = Mapping[str, tuple[str, ...]]

# A task of a campaign. To reopen leads to pending, from wherever it is.
TASK_MOVES: Table = {
    "pending": ("active", "blocked", "unreachable"),
    "active": ("complete", "blocked", "pending"),
    "blocked": ("active", "pending"),
    "unreachable": ("pending",),
    "complete": ("pending",),
}
TASK_COMMANDS: Mapping[str, str] = {"active": "start", "complete": "complete", "blocked": "block", "pending": "reopen"}
LASTING = ("complete", "blocked")  # states that say something which is lost where another branch overrules it
TASK_EVENTS: Mapping[str, str] = {
    "active": "task-started",
    "complete": "task-completed",
    "blocked": "task-blocked",
    "pending": "task-reopened",
    "unreachable": "task-unreachable",
}

# The task at hand of a session, which may be in no campaign.
STAGE_MOVES: Table = {
    "pending": ("in_progress", "blocked"),
    "in_progress": ("pending", "blocked", "complete"),
    "blocked": ("pending", "in_progress"),
    "complete": (),
}


# Where a project or a campaign is in its work; a reset leads to none from anywhere.
PHASE_MOVES: Table = {
    "none": ("explore",),
    "explore": ("plan", "error"),
    "plan": ("build", "explore", "error"),
    "build": ("observe", "build", "error"),
    "observe": ("complete", "error"),
    "complete": ("none",),
    "error": ("explore", "complete"),
}

# An item of the inbox.
ITEM_MOVES: Table = {
    "pending": ("processing", "processed", "error"),
    "processing": ("processed", "error", "pending"),
    "error": ("processing", "processed"),
    "processed": (),
}

# A chunk of a build run. What was under way when its process died is planned again by ``build resume``.
CHUNK_MOVES: Table = {
    "planned": ("active",),
    "active": ("completed", "failed"),
    "failed": ("retrying",),
    "retrying": ("completed", "failed"),
    "completed": ("retrying",),
}


def refuse_move(
    table: Table,
    what: str,
    before: str,
    after: str,
    commands: Mapping[str, str] | None = None,
    *,
    may_stay: bool = True,
    since: str | None = None,
) -> None:
    """
    Raise ``Refused`` for a move that a table does not have.

    Args:
        what: that moves, for the message, such as ``task/auth/001-setup``.
        commands: by state, the command that leads there.
        may_stay: to stay is no move, and is not refused.
        since: the time of the last move, for the message where another caller made this move before.
    """
    if (may_stay and after == before) or after in table[before]:
        return
    names = [
        state if commands is None else f"{commands[state]} (to {state})"
        for state in table[before]
        if commands is None or state in commands
    ]
    is_late = after == before and since is not None
    raise Refused(
        f"{what} is {before} already, since {since}" if is_late else f"{what} is {before}; it cannot become {after}",
        hint=f"possible from {before}: {', '.join(names) or 'nothing'}",
        details={"from": before, "to": after, "legal": list(table[before])},
    )


class Move(NamedTuple):
    """
    One move that was recorded.

    Attributes:
        at: when. before, after: from which state to which.
        number: of the moves that whoever made it knew, with this one; None where the event does not say.
    """

    at: datetime
    before: str
    after: str
    number: int | None = None


def disagreement(moves: Sequence[Move]) -> tuple[Move, Move] | None:
    """
    Return the move that was overruled and the last one, where two branches moved the same thing apart.

    The later one decides the state. A move that is made in the knowledge of all others settles it.

    Args:
        moves: of one thing, in the order of time.
    """
    if len(moves) < 2:
        return None
    last = moves[-1]
    if last.number is None:
        before = moves[-2]
        return None if before.after in (last.before, last.after) else (before, last)
    if last.number >= len(moves):
        return None
    own = lineage(moves)
    overruled = next((move for place, move in reversed([*enumerate(moves)]) if place not in own), last)
    return (overruled, last) if overruled.after in LASTING and overruled.after != last.after else None


def lineage(moves: Sequence[Move]) -> set[int]:
    """Return the places of the last move and of those that led to it, one after the other."""
    found: set[int] = set()
    fitting = [len(moves) - 1]
    while fitting:
        place = fitting[-1]
        found.add(place)
        last = moves[place]
        before = (last.number or 0) - 1
        fitting = [
            other for other in range(place) if moves[other].number == before and moves[other].after == last.before
        ]
    return found
