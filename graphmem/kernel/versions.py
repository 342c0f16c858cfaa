"""Versions of packages as records have them: by name, one text, or several where branches saw several."""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from graphmem.patterns import lazy_re

Difference = Literal["same", "patch", "minor", "major"]


class Used(NamedTuple):
    """A package that a project uses: its name as the lock file spells it, and its versions."""

    name: str
    versions: frozenset[str]


RANKS: tuple[Difference, ...] = ("same", "patch", "minor", "major")
NUMBER = lazy_re(r"\d+")
RELEASE = lazy_re(r"[vV]?(?:\d+!)?(?P<release>\d+(?:\.\d+)*)")
SEPARATORS = lazy_re(r"[-_.]+")


def pairs(versions: Mapping[str, str | Iterable[str]]) -> set[tuple[str, str]]:
    """Return each version with the name of its package."""
    return {
        (name, version)
        for name, found in versions.items()
        for version in ([found] if isinstance(found, str) else found)
    }


def by_name(found: Iterable[tuple[str, str]]) -> dict[str, str | list[str]]:
    """Return versions as a row has them: by name, a text where a package has one and a sorted list where several."""
    listed: dict[str, list[str]] = {}
    for name, version in sorted(set(found)):
        listed.setdefault(name, []).append(version)
    return {name: versions[0] if len(versions) == 1 else versions for name, versions in listed.items()}


def comparable(name: str) -> str:
    """Return the name of a package as it is compared: PyPI takes ``Foo_Bar`` and ``foo-bar`` for one."""
    return name.lower() if "/" in name else SEPARATORS.sub("-", name).lower()


def _release(version: str) -> tuple[int, int, int] | None:
    """Return the first three numbers of a version, 0 for those that are missing; None if it has no number."""
    found = RELEASE.match(version.strip())
    if found is None:
        return None
    numbers = [int(number[:9]) for number in NUMBER.findall(found["release"])[:3]]
    return (*numbers, 0, 0)[:3]  # type: ignore[return-value]  # three of them


def difference(seen: str, now: str) -> Difference:
    """
    Return how far two versions are apart; before 1.0 another minor version counts as another major one.

    Versions that do not begin with numbers are the same, or as far apart as two can be.
    """
    if seen == now:
        return "same"
    left, right = _release(seen), _release(now)
    if left is None or right is None:
        return "major"
    if left[0] != right[0] or (left[0] == 0 and left[1] != right[1]):
        return "major"
    return "minor" if left[1] != right[1] else "patch"


def nearest(seen: Iterable[str], now: Iterable[str]) -> Difference:
    """Return how far the nearest of some versions is from the nearest of others, of which there is at least one."""
    return min((difference(one, other) for one in seen for other in now), key=RANKS.index)
