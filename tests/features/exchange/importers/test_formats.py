"""Which format a file is in, and that nothing in one ends in a traceback."""

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from graphmem import BadInput, GraphmemError, Memory
from graphmem.features.exchange.importers.formats import FORMATS
from tests.features.exchange.importers import test_archeflow, test_fctry, test_ftm, test_taskmaster
from tests.features.exchange.importers.real import SAMPLES

ODD: list[Any] = [
    None,
    "",
    [],
    {},
    [1],
    {"a": 1},
    True,
    5,
    -1,
    2.5,
    "x" * 20_000,
    "\0",
    "a\nb",
    "\u202e",
    [None],
    10**15,
]
LINES = {
    "beads.jsonl": (SAMPLES / "beads/issues.jsonl").read_text().splitlines(),
    "mcp.jsonl": (SAMPLES / "mcp_memory.jsonl").read_text().splitlines(),
    "lessons.jsonl": [json.dumps(one) for one in (test_archeflow.LESSON, test_archeflow.HINT, test_archeflow.ODD)],
    **{f"{name}.json": (SAMPLES / f"github/{name}.json").read_text().splitlines() for name in ("issues", "threads")},
    "tasks.json": [json.dumps({"tasks": test_taskmaster.TASKS})],
}


def spoilt(value: Any, chance: random.Random) -> Any:
    """Return a value some parts of which are something else, or missing."""
    if chance.random() < 0.08:
        return chance.choice(ODD)
    if isinstance(value, dict):
        return {name: spoilt(part, chance) for name, part in value.items() if chance.random() > 0.03}
    return [spoilt(part, chance) for part in value] if isinstance(value, list) else value


def scratched(text: str, chance: random.Random) -> str:
    """Return a text some characters of which are others."""
    return "".join(char if chance.random() > 0.008 else chance.choice("-:[]{}\n\"'&*#|x") for char in text)


def tried(memory: Memory, path: Path, format_name: str | None = None) -> None:
    """Import a file, which may be refused."""
    try:
        memory.imports.file(path, format=format_name)
    except GraphmemError as error:
        assert error.message != ""


@pytest.mark.parametrize("seed", range(4))
def test_whatever_a_file_holds_an_import_ends_in_an_account_or_in_one_error(
    seed: int, memory: Memory, tmp_path: Path
) -> None:
    chance = random.Random(seed)
    for name, lines in LINES.items():
        path = tmp_path / name
        path.write_text("".join(f"{json.dumps(spoilt(json.loads(line), chance))}\n" for line in lines))
        tried(memory, path)
        data = bytearray(path.read_bytes())
        for _ in range(5):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data)
        for format_name in FORMATS:
            tried(memory, path, format_name)
    shutil.copytree(SAMPLES / "okf", tmp_path / "bundle")
    (tmp_path / "bundle/experiences").mkdir()
    for path in (tmp_path / "bundle").rglob("*.md"):
        path.write_text(scratched(path.read_text(), chance))
    (tmp_path / "bundle/memory.md").write_text(scratched(test_fctry.MEMORY, chance))
    files = {
        "context": test_ftm.CONTEXT,
        "patterns": test_ftm.PATTERNS,
        "experiences/2026-01-01_a": test_ftm.EXPERIENCE,
    }
    for name, content in {**files, "inbox": test_fctry.INBOX}.items():
        (tmp_path / f"bundle/{name}.json").write_text(json.dumps(spoilt(content, chance)))
    tried(memory, tmp_path / "bundle")
    for format_name in FORMATS:
        tried(memory, tmp_path / "bundle", format_name)
    assert memory.store.validate().ok


def test_a_folder_that_can_be_of_two_formats_is_refused(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("---\ntype: Metric\ndescription: d\n---\n")
    (folder / "b.md").write_text("---\ntitle: b\npermalink: b\n---\n")
    with pytest.raises(BadInput) as caught:
        memory.imports.file(folder)
    assert caught.value.message == "'notes' can be basic-memory or okf"
    assert caught.value.hint == "say which: --from basic-memory"
    assert memory.imports.file(folder, format="okf").created == {"entity": 1}


def test_a_folder_of_nothing_that_is_known_is_refused(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="'empty' is in no format that is known here: it is a folder"):
        memory.imports.file(tmp_path / "empty")
