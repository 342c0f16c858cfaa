"""What was meant: the nearest of the known names."""

import difflib
from collections.abc import Collection, Iterable

from graphmem.errors import BadInput
from graphmem.names import quoted

PART = 4  # characters of a name that are enough to find it


def refuse_unknown(what: str, given: Iterable[object], known: Collection[str], *, hint: str | None = None) -> None:
    """
    Raise ``BadInput`` for a field that there is not: what a caller misspelt would be lost without a word.

    Args:
        what: has the fields, for the message, such as ``the run state``.
        hint: what to do; without one, the name that was meant, or those that there are.
    """
    for name in given:
        if name not in known:
            meant = hint or did_you_mean(str(name), known) or f"its fields: {', '.join(sorted(known))}"
            raise BadInput(f"{what} has no field {name!r}", hint=meant)


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Return a hint with the names whose last part this is, or else the nearest, or those that contain it, or None."""
    names = list(known)
    near = [found for found in names if found.endswith((f".{name}", f"/{name}"))][:3]
    near = near or difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    if not near and len(name) >= PART:
        near = [found for found in names if name in found][:3]
    return f"did you mean {' or '.join(map(quoted, near))}?" if near else None
