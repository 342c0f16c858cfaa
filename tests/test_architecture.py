"""Imports go one way, and one module knows the engine."""

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tests.rules import RULES
from tests.source import MODULES, PACKAGE, nodes, text_of, tree_of

TESTS = Path(__file__).parent
# Each imports from those before it, a feature from no other feature.
HOUSES = ("kernel", "core", "features", "doors")
# The rooms of the kernel, on floors: a room imports from the floors below it only.
KERNEL = (
    ("answer", "finding", "formats_in_use", "graph", "lazy", "markdown", "model", "model_files", "ndjson", "parameters",
     "registry", "request", "rows", "suggest", "system", "telemetry", "terminal", "text", "versions"),
    ("settings",), ("git", "embed"), ("ledger",), ("catalog", "machine"), ("store",), ("dispatch",),
    ("handle",),
)  # fmt: skip
FLOOR = {room: floor for floor, rooms in enumerate(KERNEL) for room in rooms}
# The top level: these import no room, and `api` and `__main__` any.
GROUND = ("constants", "errors", "names", "patterns")
SQL = re.compile(r"(SELECT \w.* FROM|INSERT (OR \w+ )?INTO|UPDATE \w+ SET|DELETE FROM|CREATE TABLE|PRAGMA) ")


def imports(file: str) -> Iterator[tuple[int, str]]:
    """Yield every import of a module, wherever it stands: its line and what it names."""
    for node in nodes(file):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno} is a relative import"
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}"


def room_of(module: str) -> str:
    """Return the room that a module belongs to, such as ``features.inbox``, by its path or its name."""
    parts = module.removesuffix(".py").replace("/", ".").split(".")
    return ".".join(parts[:2]) if parts[0] in HOUSES else parts[0]


def test_every_room_is_known() -> None:
    rooms = {room_of(file) for file in MODULES}
    assert {room.removeprefix("kernel.") for room in rooms if room.startswith("kernel.")} - {"__init__"} == FLOOR.keys()
    assert {room.partition(".")[0] for room in rooms} == {*HOUSES, *GROUND, "__init__", "__main__", "api"}


def test_a_room_imports_only_from_the_rooms_below_it() -> None:
    assert {arrow for file in MODULES for arrow in arrows_upwards(file)} == set()


def arrows_upwards(file: str) -> Iterator[tuple[str, str]]:
    """Yield the imports of a module that go against the direction: its room and the one it imports from."""
    mine = room_of(file)
    if mine in ("api", "__main__", "__init__"):
        return
    for _, name in imports(file):
        if not name.startswith("graphmem."):
            continue
        module = module_of(name.removeprefix("graphmem."))
        theirs = room_of(module)
        if theirs != mine and not is_below(theirs, mine):
            yield mine, theirs


def module_of(name: str) -> str:
    """Return the module that a name is of."""
    return name if is_module(name) else name.rpartition(".")[0] or name


def is_module(name: str) -> bool:
    """Return whether a name is that of a module or a folder."""
    path = PACKAGE / name.replace(".", "/")
    return path.is_dir() or path.with_suffix(".py").is_file()


def is_below(theirs: str, mine: str) -> bool:
    """Return whether a room may import from another one."""
    if theirs in GROUND or (theirs == "api" and mine.startswith("doors.")):
        return True
    below, house = theirs.partition(".")[0], mine.partition(".")[0]
    if below not in HOUSES or house not in HOUSES:  # a name of the package itself, such as its version
        return house == "doors" and not is_module(theirs)
    if below == house == "kernel":
        floors = FLOOR[theirs.partition(".")[2]], FLOOR[mine.partition(".")[2]]
        return floors[0] < floors[1] or floors == (0, 0)
    if below == house:
        return house in ("core", "doors")
    return HOUSES.index(below) < HOUSES.index(house) and not (house == "doors" and below == "features")


