"""How often this machine returned a record: in ``state/``, so that reading never dirties the working tree."""

from collections.abc import Collection
from json import dumps, loads

from graphmem.kernel.machine.state import State


def count(state: State, refs: Collection[str], at: str) -> None:
    """
    Count an access to each of these records.

    Args:
        refs: by key, so that a rename keeps the count.
        at: now, as rows have it.

    Raises:
        Unavailable: the counters cannot be written.
    """
    with state.changing() as kept:
        for ref in refs:
            number, last = kept.read("usage", ref, _counter) or (0, at)
            kept.put("usage", ref, dumps([number + 1, max(last, at)]).encode())


def retype(state: State, old: str, new: str | None) -> None:
    """Give the counters of the records of a type to its new name; None removes them."""
    with state.changing() as kept:
        found = {ref: value for ref, value in kept.read_all("usage", bytes).items() if ref.startswith(f"{old}/")}
        kept.drop("usage", found)
        for ref, value in found.items() if new is not None else ():
            kept.put("usage", f"{new}{ref.removeprefix(old)}", value)


def accesses(state: State, refs: Collection[str]) -> dict[str, tuple[int, str]]:
    """Return how often records were returned and when last."""
    return state.read_all("usage", _counter, refs)


def _counter(value: bytes) -> tuple[int, str]:
    """Return how often and when a value says that a record was returned, or raise ``ValueError``."""
    number, last = loads(value)
    return int(number), str(last)
