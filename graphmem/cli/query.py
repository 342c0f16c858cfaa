"""``get``, ``list``, ``query``."""

from typing import Annotated

import typer

from graphmem.cli import text
from graphmem.cli.caller import complete_kind, complete_ref, session_of
from graphmem.cli.options import argument, option
from graphmem.cli.paths import files
from graphmem.constants import CONTEXT_BUDGET
from graphmem.contract.query import Found, QueryRequest
from graphmem.model.experience import ExperienceType
from graphmem.rules.score import Complexity

Ref = Annotated[str, typer.Argument(metavar="REF", autocompletion=complete_ref, help="kind/name, or a name alone.")]


def get(ctx: typer.Context, ref: Ref) -> None:
    """
    Show a record with its edges; an archived one too.

    Example: graphmem get failure/import-error
    """
    session = session_of(ctx)
    answer = session.memory.get(ref)
    edges = "".join(f"\n  {text.edge(edge)}" for edge in answer.relations)
    cites = "".join(f"\n  cites:          {text.cited(one)}" for one in answer.cites)
    session.answer(answer, text.fields(answer.record, but="cites") + cites + edges)


def list_records(
    ctx: typer.Context,
    kind: Annotated[
        str | None,
        typer.Argument(metavar="KIND|TYPE", autocompletion=complete_kind, help="A kind, or an entity type."),
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="Only with this tag; may be repeated.")
    ] = None,
    archived: Annotated[bool, typer.Option("--archived", help="The archived ones instead.")] = False,
    sort: Annotated[
        str | None, typer.Option("--sort", metavar="FIELD", help="By a field; -FIELD the other way.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=0, help="At most this many.")] = None,
) -> None:
    """
    List records by name, or sorted by a field.

    Example: graphmem list failure --tag build --sort -updated_at --limit 20
    """
    session = session_of(ctx)
    answer = session.memory.list(kind, tags=tag or (), archived=archived, sort=sort, limit=limit)
    session.answer(answer, text.listed([found.record for found in answer.results]))
    if len(answer.results) < answer.total:
        session.say(f"{len(answer.results):,} of {answer.total:,}; raise --limit")
    if not answer.total:
        session.say("no such records" if kind or tag or archived else "no records yet")


def stale(ctx: typer.Context) -> None:
    """
    List the records whose cited code moved, changed or is gone since it was cited.

    Example: graphmem stale
    """
    session = session_of(ctx)
    answer = session.memory.stale()
    lines = [text.ASIDE.join([found.ref, *text.aside(found.cites)]) for found in answer.results]
    session.answer(answer, "\n".join(lines))
    session.say(f"{len(answer.results):,} of {text.count(answer.checked, 'record')} with cites")


def query(
    ctx: typer.Context,
    words: str = argument(QueryRequest, "text", metavar="TEXT"),
    kind: list[str] | None = option(QueryRequest, "kinds", "--kind", metavar="KIND", autocompletion=complete_kind),
    limit: int = option(QueryRequest, "limit", metavar="N"),
    min_similarity: float | None = option(QueryRequest, "min_similarity", metavar="S"),
    explain: Annotated[bool, typer.Option("--explain", help="Show what each score is made of.")] = False,
) -> None:
    """
    Find records by relevance: first what matches exactly, then by how near it is, then by what it was worth.

    Example: graphmem query "ModuleNotFoundError: No module named 'pkg_resources'" --explain
    """
    session = session_of(ctx)
    answer = session.memory.query(words, kinds=kind, limit=limit, min_similarity=min_similarity)
    session.answer(answer, hits(answer, explain))
    if not answer.results:
        session.say("nothing found")


def context(
    ctx: typer.Context,
    objective: Annotated[str, typer.Argument(metavar="OBJECTIVE", help="What is to be done, in words.")],
    budget: Annotated[
        int, typer.Option("--budget", metavar="TOKENS", help="About this many tokens at most.")
    ] = CONTEXT_BUDGET,
    tag: Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="Of the task; may be repeated.")] = None,
    file: Annotated[
        list[str] | None, typer.Option("--file", metavar="PATH", help="That the task is about; may be repeated.")
    ] = None,
    tier: Annotated[
        list[str] | None,
        typer.Option("--tier", metavar="TIER", help="Take this tier instead of the usual ones; may be repeated."),
    ] = None,
    complexity: Annotated[
        Complexity | None, typer.Option("--complexity", help="Of the task; for a hard one more is taken.")
    ] = None,
    domain: Annotated[
        str | None, typer.Option("--domain", metavar="D", help="Whose lessons, beside the general ones.")
    ] = None,
    archetype: Annotated[str | None, typer.Option("--archetype", metavar="A", help="The kind of project.")] = None,
    role: Annotated[str | None, typer.Option("--role", metavar="ROLE", help="Of the agent: a tag more.")] = None,
    task_type: Annotated[
        ExperienceType | None, typer.Option("--task-type", help="Whose experiences, beside those with a tag.")
    ] = None,
    named: Annotated[
        str | None, typer.Option("--session", metavar="NAME", help="Whose decisions and constraints.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what scores are made of, and what is left out.")
    ] = False,
) -> None:
    """
    Show what the project remembers for an objective: a block for a prompt, nothing where nothing fits.

    Example: graphmem context "make the nightly build pass again" --file ci/build.yml --budget 1000
    """
    session = session_of(ctx)
    tags = [*(tag or ()), *([role] if role else [])]
    about = files(session, file, is_missing_ok=True) or ()
    answer = session.memory.context(objective, tags=tags, files=about, tiers=tier or (), complexity=complexity,
                                    domain=domain, archetype=archetype, task_type=task_type, session=named,
                                    budget=budget, explain=explain)  # fmt: skip
    left = [f"left out ({out.reason}, similarity {out.similarity:.2f}): {out.ref}" for out in answer.left_out]
    session.answer(answer, answer.text.rstrip("\n"))
    if answer.note:
        session.say(answer.note)
    if explain:
        session.say(f"{answer.tokens:,} of {answer.budget:,} tokens; {len(left)} left out")
        for line in left:
            session.say(line)


def hits(answer: Found, explain: bool) -> str:
    """Return what was found, with the factors of each score if they are asked for."""
    lines = []
    for hit in answer.results:
        lines.append(f"{hit.ref}  [{hit.band}, score {hit.score:.3g}]{text.worth(hit.record)}")
        lines += [f"    {found}"] if (found := text.gist(hit.record)) else []
        lines += [f"    {found}" for found in text.aside(hit.cites)]
        if explain:
            factors = hit.factors
            reranked = "" if factors.reranked is None else f", reranked {factors.reranked:.3f}"
            lines.append(
                f"    score {hit.score:.4f} = relevance {hit.relevance:.4f} × cost {factors.cost:.3f}"
                f" × help_ratio {factors.help_ratio:.3f} × age_decay {factors.age_decay:.3f}"
                + ("" if factors.freshness == 1.0 else f" × freshness {factors.freshness:.3f}")
            )
            lines.append(
                f"    relevance from semantic {factors.semantic:.3f}, lexical {factors.lexical:.3f},"
                f" exact {factors.exact:g}, graph {factors.graph:.3f}{reranked}"
            )
    return "\n".join(lines)
