"""What is appended on this machine begins after a line end, and half a line is cut off and reported once."""

import errno
import os
from pathlib import Path

import pytest

from graphmem import Memory, Unavailable
from graphmem.kernel.machine.lines import append
from tests.sample import open_memory


def types_of(memory: Memory) -> list[str]:
    return [one.type for one in memory.events.list().events if one.is_local]


def test_what_a_torn_line_lost_is_reported_once_and_what_comes_after_it_is_kept(tmp_path: Path) -> None:
    said: list[str] = []
    file = tmp_path / ".graphmem/state/events.ndjson"
    with open_memory(tmp_path, said=said) as memory:
        memory.events.add("context-a")
        with file.open("ab") as torn:
            torn.write(b'{"type":"context-lost","da')
        memory.events.add("context-b")
        assert [text for text in said if "incomplete" in text] == [
            f"{file}: its last line was incomplete and is lost; the process that wrote it had died"
        ]
        memory.events.add("context-c")
        assert len([text for text in said if "incomplete" in text]) == 1
        assert types_of(memory) == ["context-a", "context-b", "context-c"]
    assert file.read_bytes().endswith(b"\n")


def test_a_line_that_does_not_fit_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / ".graphmem/state/events.ndjson"
    real = os.write

    def full(handle: int, data: memoryview) -> int:
        if len(data) > 20:
            return real(handle, data[:20])
        raise OSError(errno.ENOSPC, "No space left on device")

    with open_memory(tmp_path) as memory:
        memory.events.add("context-a")
        before = file.read_bytes()
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", full)
            with pytest.raises(Unavailable, match=r"events.ndjson cannot be written: .*No space"):
                memory.events.add("context-b")
        assert file.read_bytes() == before
        memory.events.add("context-c")
        assert types_of(memory) == ["context-a", "context-c"]


def test_a_question_after_a_torn_line_can_be_reported_on(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.failures.add("the disk is full", name="full", fix="clean up")
        memory.query("something else")
        (file,) = (tmp_path / ".graphmem/state/asked").iterdir()
        with file.open("ab") as torn:
            torn.write(b'{"id":"00')
        asked = memory.query("the disk is full").asked
        assert asked is not None
        memory.feedback("failure/full", helped=True, asked=asked)


@pytest.mark.parametrize("before", [b"", b"one\n", b"half", b"one\nhalf", b"x" * 200_000, b"one\n" + b"x" * 200_000])
def test_a_line_is_added_after_the_last_whole_one(tmp_path: Path, before: bytes) -> None:
    file = tmp_path / "lines"
    file.write_bytes(before)
    said: list[str] = []
    append(file, b"two\n", said.append)
    whole = before[: before.rfind(b"\n") + 1]
    assert file.read_bytes() == whole + b"two\n"
    assert len(said) == (whole != before)
