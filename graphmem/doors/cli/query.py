"""``get``, ``list``, ``query``."""

from collections.abc import Sequence
from typing import Annotated, Literal

import typer

from graphmem.core.evidence.doubt import cited
from graphmem.core.evidence.doubt_contract import StaleRecords
from graphmem.core.records.candidate_contract import ProofsChecked
from graphmem.core.records.record_contract import GetRequest, Got, Listed, Listing, ListRequest
from graphmem.core.search.query_contract import Factors, Found, Hit, QueryRequest
from graphmem.doors.cli import text
from graphmem.doors.cli.caller import Invocation, complete_kind
from graphmem.doors.cli.commands import Call, passes
from graphmem.doors.cli.paths import files as files_from_here
from graphmem.doors.cli.rows import rows_as
from graphmem.features.briefing.context_contract import ContextBlock, ContextRequest
from graphmem.kernel.answer import address
from graphmem.kernel.registry import Taken
from graphmem.kernel.system import shell
from graphmem.names import visible

NO_RECORDS = "no records yet; to begin with what the project knows: graphmem import --all"
SHOWN_LEFT_OUT = 5  # records that are named
UNSURE_SHOWN = 3  # records of an answer that may be none, unless asked for more
HARDLY_SHARED = 0.2  # share of a question, by the rarity of its words, below which its words tell nothing


@passes("get", GetRequest)
def get(invocation: Invocation, answer: Got) -> None:
    """
    Show a record with its edges; an archived one too.

    Example: graphmem get failure/import-error
    """
    edges = "".join(f"\n  {text.edge(edge)}" for edge in answer.relations)
    cites = "".join(f"\n  cites:          {cited(one)}" for one in answer.cites)
    head, _, rest = text.fields(answer.record, but="cites").partition("\n")
    notes = [doubt.text for doubt in answer.doubts if not doubt.is_mark]
    tasks = [text.handed_out(answer).strip()] if answer.handed_out else []
    marks = "".join(f"\n  {one}" for one in (*text.against(answer.doubts), *notes, *tasks))
    alike = "".join(f"\n  {one}" for one in text.variant_lines(answer.variant_fix))
    invocation.answer(answer, f"{head}{marks}\n{rest}{alike}{cites}{edges}")


@passes("list", ListRequest, arguments=1, kind=Taken("KIND|TYPE", complete_kind), sort=Taken("FIELD"))
def list_records(
    invocation: Invocation,
    answer: Listing,
    kind: str | None,
    tags: list[str] | None,
    archived: bool,
    limit: int | None,
    form: Annotated[
        Literal["text", "ndjson", "csv", "markdown"], typer.Option("--format", help="How the records are printed.")
    ] = "text",
) -> None:
    """
    List records by name, or sorted by a field.

    Example: graphmem list failure --tag build --sort -updated_at --limit 20
    """
    invocation.answer(answer, text.listed(answer.results) if form == "text" else rows_of(answer.results, form))
    if answer.cursor:
        invocation.say(f"{len(answer.results):,} of {answer.total:,}; the next ones: --cursor {answer.cursor}")
    elif limit == 0 < answer.total:
        invocation.say(f"0 of {answer.total:,}; raise --limit")
    if not answer.total:
        invocation.say("no such records" if kind or tags or archived else NO_RECORDS)


def rows_of(found: Sequence[Listed], form: str) -> str:
    """Return records as rows, with their references and the fields that one of them has a value in."""
    rows = [{"ref": one.ref, **one.record.model_dump(mode="json", by_alias=True)} for one in found]
    columns = [
        name for name in dict.fromkeys(name for row in rows for name in row) if any(row.get(name) for row in rows)
    ]
    return rows_as(form, columns, [[row.get(name) for name in columns] for row in rows]) if rows else ""


@passes("stale")
def stale(
    invocation: Invocation,
    call: Call,
    prove: Annotated[bool, typer.Option("--prove", help="Run again what was proven of records, instead.")] = False,
) -> None:
    """
    List the records whose cited code moved, changed or is gone, that are past their date, or of another major version.

    Example: graphmem stale
    """
    if prove:
        return reproven(invocation, invocation.memory.call("candidates.check_proofs"))
    answer: StaleRecords = call()
    lines = [text.ASIDE.join([found.ref, *text.against(found.doubts, found.cites)]) for found in answer.results]
    invocation.answer(answer, "\n".join(lines))
    invocation.say(f"{len(answer.results):,} of {text.count(answer.checked, 'record')} with cites, versions or a date")


def reproven(invocation: Invocation, answer: ProofsChecked) -> None:
    """Print which proofs still are ones."""
    lines = [f"{one.ref}: {'proven' if one.proven else f'not proven any more: {one.reason}'}" for one in answer.results]
    invocation.answer(answer, visible("\n".join(lines)))
    if answer.untrusted:
        what = text.count(len(answer.untrusted), "proof")
        invocation.say(f"{what} not run: look at the commands, and allow them with: graphmem trust")


