"""The blackboard of a session: one small file of this machine in ``state/``, read whole and replaced whole."""

from collections.abc import Callable
from pathlib import Path

import orjson

from graphmem.kernel.machine.state_file import read_state
from graphmem.kernel.model.blackboard import Blackboard
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
