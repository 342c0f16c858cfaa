"""The places of rows that the contract runs on."""

from pathlib import Path

import pytest

from tests.contract.places import (
    ClusterCase,
    FileCase,
    MemoryCase,
    PlaceCase,
    PooledCase,
    PostgresCase,
    RedisCase,
    RefCase,
)

CASES = {
    "files": FileCase,
    "ref": RefCase,
    "memory": MemoryCase,
    "postgres": PostgresCase,
    "pooler": PooledCase,
    "redis": RedisCase,
    "cluster": pytest.param(ClusterCase, marks=[pytest.mark.process, pytest.mark.slow]),
}


@pytest.fixture(params=[*CASES.values()], ids=[*CASES])
def case(request: pytest.FixtureRequest, tmp_path: Path) -> PlaceCase:
    made: PlaceCase = request.param(tmp_path)
    return made
