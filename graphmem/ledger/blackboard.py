"""The blackboard of a session: one small file of this machine in ``state/``, read whole and replaced whole."""

import contextlib
import os
from pathlib import Path

import orjson
from pydantic import ValidationError

from graphmem.model.blackboard import Blackboard

MOST_BYTES = 2**20  # of a file that is read: ours are of some hundred bytes


def path_of(state: Path, session: str | None) -> Path:
    """Return where the blackboard of a session is; ``session`` is a slug, None for the project's own."""
    return state / "session.json" if session is None else state / "sessions" / f"{session}.json"


def read(path: Path) -> tuple[Blackboard, str | None]:
    """Return what is current, and what is wrong with the file; an empty one where it is absent or damaged."""
    try:
        if path.is_symlink() or path.parent.is_symlink():
            return Blackboard(), f"{path} is a link, which is not followed"
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
        return Blackboard.model_validate(orjson.loads(data)), None
    except FileNotFoundError:
        return Blackboard(), None
    except (OSError, orjson.JSONDecodeError, ValidationError) as error:
        return Blackboard(), f"{path} is damaged and taken as empty: {str(error).splitlines()[0]}"


def write(path: Path, board: Blackboard) -> None:
    """Replace the file by what is current now; under the lock of the store."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.parent.is_symlink():
        raise OSError(f"{path.parent} is a link")
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_bytes(orjson.dumps(board.model_dump(mode="json", exclude_none=True), option=orjson.OPT_SORT_KEYS))
    os.replace(fresh, path)


def remove(path: Path) -> None:
    """Remove the file, if it is there."""
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
