"""A file of this machine that cannot be read is taken as empty, and that is reported."""

from collections.abc import Callable
from pathlib import Path

import pytest

from graphmem.kernel.machine.state_file import read_state
from graphmem.kernel.model.blackboard import Blackboard

DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "damaged": (lambda path: path.write_bytes(b'{"task":'), "it is damaged"),
    "not-utf8": (lambda path: path.write_bytes(b"\xff"), "it is damaged"),
    "another-form": (lambda path: path.write_bytes(b"[1]"), "it is damaged"),
    "too-large": (lambda path: path.write_bytes(b" " * 100), "it is too large"),
    "link": (lambda path: path.symlink_to("/nowhere"), "it is a link, or lies behind one"),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_a_state_file_that_cannot_be_read_is_taken_as_empty_and_reported(case: str, tmp_path: Path) -> None:
    path, said = tmp_path / "session.json", list[str]()
    damage, cause = DAMAGE[case]
    damage(path)
    assert read_state(path, Blackboard.model_validate_json, said.append, most=50) is None
    assert said == [f"{path} is taken as empty: {cause}"]


def test_a_state_file_that_is_missing_is_empty_without_a_word(tmp_path: Path) -> None:
    said = list[str]()
    assert read_state(tmp_path / "session.json", Blackboard.model_validate_json, said.append) is None
    assert said == []
