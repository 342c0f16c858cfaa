"""``check``: what a branch does to the memory, for a pull request or a hook."""

from collections.abc import Iterator
from typing import Annotated

import typer

from graphmem.core.records import wording
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, passes
from graphmem.doors.cli.history import gist_of
from graphmem.doors.cli.markdown import Form, is_markdown
from graphmem.features.history.branch_check import BranchChecked, CheckRequest
from graphmem.features.history.contract import RowChange
from graphmem.kernel.markdown import bounded, code
from graphmem.kernel.registry import Taken
from graphmem.kernel.text import one_line

MARKER = "<!-- graphmem check -->"  # by which a comment is found that is to be replaced
WORDS = {"created": "added"}  # of what became of a row; others are their own


@passes("check", CheckRequest, base=Taken("REF"))
def check(
    invocation: Invocation,
    call: Call,
    form: Form = "text",
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 for a warning or a doubtful record too.")] = False,
) -> None:
    """
    Check what a branch does to the memory: records that changed, cited code that changed, credentials, validity.

    Errors exit 1. With --format markdown it is a comment on a forge, to be replaced: its first line is always the same.

    Example: graphmem check --base origin/main
    """
    to_markdown = is_markdown(invocation, form)
    invocation.is_talk_off = True  # what is wrong is the answer here, not talk
    answer: BranchChecked = call()
    invocation.answer(answer, _in_markdown(answer) if to_markdown else _in_words(answer), is_file=to_markdown)
    if not answer.ok or (strict and (answer.doubtful or answer.findings)):
        raise typer.Exit(1)


def _in_words(answer: BranchChecked) -> str:
    """Return what a branch does, a line each."""
    head = f"since {answer.base} ({answer.since[:10]}): {answer.summary or 'no change of the memory'}"
    return "\n".join([head, *(f"{word}: {said}" for word, said in items(answer))])


def _in_markdown(answer: BranchChecked) -> str:
    """Return what a branch does as a comment; every text of the store is shown as code."""
    head = f"**Memory:** {answer.summary or 'no change'} since {code(answer.base)}"
    return "\n".join([MARKER, head, "", *bounded(f"- {word}: {code(said)}" for word, said in items(answer))]).strip()


def items(answer: BranchChecked) -> Iterator[tuple[str, str]]:
    """Yield what there is to know, each with a word for what it is, the most urgent first."""
    for finding in sorted(answer.findings, key=lambda one: one.severity):
        yield finding.severity, one_line(finding.with_fix("fix"), wording.ADVICE)
    for one in answer.doubtful:
        yield "doubtful", f"{one.ref} cites {one.cite.partition('#')[0]}, which is {one.state}"
    for failure in answer.known_failures:
        yield "not fixed yet", f"{failure.ref}, about {one_line(', '.join(failure.files))}"
    for change in answer.changes:
        yield WORDS.get(change.action, change.action), _gist(change)


def _gist(change: RowChange) -> str:
    """Return what became of a row in one line: its fields that changed, or what it says."""
    about = ", ".join(field.field for field in change.fields) or gist_of(change)
    return f"{change.ref}{f'  {one_line(about)}' if about else ''}"
