"""A list in pages: every record once, whatever is added, renamed or removed between two of them."""

import base64
from pathlib import Path

import orjson
import pytest

from graphmem import Memory
from graphmem.errors import Usage
from tests.sample import open_memory

SORTS = [None, "cost", "-cost", "updated_at", "-created_at", "trigger", "-flaky", "tags"]


def pages(memory: Memory, size: int, **parameters: object) -> list[list[str]]:
    """Return the references of each page."""
    found, cursor = [], None
    while True:
        answer = memory.list(limit=size, cursor=cursor, **parameters)  # type: ignore[arg-type]
        found.append([one.ref for one in answer.results])
        cursor = answer.cursor
        if cursor is None:
            return found


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    memory = open_memory(tmp_path_factory.mktemp("paging"))
    for number in range(23):
        memory.failures.add(
            f"error {number * 7 % 23}", name=f"n{number}", cost=number % 5 or None, tags=["x", str(number % 3)],
            flaky=bool(number % 2), dedup=False,
        )  # fmt: skip
    memory.patterns.add("before a release", "run the tests", name="n5", tags=["x"])
    return memory


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("size", [1, 4, 24, 100])
@pytest.mark.parametrize("tags", [(), ("x",)])
def test_the_pages_together_are_the_list(filled: Memory, sort: str | None, size: int, tags: tuple[str, ...]) -> None:
    whole = filled.list(sort=sort, tags=tags)
    found = pages(filled, size, sort=sort, tags=tags)
    assert [ref for page in found for ref in page] == [one.ref for one in whole.results]
    assert [len(page) for page in found[:-1]] == [size] * (len(found) - 1)
    assert found[-1] != []
    assert (whole.cursor, whole.total, filled.list(limit=1, sort=sort, tags=tags).total) == (None, 24, 24)


@pytest.mark.parametrize("sort", [None, "-created_at"])
def test_what_changes_between_two_pages_repeats_and_hides_nothing(tmp_path: Path, sort: str | None) -> None:
    with open_memory(tmp_path) as memory:
        for name in "bdfhjl":
            memory.failures.add(f"error {name}", name=name, dedup=False)
        first = memory.list(limit=3, sort=sort)
        shown = [one.ref for one in first.results]
        memory.forget(shown[-1])  # the very record that the cursor names
        for name in "aceg":
            memory.failures.add(f"error {name}", name=name, dedup=False)
        rest = [one.ref for one in memory.list(cursor=first.cursor, sort=sort).results]
        stayed = [f"failure/{name}" for name in "bdfhjl" if f"failure/{name}" not in shown]
        assert set(stayed) <= set(rest)
        assert not set(shown) & set(rest)
        assert [ref for ref in rest if ref in stayed] == sorted(stayed, reverse=sort is not None)


def test_a_list_of_nothing_has_no_cursor(filled: Memory) -> None:
    assert filled.list(limit=0).cursor is None
    assert filled.list("campaign", limit=3).cursor is None
    assert filled.list(limit=2**63 - 1).cursor is None


def test_a_cursor_of_another_list_is_refused(filled: Memory) -> None:
    of_names, of_costs = filled.list(limit=2).cursor, filled.list(limit=2, sort="cost").cursor
    assert of_names is not None and of_costs is not None
    data = orjson.loads(base64.urlsafe_b64decode(of_costs + "=" * (-len(of_costs) % 4)))
    forged = base64.urlsafe_b64encode(orjson.dumps([data[0], data[1], ["text"]])).decode().rstrip("=")
    for cursor, sort in ((of_names, "cost"), (of_costs, None), (forged, "cost"), ("x", None), ("é", None), ("", None)):
        with pytest.raises(Usage, match="is not of this list"):
            filled.list(cursor=cursor, sort=sort)
    with pytest.raises(Usage, match="is not of this list"):
        filled.list("failure", cursor=of_names)
