"""The blackboard of a session, kept on this machine: read whole and replaced whole."""

import orjson

from graphmem.kernel.machine.state import State
from graphmem.kernel.machine.traces import Traces
from graphmem.kernel.model.blackboard import Blackboard


def read(state: State, session: str | None) -> Blackboard:
    """Return what is current in a session, or for None in the project; an empty one where nothing is."""
    return state.read("session", session or "", Blackboard.model_validate_json) or Blackboard()


def write(state: State, session: str | None, board: Blackboard) -> None:
    """Keep what is current now; nothing is kept of an empty one."""
    with state.changing() as kept:
        if board == Blackboard():
            kept.drop("session", [session or ""])
        else:
            kept.put("session", session or "", _data_of(board))


def clear_purged(state: State, traces: Traces) -> None:
    """Take purged records out of what is current in sessions."""
    with state.changing() as kept:
        for session, board in kept.read_all("session", Blackboard.model_validate_json).items():
            kept.put("session", session, _data_of(_cleared(board, traces)))


def _data_of(board: Blackboard) -> bytes:
    """Return a board as it is kept."""
    return orjson.dumps(board.model_dump(mode="json", exclude_none=True), option=orjson.OPT_SORT_KEYS)


def _cleared(board: Blackboard, traces: Traces) -> Blackboard:
    """Return a board without purged records."""
    task, session, preferences = board.task, board.session, board.preferences
    if task is not None and (
        traces.is_called(f"task/{(task.id or '').removeprefix('task/')}") or traces.is_told(task.model_dump_json())
    ):
        task = None
    kept = {
        "task": task,
        "session": traces.cleared(session),
        "preferences": traces.cleared(preferences),
    }
    return board.model_copy(update=kept)
