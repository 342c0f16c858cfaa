"""Where programs are: no folder that a command is typed in can put another one in their place."""

import os
import shutil
import sys

NAME = "graphmem"


def program(name: str) -> str | None:
    """Return the absolute path of a program; folders of the PATH that depend on the current one do not count."""
    places = [place for place in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(place)]
    return shutil.which(name, path=os.pathsep.join(places))


def own_program() -> list[str]:
    """Return the command that runs this graphmem from any folder, and nothing of that folder."""
    beside = os.path.join(os.path.dirname(sys.executable), NAME)
    if os.access(beside, os.X_OK):
        return [beside]
    found = program(NAME)
    return [found] if found else [sys.executable, "-P", "-m", NAME]
