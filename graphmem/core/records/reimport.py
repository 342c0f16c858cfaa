"""
What a newer file of another tool changes in a record that came from an older one.

What an import wrote, the next one replaces; what a person changed since, it leaves alone (docs/decisions/
0036-imports.md). What imports wrote is known by fingerprints, so that no text of a record stands in a second place.
"""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence

from graphmem.kernel.model.merge import IDENTITY, three_way
from graphmem.kernel.ndjson import Row, encode

Fingerprint = str | list[str]  # of a value; of a set one of each item
Known = dict[str, list[Fingerprint]]  # by field, what imports gave it: the last first
APART = IDENTITY | {"name"}  # fields that an import gives once, or that are merged by rules of their own
DIGITS = 8  # hex digits of a fingerprint: it is compared with another one of the same field alone


def _fingerprint(value: object, *, is_set: bool = False) -> Fingerprint:
    """Return what tells a value from others; of a set what tells its items."""
    if is_set:
        return sorted(_digest(item) for item in _items_of(value))
    return _digest(value)


def _digest(value: object) -> str:
    """Return the beginning of the SHA-256 of a value in canonical form."""
    return hashlib.sha256(encode({"": value})).hexdigest()[:DIGITS]


def _items_of(value: object) -> Sequence[object]:
    """Return the items of a set, which has none where the row does not have it."""
    return value if isinstance(value, list) else []


def _units(states: Collection[Sequence[str]], *rows: Mapping[str, object]) -> Iterator[Sequence[str]]:
    """Yield the fields of rows, together those that say one thing together."""
    names = {name for row in rows for name in row} - APART
    yield from (state for state in states if names.intersection(state))
    yield from ((name,) for name in sorted(names.difference(*states)))


def reimported(
    ours: Row, theirs: Row, known: Known, *, sets: Collection[str], states: Collection[Sequence[str]]
) -> tuple[Row, list[tuple[str, str]]]:
    """
    Return what an import changes in a record, None for what it takes away, and the texts that it does not get in.

    Args:
        ours: the row as the store has it.
        theirs: the row as the file says it.
        known: what imports gave its fields before.
        sets: the fields that are sets.
        states: the fields that say one thing together.
    """
    changes: Row = {}
    aside: list[tuple[str, str]] = []
    for unit in _units(states, ours, theirs):
        is_set = unit[0] in sets
        mine, new = _value_of(ours, unit), _value_of(theirs, unit)
        given = known.get(unit[0], [])
        is_ours = _fingerprint(mine, is_set=is_set) in given or (not given and mine is None)
        if is_ours or mine == new:
            kept = new
        elif is_set:
            kept = _united(given[0] if given else [], mine, new)
        else:
            kept = mine
            if isinstance(new, str) and _fingerprint(new) not in given:
                aside.append((unit[0], new))
        if kept != mine:
            values = kept if len(unit) > 1 and isinstance(kept, list) else [kept] * len(unit)
            changes |= dict(zip(unit, values, strict=True))
    return changes, aside


def _value_of(row: Row, unit: Sequence[str]) -> object:
    """Return the value of a field, or the values of those that say one thing together, if it has one."""
    if len(unit) == 1:
        return row.get(unit[0])
    values = [row.get(name) for name in unit]
    return values if any(value is not None for value in values) else None


def _united(base: Fingerprint, ours: object, theirs: object) -> list[object] | None:
    """Return what either side added to a set, less what either took out; None for nothing."""
    items = {_digest(item): item for item in (*_items_of(ours), *_items_of(theirs))}
    mine, new = ([_digest(item) for item in _items_of(side)] for side in (ours, theirs))
    kept = three_way(base, mine, new)
    return sorted((items[one] for one in kept), key=str) or None


def known_after(
    ours: Row | None, theirs: Row, known: Known, *, sets: Collection[str], states: Collection[Sequence[str]]
) -> Known:
    """
    Return what imports gave the fields of a record, with what is about to be written.

    What the store has is kept beside it where an import gave that: the write may be cut off.
    """
    found: Known = {}
    for unit in _units(states, ours or {}, theirs):
        is_set = unit[0] in sets
        found[unit[0]] = [_fingerprint(_value_of(theirs, unit), is_set=is_set)]
        mine = _fingerprint(_value_of(ours or {}, unit), is_set=is_set)
        if mine in known.get(unit[0], []) and mine not in found[unit[0]]:
            found[unit[0]].append(mine)
    return found


def unedited(ours: Row, theirs: Row, *, sets: Collection[str], states: Collection[Sequence[str]]) -> Known:
    """
    Return what an import gave a record, as far as it can be seen without the note of it: what was not edited.

    That is nothing of a record that was made here, and that an import only added to: its time of creation is another.
    """
    if ours["created_at"] != theirs["created_at"]:
        return {}
    edited = ours.get("edited") or {}
    return {
        unit[0]: [_fingerprint(_value_of(ours, unit), is_set=unit[0] in sets)]
        for unit in _units(states, ours)
        if not any(name in edited for name in unit)
    }
