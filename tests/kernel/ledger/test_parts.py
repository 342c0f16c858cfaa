"""The names of the parts of a kind, and which rows belong in which."""

from itertools import pairwise

import pytest

from graphmem.kernel.ledger.parts import DIGITS, files_by_kind, home_of, is_part, numbers_of, part_of, parts_of
from graphmem.names import row_id

HOME = "data/failure.ndjson"


@pytest.mark.parametrize("files", DIGITS)
def test_the_parts_in_name_order_have_all_numbers_once_and_in_order(files: int) -> None:
    parts = parts_of(HOME, files)
    assert len(parts) == files and parts == sorted(parts)
    ends = [numbers_of(part) for part in parts]
    assert ends[0].start == 0 and ends[-1].stop == 2**63
    assert all(one.stop == after.start for one, after in pairwise(ends))
    for number in (0, row_id("failure/a"), row_id("failure/b"), 2**63 - 1):
        assert number in numbers_of(part_of(HOME, files, number))


def test_the_digits_are_those_of_the_hash() -> None:
    """``printf failure/a | sha256sum`` begins with 0d5b."""
    assert part_of(HOME, 16, row_id("failure/a")) == "data/failure/0.ndjson"
    assert part_of(HOME, 256, row_id("failure/a")) == "data/failure/0d.ndjson"


def test_only_files_named_by_digits_in_the_folder_of_their_kind_are_parts() -> None:
    assert is_part("data/failure/0.ndjson") and is_part("data/entities/class/ff.ndjson")
    for file in ("data/entities/ab.ndjson", "data/failure/old.ndjson", "data/failure/0/0.ndjson", "data/ab.ndjson"):
        assert not is_part(file)
    assert home_of("data/entities/class/ff.ndjson") == "data/entities/class.ndjson"
    assert files_by_kind(["data/failure/0.ndjson", "data/failure/00.ndjson", "data/failure.ndjson"]) == {HOME: 256}
    assert files_by_kind(["data/failure.ndjson", "data/failure/old.ndjson"]) == {}
