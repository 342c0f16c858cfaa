"""Files of other programs that were made to take time or memory: each reader ends soon, and no command hangs."""

import contextlib
import random
import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphmem.core.evidence.lock_files import LOCKS, locked
from graphmem.doors.agents.clients import TOML_MARKS
from graphmem.doors.agents.edits import json_edit, marked_edit, refuse_toml_with
from graphmem.errors import GraphmemError
from graphmem.features.governance.definitions import ArtefactDefinition, CycleDefinition
from graphmem.features.runs import operations as runs
from graphmem.kernel.ledger import types
from graphmem.kernel.model.vocabulary import EntityType
from graphmem.kernel.settings.config import CONFIG_BYTES, read_toml
from graphmem.kernel.settings.instructions import MARKDOWN_MARKS
from graphmem.kernel.system import foreign
from tests.pace import within
from tests.sample import open_memory

SECONDS, BYTES = 2.0, 100 * 2**20  # for any file of at most SIZE characters
SIZE = 100_000
DEEP = ".".join("a" * (SIZE // 2))
# Files that were made to harm, by what is tried.
BOMBS = {
    "dotted key": f"{DEEP}=1\n",
    "quoted parts": ".".join(['"a"'] * (SIZE // 4)) + "=1\n",
    "parts with blanks": " . ".join(["a"] * (SIZE // 4)) + "=1\n",
    "escaped parts": ".".join(['"\\""'] * (SIZE // 5)) + "=1\n",
    "dotted table": f"[{DEEP}]\n",
    "dotted array": f"[[{DEEP}]]\n",
    "dotted in a table": f"x = {{{DEEP}=1}}\n",
    "many keys": "".join(f"k{number}=1\n" for number in range(SIZE // 8)),
    "many tables": "".join(f"[t{number}.a.b.c]\n" for number in range(SIZE // 14)),
    "brackets": "[" * SIZE,
    "a list of brackets": "x = " + "[" * SIZE,
    "objects": "[" + "{}," * (SIZE // 3) + "{}]",
    "braces": '{"a":' * (SIZE // 5),
    "digits": "x = " + "9" * SIZE,
    "one word": "a" * SIZE,
    "blanks": "a" + " " * SIZE + "b",
    "blanks in every line": f"a{' ' * 400}\n" * (SIZE // 402),
    "quotes": '"' * SIZE,
    "line ends": "\n" * SIZE,
    "commas": "," * SIZE,
    "aliases": "---\na: &a [x]\n" + "".join(f"b{n}: &b{n} [*a, *a]\n" for n in range(2000)) + "---\n",
    "flow": "---\nx: " + "[" * (SIZE // 2) + "---\n",
    "a long front matter": "---\n" + "a: b\n" * (SIZE // 5) + "---\n",
    "globs": "---\nfiles:\n" + f"- '{'{a,b}' * 6}{'*x' * 130}'\n" * 50 + "---\n",
    "braces of a glob": "---\nfiles:\n" + f"- '{'{' * 149}{'}' * 149}'\n" * 50 + "---\n",
    "at signs": "@" * SIZE + "\n",
    "brackets in a requirement": ("a[" + "b" * 300 + "\n") * (SIZE // 304),
    "a half package": '[[package]]\nname = "' * (SIZE // 20),
    "markers": f"{MARKDOWN_MARKS[0]}\n" * (SIZE // 30),
}


def readers() -> Iterator[tuple[str, Callable[[str], object]]]:
    """Yield each reader of a file that is not graphmem's own."""
    for name in LOCKS:
        file = name.replace("*", "x")
        yield f"locked {name}", partial(locked, file)
    yield "json of a client", lambda text: json_edit(lambda value: None)(text.encode())
    yield "toml of a client", lambda text: marked_edit("x", *TOML_MARKS, refuse_toml_with("a.b"))(text.encode())
    yield "markdown", lambda text: marked_edit("x", *MARKDOWN_MARKS)(text.encode())
    yield "config", lambda text: read_toml(Path("config.toml"), text.encode()[: CONFIG_BYTES + 1])
    yield "type", lambda text: types.parse(text[: types.TYPE_BYTES], EntityType)
    yield "cycle", lambda text: types.parse(text[: types.TYPE_BYTES], CycleDefinition)
    yield "artefact", lambda text: types.parse(text[: types.TYPE_BYTES], ArtefactDefinition)
    yield "workflows", lambda text: runs.parsed(text.encode(), "workflows.json")
    yield "json", foreign.json
    yield "toml", foreign.toml
    yield "yaml", foreign.yaml


READERS = dict(readers())


def read(reader: str, text: str) -> None:
    """Read a text; what is wrong with it may be refused, and nothing else."""
    with contextlib.suppress(ValueError, AttributeError, TypeError, GraphmemError, yaml.YAMLError):
        READERS[reader](text)


@pytest.mark.parametrize("bomb", BOMBS)
def test_no_file_takes_much_time(bomb: str) -> None:
    for reader in READERS:
        began = time.process_time()
        read(reader, BOMBS[bomb])
        assert within(time.process_time() - began, SECONDS, time.process_time), reader


@pytest.mark.parametrize("bomb", ["objects", "brackets", "aliases", "many keys", "commas"])
def test_no_file_takes_much_memory(bomb: str) -> None:
    for reader in READERS:
        tracemalloc.start()
        try:
            read(reader, BOMBS[bomb])
            assert tracemalloc.get_traced_memory()[1] < BYTES, reader
        finally:
            tracemalloc.stop()


PARTS = [
    "a",
    ".",
    '"',
    "'",
    "[",
    "]",
    "{",
    "}",
    "=",
    ",",
    "\n",
    " ",
    "#",
    "\\",
    "1",
    "-",
    "@",
    ":",
    "*",
    "&",
    "é",
    "\r\n",
]
PARTS += [
    "[[package]]\n",
    'name = "',
    "---\n",
    "/",
    "==",
    "h1:",
    "v1",
    MARKDOWN_MARKS[0],
    TOML_MARKS[1],
    "  ",
    "\t",
    "\0",
]


@pytest.mark.long
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(
    parts=st.lists(st.tuples(st.sampled_from(PARTS), st.integers(1, 12)), min_size=1, max_size=5),
    order=st.integers(0, 2**32),
    is_mixed=st.booleans(),
)
def test_whatever_a_file_repeats_it_is_read_or_refused_soon(
    parts: list[tuple[str, int]], order: int, *, is_mixed: bool
) -> None:
    """Made of a few parts, each repeated up to some ten thousand times."""
    if is_mixed:
        choose = random.Random(order)
        text = "".join(choose.choices([part for part, _ in parts], k=8_000))
    else:
        one = "".join(part * 3**number for part, number in parts)[:20_000]
        text = one * max(1, 20_000 // len(one))
    for reader in READERS:
        began = time.process_time()
        read(reader, text)
        assert within(time.process_time() - began, SECONDS, time.process_time), (reader, text[:100])


def test_a_bomb_at_the_top_of_a_project_stops_no_command(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "Cargo.toml", "package.json", "requirements.txt", "poetry.lock"):
        (tmp_path / name).write_text(f"{DEEP}=1\n")
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "hooks.json").write_text(
        '{"hooks": {"x": [{"hooks": [{"command": "graphmem hook codex"}]}]}}'
    )
    (tmp_path / ".codex" / "config.toml").write_text(f"{DEEP}=1\n")
    with open_memory(tmp_path) as memory:
        began = time.process_time()
        memory.failures.add("requests.ConnectionError: refused", versions={"requests": "1.0"})
        memory.failures.add("ImportError: no module yaml")
        memory.list()
        memory.prime()
        memory.query("refused")
        memory.stale()
        memory.store.doctor()
        assert within(time.process_time() - began, 10, time.process_time)
