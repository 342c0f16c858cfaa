"""The blackboard of a session: one small file of this machine in ``state/``, read whole and replaced whole."""

import os
from pathlib import Path

import orjson
from pydantic import ValidationError

from graphmem import safe_files
from graphmem.model.blackboard import Blackboard

MOST_BYTES = 2**20  # of a file that is read: ours are of some hundred bytes


def path_of(state: Path, session: str | None) -> Path:
    """Return where the blackboard of a session is; ``session`` is a slug, None for the project's own."""
    return state / "session.json" if session is None else state / "sessions" / f"{session}.json"


def read(path: Path) -> tuple[Blackboard, str | None]:
    """Return what is current, and what is wrong with the file; an empty one where it is absent or damaged."""
    try:
        with safe_files.opened(path) as file:
            data = file.read(MOST_BYTES + 1)
        return Blackboard.model_validate(orjson.loads(data)), None
    except FileNotFoundError:
        return Blackboard(), f"{path} is a link, which is not followed" if os.path.lexists(path) else None
    except (OSError, orjson.JSONDecodeError, ValidationError) as error:
        return Blackboard(), f"{path} is damaged and taken as empty: {str(error).splitlines()[0]}"


def write(path: Path, board: Blackboard) -> None:
    """Replace the file by what is current now; under the lock of the store."""
    data = orjson.dumps(board.model_dump(mode="json", exclude_none=True), option=orjson.OPT_SORT_KEYS)
    safe_files.put(path, data)


def remove(path: Path) -> None:
    """Remove the file, if it is there."""
    safe_files.remove(path)
