"""Which rows a purge keeps out, and which purges are new."""

from graphmem.rules.purged import Purges, purge_hash

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
