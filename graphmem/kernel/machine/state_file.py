"""A small file of this machine that holds one value as JSON; another value replaces it whole (``safe_files.put``)."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from graphmem.kernel.system import safe_files

Kept = TypeVar("Kept")
MOST_BYTES = 2**20  # of a file that is read: most are of some hundred bytes


def read_state(
    path: Path,
    decode: Callable[[bytes], Kept],
    on_message: Callable[[str], object] = lambda text: None,
    most: int = MOST_BYTES,
) -> Kept | None:
    """Return the value in a file; None if it is missing, or damaged or behind a link, which is reported."""
    try:
        data = safe_files.read(path, most=most + 1)
        if len(data) > most:
            raise ValueError("it is too large")
        return decode(data)
    except FileNotFoundError:
        if os.path.lexists(path):
            on_message(f"{path} is taken as empty: it is a link, or lies behind one")
    except (OSError, ValueError) as error:
        cause = "it is damaged" if isinstance(error, ValidationError) else str(error)
        on_message(f"{path} is taken as empty: {cause}")
    return None
