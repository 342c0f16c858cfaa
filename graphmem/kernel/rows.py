"""Rows as other programs read them: ndjson, csv, a table of Markdown."""

import csv
import io
from collections.abc import Sequence

import orjson

from graphmem.kernel.markdown import code
from graphmem.names import inert, visible

ROW_FORMATS = ("ndjson", "csv", "markdown")
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a formula begins with, in one spreadsheet or another


def rows_as(form: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return rows in one of ``ROW_FORMATS``; as in every text, control and hidden characters are escaped."""
    if form == "ndjson":
        return inert("\n".join(orjson.dumps(dict(zip(columns, row, strict=True))).decode() for row in rows))
    if form == "csv":
        out = io.StringIO()
        lines: list[Sequence[object]] = [columns, *rows]
        csv.writer(out, lineterminator="\n").writerows([_inactive(value) for value in row] for row in lines)
        return visible(out.getvalue().removesuffix("\n"))
    cells = [[code(cell(value)).replace("|", "\\|") if cell(value) else "" for value in row] for row in rows]
    heads = [visible(name).replace("|", "\\|") for name in columns]
    return "\n".join(f"| {' | '.join(line)} |" for line in (heads, ["---"] * len(heads), *cells))


def _inactive(value: object) -> str:
    """Return a value as a cell of CSV: a text that a spreadsheet would take for a formula begins with an apostrophe."""
    shown = cell(value)
    return f"'{shown}" if isinstance(value, str) and shown.startswith(FORMULA) else shown


def cell(value: object) -> str:
    """Return a value as one cell: a node by its reference, other structures as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and value.get("label") and value.get("ref"):
        return str(value["ref"])
    return orjson.dumps(value).decode()
