"""
Stores that are broken on purpose, kept as they are: what is said of each, what is read, what is refused.

``expected.txt`` beside each is what ``validate`` finds. To accept a change: ``python -m tests.test_golden``.
"""

import shutil
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.errors import BadInput
from tests.sample import contents, open_memory

BROKEN = Path(__file__).parent / "golden" / "broken"
CASES = sorted(path.name for path in BROKEN.iterdir())
UNWELL = {"conflict-markers", "truncated-last-line", "not-utf8", "repeated-rows-and-keys", "deep-and-wrong-values"}


def store_of(case: str, folder: Path) -> Path:
    """Copy a broken store to where it can be worked on; return the folder that holds it."""
    shutil.copytree(BROKEN / case, folder / ".graphmem", ignore=shutil.ignore_patterns("expected.txt"))
    return folder


def found(memory: Memory) -> str:
    """Return what is wrong, one finding a line, and which failures are read all the same."""
    lines = [f"{finding.severity} {finding.code}: {finding}" for finding in memory.store.validate().findings]
    names = ", ".join(sorted(hit.record.name for hit in memory.list("failure").results))
    return "\n".join([*lines, f"failures that are read: {names}", ""])


@pytest.mark.parametrize("case", CASES)
def test_what_is_wrong_is_said_with_its_place_and_the_rest_is_read(case: str, tmp_path: Path) -> None:
    with open_memory(store_of(case, tmp_path)) as memory:
        assert found(memory) == (BROKEN / case / "expected.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("case", CASES)
def test_a_write_loses_no_line_of_a_broken_store(case: str, tmp_path: Path) -> None:
    before = contents(store_of(case, tmp_path))["data/failure.ndjson"]
    with open_memory(tmp_path) as memory:
        if case in UNWELL:
            with pytest.raises(BadInput, match=r"data/failure\.ndjson:\d+:\d+: "):
                memory.failures.add("something new", name="new")
            assert contents(tmp_path)["data/failure.ndjson"] == before
        else:
            memory.failures.add("something new", name="new")
            after = contents(tmp_path)["data/failure.ndjson"]
            assert {line.strip() for line in before.removeprefix(b"\xef\xbb\xbf").splitlines()} - {b""} <= {
                line.strip() for line in after.splitlines()
            }


def main() -> None:
    """Write what is found of each store now."""
    import tempfile

    for case in CASES:
        with tempfile.TemporaryDirectory() as folder, open_memory(store_of(case, Path(folder))) as memory:
            (BROKEN / case / "expected.txt").write_text(found(memory), encoding="utf-8")


if __name__ == "__main__":
    main()
