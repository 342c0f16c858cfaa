"""What tests of importers share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphmem import Memory
from tests.sample import open_memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """A new store."""
    with open_memory(tmp_path) as memory:
        yield memory
