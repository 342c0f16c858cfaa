"""Imports go one way, and one module knows the engine."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphmem

ROOT = Path(graphmem.__file__).parent
LEVELS = (
    ("constants", "errors", "names", "ndjson"),
    ("child", "files", "garbage", "config", "git", "lock", "textconv"),
    ("model",),
    ("rules",),
    ("catalog",),
    ("ledger", "graph", "embed", "search", "driver"),
    ("store",),
    ("usecase",),
    ("nouns",),
    ("memory",),
    ("benchmark",),
    ("cli", "demo"),
    ("__main__",),
)
LEVEL = {part: level for level, parts in enumerate(LEVELS) for part in parts}
MODULES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py"))


def imports(file: str) -> Iterator[tuple[int, str]]:
    """Yield every import of a module, wherever it stands: its line and what it names."""
    for node in ast.walk(ast.parse((ROOT / file).read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno} is a relative import"
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}"


def part_of(file: str) -> str:
    """Return the part of the package that a module belongs to."""
    return file.split("/", maxsplit=1)[0].removesuffix(".py")


def test_every_part_has_a_level() -> None:
    assert {part_of(file) for file in MODULES} - {"__init__"} == LEVEL.keys() - (
        {"demo"} - {part_of(f) for f in MODULES}
    )


@pytest.mark.parametrize("file", MODULES)
def test_a_module_imports_only_what_stands_below_it(file: str) -> None:
    mine = part_of(file)
    for line, name in imports(file):
        if not name.startswith("graphmem.") or mine == "__init__":
            continue
        theirs = name.split(".")[1]
        if theirs not in LEVEL:  # a name of the package itself, such as its version
            assert mine in ("cli", "__main__", "demo"), f"{file}:{line} imports {name} from the package"
        elif theirs != mine:
            assert LEVEL[theirs] < LEVEL[mine] or (LEVEL[theirs] == LEVEL[mine] <= 1), f"{file}:{line} imports {name}"


@pytest.mark.parametrize("file", MODULES)
def test_only_the_port_imports_the_engine(file: str) -> None:
    if file != "graph/engine.py":
        assert [line for line, name in imports(file) if name.split(".")[0] == "kuzu"] == []


def test_models_and_rules_do_no_input_or_output() -> None:
    forbidden = {"os", "pathlib", "io", "socket", "subprocess", "sqlite3", "random", "time", "uuid"}
    for file in MODULES:
        if part_of(file) in ("model", "rules"):
            assert {name.split(".")[0] for _, name in imports(file)} & forbidden == set(), file
