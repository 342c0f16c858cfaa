"""``get``, ``list``, ``query``."""

from typing import Annotated

import typer

from graphmem.core.records import wording
from graphmem.core.records.text import NO_RECORDS
from graphmem.core.search.query_contract import Found
from graphmem.core.search.text import hit_lines, query_doubt
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import passes
from graphmem.kernel.registry import Taken
from graphmem.kernel.system import shell

SHOWN_LEFT_OUT = 5  # records that are named
UNSURE_SHOWN = 3  # records of an answer that may be none, unless asked for more


@passes("query", min_similarity=Taken("S"))
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
