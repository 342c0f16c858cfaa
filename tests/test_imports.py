"""What is heavy is loaded by what needs it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.doors.cli.app import run
from tests.sample import open_memory

HEAVY = (
    "kuzu", "torch", "numpy", "pyarrow", "networkx", "sentence_transformers", "transformers", "kitoken",
    "graphmem.features.cypher.engines.kuzu", "graphmem.core.logs.diagnosis",
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
    return f"from graphmem.doors.cli.app import run\nassert run({line.split()!r}) == 0"


@pytest.mark.parametrize(
    "code", ["import graphmem", "from graphmem import Memory", command("--help"), command("--version")]
)
def test_the_package_and_its_help_load_nothing_heavy(code: str, tmp_path: Path) -> None:
    assert loaded(code, tmp_path) == set()


# What a command may load; all others load nothing heavy.
READS = {
    "query boom": {"numpy", "kitoken", "graphmem.core.logs.diagnosis"},
    "purge boom --yes": {"graphmem.features.cypher.engines.kuzu", "graphmem.core.logs.diagnosis"},
}
NO_VECTOR = (
    "get boom", "list", "edit boom --fix x", "rename boom bang", "forget boom", "link failure/boom causes failure/bong",
    "related boom", "feedback boom --helped", "export", "supersede boom bong", "undo",
    "add failure --trigger again --no-dedup", "solutions boom", *READS,
)  # fmt: skip
FRESH = (
    "query boom", "related boom", "path boom bong", "solutions boom", "similar plan", "stats", "list", "get boom",
    "context plan", "match log.txt", "campaign ready plan", "add failure --trigger again --no-dedup", "validate",
)  # fmt: skip
# Each in a process of its own that this one becomes: what they share is the start of Python and the command line.
EACH = f"""
import json, os, sys
from graphmem.doors.cli.app import run
import graphmem.api
for line, folder in json.loads(sys.argv[1]):
    if os.fork() == 0:
        os.chdir(folder)
        status = run(line.split())
        print("LOADED", json.dumps([folder, status, [name for name in {HEAVY} if name in sys.modules]]), flush=True)
        os._exit(0)
    os.wait()
"""


def loaded_by(lines: Iterable[str], made: Path) -> dict[str, tuple[Path, set[str]]]:
    """Run each command line in a copy of a store; return the copy, and which heavy packages were loaded."""
    folders = {line: shutil.copytree(made, made.with_name(str(number))) for number, line in enumerate(lines)}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GRAPHMEM_")}
    environment["PYTHONPATH"] = str(Path(__file__).parents[1])
    given = json.dumps([(line, str(folder)) for line, folder in folders.items()])
    done = subprocess.run(
        [sys.executable, "-c", EACH, given], capture_output=True, text=True, env=environment, check=True
    )
    rows = [json.loads(row.removeprefix("LOADED ")) for row in done.stdout.splitlines() if row.startswith("LOADED ")]
    assert [status for _, status, _ in rows] == [0] * len(folders), done.stdout + done.stderr
    return {line: (folder, set(row[2])) for (line, folder), row in zip(folders.items(), rows, strict=True)}


@pytest.mark.long
def test_a_command_that_needs_no_vector_loads_no_model(tmp_path: Path) -> None:
    with open_memory(tmp_path / "made") as memory:
        prepare(memory)
    for line, (_, found) in loaded_by(NO_VECTOR, tmp_path / "made").items():
        assert found <= READS.get(line, {"graphmem.core.logs.diagnosis"}), line  # which the first look at files needs


@pytest.mark.parametrize("line", ["list", "get boom", "related boom", "prime", "status"])
def test_a_command_that_compares_no_errors_loads_nothing_that_reads_logs(line: str, tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        prepare(memory)
    assert loaded(command(line), tmp_path) == set()


@pytest.mark.long
def test_in_a_fresh_clone_no_command_but_cypher_builds_the_graph(tmp_path: Path) -> None:
    """A test that prepares the store in its own process would not see it: the first reading is what costs."""
    made = tmp_path / "made"
    with open_memory(made) as memory:
        prepare(memory)
        memory.relations.link("failure/boom", "causes", "failure/bong")
        memory.campaigns.create("a plan", name="plan")
        memory.campaigns.add_tasks("plan", [{"seq": 1, "slug": "s", "objective": "o"}])
    (made / "log.txt").write_text("boom\n")
    for name in ("local", "state"):
        shutil.rmtree(made / ".graphmem" / name)
    for line, (folder, found) in loaded_by(FRESH, made).items():
        mirror = (
            set() if line == "validate" else {"graphmem.features.cypher.engines.kuzu"}
        )  # it looks whether there is one to compare
        assert found & {"kuzu", "pyarrow", *mirror} == set(), line
        assert not list((folder / ".graphmem/local").glob("graph*")), line


def prepare(memory: Memory) -> None:
    memory.failures.add("boom", name="boom")
    memory.failures.add("bong", name="bong")


def test_the_first_page_of_the_help_takes_none_of_what_commands_need_and_is_that_of_typer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["--help"]) == 0
    page = capsys.readouterr().out
    for word in ("--help", "-h"):
        command = [sys.executable, "-X", "importtime", "-m", "graphmem", word]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
        names = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
        assert done.stdout == page
        assert names.isdisjoint({"typer", "rich", "pydantic", "orjson", "sqlite3"})
