"""``link``, ``unlink``, ``related``, ``solutions``, ``path``."""

import typer

from graphmem.core.records.relation_contract import (
    Connection,
    Linked,
    LinkRequest,
    PathRequest,
    Related,
    RelatedRequest,
    Solutions,
    SolutionsRequest,
    UnlinkRequest,
)
from graphmem.doors.cli import text
from graphmem.doors.cli.caller import Invocation, complete_ref, complete_relation
from graphmem.doors.cli.commands import passes
from graphmem.kernel.answer import address
from graphmem.kernel.registry import Taken
from graphmem.kernel.system import shell

FROM, TO = Taken("FROM", complete_ref), Taken("TO", complete_ref)
TYPE, TYPES = Taken("TYPE", complete_relation), Taken("T", complete_relation)


@passes("relations.link", LinkRequest, source=FROM, kind=TYPE, target=TO, weight=Taken("W"))
def link(invocation: Invocation, answer: Linked) -> None:
    """
    Add an edge between two records, or change its weight and note.

    Example: graphmem link pattern/pin-build-tools solves failure/import-error
    """
    invocation.answer(answer, f"{answer.action} {text.edge(answer.edge)}")


@passes("relations.unlink", UnlinkRequest, source=FROM, kind=TYPE, target=TO)
def unlink(invocation: Invocation, answer: Linked) -> None:
    """
    Take an edge out.

    Example: graphmem unlink pattern/pin-build-tools solves failure/import-error
    """
    invocation.answer(answer, f"{answer.action} {text.edge(answer.edge)}")


@passes("related", RelatedRequest, types=TYPES, min_strength=Taken("S"))
def related(invocation: Invocation, answer: Related) -> None:
    """
    Show what a record is related to, strongest path first, as a tree with the product of the weights.

    Example: graphmem related failure/auth-timeout --max-hops 3 --type causes --type solves
    """
    invocation.answer(answer, text.tree(answer.start, answer.results))
    if answer.truncated:
        invocation.say("more are within reach; raise --limit")
    if not answer.exhaustive:
        invocation.say("the search ended at its budget: there may be stronger paths")
    if not answer.results:
        invocation.say("nothing is within reach")


@passes("solutions", SolutionsRequest)
def solutions(invocation: Invocation, answer: Solutions) -> None:
    """
    Show the fixes of a failure, the patterns that solve it, then those that solve a variant or a cause of it.

    Example: graphmem solutions failure/import-error
    """
    lines = text.against(answer.doubts)
    lines += [f"{address('fix', fix.store)}: {text.one_line(fix.text, text.ADVICE)}" for fix in answer.fixes]
    for found in answer.results:
        first = found.path[0]
        near = address(first.target if first.direction == "out" else first.source, found.store)
        way = f"  by way of {near} ({first.type})" if len(found.path) > 1 else ""
        ref = address(found.ref, found.store)
        head = f"{ref}  [{found.strength:.3f}]{way}{text.worth(found.record)}{text.handed_out(found)}"
        lines.append(text.ASIDE.join([head, *text.against(found.doubts, found.cites), text.gist(found.record)]))
    invocation.answer(answer, "\n".join(lines))
    if not (answer.fixes or answer.results):
        fix = shell.command("graphmem", "edit", answer.failure, "--fix", "what fixed it")
        invocation.say(f"nothing solves {answer.failure} yet; to record what does: {fix}")


@passes("path", PathRequest, source=FROM, target=TO, types=TYPES)
def path(invocation: Invocation, answer: Connection, max_hops: int) -> None:
    """
    Show the strongest chain of edges between two records; exit status 1 if they are not connected.

    Example: graphmem path failure/auth-timeout pattern/retry-with-backoff
    """
    if answer.hops == 0 and answer.strength == 0:
        invocation.answer(answer, "")
        invocation.say(f"{answer.source} and {answer.target} are not connected within {text.count(max_hops, 'hop')}")
        raise typer.Exit(1)
    lines = [
        f"strength {answer.strength:.4g}, {text.count(answer.hops, 'hop')}",
        *(f"  {text.edge(edge)}" for edge in answer.path),
    ]
    invocation.answer(answer, "\n".join(lines))
