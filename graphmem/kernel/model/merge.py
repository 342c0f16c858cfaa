"""
The merge of two branches: three-way, by key, then by field, with rules that do not depend on the order of merges.

Source: docs/concepts/merging.md. Every field of every model has its rule in ``schema/merge.json``, which is made from
the models; nothing here loads them, for the merge driver is a process of its own for every file.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from graphmem.kernel.model.authors import CREATION, NOBODY, SIGNATURE, Author, author_of, signed
from graphmem.kernel.ndjson import Row, encode, instant
from graphmem.kernel.versions import by_name, pairs

FACTS = frozenset({"feedback", "run", "event", "purge"})  # kinds whose rows are things that happened
RULES = ("key", "set", "map", "value")
IDENTITY = SIGNATURE | {"kind", "key", "created_at", "edited", "alternates"}  # merged by rules of their own

T = TypeVar("T")
DatedValue = tuple[Any, str, Author]  # the value of a field, None where it has none, when it was given, and by whom


@dataclass(frozen=True)
class Rules:
    """
    Which rule each field of a kind has; one that is not named is merged like a text.

    ``of`` reads them from ``schema/merge.json``.
    """

    fixed: frozenset[str] = frozenset()  # beside the name, what identifies a row
    sets: frozenset[str] = frozenset()
    maps: frozenset[str] = frozenset()  # sets of pairs: the versions of packages
    values: frozenset[str] = frozenset()  # as a text, but what loses is not worth keeping
    states: tuple[tuple[str, ...], ...] = ()  # fields that say one thing together

    @classmethod
    def of(cls, kind: Mapping[str, Any]) -> Self:
        """Return the rules of one kind."""
        named = {rule: frozenset(name for name, found in kind["fields"].items() if found == rule) for rule in RULES}
        states = tuple(tuple(state) for state in kind["states"])
        return cls(named["key"] - IDENTITY, named["set"], named["map"], named["value"], states)


def merged(base: Row | None, ours: Row | None, theirs: Row | None, rules: Rules) -> Row | None:
    """Return the row that two sides come to; None is a row that is not there, before and after."""
    if theirs in (base, ours):
        return ours
    if ours == base:
        return theirs
    if ours is None or theirs is None:
        return theirs or ours  # deleted on one side, changed on the other: the change
    if ours["kind"] in FACTS:
        return merged_fact(ours, theirs)
    return _merged_record(base, ours, theirs, rules)


def merged_fact(ours: Row, theirs: Row) -> Row:
    """Return one of two reports of the same thing: the later, then the greater; a run keeps all it has seen."""
    if ours["kind"] == "run":
        first = min(ours, theirs, key=lambda row: (instant(row["at"]), encode(row)))
        seen = sorted({*(ours.get("seen") or ()), *(theirs.get("seen") or ())})
        both = {**ours, **theirs, **dict.fromkeys(SIGNATURE), **first, "seen": seen or None}
        return {name: value for name, value in both.items() if value is not None}
    return max(ours, theirs, key=lambda row: (instant(row["at"]), encode(row)))


def _merged_record(base: Row | None, ours: Row, theirs: Row, rules: Rules) -> Row:
    """Return a record or an edge that both sides changed, or that both added."""
    if (newer := _created_again(base, ours, theirs)) is not None:
        return newer
    sides = (base or {}, ours, theirs)
    created, maker = _creation(base, ours, theirs)
    names = {name for side in sides for name in (*side, *_edits(side))} - rules.fixed - IDENTITY
    found: dict[str, DatedValue] = {}
    lost: set[tuple[str, str]] = set()
    for name in rules.sets & names:
        items = sorted(three_way(*(side.get(name) or () for side in sides)))
        found[name] = items or None, *_set_at(name, sides)
    for name in rules.maps & names:
        found[name] = _merged_map(name, sides)
    alone = names - rules.sets - rules.maps - {name for state in rules.states for name in state}
    for state in (*((name,) for name in sorted(alone)), *rules.states):
        winner, loser = _decided(*([_dated_value(side, name) for name in state] for side in sides))
        found |= zip(state, winner, strict=True)
        if loser and len(state) == 1 and state[0] not in rules.values and loser[0][0] is not None:
            lost.add((state[0], _as_text(loser[0][0])))
    row: Row = {"kind": ours["kind"], "created_at": created, **{name: ours[name] for name in rules.fixed}}
    row |= {name: value for name, (value, *_) in found.items() if value is not None}
    edited = {name: time for name, (_, time, _) in found.items() if time}
    for name, (value, time, by) in found.items():
        if value is not None and (time, by) == (created, maker) and name not in rules.sets | rules.maps:
            del edited[name]  # a value that is there and has no time of its own is as old as its record
    if edited:
        row["edited"] = edited
    # A current text goes from the list only where the base did not have it there: as a removal of what the base had it
    # would count in the next merge, and the result would depend on the order of merges.
    was, *both = (_alternates(side) for side in sides)
    kept = three_way(was, *both) | lost
    if aside := sorted(pair for pair in kept if pair in was or pair[1] != _as_text(row.get(pair[0]))):
        row["alternates"] = [{"field": name, "text": text} for name, text in aside]
    row = signed(row, {CREATION: maker} | {name: found[name][2] for name in edited})
    key = ours.get("key") or ours.get("name")
    return row if key is None or key == row.get("name") else {**row, "key": key}


def _merged_map(name: str, sides: tuple[Row, Row, Row]) -> DatedValue:
    """Return what versions by name come to, both where two sides have two of one name, and when they last changed."""
    found = by_name(three_way(*(pairs(side.get(name) or {}) for side in sides)))
    return found or None, *_set_at(name, sides)


def _set_at(name: str, sides: tuple[Row, Row, Row]) -> tuple[str, Author]:
    """Return when a set was last changed, and its author then; empty where it never was."""
    was, our, their = (
        (instant(time), author_of(side, name)) if (time := _edits(side).get(name)) else ("", NOBODY) for side in sides
    )
    return our if their == was else their if our == was else max(our, their)


def _decided(
    was: list[DatedValue], ours: list[DatedValue], theirs: list[DatedValue]
) -> tuple[list[DatedValue], list[DatedValue] | None]:
    """Return the side that a group of fields is taken from, and the losing value if both sides changed it."""
    if theirs == was:
        return ours, None
    if ours == was:
        return theirs, None
    loser, winner = sorted((ours, theirs), key=_rank)
    return winner, loser


def _created_again(base: Row | None, ours: Row, theirs: Row) -> Row | None:
    """
    Return the side that destroyed a record and created it again since the base, where only one did; None otherwise.

    What the other side changed is of the record that was destroyed: a text that was purged must not come back with it.
    """
    if base is None:
        return None
    was, *both = (instant(row["created_at"]) for row in (base, ours, theirs))
    later = [row for row, created in zip((ours, theirs), both, strict=True) if created > was]
    return later[0] if len(later) == 1 and was in both else None


def _creation(base: Row | None, ours: Row, theirs: Row) -> tuple[str, Author]:
    """Return when the merged record was created, and its author: as the side has it that changed it, or the earlier."""
    our, their = ((instant(row[CREATION]), author_of(row, CREATION)) for row in (ours, theirs))
    was = (instant(base[CREATION]), author_of(base, CREATION)) if base else None
    if our == was:
        return their
    return our if their == was else min(our, their)


def _dated_value(row: Row, name: str) -> DatedValue:
    """
    Return the value of a field and when it was given.

    A field that a record never had counts as one that no branch changed, so that it does not outweigh one that another
    branch gave; one that was taken away has its time in ``edited``.
    """
    value = row.get(name)
    time = _edits(row).get(name) or (row["created_at"] if value is not None else None)
    return (value, instant(time), author_of(row, name)) if time else (value, "", NOBODY)


def _rank(side: list[DatedValue]) -> tuple[str, bytes]:
    """Return what orders the two sides of a field: the later time, then the greater value."""
    return max(time for _, time, _ in side), encode({"": [list(pair) for pair in side]})


def _edits(row: Row) -> Mapping[str, str]:
    """Return the times of the fields that were changed since a row's creation."""
    return row.get("edited") or {}


def _alternates(row: Row) -> frozenset[tuple[str, str]]:
    """Return the texts that a record keeps aside: field and text."""
    return frozenset((found["field"], found["text"]) for found in row.get("alternates") or ())


def three_way(base: Collection[T], ours: Collection[T], theirs: Collection[T]) -> set[T]:
    """Return what either side added, less what either removed."""
    was, our, their = set(base), set(ours), set(theirs)
    return (was & our & their) | (our - was) | (their - was)


def _as_text(value: object) -> str:
    """Return a value as the text that ``_alternates`` keep."""
    return value if isinstance(value, str) else encode({"": value}).decode()[4:-1]
