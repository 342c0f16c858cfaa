"""What is heavy is loaded by what needs it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from graphmem import Memory
from tests.sample import open_memory

HEAVY = (
    "kuzu", "torch", "numpy", "pyarrow", "networkx", "sentence_transformers", "transformers", "tokenizers",
    "graphmem.graph.kuzu",
)  # fmt: skip


def loaded(code: str, folder: Path) -> set[str]:
    """Run code in a fresh interpreter and return which heavy packages it loaded."""
    show = f"\nimport sys\nprint('LOADED', *[name for name in {HEAVY} if name in sys.modules])"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHMEM_")}
    environment["PYTHONPATH"] = str(Path(__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code + show], capture_output=True, text=True, cwd=folder, env=environment, check=True
    )
    return set(done.stdout.splitlines()[-1].split()[1:])


def command(line: str) -> str:
    return f"from graphmem.cli.app import run\nassert run({line.split()!r}) == 0"


@pytest.mark.parametrize(
    "code", ["import graphmem", "from graphmem import Memory", command("--help"), command("--version")]
)
def test_the_package_and_its_help_load_nothing_heavy(code: str, tmp_path: Path) -> None:
    assert loaded(code, tmp_path) == set()


@pytest.mark.parametrize(
    ("line", "allowed"),
    [
        ("get boom", set()),
        ("list", set()),
        ("edit boom --fix x", set()),
        ("rename boom bang", set()),
        ("forget boom", set()),
        ("link failure/boom causes failure/bong", set()),
        ("related boom", set()),
        ("feedback boom --helped", set()),
        ("export", set()),
        ("supersede boom bong", set()),
        ("purge boom --yes", {"graphmem.graph.kuzu"}),
        ("undo", set()),
        ("add failure --trigger again --no-dedup", set()),
        ("solutions boom", set()),
        ("query boom", {"numpy", "tokenizers"}),
    ],
)
def test_a_command_that_needs_no_vector_loads_no_model(line: str, allowed: set[str], tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        prepare(memory)
    assert loaded(command(line), tmp_path) <= allowed


@pytest.mark.parametrize(
    "line",
    [
        "query boom", "related boom", "path boom bong", "solutions boom", "similar plan", "stats", "list", "get boom",
        "context plan", "match log.txt", "campaign ready plan", "add failure --trigger again --no-dedup", "validate",
    ],
)  # fmt: skip
def test_in_a_fresh_clone_no_command_but_cypher_builds_the_graph(line: str, tmp_path: Path) -> None:
    """A test that prepares the store in its own process would not see it: the first reading is what costs."""
    with open_memory(tmp_path) as memory:
        prepare(memory)
        memory.relations.link("failure/boom", "causes", "failure/bong")
        memory.campaigns.create("a plan", name="plan")
        memory.campaigns.add_tasks("plan", [{"seq": 1, "slug": "s", "objective": "o"}])
    (tmp_path / "log.txt").write_text("boom\n")
    for name in ("local", "state"):
        shutil.rmtree(tmp_path / ".graphmem" / name)
    mirror = set() if line == "validate" else {"graphmem.graph.kuzu"}  # which looks whether there is a graph to compare
    assert loaded(command(line), tmp_path) & {"kuzu", "pyarrow", *mirror} == set()
    assert not list((tmp_path / ".graphmem/local").glob("graph*"))


def prepare(memory: Memory) -> None:
    memory.failures.add("boom", name="boom")
    memory.failures.add("bong", name="bong")
