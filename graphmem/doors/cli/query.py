"""``get``, ``list``, ``query``."""

from typing import Annotated

import typer

from graphmem.core.briefing.context_contract import ContextBlock, ContextRequest
from graphmem.core.evidence.doubt_contract import StaleRecords
from graphmem.core.records import wording
from graphmem.core.records.candidate_contract import ProofsChecked
from graphmem.core.records.text import NO_RECORDS
from graphmem.core.search.query_contract import Found, QueryRequest
from graphmem.core.search.text import hit_lines, query_doubt
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, passes
from graphmem.doors.cli.paths import files as files_from_here
from graphmem.kernel.registry import Taken
from graphmem.kernel.system import shell
from graphmem.kernel.text import count
from graphmem.names import visible

SHOWN_LEFT_OUT = 5  # records that are named
UNSURE_SHOWN = 3  # records of an answer that may be none, unless asked for more


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
        return _reproven(invocation, invocation.memory.store.call("candidates.check_proofs"))
    answer: StaleRecords = call()
    lines = [wording.ASIDE.join([found.ref, *wording.against(found.doubts, found.cites)]) for found in answer.results]
    invocation.answer(answer, "\n".join(lines))
    invocation.say(f"{len(answer.results):,} of {count(answer.checked, 'record')} with cites, versions or a date")


def _reproven(invocation: Invocation, answer: ProofsChecked) -> None:
    """Print which proofs still are ones."""
    lines = [f"{one.ref}: {'proven' if one.proven else f'not proven any more: {one.reason}'}" for one in answer.results]
    invocation.answer(answer, visible("\n".join(lines)))
    if answer.untrusted:
        what = count(len(answer.untrusted), "proof")
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
        invocation.write(f"{query_doubt(answer)}; the nearest:")
    lines = "\n".join(filter(None, [hit_lines(found, explain), *map(wording.seen, answer.candidates)]))
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
