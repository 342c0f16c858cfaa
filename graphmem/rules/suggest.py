"""What was meant: the nearest of the known names."""

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Return a hint with the nearest names, or None where none is near."""
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.6)
    return f"did you mean {' or '.join(near)}?" if near else None
