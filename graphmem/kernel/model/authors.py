"""
Who wrote a row, and through what: ``by``, ``via`` and ``authors`` of a row.

``by`` and ``via`` are of the last change of what the row says. ``authors`` holds who wrote the rest: under
``created_at`` what was never changed, under the name of a field its last change. Nothing here loads a model, for the
merge driver does not. Source: docs/concepts/authors.md.
"""

from collections.abc import Mapping

from graphmem.kernel.ndjson import Row, instant

Author = tuple[str, str]  # a name and a way, such as ("ana", "cli"); both empty where a row does not say

NOBODY: Author = ("", "")
CREATION = "created_at"  # stands for every field that was not changed since
SIGNATURE = frozenset({"by", "via", "authors"})  # the fields of a row that hold its authors


def author_of(row: Row, field: str) -> Author:
    """Return who gave a field of a row the value that it has, or took it away; ``created_at``: who made the row."""
    last = row.get("by") or "", row.get("via") or ""
    others = row.get("authors") or {}
    found = others.get(field if field in (row.get("edited") or {}) else CREATION, last)
    return found[0], found[1]


def signed(row: Row, authors: Mapping[str, Author]) -> Row:
    """
    Return a row with its authors.

    Args:
        row: its times are in canonical form.
        authors: who wrote each field that ``edited`` names, and ``created_at``.
    """
    times = {CREATION: _made(row), **(row.get("edited") or {})}
    _, last = max((times[field], authors[field]) for field in times)
    others = {field: [*authors[field]] for field in sorted(times) if authors[field] != last}
    said = {"by": last[0], "via": last[1], "authors": others}
    return {**_unsigned(row), **{name: value for name, value in said.items() if value}}


def changed_by(author: Author, before: Row | None, after: Row, *, is_proven: bool = False) -> Row:
    """
    Return a row as an author leaves it; a new one that names its author already, such as one of a dump, keeps it.

    Args:
        before: the row as it was; None for one that is new.
        is_proven: the author is known by a token, and cannot give a row another name.
    """
    if before is None or instant(_made(before)) != instant(_made(after)):
        return after if after.get("by") and not is_proven else {**_unsigned(after), "by": author[0], "via": author[1]}
    was, edits = before.get("edited") or {}, after.get("edited") or {}
    changed = {field for field, time in edits.items() if field not in was or instant(was[field]) != instant(time)}
    authors = {field: author if field in changed else author_of(before, field) for field in (CREATION, *edits)}
    return signed(after, authors)


def _unsigned(row: Row) -> Row:
    """Return a row without its authors."""
    return {name: value for name, value in row.items() if name not in SIGNATURE}


def _made(row: Row) -> str:
    """Return when a row was made, or what it reports happened."""
    return str(row.get(CREATION) or row["at"])
