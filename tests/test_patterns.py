"""Regular expressions are compiled when they are used, and all of them can be."""

import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from graphmem.patterns import LazyPattern, lazy_re
from tests.sample import open_memory
from tests.source import MODULES

MOST_OF_GET = 12  # of ours; 118 of all were compiled before
COUNTING = """
import json, os, re, sys
import re._compiler as compiler
real, found = compiler.compile, []
def compiled(pattern, flags=0):
    if isinstance(pattern, (str, bytes)):
        frame = sys._getframe(1)
        while frame.f_code.co_filename == re.__file__:
            frame = frame.f_back
        found.append((frame.f_code.co_filename, str(pattern)))
    return real(pattern, flags)
compiler.compile = compiled
def ended(status):
    print(json.dumps([status, [pattern for file, pattern in found if "/graphmem/" in file]]), file=sys.stderr)
    end(status)
end, os._exit = os._exit, ended
sys.argv = ["graphmem", "get", "boom"]
from graphmem.__main__ import main
main()
"""


def test_a_pattern_is_compiled_at_its_first_use_and_is_then_as_any_other() -> None:
    lazy = lazy_re(r"(?P<word>[a-z]+)", re.IGNORECASE)
    assert isinstance(lazy, LazyPattern) and "search" not in vars(lazy)
    assert lazy.pattern == r"(?P<word>[a-z]+)" and "search" not in vars(lazy)
    assert lazy.groupindex == {"word": 1} and lazy.flags & re.IGNORECASE
    found = lazy.fullmatch("Word")
    assert found is not None and found["word"] == "Word"
    assert lazy.sub("x", "a1b") == "x1x"


def test_every_pattern_of_a_module_can_be_compiled() -> None:
    number = 0
    for file in MODULES:
        if file.endswith("__main__.py") or file.startswith("doors/pytest_plugin"):
            continue
        module = import_module(f"graphmem.{file.removesuffix('.py').replace('/', '.')}".removesuffix(".__init__"))
        for value in vars(module).values():
            for one in value if isinstance(value, tuple | list) else (value,):
                if isinstance(one, LazyPattern):
                    re.compile(one.pattern, one.given_flags)
                    number += 1
    assert number > 300


def test_few_patterns_are_compiled_for_a_command(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.failures.add("it went boom", name="boom")
    command = [sys.executable, "-c", COUNTING]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    status, found = json.loads(done.stderr.splitlines()[-1])
    assert status == 0
    assert len(found) <= MOST_OF_GET, found
