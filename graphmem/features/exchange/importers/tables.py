"""Tables: CSV with a header, or a JSON object a line, with a map that says which column is which field."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args, get_origin

from graphmem.core.foreign.reading import LOOK_BYTES, ForeignInput, Source, time_of
from graphmem.errors import BadInput, Usage
from graphmem.kernel.model import MODELS, Fact, Record
from graphmem.kernel.model.vocabulary import RESERVED
from graphmem.kernel.ndjson import Row
from graphmem.kernel.suggest import did_you_mean
from graphmem.names import mark

CSV, NDJSON = "csv", "ndjson"
HOLDS = "rows, with a map such as --map kind=failure --map trigger=Title"
DELIMITERS = ",;\t|"
CELL_BYTES = 2**18  # of a cell; a row of graphmem has no more
TAKEN = {"kind", "id"}  # names of a map that are no fields


def read_table(source: Source, name: str, columns: Mapping[str, str] | None) -> ForeignInput:
    """
    Return a record for each row of a table.

    Raises:
        Usage: the map names no kind, or a field that the kind does not have.
        BadInput: the file is no such table, or lacks a column of the map.
    """
    if not columns or "kind" not in columns:
        raise Usage(f"a {name} file needs a map that says what its rows are", hint=HOLDS)
    reading = ForeignInput(name)
    kind, model = _model_for(columns["kind"])
    fields = {field: column for field, column in columns.items() if field not in TAKEN}
    for field in fields:
        if field not in model.model_fields:
            hint = did_you_mean(field, model.model_fields) or f"its fields: {', '.join(model.model_fields)}"
            raise Usage(f"a {columns['kind']} has no field {field!r}", hint=hint)
    base: Row = {"kind": kind} | ({"type": reading.entity_type(columns["kind"])} if kind == "entity" else {})
    rows = source.objects(reading) if name == NDJSON else _csv_rows(source, {*fields.values(), *_by_id(columns)})
    for place, cells in rows:
        reading.read["row"] += 1
        values = {field: cells.pop(column) for field, column in fields.items() if column in cells}
        number = str(cells.pop(columns["id"], "")) if "id" in columns else mark(json.dumps(values, sort_keys=True))
        row = base | {field: taken for field, cell in values.items() if (taken := _value_of(model, field, cell)) != ""}
        row["sources"] = [*row.get("sources", []), reading.origin(number)]
        left = {column: cell for column, cell in cells.items() if cell not in (None, "")}
        reading.add(row | ({f"x_{name}": left} if left else {}), place)
    return reading


def _by_id(columns: Mapping[str, str]) -> list[str]:
    """Return the column that identifies a row, if the map names one."""
    return [columns["id"]] if "id" in columns else []


def _model_for(name: str) -> tuple[str, type[Record]]:
    """Return the kind for the word of a map, and its model; any other word is an entity type."""
    model = MODELS.get(name)
    if model is None:
        return "entity", MODELS["entity"]  # type: ignore[return-value]
    if not issubclass(model, Record) or issubclass(model, Fact) or name == "entity":
        raise Usage(f"a table cannot be of kind {name!r}", hint="a kind such as failure, or the name of an entity type")
    return name, model


def _csv_rows(source: Source, needed: set[str]) -> Iterator[tuple[str, Row]]:
    """Yield the rows of a CSV file by the columns of its header, each with its place."""
    try:
        text = source.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{source.name!r} is not UTF-8 at byte {error.start:,}", hint="convert it to UTF-8") from None
    head = text.partition("\n")[0]
    csv.field_size_limit(CELL_BYTES)
    table = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(DELIMITERS, key=head.count), restkey="")
    try:
        missing = needed.difference(table.fieldnames or ())
        if missing:
            known = ", ".join(table.fieldnames or ()) or "none"
            raise BadInput(f"{source.name!r} has no column {min(missing)!r}", hint=f"its columns: {known}")
        for cells in table:
            yield f"{source.name}:{table.line_num}", dict(cells)
    except csv.Error as error:
        raise BadInput(f"{source.name}:{table.line_num}: {error}", hint="a CSV file with a header") from None


def _value_of(model: type[Record], field: str, cell: Any) -> Any:
    """Return a cell as the field takes it: a list of what is between commas, a number, a time."""
    if not isinstance(cell, str):
        return "" if cell is None else cell
    annotation = model.model_fields[field].annotation
    if get_origin(annotation) is tuple:
        return [part.strip() for part in cell.replace(";", ",").split(",") if part.strip()] or ""
    if field.endswith("_at"):
        return time_of(cell.strip()) or cell
    if not _takes_text(annotation) and cell.strip():
        try:
            return json.loads(cell)
        except ValueError:
            return cell
    return cell.strip()


def _takes_text(annotation: Any) -> bool:
    """Return whether a field can hold any text."""
    return annotation is str or any(map(_takes_text, get_args(annotation)))


def is_dump(source: Source) -> bool:
    """Return whether a file holds rows that graphmem wrote: as its own lines, or as a table of their fields."""
    if (row := source.first_object) is not None:
        return row.get("kind") in MODELS and not {"created_at", "at"}.isdisjoint(row)
    head = source.read(LOOK_BYTES).partition(b"\n")[0].decode("utf-8", "replace").strip()
    return head.startswith("kind,") and ",created_at" in head


def read_dump(source: Source) -> ForeignInput:
    """Return rows that graphmem wrote, as they were, with the types that they need."""
    is_table = source.first_object is None
    reading = ForeignInput(CSV if is_table else NDJSON)
    for place, row in _dumped_rows(source, reading) if is_table else source.objects(reading):
        reading.read["row"] += 1
        kind, name = row.get("kind"), str(row.get("type"))
        if kind == "entity" and name not in RESERVED:
            reading.entity_type(name)
        elif kind == "relation" and name not in RESERVED:
            reading.relation_type(name, *(str(row.get(end)).partition("/")[0] for end in ("from", "to")))
        reading.add(row, place)
    return reading


def _dumped_rows(source: Source, reading: ForeignInput) -> Iterator[tuple[str, Row]]:
    """Yield the rows of a table that graphmem wrote: each cell is JSON."""
    for place, cells in _csv_rows(source, {"kind"}):
        try:
            yield place, {name: json.loads(cell) for name, cell in cells.items() if cell}
        except (ValueError, RecursionError):
            reading.read["row"] += 1
            reading.skip(place, "a cell of it is not JSON, as graphmem writes them")


def written(rows: Iterable[Row]) -> str:
    """Return rows as a table: a column for each field, a cell for each value, as JSON."""
    found = list(rows)
    others = sorted({name for row in found for name in row} - {"kind"})
    text = io.StringIO()
    table = csv.DictWriter(text, ["kind", *others], lineterminator="\n")
    table.writeheader()
    for row in found:
        table.writerow({name: json.dumps(value, ensure_ascii=False, sort_keys=True) for name, value in row.items()})
    return text.getvalue()
