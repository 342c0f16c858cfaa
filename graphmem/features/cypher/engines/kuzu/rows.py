"""The properties that rows of the ledger have as nodes and edges of the graph."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import orjson

from graphmem.features.cypher.engines.kuzu.schema import GRAPH_NAMES, columns, model_of
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.model.field import as_set, format_time, parse_time
from graphmem.kernel.model.insight import Insight
from graphmem.kernel.model.lesson_state import LessonState
from graphmem.kernel.model.record import Frozen, Row, row_fields
from graphmem.kernel.model.reports import open_disputes
from graphmem.kernel.versions import pairs
from graphmem.names import composed
from graphmem.patterns import lazy_re

FIELDS = {name: field for field, name in GRAPH_NAMES.items()}
CANONICAL = lazy_re(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")  # a time as the engine reads it


@cache
def _defaults(model: type[Frozen]) -> Mapping[str, object]:
    """Return the values that rows of a model leave out and that a query wants to see: numbers, words, truth."""
    found = ((alias, default) for _, alias, default in row_fields(model) if default is not ...)
    return {alias: default for alias, default in found if default or isinstance(default, int)}


def _with_derived_fields(row: Row, state: LessonState | None = None) -> Row:
    """Return the row of a record with what its node has beside: the name of a fact, the state of a lesson."""
    match row["kind"]:
        case "run":
            return {**row, "name": row["run"], "created_at": row["at"]}
        case "event":
            return {**row, "name": row["id"], "created_at": row["at"]}
        case "failure" if not str(row.get("fix", "-")).strip():
            return {name: value for name, value in row.items() if name != "fix"}
        case "lesson" if state:
            return {**row, **state.fields}
        case "insight":
            made = Insight.model_validate(row)
            return {**row, "occurrences": made.occurrences, "confidence": made.confidence}
    return row


def node_columns(
    catalog: Catalog, record_type: str, numbers: Sequence[int], shown: Sequence[str], lines: Sequence[bytes]
) -> dict[str, list[Any]]:
    """
    Return the properties of nodes, one column each, as the data definition has them; times are texts.

    Args:
        numbers: of the records.
        shown: their names in answers.
        lines: their rows.
    """
    states = catalog.lesson_states(numbers) if record_type == "lesson" else {}
    rows = [
        _with_derived_fields(catalog.told(orjson.loads(line)), states.get(number))
        for number, line in zip(numbers, lines, strict=True)
    ]
    made: dict[str, list[Any]] = {
        "key": [composed(str(row.get("key") or row["name"])) for row in rows],
        "name": list(shown),
        "ref": [f"{record_type}/{name}" for name in shown],
        "updated_at": [_latest(row) for row in rows],
    }
    wanted = columns(model_of(record_type))
    usual = _defaults(model_of(record_type))
    if record_type == "task":
        slugs = [str(row["name"]).rpartition("/")[2] for row in rows]
        made |= {"seq": [slug[:3] for slug in slugs], "slug": [slug[4:] for slug in slugs]}
        made["unmet"] = _unmet(catalog, rows)
    if "helped" in wanted:
        made |= _usefulness(rows, catalog.reports(numbers), numbers)
        made["disputed"] = _disputed(rows, catalog.disputes(numbers), numbers)
    for name, kind in wanted.items():
        if name not in made:
            default: Any = [] if kind == "STRING[]" else usual.get(name)
            field = FIELDS.get(name, name)
            values = [row.get(field, default) for row in rows]
            made[name] = list(map(AS.get(kind, _unchanged), values))
    return {name: made[name] for name in wanted}


def _usefulness(
    rows: Sequence[Row], reports: Mapping[int, tuple[int, int, str | None]], numbers: Sequence[int]
) -> dict[str, list[Any]]:
    """Return how often memories helped and failed, by their rows and their reports, and when one last helped."""
    counts = [reports.get(number, (0, 0, None)) for number in numbers]
    made: dict[str, list[Any]] = {"last_helped": [_as_time(last) for *_, last in counts]}
    for place, name in enumerate(("helped", "failed")):
        made[name] = [(row.get(name) or 0) + count[place] for row, count in zip(rows, counts, strict=True)]  # type: ignore[operator]
    return made


def _disputed(rows: Sequence[Row], disputes: Mapping[int, Sequence[str]], numbers: Sequence[int]) -> list[int]:
    """Return how many reports since its last edit say of each memory that it is wrong."""
    edits = [row.get("edited") if number in disputes else None for row, number in zip(rows, numbers, strict=True)]
    times = [
        {name: str(_as_time(time)) for name, time in edited.items()} if isinstance(edited, dict) else {}
        for edited in edits
    ]
    return [open_disputes(edited, disputes.get(number, ())) for edited, number in zip(times, numbers, strict=True)]


def _unmet(catalog: Catalog, rows: Sequence[Row]) -> list[list[str]]:
    """Return the parents of each task that are archived or missing and not complete: the graph has no edge to them."""
    depends = [as_set(row.get("depends") or ()) for row in rows]  # type: ignore[arg-type]  # a list of texts
    settled = catalog.settled_tasks({ref for refs in depends for ref in refs})
    return [[ref for ref in refs if ref not in settled] for refs in depends]


def _unchanged(value: object) -> object:
    """Return a value as it is."""
    return value


def _as_text(value: object) -> str | None:
    """Return what a text column holds of a value: JSON for anything but a text."""
    if value is None or isinstance(value, str):
        return value
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def _as_list(value: Any) -> Any:
    """Return what a column of texts holds of a list, as it is, or of versions: each behind the name of its package."""
    return [f"{name} {version}" for name, version in sorted(pairs(value))] if isinstance(value, dict) else value


def _as_time(value: Any) -> str | None:
    """Return the canonical text of a time, which the engine reads; a row may have another form of it."""
    return value if value is None or CANONICAL.fullmatch(value) else format_time(parse_time(value))


AS: Mapping[str, Callable[[Any], object]] = {
    "STRING": _as_text,
    "STRING[]": _as_list,
    "TIMESTAMP": _as_time,
}  # by type of a column


def edge_columns(rows: Sequence[Row], weights: Sequence[float], kinds: Mapping[str, str]) -> dict[str, list[Any]]:
    """Return the properties of edges, one column each, from their rows and effective weights; times are texts."""
    made: dict[str, list[Any]] = {"weight": list(weights), "updated_at": [_latest(row) for row in rows]}
    for name, kind in kinds.items():
        if name not in made:
            made[name] = list(map(AS.get(kind, _unchanged), (row.get(name) for row in rows)))
    return {name: made[name] for name in kinds}


def _latest(row: Row) -> str:
    """Return when a row was last changed."""
    edited = row.get("edited")
    times = [row["created_at"], *edited.values()] if isinstance(edited, dict) else [row["created_at"]]
    return max(str(_as_time(time)) for time in times)
