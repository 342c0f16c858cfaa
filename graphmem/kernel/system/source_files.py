"""The source files of a project, for what reads code: no link is followed, and what others wrote is left out."""

import os
from collections.abc import Iterator
from pathlib import Path

from graphmem.kernel.system import safe_files

LEFT_OUT = frozenset({"node_modules", "site-packages", "__pycache__"})  # folders of others, and those that begin with .
ENVIRONMENT = "pyvenv.cfg"  # in a folder that holds an environment of Python


def source_files(folder: Path, suffix: str, most_bytes: int) -> Iterator[tuple[str, bytes | str]]:
    """
    Yield the files with a suffix below a folder, in the order of their paths: path, then content or why it is left out.

    Args:
        most_bytes: of a file; a larger one is data, not code.
    """
    for place, folders, files in os.walk(folder):
        below = os.path.relpath(place, folder)
        inner = [name for name in folders if not name.startswith(".") and name not in LEFT_OUT]
        folders[:] = sorted(name for name in inner if not os.path.lexists(os.path.join(place, name, ENVIRONMENT)))
        for name in sorted(name for name in files if name.endswith(suffix)):
            path = os.path.normpath(os.path.join(below, name)).replace(os.sep, "/")
            yield path, _content_of(Path(place, name), path, most_bytes)


def _content_of(place: Path, path: str, most_bytes: int) -> bytes | str:
    """Return the content of a file, or why it is left out."""
    try:
        path.encode()
        data = safe_files.read(place, most=most_bytes + 1)
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    except OSError as error:
        return (error.strerror or "it cannot be read").lower()
    return data if len(data) <= most_bytes else f"it has more than {most_bytes:,} bytes"
