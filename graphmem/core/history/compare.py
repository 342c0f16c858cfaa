"""What differs between two states of the files: row by row, by key, then field by field."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping

from pydantic import JsonValue

from graphmem.core.history.contract import Became, FieldChange, RowChange
from graphmem.kernel.model import MODELS
from graphmem.kernel.ndjson import BadLine, Row, decode
from graphmem.names import TYPE_NAME, row_key, row_title

# What follows from another change, or says when it was: shown only where nothing else changed. A key never changes.
ASIDE = frozenset({"edited", "authors", "aliases", "archived_at"})
ORDER = (*MODELS, "entity type", "relation type")
ENDS = ("from", "to", "ref", "task")  # of an edge, of a report
COUNTED = ("created", "changed", "removed")  # what is reported as a number of things, by its sign; the rest by its word
SIGNS = "+~-"


def read_rows(lines: Iterable[bytes], symmetric: Container[str]) -> tuple[dict[str, Row], int]:
    """Return the rows on lines by what identifies them, and how many lines are not rows."""
    rows: dict[str, Row] = {}
    skipped = 0
    for line in lines:
        found = read_row(line, symmetric)
        if found is None:
            skipped += 1
        else:
            rows.setdefault(*found)
    return rows, skipped


def read_row(line: bytes, symmetric: Container[str]) -> tuple[str, Row] | None:
    """Return the row on a line with what identifies it; None for a line that no store would take for a row."""
    try:
        row = decode(line)
        kind = row["kind"]
        type_name = row["type"] if kind in ("entity", "relation") else "any"
        row_title(row)  # is there all that names it?
        is_named = all(TYPE_NAME.fullmatch(name) for name in (kind, type_name))
        return (f"{kind}\n{row_key(row, symmetric)}", row) if is_named else None
    except (BadLine, KeyError, TypeError):
        return None


def compare(before: Mapping[str, Row], after: Mapping[str, Row]) -> list[RowChange]:
    """Return what became of each row that differs, rows of a kind together, by reference."""
    changes = (change(before.get(key), after.get(key)) for key in before.keys() | after.keys())
    return sorted((found for found in changes if found is not None), key=lambda found: (_rank(found), found.ref))


def _rank(found: RowChange) -> int:
    """Return the place of a row's kind among the others."""
    return ORDER.index(found.kind) if found.kind in ORDER else len(ORDER)


def change(before: Row | None, after: Row | None) -> RowChange | None:
    """Return what became of one row; None where nothing did."""
    row = after if after is not None else before
    if row is None or before == after:
        return None
    fields = list(_differing(before, after)) if before is not None and after is not None else []
    return RowChange(ref=row_title(row), kind=row["kind"], action=_action(before, after), fields=fields, row=row)


def _action(before: Row | None, after: Row | None) -> Became:
    """Return the word for what became of a row."""
    if before is None:
        return "created"
    if after is None:
        return "removed"
    if "superseded_by" in after and "superseded_by" not in before:
        return "superseded"
    if ("archived_at" in after) != ("archived_at" in before):
        return "archived" if "archived_at" in after else "restored"
    return "renamed" if after.get("name") != before.get("name") else "changed"


def _differing(before: Row, after: Row) -> Iterator[FieldChange]:
    """Yield the fields that differ, by name."""
    names = [name for name in sorted(before.keys() | after.keys()) if before.get(name) != after.get(name)]
    telling = [name for name in names if name not in ASIDE and name != "key"]
    for name in telling or names:
        yield FieldChange(field=name, old=before.get(name), new=after.get(name))


def texts_of(found: RowChange) -> Iterator[str]:
    """Yield the texts of a change that may refer to records: the ends of an edge, what a report is about, fields."""
    for value in (*(found.row.get(name) for name in ENDS), *(v for f in found.fields for v in (f.old, f.new))):
        yield from (item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str))


def key_ref(found: RowChange) -> str:
    """Return how rows name the record of a change."""
    return row_key(found.row, ())


def by_names(found: RowChange, names: Mapping[str, str]) -> RowChange:
    """Return a change with other names for the records that it refers to; its row stays as it is."""

    def named(value: JsonValue) -> JsonValue:
        if isinstance(value, list):
            return [named(item) for item in value]
        return names.get(value, value) if isinstance(value, str) else value

    fields = [field.model_copy(update={"old": named(field.old), "new": named(field.new)}) for field in found.fields]
    is_reference = found.kind in ("relation", "feedback")
    row = {**found.row, **{name: named(found.row[name]) for name in ENDS if name in found.row}}
    return found.model_copy(update={"fields": fields, **({"ref": row_title(row)} if is_reference else {})})


def summary(changes: Iterable[RowChange]) -> str:
    """Return changes in words: ``+2 failures, ~1 pattern, +1 solves link, 1 archived``; empty if nothing changed."""
    things: Counter[tuple[int, str, int]] = Counter()
    words: Counter[str] = Counter()
    for found in changes:
        if found.action in COUNTED:
            things[_rank(found), _noun(found), COUNTED.index(found.action)] += 1
        else:
            words[found.action] += 1
    parts = [f"{SIGNS[sign]}{_counted(number, name)}" for (_, name, sign), number in sorted(things.items())]
    return ", ".join([*parts, *(f"{number:,} {word}" for word, number in sorted(words.items()))])


def _noun(found: RowChange) -> str:
    """Return what people call a row of its kind."""
    match found.kind:
        case "entity":
            return f"{found.row['type']} entity"
        case "relation":
            return f"{found.row['type']} link"
        case "feedback":
            return "report"
    return found.kind


def _counted(number: int, name: str) -> str:
    """Return how many of something there are: ``1 failure``, ``2 entities``."""
    many = f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
    return f"{number:,} {name if number == 1 else many}"
