"""The places of rows that the contract runs on."""

from pathlib import Path

import pytest

from tests.contract.places import FileCase, MemoryCase, PlaceCase, RefCase


@pytest.fixture(params=[FileCase, RefCase, MemoryCase], ids=["files", "ref", "memory"])
def case(request: pytest.FixtureRequest, tmp_path: Path) -> PlaceCase:
    made: PlaceCase = request.param(tmp_path)
    return made
