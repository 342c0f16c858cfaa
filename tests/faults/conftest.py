"""What tests of faults get: code that is compiled before a process has a limit on its files."""

import compileall
from pathlib import Path

import pytest

import graphmem


@pytest.fixture(scope="session", autouse=True)
def _compiled() -> None:
    """Under such a limit, Python before 3.13 writes what it compiles cut off, and then fails to read it for ever."""
    compileall.compile_dir(Path(graphmem.__file__).parent, quiet=1)
