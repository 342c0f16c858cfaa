"""Which rows a purge keeps out, and which purges are new."""

from graphmem.kernel.model.purges import Purges, purge_hash

EARLY, LATE = "2026-11-02T00:00:00.000Z", "2026-11-03T00:00:00.000Z"


def purges(*known: tuple[str, str, str]) -> Purges:
    return Purges({"salt": salt, "hash": purge_hash(salt, key), "at": at} for salt, key, at in known)


def test_purges_since_others_are_those_that_are_new_or_later() -> None:
    before = purges(("s", "failure/a", EARLY), ("s", "failure/b", EARLY), ("t", "failure/a", EARLY))
    after = purges(
        ("s", "failure/a", EARLY), ("s", "failure/b", LATE), ("s", "failure/c", EARLY), ("t", "failure/a", EARLY)
    )
    found = after.since(before)
    assert found.hashes == {purge_hash("s", "failure/b"), purge_hash("s", "failure/c")}
    assert not before.since(after)
    assert after.since(Purges()).hashes == after.hashes


def test_a_row_is_kept_out_under_every_name_that_its_type_has_or_had() -> None:
    known = [{"salt": "s", "hash": purge_hash("s", "service/shop"), "at": LATE}]
    found = Purges(known, lambda ref: (ref, f"service/{ref.partition('/')[2]}"))
    rows = (
        {"kind": "entity", "type": "part", "name": "shop", "created_at": EARLY},
        {"kind": "relation", "from": "part/shop", "type": "causes", "to": "failure/a", "created_at": EARLY},
    )
    assert [found.purged_at(row, ()) for row in rows] == [LATE, LATE]
    assert [Purges(known).purged_at(row, ()) for row in rows] == [None, None]
    assert found.since(Purges()).purged_at(rows[0], ()) == LATE
    assert found.purged_at({"kind": "run", "run": "part/shop", "at": EARLY}, ()) is None