def test_no_rooms_import_each_other_in_a_circle() -> None:
    """At every level of folders: two folders of which each needs the other are one."""
    circles = set()
    for file in MODULES:
        for _, name in imports(file):
            mine, theirs = file.removesuffix(".py").split("/"), name.split(".")[1:]
            shared = next((n for n, pair in enumerate(zip(mine, theirs, strict=False)) if pair[0] != pair[1]), None)
            if (
                name.startswith("graphmem.")
                and shared
                and is_room(*mine[: shared + 1])
                and is_room(*theirs[: shared + 1])
            ):
                circles.add((*mine[:shared], mine[shared], theirs[shared]))
    assert {one for one in circles if (*one[:-2], one[-1], one[-2]) in circles} == set()


def is_room(*parts: str) -> bool:
    """Return whether the parts of a path name a folder of the package."""
    return PACKAGE.joinpath(*parts).is_dir()


def test_only_the_catalog_speaks_sql() -> None:
    """What a caller may see can then be decided in one place, and another index can take this one's."""
    catalog = ("kernel/catalog/", "kernel/machine/state.py", "kernel/system/foreign_sqlite.py")
    servers = ("kernel/ledger/postgres/", "kernel/ledger/redis/")  # a place of rows is a database of its own
    engine = "features/cypher/engines/falkordb/"  # a graph engine that speaks the protocol of Redis
    for room, client in zip(servers, ("psycopg", "redis"), strict=True):
        elsewhere = [file for file in MODULES if not file.startswith((room, engine))]
        assert importers(elsewhere, re.compile(rf"{client}\b").match) == []
    others = [file for file in MODULES if not file.startswith((*catalog, *servers))]
    assert importers(others, lambda name: name.split(".")[0] == "sqlite3") == []
    for file in others:
        for node in nodes(file):
            if isinstance(node, ast.Attribute) and not file.startswith(
                "features/cypher/engines/"
            ):  # that connection is an engine's
                assert node.attr not in ("connection", "execute", "executemany"), f"{file}:{node.lineno} {node.attr}"
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not SQL.match(node.value), f"{file}:{node.lineno} holds SQL"


def importers(files: Iterable[str], is_meant: Callable[[str], object]) -> list[str]:
    """Return where the files import what is meant."""
    return [f"{file}:{line} imports {name}" for file in files for line, name in imports(file) if is_meant(name)]


def test_only_a_write_that_is_under_way_commits() -> None:
    """``Client.writing`` yields what has ``commit``; the ledger's own needs the lock, and does not look for it."""
    found = [
        f"{file}:{node.lineno}"
        for file in MODULES
        for node in nodes(file)
        if isinstance(node, ast.Attribute) and node.attr == "commit"
        and isinstance(node.value, ast.Attribute) and node.value.attr == "ledger"
    ]  # fmt: skip
    assert [place.partition(":")[0] for place in found] == ["kernel/store/snapshot.py"], found


def test_only_one_module_imports_a_graph_engine() -> None:
    others = [file for file in MODULES if file != "features/cypher/engines/kuzu/engine.py"]
    assert importers(others, lambda name: name.split(".")[0] == "kuzu") == []


def test_what_belongs_to_one_graph_engine_is_known_only_where_the_engine_is_chosen() -> None:
    """All others use the port, which every engine fulfils."""
    others = [
        file
        for file in MODULES
        if not file.startswith("features/cypher/engines/") and file != "features/cypher/engines/__init__.py"
    ]
    assert importers(others, lambda name: name.startswith("graphmem.features.cypher.engines.kuzu")) == []


def test_what_belongs_to_one_place_of_rows_is_known_only_where_the_place_is_chosen() -> None:
    """All others use the port, which every place fulfils; what is about files asks the ledger for them."""
    own = tuple(f"graphmem.kernel.ledger.files.{name}" for name in ("place", "reading", "watch"))
    others = [file for file in MODULES if not file.startswith("kernel/ledger/files/")]
    found = {place.partition(":")[0] for place in importers(others, lambda name: name.startswith(own))}
    assert found == {"kernel/store/runtime.py", "kernel/store/sync.py", "kernel/ledger/ref/place.py"}


