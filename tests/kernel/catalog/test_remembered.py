"""What a catalog remembers of its answers is what it would answer now, whoever changed it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from graphmem.kernel.catalog.catalog import Catalog


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[Catalog, Catalog]]:
    """Two connections to one catalog."""
    one, other = Catalog(tmp_path / "catalog.sqlite"), Catalog(tmp_path / "catalog.sqlite")
    yield one, other
    one.close()
    other.close()


def test_own_changes_are_seen(two: tuple[Catalog, Catalog]) -> None:
    catalog, _ = two
    assert catalog.meta("a") is None
    catalog.keep("a", 1)
    assert catalog.meta("a") == 1


def test_changes_of_another_connection_are_seen(two: tuple[Catalog, Catalog]) -> None:
    catalog, other = two
    assert catalog.meta("a") is None
    other.keep("a", 1)
    assert catalog.meta("a") == 1


def test_what_was_taken_back_is_not_remembered(two: tuple[Catalog, Catalog]) -> None:
    catalog, _ = two
    catalog.keep("a", 1)
    with pytest.raises(KeyError), catalog.transaction():
        catalog.keep("a", 2)
        assert catalog.meta("a") == 2
        raise KeyError
    assert catalog.meta("a") == 1


def test_what_was_taken_back_while_steady_is_not_remembered(two: tuple[Catalog, Catalog]) -> None:
    catalog, _ = two
    with catalog.steady():
        assert catalog.meta("a") is None
        with pytest.raises(KeyError), catalog.transaction():
            catalog.keep("a", 2)
            assert catalog.meta("a") == 2
            raise KeyError
        assert catalog.meta("a") is None


def test_a_snapshot_stays_as_it_is(two: tuple[Catalog, Catalog]) -> None:
    catalog, other = two
    with catalog.unchanging():
        other.keep("a", 1)
        assert catalog.meta("a") is None
    assert catalog.meta("a") == 1


def test_while_steady_others_are_seen_only_when_asked_for(two: tuple[Catalog, Catalog]) -> None:
    catalog, other = two
    with catalog.steady():
        assert catalog.meta("a") is None
        other.keep("a", 1)
        assert catalog.meta("a") is None
        catalog.look_again()
        assert catalog.meta("a") == 1


def test_a_catalog_that_is_made_again_has_nothing_to_remember(two: tuple[Catalog, Catalog]) -> None:
    catalog, _ = two
    catalog.keep("a", 1)
    assert catalog.meta("a") == 1
    catalog.renew()
    assert catalog.meta("a") is None


def test_a_remembered_read_asks_no_more(two: tuple[Catalog, Catalog]) -> None:
    catalog, _ = two
    asked: list[str] = []
    catalog.connection.set_trace_callback(asked.append)
    with catalog.steady():
        for name in ("a", "b", "a"):
            catalog.meta(name)
    assert sum("FROM meta" in sql for sql in asked) == 1
