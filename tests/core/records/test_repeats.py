"""A failure that is reported again is the same failure, and what differs in a telling name or number is another."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from graphmem.core.records.dedup import same_memory
from graphmem.kernel.embed.model import Embedder
from tests.sample import open_memory

DATA = json.loads((Path(__file__).parents[2] / "data" / "repeats.json").read_text(encoding="utf-8"))
AGAIN, OTHERS = DATA["again"], DATA["others"]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[Memory]:
    """A store of the failures that are reported again, with the model."""
    with open_memory(tmp_path_factory.mktemp("repeats"), embedder=embedder) as memory:
        for number, pair in enumerate(AGAIN):
            memory.failures.add(pair["stored"], name=f"r{number}", fix="mend it", dedup=False)
        yield memory


@pytest.mark.long
@pytest.mark.parametrize("pair", AGAIN, ids=[pair["sort"] for pair in AGAIN])
@pytest.mark.slow
def test_a_failure_that_is_reported_again_is_merged(stored: Memory, pair: dict[str, Any]) -> None:
    answer = stored.failures.add(pair["again"], name="again", dry_run=True)
    assert answer.ref != "failure/again"
    assert same_memory(pair["stored"], pair["again"])


@pytest.mark.parametrize("pair", OTHERS, ids=[pair["sort"] for pair in OTHERS])
def test_a_failure_that_differs_in_a_telling_name_or_number_is_another(memory: Memory, pair: dict[str, Any]) -> None:
    memory.failures.add(pair["stored"], name="stored", fix="mend it")
    answer = memory.failures.add(pair["other"], name="other")
    assert answer.ref == "failure/other"
