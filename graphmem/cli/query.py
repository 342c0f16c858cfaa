"""``get``, ``list``, ``query``."""

from typing import Annotated, cast

import typer

from graphmem.cli import text
from graphmem.cli.caller import complete_kind, complete_ref, invocation_of
from graphmem.cli.options import argument, option
from graphmem.cli.paths import files
from graphmem.contract.context import ContextRequest
from graphmem.contract.query import Factors, Found, Profile, QueryRequest, Tier
from graphmem.contract.records import GetRequest, ListRequest
from graphmem.model.experience import ExperienceType
from graphmem.rules.doubt import cited
from graphmem.rules.score import Complexity

SHOWN_LEFT_OUT = 5  # records that are named
DOUBTS = {"unsure": "unsure whether this is known; the nearest:", "false": "nothing known for this; the nearest:"}
REF = argument(GetRequest, "ref", metavar="REF", autocompletion=complete_ref)


def get(ctx: typer.Context, ref: str = REF) -> None:
    """
    Show a record with its edges; an archived one too.

    Example: graphmem get failure/import-error
    """
    invocation = invocation_of(ctx)
    answer = invocation.memory.get(ref)
    edges = "".join(f"\n  {text.edge(edge)}" for edge in answer.relations)
    cites = "".join(f"\n  cites:          {cited(one)}" for one in answer.cites)
    head, _, rest = text.fields(answer.record, but="cites").partition("\n")
    notes = [doubt.text for doubt in answer.doubts if not doubt.is_mark]
    tasks = [text.handed_out(answer).strip()] if answer.handed_out else []
    marks = "".join(f"\n  {one}" for one in (*text.against(answer.doubts), *notes, *tasks))
    invocation.answer(answer, f"{head}{marks}\n{rest}{cites}{edges}")


def list_records(
    ctx: typer.Context,
    kind: str | None = argument(ListRequest, "kind", metavar="KIND|TYPE", autocompletion=complete_kind),
    tag: list[str] | None = option(ListRequest, "tags", "--tag", metavar="TAG"),
    archived: bool = option(ListRequest, "archived"),
    sort: str | None = option(ListRequest, "sort", metavar="FIELD"),
    limit: int | None = option(ListRequest, "limit", metavar="N"),
    cursor: str | None = option(ListRequest, "cursor", metavar="CURSOR"),
) -> None:
    """
    List records by name, or sorted by a field.

    Example: graphmem list failure --tag build --sort -updated_at --limit 20
    """
    invocation = invocation_of(ctx)
    answer = invocation.memory.list(kind, tags=tag or (), archived=archived, sort=sort, limit=limit, cursor=cursor)
    invocation.answer(answer, text.listed(answer.results))
    if answer.cursor:
        invocation.say(f"{len(answer.results):,} of {answer.total:,}; the next ones: --cursor {answer.cursor}")
    elif limit == 0 < answer.total:
        invocation.say(f"0 of {answer.total:,}; raise --limit")
    if not answer.total:
        invocation.say("no such records" if kind or tag or archived else "no records yet")


def stale(ctx: typer.Context) -> None:
    """
    List the records whose cited code moved, changed or is gone, that are past their date, or of another major version.

    Example: graphmem stale
    """
    invocation = invocation_of(ctx)
    answer = invocation.memory.stale()
    lines = [text.ASIDE.join([found.ref, *text.against(found.doubts, found.cites)]) for found in answer.results]
    invocation.answer(answer, "\n".join(lines))
    invocation.say(f"{len(answer.results):,} of {text.count(answer.checked, 'record')} with cites, versions or a date")


def query(
    ctx: typer.Context,
    words: str = argument(QueryRequest, "text", metavar="TEXT"),
    kind: list[str] | None = option(QueryRequest, "kinds", "--kind", metavar="KIND", autocompletion=complete_kind),
    limit: int = option(QueryRequest, "limit", metavar="N"),
    min_similarity: float | None = option(QueryRequest, "min_similarity", metavar="S"),
    profile: Profile | None = option(QueryRequest, "profile"),
    strict: bool = option(QueryRequest, "strict"),
    explain: Annotated[bool, typer.Option("--explain", help="Show what each score is made of.")] = False,
) -> None:
    """
    Find records by relevance: first what matches exactly, then by how near it is and how it helped on like questions.

    Example: graphmem query "ModuleNotFoundError: No module named 'pkg_resources'" --explain
    """
    invocation = invocation_of(ctx)
    answer = invocation.memory.query(
        words, kinds=kind, limit=limit, min_similarity=min_similarity, profile=profile, strict=strict
    )
    if answer.results and not invocation.is_json and answer.known in DOUBTS:
        invocation.write(DOUBTS[answer.known])
    invocation.answer(answer, hits(answer, explain), is_dim=answer.known == "false")
    if answer.left_out:
        shown, more = answer.left_out[:SHOWN_LEFT_OUT], len(answer.left_out) - SHOWN_LEFT_OUT
        invocation.say(f"left out for marks of doubt: {', '.join(shown)}{f' and {more:,} more' if more > 0 else ''}")
    elif not answer.results:
        invocation.say("nothing found")


