"""``link``, ``unlink``, ``related``, ``solutions``, ``path``."""

from typing import Annotated

import typer

from graphmem.cli import text
from graphmem.cli.caller import complete_kind, complete_ref, complete_relation, session_of
from graphmem.cli.query import Ref
from graphmem.constants import DEFAULT_HOPS, MAX_HOPS, MIN_STRENGTH
from graphmem.contract.relations import Direction
from graphmem.errors import Usage

From = Annotated[str, typer.Argument(metavar="FROM", autocompletion=complete_ref, help="The record it leads from.")]
Kind = Annotated[str, typer.Argument(metavar="TYPE", autocompletion=complete_relation, help="A relation type.")]
To = Annotated[str, typer.Argument(metavar="TO", autocompletion=complete_ref, help="The record it leads to.")]
Types = Annotated[
    list[str] | None,
    typer.Option("--type", metavar="T", autocompletion=complete_relation, help="Only these relation types."),
]
Which = Annotated[str, typer.Option("--direction", metavar="out|in|both", help="Which way edges are walked.")]


def direction_of(value: str) -> Direction:
    """Return a direction, or say which there are."""
    match value:
        case "out" | "in" | "both":
            return value
    raise Usage(f"unknown direction {value!r}", hint="one of: out, in, both")


def link(
    ctx: typer.Context,
    source: From,
    kind: Kind,
    target: To,
    weight: Annotated[
        float | None, typer.Option("--weight", metavar="W", help="Its own weight, above 0, at most 2.")
    ] = None,
    note: Annotated[str | None, typer.Option("--note", metavar="TEXT", help="What is to be said of it.")] = None,
    from_where: Annotated[
        list[str] | None, typer.Option("--source", metavar="WHERE", help="Where it came from.")
    ] = None,
) -> None:
    """
    Add an edge between two records, or change its weight and note.

    Example: graphmem link pattern/pin-build-tools solves failure/import-error
    """
    session = session_of(ctx)
    answer = session.memory.relations.link(source, kind, target, weight=weight, note=note, sources=from_where or ())
    session.answer(answer, f"{answer.action} {text.edge(answer.edge)}")


def unlink(ctx: typer.Context, source: From, kind: Kind, target: To) -> None:
    """
    Take an edge out.

    Example: graphmem unlink pattern/pin-build-tools solves failure/import-error
    """
    session = session_of(ctx)
    answer = session.memory.relations.unlink(source, kind, target)
    session.answer(answer, f"{answer.action} {text.edge(answer.edge)}")


def related(
    ctx: typer.Context,
    ref: Ref,
    max_hops: Annotated[
        int, typer.Option("--max-hops", metavar="N", help=f"Edges of a path at most, 1 to {MAX_HOPS}.")
    ] = DEFAULT_HOPS,
    types: Types = None,
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", metavar="KIND", autocompletion=complete_kind, help="Show only these kinds."),
    ] = None,
    direction: Which = "both",
    min_strength: Annotated[
        float | None,
        typer.Option("--min-strength", metavar="S", help=f"No path gets weaker than this [default: {MIN_STRENGTH}]."),
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="At most this many.")] = None,
) -> None:
    """
    Show what a record is related to, strongest path first, as a tree with the product of the weights.

    Example: graphmem related failure/auth-timeout --max-hops 3 --type causes --type solves
    """
    if min_strength is not None and not min_strength > 0:
        raise Usage(f"min-strength {min_strength:g} is not a strength", hint="a number above 0")
    session = session_of(ctx)
    answer = session.memory.related(
        ref, max_hops=max_hops, types=types, kinds=kind, direction=direction_of(direction),
        min_strength=min_strength, limit=limit,
    )  # fmt: skip
    session.answer(answer, text.tree(answer.start, answer.results))
    if answer.truncated:
        session.say("more are within reach; raise --limit")
    if not answer.exhaustive:
        session.say("the search ended at its budget: there may be stronger paths")
    if not answer.results:
        session.say("nothing is within reach")


def solutions(
    ctx: typer.Context,
    ref: Ref,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=1, help="At most this many.")] = None,
) -> None:
    """
    Show the fixes of a failure, the patterns that solve it, then those that solve a variant or a cause of it.

    Example: graphmem solutions failure/import-error
    """
    session = session_of(ctx)
    answer = session.memory.solutions(ref, limit=limit)
    lines = [f"fix: {text.one_line(fix.text, text.ADVICE)}" for fix in answer.fixes]
    for found in answer.results:
        first = found.path[0]
        near = first.target if first.direction == "out" else first.source
        way = f"  by way of {near} ({first.type})" if len(found.path) > 1 else ""
        head = f"{found.ref}  [{found.strength:.3f}]{way}{text.worth(found.record)}"
        lines.append(text.ASIDE.join([head, text.gist(found.record), *text.aside(found.cites)]))
    session.answer(answer, "\n".join(lines))
    if not lines:
        session.say(f"nothing solves {answer.failure} yet")


def path(
    ctx: typer.Context,
    source: From,
    target: To,
    max_hops: Annotated[
        int, typer.Option("--max-hops", metavar="N", help=f"Edges of the path at most, 1 to {MAX_HOPS}.")
    ] = MAX_HOPS,
    types: Types = None,
    direction: Which = "both",
) -> None:
    """
    Show the strongest chain of edges between two records; exit status 1 if they are not connected.

    Example: graphmem path failure/auth-timeout pattern/retry-with-backoff
    """
    session = session_of(ctx)
    answer = session.memory.path(source, target, max_hops=max_hops, types=types, direction=direction_of(direction))
    if answer.hops == 0 and answer.strength == 0:
        session.answer(answer, "")
        session.say(f"{answer.source} and {answer.target} are not connected within {text.count(max_hops, 'hop')}")
        raise typer.Exit(1)
    lines = [
        f"strength {answer.strength:.4g}, {text.count(answer.hops, 'hop')}",
        *(f"  {text.edge(edge)}" for edge in answer.path),
    ]
    session.answer(answer, "\n".join(lines))
