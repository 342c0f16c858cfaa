"""``link``, ``unlink``, ``related``, ``solutions``, ``path``."""

import typer

from graphmem.cli import text
from graphmem.cli.caller import complete_kind, complete_ref, complete_relation, invocation_of
from graphmem.cli.options import argument, option
from graphmem.contract.relations import (
    Direction,
    LinkRequest,
    PathRequest,
    RelatedRequest,
    SolutionsRequest,
    UnlinkRequest,
)


def link(
    ctx: typer.Context,
    source: str = argument(LinkRequest, "source", metavar="FROM", autocompletion=complete_ref),
    kind: str = argument(LinkRequest, "kind", metavar="TYPE", autocompletion=complete_relation),
    target: str = argument(LinkRequest, "target", metavar="TO", autocompletion=complete_ref),
    weight: float | None = option(LinkRequest, "weight", metavar="W"),
    note: str | None = option(LinkRequest, "note", metavar="TEXT"),
    from_where: list[str] | None = option(LinkRequest, "sources", "--source", metavar="WHERE"),
) -> None:
    """
    Add an edge between two records, or change its weight and note.

    Example: graphmem link pattern/pin-build-tools solves failure/import-error
    """
    invocation = invocation_of(ctx)
    answer = invocation.memory.relations.link(source, kind, target, weight=weight, note=note, sources=from_where or ())
    invocation.answer(answer, f"{answer.action} {text.edge(answer.edge)}")


def unlink(
    ctx: typer.Context,
    source: str = argument(UnlinkRequest, "source", metavar="FROM", autocompletion=complete_ref),
    kind: str = argument(UnlinkRequest, "kind", metavar="TYPE", autocompletion=complete_relation),
    target: str = argument(UnlinkRequest, "target", metavar="TO", autocompletion=complete_ref),
) -> None:
    """
    Take an edge out.

    Example: graphmem unlink pattern/pin-build-tools solves failure/import-error
    """
    invocation = invocation_of(ctx)
    answer = invocation.memory.relations.unlink(source, kind, target)
    invocation.answer(answer, f"{answer.action} {text.edge(answer.edge)}")


def related(
    ctx: typer.Context,
    ref: str = argument(RelatedRequest, "ref", metavar="REF", autocompletion=complete_ref),
    max_hops: int = option(RelatedRequest, "max_hops", metavar="N"),
    types: list[str] | None = option(RelatedRequest, "types", "--type", metavar="T", autocompletion=complete_relation),
    kind: list[str] | None = option(RelatedRequest, "kinds", "--kind", metavar="KIND", autocompletion=complete_kind),
    direction: Direction = option(RelatedRequest, "direction"),
    min_strength: float | None = option(RelatedRequest, "min_strength", metavar="S"),
    limit: int | None = option(RelatedRequest, "limit", metavar="N"),
) -> None:
    """
    Show what a record is related to, strongest path first, as a tree with the product of the weights.

    Example: graphmem related failure/auth-timeout --max-hops 3 --type causes --type solves
    """
    invocation = invocation_of(ctx)
    answer = invocation.memory.related(
        ref,
        max_hops=max_hops,
        types=types,
        kinds=kind,
        direction=direction,
        min_strength=min_strength,
        limit=limit,
    )
    invocation.answer(answer, text.tree(answer.start, answer.results))
    if answer.truncated:
        invocation.say("more are within reach; raise --limit")
    if not answer.exhaustive:
        invocation.say("the search ended at its budget: there may be stronger paths")
    if not answer.results:
        invocation.say("nothing is within reach")


def solutions(
    ctx: typer.Context,
    ref: str = argument(SolutionsRequest, "ref", metavar="REF", autocompletion=complete_ref),
    limit: int | None = option(SolutionsRequest, "limit", metavar="N"),
    strict: bool = option(SolutionsRequest, "strict"),
) -> None:
    """
    Show the fixes of a failure, the patterns that solve it, then those that solve a variant or a cause of it.

    Example: graphmem solutions failure/import-error
    """
    invocation = invocation_of(ctx)
    answer = invocation.memory.solutions(ref, limit=limit, strict=strict)
    lines = text.against(answer.doubts)
    lines += [f"fix: {text.one_line(fix.text, text.ADVICE)}" for fix in answer.fixes]
    for found in answer.results:
        first = found.path[0]
        near = first.target if first.direction == "out" else first.source
        way = f"  by way of {near} ({first.type})" if len(found.path) > 1 else ""
        head = f"{found.ref}  [{found.strength:.3f}]{way}{text.worth(found.record)}{text.handed_out(found)}"
        lines.append(text.ASIDE.join([head, *text.against(found.doubts, found.cites), text.gist(found.record)]))
    invocation.answer(answer, "\n".join(lines))
    if not (answer.fixes or answer.results):
        invocation.say(f"nothing solves {answer.failure} yet")


def path(
    ctx: typer.Context,
    source: str = argument(PathRequest, "source", metavar="FROM", autocompletion=complete_ref),
    target: str = argument(PathRequest, "target", metavar="TO", autocompletion=complete_ref),
    max_hops: int = option(PathRequest, "max_hops", metavar="N"),
    types: list[str] | None = option(PathRequest, "types", "--type", metavar="T", autocompletion=complete_relation),
    direction: Direction = option(PathRequest, "direction"),
) -> None:
    """
    Show the strongest chain of edges between two records; exit status 1 if they are not connected.

    Example: graphmem path failure/auth-timeout pattern/retry-with-backoff
    """
    invocation = invocation_of(ctx)
    answer = invocation.memory.path(source, target, max_hops=max_hops, types=types, direction=direction)
    if answer.hops == 0 and answer.strength == 0:
        invocation.answer(answer, "")
        invocation.say(f"{answer.source} and {answer.target} are not connected within {text.count(max_hops, 'hop')}")
        raise typer.Exit(1)
    lines = [
        f"strength {answer.strength:.4g}, {text.count(answer.hops, 'hop')}",
        *(f"  {text.edge(edge)}" for edge in answer.path),
    ]
    invocation.answer(answer, "\n".join(lines))