def context(
    ctx: typer.Context,
    objective: str = argument(ContextRequest, "objective", metavar="OBJECTIVE"),
    budget: int = option(ContextRequest, "budget", metavar="TOKENS"),
    tag: list[str] | None = option(ContextRequest, "tags", "--tag", metavar="TAG"),
    file: list[str] | None = option(ContextRequest, "files", "--file", metavar="PATH"),
    tier: list[str] | None = option(ContextRequest, "tiers", "--tier", metavar="TIER"),
    complexity: Complexity | None = option(ContextRequest, "complexity"),
    domain: str | None = option(ContextRequest, "domain", metavar="D"),
    archetype: str | None = option(ContextRequest, "archetype", metavar="A"),
    role: Annotated[str | None, typer.Option("--role", metavar="ROLE", help="Of the agent: a tag more.")] = None,
    task_type: ExperienceType | None = option(ContextRequest, "task_type"),
    named: str | None = option(ContextRequest, "session", metavar="NAME"),
    profile: Profile | None = option(ContextRequest, "profile"),
    strict: bool = option(ContextRequest, "strict"),
    explain: bool = option(ContextRequest, "explain"),
) -> None:
    """
    Show what the project remembers for an objective: a block for a prompt, nothing where nothing fits.

    Example: graphmem context "make the nightly build pass again" --file ci/build.yml --budget 1000
    """
    invocation = invocation_of(ctx)
    tags = [*(tag or ()), *([role] if role else [])]
    about = files(invocation, file, is_missing_ok=True) or ()
    tiers = cast(list[Tier], tier or ())  # the request checks them
    answer = invocation.memory.context(
        objective,
        tags=tags,
        files=about,
        tiers=tiers,
        complexity=complexity,
        domain=domain,
        archetype=archetype,
        task_type=task_type,
        session=named,
        budget=budget,
        profile=profile,
        strict=strict,
        explain=explain,
    )
    left = [f"left out ({out.reason}, similarity {out.similarity:.2f}): {out.ref}" for out in answer.left_out]
    invocation.answer(answer, answer.text.rstrip("\n"))
    if answer.note:
        invocation.say(answer.note)
    if explain:
        invocation.say(f"{answer.tokens:,} of {answer.budget:,} tokens; {len(left)} left out")
        for line in left:
            invocation.say(line)


def hits(answer: Found, explain: bool) -> str:
    """Return what was found, with the factors of each score if they are asked for."""
    lines = []
    for hit in answer.results:
        lines.append(f"{hit.ref}  [{hit.band}, score {hit.score:.3g}]{text.worth(hit.record)}")
        lines += [f"    {found}" for found in text.against(hit.doubts, hit.cites)]
        lines += [f"    {found}"] if (found := text.gist(hit.record)) else []
        if explain:
            factors = hit.factors
            reranked = "" if factors.reranked is None else f", reranked {factors.reranked:.3f}"
            lines.append(
                f"    score {hit.score:.4f} = relevance {hit.relevance:.4f} × cost {factors.cost:.3f}"
                f" × help_ratio {factors.help_ratio:.3f} × age_decay {factors.age_decay:.3f}"
                + ("" if factors.freshness == 1.0 else f" × freshness {factors.freshness:.3f}")
                + ("" if factors.doubt == 1.0 else f" × doubt {factors.doubt:.3f}")
                + moves(factors)
            )
            lines.append(
                f"    relevance from semantic {factors.semantic:.3f}, lexical {factors.lexical:.3f},"
                f" exact {factors.exact:g}{', expression 1' * bool(factors.expression)},"
                f" graph {factors.graph:.3f}{reranked}"
            )
    return "\n".join(lines)


def moves(factors: Factors) -> str:
    """Return which factors change the place of a result, and by how many places."""
    found = [f"{name} {places:+d}" for name, places in factors.moved.items() if places]
    return f"; places gained: {', '.join(found)}" if found else ""
