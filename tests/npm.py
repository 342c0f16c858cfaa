"""Programs of other people from npm, in a folder of their own: for tests of what they make of ours."""

import atexit
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

LIMIT_S, CHROMIUM_S = 120, 300
QUIET = ("--no-audit", "--no-fund", "--no-update-notifier")
SOON = ("--fetch-retries=2", "--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=2000")  # where no registry is
FOREIGN = ("CLAUDE", "ANTHROPIC", "CODEX", "OPENAI", "GEMINI", "GOOGLE", "AI_AGENT", "XDG_", "GRAPHMEM_", "npm_")


@contextmanager
def installed(*packages: str) -> Iterator[Path]:
    """
    Yield the folder of the programs of some packages.

    Where there is no npm, or it cannot install them (no registry), the test is skipped; `pytest -rs` lists it.
    """
    with tempfile.TemporaryDirectory(prefix="graphmem-npm-", ignore_cleanup_errors=True) as folder:
        command = ["npm", "install", *QUIET, *SOON, "--prefix", folder, *packages]
        try:
            done = subprocess.run(
                command, env=apart(Path(folder)), capture_output=True, text=True, check=False, timeout=LIMIT_S
            )
            why = "" if done.returncode == 0 else next(iter(done.stderr.strip().splitlines()), "it failed")
        except FileNotFoundError:
            why = "npm is not there"
        except subprocess.TimeoutExpired:
            why = f"it took more than {LIMIT_S} s"
        if why:
            pytest.skip(f"not tested with {' '.join(packages)}: npm install: {why}")
        yield Path(folder) / "node_modules" / ".bin"


@cache
def chromium() -> Path:
    """Return the folder of what works with Chromium and axe, which is installed once in a process."""
    kept = ExitStack()
    atexit.register(kept.close)
    return kept.enter_context(installed("@sparticuz/chromium", "puppeteer-core", "axe-core"))


def in_chromium(script: Path, *arguments: str, beside: Sequence[Path] = ()) -> Any:
    """Return what a script that works with Chromium and axe prints as JSON; ``beside`` are those that it imports."""
    home = chromium().parents[1]
    for file in (script, *beside):
        shutil.copy(file, home)
    command, environment = ["node", script.name, *arguments], {**apart(home), "TMPDIR": str(home)}
    done = subprocess.run(
        command, cwd=home, env=environment, capture_output=True, text=True, check=False, timeout=CHROMIUM_S
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def apart(home: Path) -> dict[str, str]:
    """Return an environment in which programs find nothing of this user: another home, no variables of agents."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return {**kept, "HOME": str(home)}
