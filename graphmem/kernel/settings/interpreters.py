"""The Pythons that ran ``graphmem init`` for this user, noted where no repository can write."""

import contextlib
import os
import sys
from pathlib import Path

from graphmem.kernel.settings.folders import state_folder


def interpreters() -> list[str]:
    """Return their paths."""
    try:
        return os.fsdecode(_interpreters_file().read_bytes()).split("\0")[:-1]
    except OSError:
        return []


def _interpreters_file() -> Path:
    """Return the file that has them, each path ended by a NUL."""
    return state_folder() / "interpreters"


def note_interpreter() -> None:
    """Note the Python that runs this, so that other environments of this user know the settings it makes in git."""
    if sys.executable in interpreters():
        return
    with contextlib.suppress(OSError):  # without the note, another environment makes the settings again
        _interpreters_file().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _interpreters_file().open("ab") as file:
            file.write(os.fsencode(sys.executable) + b"\0")
