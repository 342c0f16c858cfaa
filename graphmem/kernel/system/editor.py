"""The editor of the person at the terminal."""

import os
import shlex
import subprocess
from pathlib import Path

from graphmem.errors import Usage
from graphmem.kernel.system.programs import program

USUAL = "vi"


def edit(path: Path) -> bool:
    """
    Let the person edit a file; return whether the editor ended well.

    Raises:
        Usage: the editor that ``VISUAL`` or ``EDITOR`` names is not installed.
    """
    words = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or USUAL)
    found = program(words[0])
    if found is None:
        raise Usage(f"editor {words[0]!r} is not installed", hint="set EDITOR to the program that you edit with")
    return subprocess.run([found, *words[1:], str(path)], check=False).returncode == 0
