"""The blackboard of a session: one small file of this machine in ``state/``, read whole and replaced whole."""

from collections.abc import Callable
from pathlib import Path

import orjson

from graphmem.kernel.machine.state_file import read_state
from graphmem.kernel.machine.traces import Traces
from graphmem.kernel.model.blackboard import Blackboard
from graphmem.kernel.store.purging import PurgedStore
from graphmem.kernel.system import safe_files


def path_of(state: Path, session: str | None) -> Path:
    """Return where the blackboard of a session is; ``session`` is a slug, None for the project's own."""
    return state / "session.json" if session is None else state / "sessions" / f"{session}.json"


def read(path: Path, on_message: Callable[[str], object] = lambda text: None) -> Blackboard:
    """Return what is current; an empty one where the file is absent, or damaged, which is reported."""
    return read_state(path, Blackboard.model_validate_json, on_message) or Blackboard()


def write(path: Path, board: Blackboard) -> None:
    """Replace the file by what is current now; under the lock of the store."""
    data = orjson.dumps(board.model_dump(mode="json", exclude_none=True), option=orjson.OPT_SORT_KEYS)
    safe_files.put(path, data)


def remove(path: Path) -> None:
    """Remove the file, if it is there."""
    safe_files.remove(path)


def clear_purged(store: PurgedStore, traces: Traces) -> None:
    """Take purged records out of what is current in sessions."""
    state = store.layout.state
    for path in (state / "session.json", *safe_files.files(state / "sessions")):
        _clear_board(path, traces)


def _clear_board(path: Path, traces: Traces) -> None:
    """Take purged records out of what is current in a session."""
    board = read(path)
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
    changed = board.model_copy(update=kept)
    if changed != board:
        write(path, changed)
