"""Files that were made to do harm: whatever a branch brings, memory and time stay within bounds."""

import itertools
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

import graphmem
from graphmem import BadInput, Memory, Refused
from graphmem.constants import FILE_BYTES, KEPT_FINDINGS
from graphmem.kernel.ndjson import BLOCK_BYTES, LINE_BYTES
from tests.pace import patience
from tests.sample import contents, data, failure, open_memory, write

ROOM = 384 * 2**20  # bytes of address space: start-up takes 150 MiB of it


def small(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a command in a process that has little address space."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(graphmem.__file__).parents[1]),
        "GRAPHMEM_EMBEDDING_MODEL": "none",
    }
    return subprocess.run(
        [sys.executable, "-m", "graphmem", *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM)),
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store with one failure."""
    with open_memory(tmp_path) as memory:
        memory.failures.add("boom", name="a")
    return tmp_path


@pytest.mark.long
def test_a_line_of_a_gigabyte_is_reported_and_not_held(folder: Path) -> None:
    file = data(folder, "failure")
    with open(file, "ab") as handle:
        handle.truncate(FILE_BYTES)  # a hole: zeros that take no space on the disk
    done = small(folder, "list")
    assert done.stdout == "failure/a  boom\n", done.stderr
    assert "data/failure.ndjson:2:1: the line is over 4,194,304 bytes" in done.stderr


def test_an_input_of_a_gigabyte_is_refused_and_not_held(folder: Path) -> None:
    with open(folder / "rows.ndjson", "wb") as handle:
        handle.truncate(2**28)
    done = small(folder, "add", "--ndjson", "rows.ndjson")
    assert done.returncode == 3, done.stderr
    assert "rows.ndjson:1:1: the line is over 4,194,304 bytes" in done.stderr


def test_an_input_that_is_none_is_not_read_to_its_end(memory: Memory) -> None:
    endless = itertools.repeat(b"what is this\n")
    with pytest.raises(BadInput, match="10,000 bad rows, nothing was changed") as refused:
        memory.add_rows(endless)
    assert len(refused.value.details["findings"]) == 100  # type: ignore[arg-type]


def test_a_file_over_the_limit_is_not_read(folder: Path) -> None:
    with open(data(folder, "pattern"), "wb") as handle:
        handle.truncate(FILE_BYTES + 1)
    done = small(folder, "list")
    assert done.stdout == "failure/a  boom\n"
    assert "data/pattern.ndjson: the file is 1,073,741,825 bytes; its rows are left aside" in done.stderr


def test_very_many_bad_lines_are_a_count(memory: Memory, tmp_path: Path) -> None:
    write(data(tmp_path, "failure"), failure("a"), *[b"{\n"] * (KEPT_FINDINGS + 500), failure("b"))
    assert [found.ref for found in memory.list().results] == ["failure/a", "failure/b"]
    findings = memory.store.validate().findings
    assert len(findings) == KEPT_FINDINGS + 1
    assert findings[-1].message == "500 more bad lines"
    with pytest.raises(Refused):
        memory.failures.add("c", name="c")


def test_very_many_repeated_rows_take_no_longer_than_others(memory: Memory, tmp_path: Path) -> None:
    rows = [failure(f"f{n}") for n in range(3_000)]
    start = time.process_time()
    write(data(tmp_path, "failure"), *rows, *rows, *rows)
    assert memory.list(limit=1).total == 3_000
    assert time.process_time() - start < 5 * patience(time.process_time)


@pytest.mark.parametrize(
    "line", [b'"' + b'\\"' * 200_000, b"[" * 200_000, b'{"a":' * 200_000, b'"' + b'\\"' * 99_999 + b"\\"]
)
@pytest.mark.slow
def test_a_line_made_to_be_slow_is_refused_at_once(memory: Memory, tmp_path: Path, line: bytes) -> None:
    write(data(tmp_path, "failure"), line + b"\n", failure("a"))
    start = time.process_time()
    assert memory.list().total == 1
    assert time.process_time() - start < 2 * patience(time.process_time)


def test_lines_are_the_same_wherever_a_block_ends(memory: Memory, tmp_path: Path) -> None:
    long = failure("long", trigger="x" * (BLOCK_BYTES + 1000))
    rows = [failure(f"f{n}", trigger="y" * 100_000) for n in range(25)]
    write(
        data(tmp_path, "failure"),
        b"\xef\xbb\xbf",
        *rows[:12],
        long,
        b"z" * (LINE_BYTES + 2 * BLOCK_BYTES),
        b"\n",
        *rows[12:],
    )
    assert memory.list().total == 26
    (finding,) = memory.store.validate().findings
    assert (finding.line, finding.code) == (14, "too_large")


def test_a_row_that_stands_twice_is_read_once(memory: Memory, tmp_path: Path) -> None:
    write(data(tmp_path, "failure"), failure("a"), failure("a"), failure("a", fix="x"))
    assert memory.get("a").record.fix is None  # type: ignore[union-attr]
    # The very same line again says nothing else.
    assert [(found.line, found.code) for found in memory.store.validate().findings] == [(3, "duplicate_key")]


@pytest.mark.parametrize(
    "front",
    [
        "type: part\nx: &a [1,2]\ny: *a",
        "type: part\nx: " + "[" * 5_000,
        "type: part\ndescription: " + "x" * 200_000,
    ],
)
def test_a_type_made_to_do_harm_is_reported(memory: Memory, tmp_path: Path, front: str) -> None:
    (tmp_path / ".graphmem/types/entities/part.md").write_text(f"---\n{front}\n---\nP.\n")
    checked = memory.store.validate()
    assert [found.file for found in checked.findings] == ["types/entities/part.md"]
    assert "part" not in memory.store.client.catalog.vocabulary.entities


def test_a_type_that_is_a_link_is_not_read(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("---\ntype: part\n---\nP.\n")
    (tmp_path / ".graphmem/types/entities/part.md").symlink_to(tmp_path / "outside.md")
    assert memory.types.list().entities == []


def test_nothing_of_all_this_is_written_back(memory: Memory, tmp_path: Path) -> None:
    write(data(tmp_path, "failure"), b"[" * 50_000)
    before = contents(tmp_path)
    memory.store.validate()
    with pytest.raises(Refused):
        memory.failures.add("c", name="c")
    assert contents(tmp_path) == before
