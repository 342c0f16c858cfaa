"""MCP Inspector's command line, a client that is not of the SDK; it is installed from npm, with the node it needs."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.npm import installed
from tests.sample import open_memory

pytestmark = pytest.mark.npm
PACKAGES = ("node@24", "@modelcontextprotocol/inspector@2.12.0")
SAYS = {
    "tools/list --strict": '"readOnlyHint":true',  # exit status 6 where a client could not take a schema
    "tools/call --tool-name recall --tool-arg text=disk": "make room",
    "resources/list": "graphmem://context",
    "resources/templates/list": "graphmem://record/{ref}",
    "resources/read --uri graphmem://record/failure%2Ffull": "make room",
    "prompts/list": '"retro"',
    "prompts/get --prompt-name recall --prompt-args objective=disk": "The objective: disk",
}


def inspected(programs: Path, folder: Path, era: str, line: str) -> tuple[int, str, dict[str, Any]]:
    """Return the exit status of Inspector for a method, what it prints, and the error that it reports."""
    environment = {"PYTHONPATH": str(Path(__file__).parents[3]), "GRAPHMEM_EMBEDDING_MODEL": "none"}
    server = {"command": sys.executable, "args": ["-m", "graphmem", "mcp", "--dir", str(folder)], "env": environment}
    (folder / "inspector.json").write_text(json.dumps({"mcpServers": {"graphmem": server}}), "utf-8")
    command = [str(programs / "mcp-inspector"), "--cli", "--config", "inspector.json", "--server", "graphmem"]
    command += ["--format", "json", "--protocol-era", era, "--method", *line.split()]
    env = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "MCP_INSPECTOR_SECRET_STORE": "memory"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=120)
    errors = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    return done.returncode, done.stdout, errors[-1] if errors else {}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with open_memory(tmp_path) as memory:
        memory.failures.add("the disk is full", fix="make room", name="full")
    return tmp_path


def test_inspector_gets_what_it_asks_for_and_a_bad_argument_is_an_error_of_the_tool(folder: Path) -> None:
    with installed(*PACKAGES) as programs:  # one test: two processes would install it twice
        for era in ("legacy", "modern"):
            for line, text in SAYS.items():
                status, said, error = inspected(programs, folder, era, line)
                assert (status, error) == (0, {}), (era, line)
                assert text in said
            status, said, _ = inspected(programs, folder, era, "tools/call --tool-name recall --tool-arg limit=3")
            assert status == 5
            assert "parameter 'text' is missing" in said
