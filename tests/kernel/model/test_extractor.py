"""What a project may say of an extractor."""

from typing import Any

import pytest
from pydantic import ValidationError

from graphmem.constants import EXTRACT_S
from graphmem.kernel.model.extractor import MOST_WORDS, Extractor

GIVEN: dict[str, Any] = {"command": ["sh", "find.sh"], "writes": ["target"]}


def test_a_command_and_what_it_writes_are_enough() -> None:
    found = Extractor.model_validate(GIVEN)
    assert (found.command, found.timeout, found.cwd) == (("sh", "find.sh"), EXTRACT_S, ".")


@pytest.mark.parametrize(
    "change",
    [
        {"command": []}, {"command": "sh"}, {"command": [""]}, {"command": ["a\0"]}, {"command": ["\x1b[2J"]},
        {"command": ["a"] * (MOST_WORDS + 1)}, {"command": [1]}, {"writes": []}, {"writes": [None]},
        {"timeout": 0}, {"timeout": "60"}, {"timeout": 1e9}, {"timeout": float("nan")},
        {"cwd": "/etc"}, {"cwd": "a/../../b"}, {"cwd": ".."}, {"cwd": ""}, {"env": {}},
    ],
)  # fmt: skip
def test_what_cannot_be_run_or_read_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Extractor.model_validate(GIVEN | change)