@passes("query", QueryRequest, min_similarity=Taken("S"))
def query(
    invocation: Invocation,
    answer: Found,
    limit: int | None,
    explain: Annotated[bool, typer.Option("--explain", help="Show what each score is made of.")] = False,
) -> None:
    """
    Find records by relevance: first what matches exactly, then by how near it is and how it helped on like questions.

    Where it is unsure whether any of them answers, it says why, and shows three.

    Example: graphmem query "ModuleNotFoundError: No module named 'pkg_resources'" --explain
    """
    found = answer.results if limit or answer.known else answer.results[:UNSURE_SHOWN]
    if found and not invocation.is_json and not answer.known:
        invocation.write(f"{doubt(answer)}; the nearest:")
    lines = "\n".join(filter(None, [of_hits(found, explain), *map(text.seen, answer.candidates)]))
    invocation.answer(answer, lines, is_dim=answer.certainty == "none")
    if more := len(answer.results) - len(found):
        command = shell.command("graphmem", "query", answer.query, "--limit", str(len(answer.results)))
        invocation.say(f"{more:,} more: {command}")
    if answer.left_out:
        shown, more = answer.left_out[:SHOWN_LEFT_OUT], len(answer.left_out) - SHOWN_LEFT_OUT
        invocation.say(f"left out for marks of doubt: {', '.join(shown)}{f' and {more:,} more' if more > 0 else ''}")
    elif not (answer.results or answer.candidates):
        is_empty = not invocation.memory.list(limit=0).total
        invocation.say(NO_RECORDS if is_empty else "nothing found")


@passes("context", ContextRequest, tiers=Taken("TIER"))
def context(
    invocation: Invocation,
    call: Call,
    tags: list[str] | None,
    role: Annotated[str | None, typer.Option("--role", metavar="ROLE", help="Of the agent: a tag more.")] = None,
    files: list[str] | None = None,
    explain: bool = False,
) -> None:
    """
    Show what the project remembers for an objective: a block for a prompt, nothing where nothing fits.

    Example: graphmem context "make the nightly build pass again" --file ci/build.yml --budget 1000
    """
    about = files_from_here(invocation, files, is_missing_ok=True) or ()
    answer: ContextBlock = call(tags=[*(tags or ()), *([role] if role else [])], files=about)
    left = [f"left out ({out.reason}, similarity {out.similarity:.2f}): {out.ref}" for out in answer.left_out]
    invocation.answer(answer, answer.text.rstrip("\n"))
    if answer.note:
        invocation.say(answer.note)
    if explain:
        invocation.say(f"{answer.tokens:,} of {answer.budget:,} tokens; {len(left)} left out")
        for line in left:
            invocation.say(line)


def doubt(answer: Found) -> str:
    """Return in one clause why the first result may not be what was asked for."""
    if answer.certainty == "none":
        return "nothing known for this"
    first = answer.results[0]
    if any(found.sign == "other_error" for found in first.doubts):
        return "unsure whether this is known"  # its mark says why
    if first.verdict == "unclear" and first.reasons:
        why = visible(first.reasons[0])
    elif first.factors.lexical < HARDLY_SHARED:
        why = "hardly a word in common"
    else:
        why = "words in common, but no line or code that tells"
    return f"unsure whether this is known ({why})"


def of_hits(found: Sequence[Hit], explain: bool) -> str:
    """Return what was found, with the factors of each score if they are asked for."""
    lines = list[str]()
    for hit in found:
        place = f"  [{hit.band}, score {hit.score:.3g}]" if explain else ""
        lines.append(f"{address(hit.ref, hit.store)}{place}{text.worth(hit.record)}")
        said = [*text.against(hit.doubts, hit.cites), *text.holding(hit.holds), text.gist(hit.record)]
        said += [*text.variant_lines(hit.variant_fix, hit.store), *(reckoning(hit) if explain else ())]
        lines += [f"    {one}" for one in said if one]
    return "\n".join(lines)


def reckoning(hit: Hit) -> tuple[str, str]:
    """Return what the score of a result is made of, and its relevance, a line each."""
    factors = hit.factors
    reranked = "" if factors.reranked is None else f", reranked {factors.reranked:.3f}"
    return (
        f"score {hit.score:.4f} = relevance {hit.relevance:.4f} × cost {factors.cost:.3f}"
        f" × help_ratio {factors.help_ratio:.3f} × age_decay {factors.age_decay:.3f}"
        + ("" if factors.finished == 1.0 else f" × finished {factors.finished:.3f}")
        + ("" if factors.freshness == 1.0 else f" × freshness {factors.freshness:.3f}")
        + ("" if factors.doubt == 1.0 else f" × doubt {factors.doubt:.3f}")
        + moves(factors),
        f"relevance from semantic {factors.semantic:.3f}, lexical {factors.lexical:.3f},"
        f" exact {factors.exact:g}{', expression 1' * bool(factors.expression)},"
        f" graph {factors.graph:.3f}{reranked}",
    )


def moves(factors: Factors) -> str:
    """Return which factors change the place of a result, and by how many places."""
    found = [f"{name} {places:+d}" for name, places in factors.moved.items() if places]
    return f"; places gained: {', '.join(found)}" if found else ""
