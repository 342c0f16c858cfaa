"""The places of rows that the contract runs on."""

from pathlib import Path

import pytest

from tests.contract.places import FileCase, MemoryCase, PlaceCase, PooledCase, PostgresCase

IDS = ["files", "memory", "postgres", "pooler"]


@pytest.fixture(params=[FileCase, MemoryCase, PostgresCase, PooledCase], ids=IDS)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> PlaceCase:
    made: PlaceCase = request.param(tmp_path)
    return made