def test_only_cypher_and_what_maintains_the_graph_uses_it() -> None:
    """One question, one answer: whatever graphmem itself answers comes from the catalog."""
    others = [file for file in MODULES if file not in USES_THE_GRAPH and not file.startswith("features/cypher/")]
    assert importers(others, lambda name: name.startswith("graphmem.features.cypher.graph")) == []
    uses = {file: re.findall(r"\b(?:store|runtime|client)\.graph\b", text_of(file)) for file in others}
    assert {file: found for file, found in uses.items() if found} == {}


# Cypher, and the stored queries that name a type; then validate, rebuild and purge, which maintain the graph; and what
# hands it to them.
USES_THE_GRAPH = (
    "features/cypher/operations.py", "features/cypher/project_queries.py", "features/upkeep/validate.py",
    "core/vocabulary/retyping.py", "features/upkeep/rebuild.py", "kernel/store/purging.py", "kernel/store/runtime.py",
)  # fmt: skip

# What touches files without `safe_files`: reads no store, or gives a path to git, a child, a model, a terminal.
FREE = (
    "__main__.py", "kernel/system/safe_files.py", "kernel/system/tee.py", "kernel/system/reaper.py", "doors/cli/",
    "doors/agents/", "doors/mcp/front.py", "kernel/settings/", "kernel/git/", "kernel/embed/", "kernel/system/files.py",
    "features/cypher/engines/kuzu/engine.py", "features/cypher/engines/kuzu/sandbox.py",
    "features/cypher/engines/kuzu/schema.py", "features/cypher/stored_query.py", "features/cypher/worker.py",
    "doors/http/tokens.py", "core/page/render.py", "doors/service/",
    "core/evidence/citations.py", "core/evidence/versions.py", "core/ran/causes.py",
    "kernel/catalog/catalog.py", "kernel/model/", "kernel/model_files.py",
)  # fmt: skip
TOUCHES = frozenset(
    "open read_bytes read_text write_bytes write_text mkdir rmdir rmtree iterdir glob rglob scandir listdir fromfile"
    " copyfile copytree symlink_to os.replace os.rename os.unlink".split()
)
ALLOWED = {
    ("kernel/store/clone.py", "folder.mkdir"),  # the user's cache
    ("features/harvest/prove.py", "place.symlink_to"),  # a temporary copy of a commit
}


def test_files_of_a_store_are_touched_through_one_module() -> None:
    """``safe_files`` follows no link; a path is opened by nothing else."""
    assert [found for file in MODULES if not file.startswith(FREE) for found in touches_files(file)] == []


def touches_files(file: str) -> Iterator[str]:
    """Yield where a module touches a file by itself."""
    for call in nodes(file):
        if not isinstance(call, ast.Call):
            continue
        called = ast.unparse(call.func)
        name = called.rpartition(".")[2]
        is_of_the_package = "shipped(" in called or called == "file.read_bytes"
        is_unlink = name == "unlink" and call.keywords != []  # missing_ok; an edge is unlinked without
        if {name, called} & TOUCHES or is_unlink:
            is_ours = called.startswith("safe_files.") or is_of_the_package or (file, called) in ALLOWED
            if not is_ours:
                yield f"{file}:{call.lineno} calls {called}"


def test_models_and_rules_do_no_input_or_output() -> None:
    forbidden = {"os", "pathlib", "io", "socket", "subprocess", "sqlite3", "random", "time", "uuid"}
    for file in MODULES:
        if file in RULES or file.startswith("kernel/model/"):
            assert {name.split(".")[0] for _, name in imports(file)} & forbidden == set(), file


def test_a_public_class_has_a_name_of_its_own() -> None:
    """Else a reader has to look at the imports to know which one is meant."""
    named: dict[str, list[str]] = {}
    for file in MODULES:
        for node in tree_of(file).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                named.setdefault(node.name, []).append(file)
    assert {name: files for name, files in named.items() if len(files) > 1} == {}


# Folders of tests that are about no room of the package: they attack, break, measure or use it.
OF_NO_ROOM = {"contract", "bench", "bench/timed", "faults", "hostile", "typed"}


def test_a_folder_of_tests_is_called_as_the_room_that_it_tests() -> None:
    rooms = {path.parent.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")}
    folders = {path.parent.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")}
    assert folders - OF_NO_ROOM <= rooms
