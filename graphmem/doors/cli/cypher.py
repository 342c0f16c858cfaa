"""``cypher``: questions to the graph, read-only."""

from typing import Annotated

import typer

from graphmem.core.records import wording
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, passes
from graphmem.doors.cli.completion import COMPLETERS
from graphmem.doors.cli.inputs import parameter
from graphmem.errors import Usage
from graphmem.features.cypher.operations import CypherRows
from graphmem.kernel import terminal
from graphmem.kernel.registry import Taken
from graphmem.kernel.rows import ROW_FORMATS, cell, rows_as
from graphmem.kernel.suggest import did_you_mean
from graphmem.kernel.text import one_line
from graphmem.names import inert, visible

CELL = 200  # characters of a cell of a table that is not drawn
FORMATS = ("table", "json", *ROW_FORMATS)


@passes("cypher", without=("parameters",), timeout_s=Taken("SECONDS", flag="--timeout"))
def cypher(
    invocation: Invocation,
    call: Call,
    query: Annotated[str | None, typer.Argument(metavar="QUERY", help="One reading statement.")] = None,
    param: Annotated[
        list[str] | None,
        typer.Option("-p", "--param", metavar="NAME=TEXT|NAME:=JSON", help="A parameter; may be repeated."),
    ] = None,
    named: Annotated[
        str | None,
        typer.Option("--named", metavar="NAME", autocompletion=COMPLETERS["query"], help="A stored query instead."),
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="List the stored queries.")] = False,
    timeout_s: float | None = None,
    limit: int | None = None,
    form: Annotated[
        str, typer.Option("--format", metavar="|".join(FORMATS), help="How the rows are printed.")
    ] = "table",
) -> None:
    """
    Ask the graph in Cypher: read-only, bounded in time, memory and rows.

    Example: graphmem cypher 'MATCH (p:Pattern)-[:SOLVES]->(f:Failure {name: $name}) RETURN p.name' -p name=import-error
    """
    if listing:
        _show_queries(invocation)
        return
    _refuse_options(query, named, form)
    parameters = dict(parameter(given) for given in param or ())
    if named is not None:
        answer = invocation.memory.store.cypher_named(named, parameters, timeout_s=timeout_s, limit=limit)
    else:
        answer = call(query=query, parameters=parameters)
    show(invocation, answer, form)


def _show_queries(invocation: Invocation) -> None:
    """Print the stored queries with what they take and give."""
    queries = invocation.memory.store.queries()
    lines = [
        f"{q.name}({', '.join(q.parameters)}) -> {', '.join(q.columns)}\n    {q.sentence}" for q in queries.results
    ]
    invocation.answer(queries, "\n".join(lines))


def _refuse_options(query: str | None, named: str | None, form: str) -> None:
    """Raise ``Usage`` where the options do not say what to ask and how to show it."""
    if (query is None) == (named is None):
        raise Usage("give a query, or --named NAME", hint="see: graphmem cypher --list")
    if form not in FORMATS:
        raise Usage(f"unknown format {form!r}", hint=did_you_mean(form, FORMATS) or f"one of: {', '.join(FORMATS)}")


def show(invocation: Invocation, answer: CypherRows, form: str) -> None:
    """Print rows in the form that was asked for: as rows for a program nothing but them."""
    if invocation.is_json:
        invocation.answer(answer, "")
        return
    if form == "json":
        invocation.write(inert(answer.model_dump_json(by_alias=True)))
        return
    if form in ROW_FORMATS:
        text_of_rows = rows_as(form, answer.columns, answer.rows)
    else:
        rows = [[one_line(visible(cell(value)), CELL) for value in row] for row in answer.rows]
        text_of_rows = terminal.table([visible(name) for name in answer.columns], rows) if rows else ""
    invocation.answer(answer, "")
    if text_of_rows:
        invocation.write(text_of_rows)
    for ref, doubts in answer.doubts.items():
        if found := wording.against(doubts):
            invocation.say(f"{ref}: {'; '.join(found)}")
    if not answer.rows:
        invocation.say(f"no rows ({', '.join(answer.columns)})")
    if answer.truncated:
        invocation.say(f"more rows than {len(answer.rows):,}; raise --limit")
