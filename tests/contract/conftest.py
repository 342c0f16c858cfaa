"""The places of rows that the contract runs on."""

from pathlib import Path

import pytest

from tests.contract.places import FileCase, MemoryCase, PlaceCase, PostgresCase, RefCase


@pytest.fixture(params=[FileCase, RefCase, MemoryCase, PostgresCase], ids=["files", "ref", "memory", "postgres"])
def case(request: pytest.FixtureRequest, tmp_path: Path) -> PlaceCase:
    made: PlaceCase = request.param(tmp_path)
    return made
