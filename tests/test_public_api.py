"""What the package offers is what it says."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

import graphmem
from graphmem import Memory, errors
from graphmem.kernel.answer import Holds
from tests.generate_api import returned
from tests.operations import ROWS


def test_all_is_what_resolves() -> None:
    assert sorted(graphmem.__all__) == graphmem.__all__
    for name in graphmem.__all__:
        assert getattr(graphmem, name) is not None
    assert dir(graphmem) == graphmem.__all__


def test_every_exception_is_public_and_has_a_status_and_a_code() -> None:
    found = {
        name: (made.exit_status, made.code)
        for name, made in vars(errors).items()
        if isinstance(made, type) and issubclass(made, errors.GraphmemError)
    }
    assert set(found) <= set(graphmem.__all__)
    assert found == {
        "GraphmemError": (1, "error"),
        "NotFound": (1, "not_found"),
        "Usage": (2, "usage"),
        "Refused": (3, "refused"),
        "BadInput": (3, "bad_input"),
        "ReadOnly": (3, "read_only"),
        "Conflict": (3, "conflict"),
        "FileReplaced": (3, "conflict"),
        "Unavailable": (4, "unavailable"),
        "AlreadyDone": (0, "already_done"),
        "Locked": (4, "locked"),
        "Damaged": (5, "damaged"),
        "DamagedCatalog": (5, "damaged"),
    }


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """An open memory of a new project."""
    Memory.init(tmp_path)
    with Memory(tmp_path) as opened:
        yield opened


def answers(answer: Any) -> Iterator[type]:
    """Yield the models in the type of an answer."""
    if isinstance(answer, Holds):
        yield from answers(answer.kind)
    if isinstance(answer, type) and issubclass(answer, BaseModel):
        yield answer
    for part in get_args(answer):
        yield from answers(part)


def test_every_type_in_a_signature_is_public() -> None:
    named = {found for row in ROWS for found in answers(returned(row))}
    assert {found.__name__: found for found in named} == {
        found.__name__: getattr(graphmem, found.__name__) for found in named
    }


def test_a_memory_shows_what_most_programs_need_and_says_its_folder(memory: Memory, tmp_path: Path) -> None:
    assert len([name for name in dir(memory) if not name.startswith("_")]) <= 57
    assert repr(memory) == f"Memory({str(tmp_path)!r})"
