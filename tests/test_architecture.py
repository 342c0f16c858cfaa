"""Imports go one way, and one module knows the engine."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphmem

ROOT = Path(graphmem.__file__).parent
LEVELS = (
    (
        "constants",
        "errors",
        "lazy",
        "names",
        "ndjson",
        "programs",
        "telemetry",
        "shell",
        "surroundings",
        "user",
        "versions",
    ),
    ("files", "foreign", "safe_files", "model_files", "config"),
    ("model",),
    ("contract",),
    ("rules",),
    ("process", "git"),
    ("ledger", "catalog", "embed", "machine"),
    ("graph", "clone"),
    ("sync",),
    ("checkout", "purging"),
    ("runtime",),
    ("retry", "usecase"),
    ("api", "clients"),
    ("service", "mcp"),
    ("http",),
    ("cli", "demo"),
    ("__main__",),
)
LEVEL = {part: level for level, parts in enumerate(LEVELS) for part in parts}
SQL = re.compile(r"(SELECT \w.* FROM|INSERT (OR \w+ )?INTO|UPDATE \w+ SET|DELETE FROM|CREATE TABLE|PRAGMA) ")
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
            assert mine in ("cli", "clients", "http", "mcp", "__main__", "demo"), (
                f"{file}:{line} imports {name} from the package"
            )
        elif theirs != mine:
            assert LEVEL[theirs] < LEVEL[mine] or (LEVEL[theirs] == LEVEL[mine] <= 1), f"{file}:{line} imports {name}"


@pytest.mark.parametrize("file", [file for file in MODULES if not file.startswith("catalog/")])
def test_only_the_catalog_speaks_sql(file: str) -> None:
    """What a caller may see can then be decided in one place, and another index can take this one's."""
    assert [line for line, name in imports(file) if name.split(".")[0] == "sqlite3"] == []
    for node in ast.walk(ast.parse((ROOT / file).read_text("utf-8"))):
        if isinstance(node, ast.Attribute) and not file.startswith("graph/kuzu/"):  # whose connection is the engine's
            assert node.attr not in ("connection", "execute", "executemany"), f"{file}:{node.lineno} uses {node.attr}"
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert not SQL.match(node.value), f"{file}:{node.lineno} holds SQL"


@pytest.mark.parametrize("file", MODULES)
def test_only_one_module_imports_a_graph_engine(file: str) -> None:
    if file != "graph/kuzu/engine.py":
        assert [line for line, name in imports(file) if name.split(".")[0] in ("kuzu", "ladybug")] == []


@pytest.mark.parametrize("file", MODULES)
def test_what_belongs_to_one_graph_engine_is_known_only_where_the_engine_is_chosen(file: str) -> None:
    """All others use the port, which every engine fulfils."""
    if not file.startswith("graph/kuzu/") and file != "graph/engines.py":
        assert [line for line, name in imports(file) if name.startswith("graphmem.graph.kuzu")] == []


@pytest.mark.parametrize("file", MODULES)
def test_only_cypher_and_what_maintains_the_graph_uses_it(file: str) -> None:
    """One question, one answer: whatever graphmem itself answers comes from the catalog."""
    if file not in USES_THE_GRAPH and not file.startswith("graph/"):
        assert re.findall(r"\b(?:store|runtime|client)\.graph\b", (ROOT / file).read_text("utf-8")) == []
        assert [line for line, name in imports(file) if name.startswith("graphmem.graph")] == []


# Cypher; then validate, rebuild and purge, which maintain the graph; and what hands it to them.
USES_THE_GRAPH = (
    "usecase/retrieval/cypher.py", "usecase/store/validate.py", "usecase/store/rebuild.py", "purging.py", "runtime.py",
)  # fmt: skip

# What touches files without `safe_files`: reads no store, or gives a path to git, a child, a model, a terminal.
FREE = (
    "__main__.py", "safe_files.py", "process/tee.py", "process/reaper.py", "cli/", "clients/", "mcp/front.py",
    "config.py", "git/", "embed/", "files.py",
    "graph/kuzu/engine.py", "graph/kuzu/sandbox.py", "graph/kuzu/schema.py", "graph/query.py", "graph/worker.py",
    "http/tokens.py", "service/",
    "usecase/records/citations.py", "usecase/records/versions.py", "catalog/catalog.py", "model/", "model_files.py",
)  # fmt: skip
TOUCHES = frozenset(
    "open read_bytes read_text write_bytes write_text mkdir rmdir rmtree iterdir glob rglob scandir listdir fromfile"
    " copyfile copytree symlink_to os.replace os.rename os.unlink".split()
)
ALLOWED = {("clone.py", "folder.mkdir")}  # the user's cache


@pytest.mark.parametrize("file", [file for file in MODULES if not file.startswith(FREE)])
def test_files_of_a_store_are_touched_through_one_module(file: str) -> None:
    """``safe_files`` follows no link; a path is opened by nothing else."""
    calls = [node for node in ast.walk(ast.parse((ROOT / file).read_text("utf-8"))) if isinstance(node, ast.Call)]
    for call in calls:
        called = ast.unparse(call.func)
        name = called.rpartition(".")[2]
        is_of_the_package = "shipped(" in called or called == "file.read_bytes"
        is_unlink = name == "unlink" and call.keywords != []  # missing_ok; an edge is unlinked without
        if {name, called} & TOUCHES or is_unlink:
            is_ours = called.startswith("safe_files.") or is_of_the_package or (file, called) in ALLOWED
            assert is_ours, f"{file}:{call.lineno} calls {called}"


def test_models_and_rules_do_no_input_or_output() -> None:
    forbidden = {"os", "pathlib", "io", "socket", "subprocess", "sqlite3", "random", "time", "uuid"}
    for file in MODULES:
        if part_of(file) in ("model", "rules"):
            assert {name.split(".")[0] for _, name in imports(file)} & forbidden == set(), file
