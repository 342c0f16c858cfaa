"""What `cypher` asks for, and how rows read on a terminal."""

from collections.abc import Mapping
from typing import Annotated, Any

from graphmem.core.evidence.text import against
from graphmem.core.replies.reply import Reply, View, escaped
from graphmem.errors import Usage
from graphmem.features.cypher.operations import CypherRows, QueryList
from graphmem.features.cypher.projects import GraphPushed
from graphmem.kernel import terminal
from graphmem.kernel.parameters import parameter
from graphmem.kernel.registry import Printout, Taken, asks, reads
from graphmem.kernel.rows import ROW_FORMATS, cell, rows_as
from graphmem.kernel.suggest import did_you_mean
from graphmem.kernel.text import count, one_line
from graphmem.names import inert, visible

CELL = 200  # characters of a cell of a table that is not drawn
PROJECTS = "Ask the graphs of these projects in the graph server; counts, order and LIMIT are of one project each"
FORMATS = ("table", "json", *ROW_FORMATS)


@asks("cypher")
def _ask_cypher(
    query: Annotated[str | None, Taken("QUERY", meaning="One reading statement")] = None,
    param: Annotated[
        list[str] | None, Taken("NAME=TEXT|NAME:=JSON", flag="-p --param", meaning="A parameter; may be repeated")
    ] = None,
    named: Annotated[str | None, Taken("NAME", "query", flag="--named", meaning="A stored query instead")] = None,
    listing: Annotated[bool, Taken(flag="--list", meaning="List the stored queries")] = False,
    timeout_s: float | None = None,
    limit: int | None = None,
    projects: Annotated[
        str | None,
        Taken("NAME,…|all", flag="--projects", meaning=PROJECTS),
    ] = None,
    rows: Annotated[str, Taken("|".join(FORMATS), flag="--format", meaning="How the rows are printed")] = "table",
) -> Mapping[str, object]:
    if listing:
        return {"operation": "queries"}
    if (query is None) == (named is None):
        raise Usage("give a query, or --named NAME", hint="see: graphmem cypher --list")
    if rows not in FORMATS:
        raise Usage(f"unknown format {rows!r}", hint=did_you_mean(rows, FORMATS) or f"one of: {', '.join(FORMATS)}")
    parameters = dict(map(parameter, param or ()))
    bounds = {"timeout_s": timeout_s, "limit": limit}
    if projects is not None:
        asked = {"query": named or query, "projects": [name.strip() for name in projects.split(",")]}
        return {"operation": "cypher_projects", **asked, "parameters": parameters, **bounds}
    if named is None:
        return {"query": query, "parameters": parameters}
    return {"operation": "cypher_named", "name": named, "parameters": parameters, **bounds}


@reads(GraphPushed)
def _pushed_text(answer: GraphPushed) -> str:
    if not answer.changed:
        return f"the graph of {answer.project} in {answer.server} is up to date"
    counts = f"{count(answer.records, 'record')}, {count(answer.relations, 'relation')}"
    return f"pushed the graph of {answer.project} to {answer.server}: {counts}"


@reads("queries")
def _queries_text(answer: QueryList) -> str:
    return "\n".join(
        f"{one.name}({', '.join(one.parameters)}) -> {', '.join(one.columns)}\n    {one.sentence}"
        for one in answer.results
    )


@reads(CypherRows)
def _rows_text(answer: CypherRows, rows: str) -> Printout:
    if rows == "json":
        return Printout(inert(answer.model_dump_json(by_alias=True)), is_file=True)
    doubts = [(ref, against(found)) for ref, found in answer.doubts.items()]
    return Printout(
        rows_as(rows, answer.columns, answer.rows) if rows in ROW_FORMATS else _table(answer),
        *(f"{ref}: {'; '.join(found)}" for ref, found in doubts if found),
        f"no rows ({', '.join(answer.columns)})" if not answer.rows else "",
        f"more rows than {len(answer.rows):,}; raise --limit" if answer.truncated else "",
        is_file=True,
    )


def _table(answer: CypherRows) -> str:
    """Return rows as a table, each value cut to a cell."""
    rows = [[one_line(visible(cell(value)), CELL) for value in row] for row in answer.rows]
    return terminal.table([visible(name) for name in answer.columns], rows) if rows else ""


# --- for a model ----------------------------------------------------------------------------------------------------


@reads(CypherRows, to="model")
def _rows_reply(answer: CypherRows, view: View) -> Reply:
    """Return the rows of a Cypher query."""
    doubts = {ref: [escaped(one.text) for one in against if one.is_mark] for ref, against in answer.doubts.items()}
    head: dict[str, Any] = {"columns": answer.columns, "truncated": answer.truncated}
    head |= {"doubts": {ref: against for ref, against in doubts.items() if against}} if any(doubts.values()) else {}
    named = [dict(zip(answer.columns, map(_cell, row), strict=True)) for row in answer.rows]
    return Reply(head, [{"row": row} for row in named], list(answer.notices))


def _cell(value: Any) -> Any:
    """Return a value of a row: a record by its reference, for ``get`` shows it."""
    if isinstance(value, dict) and value.get("label") and value.get("ref"):
        return escaped(value["ref"])
    return escaped(value)
