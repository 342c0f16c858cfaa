"""``log``, ``diff``, ``textconv``: what changed, as git has it."""

from typing import Annotated

import typer

from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, passes
from graphmem.errors import Usage
from graphmem.features.history.contract import Difference, DiffRequest, RowChange
from graphmem.features.history.text import fields, values
from graphmem.kernel.git import textconv as conversion
from graphmem.kernel.markdown import code
from graphmem.kernel.registry import Taken
from graphmem.kernel.text import count, one_line

MARKS = {"created": "+ ", "changed": "~ ", "removed": "- "}
SECTIONS = ("created", "changed", "renamed", "superseded", "archived", "restored", "removed")
GIST = ("trigger", "objective", "value", "note")  # the field that says what a row is about


@passes("diff", DiffRequest, arguments=1, revisions=Taken("A..B|A"))
def diff(
    invocation: Invocation,
    call: Call,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown, for a pull request.")] = False,
) -> None:
    """
    Show in words what changed in the memory: between two commits, or since one.

    A..B compares two commits, A...B shows what B changed since it left A, A compares with the files as they are now.
    Each may be a date, which means the last commit before it.

    Example: graphmem diff main...HEAD --markdown
    """
    if markdown and invocation.is_json:
        raise Usage("--markdown and --json are two forms", hint="give one of them")
    answer: Difference = call()
    invocation.answer(answer, _in_markdown(answer) if markdown else _in_words(answer), is_file=markdown)
    if answer.skipped:
        invocation.say(f"left out: {count(answer.skipped, 'line')} that are not rows")
    if not answer.changes:
        invocation.say("nothing changed")


def textconv(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A data file.")],
) -> None:
    """
    Print the rows of a data file for people, one field a line; git calls it to show differences.

    Example: graphmem textconv .graphmem/data/failure.ndjson
    """
    raise typer.Exit(conversion.main(file))


# --- text -----------------------------------------------------------------------------------------------------------


def _in_words(answer: Difference) -> str:
    """Return what changed: all of it in one line, then row by row."""
    lines = [answer.summary] if answer.changes else []
    for change in answer.changes:
        mark = MARKS.get(change.action, f"{change.action} ")
        lines += [f"{mark}{change.ref}{_about(change)}", *fields(change)]
    return "\n".join(lines)


def _about(change: RowChange) -> str:
    """Return what a row says, where its fields are not listed one by one."""
    gist = "" if change.fields else gist_of(change)
    return f"  {gist}" if gist else ""


def gist_of(change: RowChange) -> str:
    """Return the one thing to know of a row."""
    if change.kind == "feedback":
        if change.row.get("wrong") is True:
            note = change.row.get("note")
            return f"is wrong{f': {one_line(note)}' if isinstance(note, str) else ''}"
        return "helped" if change.row.get("helped") is True else "did not help"
    if change.kind == "event":
        told = (change.row.get("type"), change.row.get("subject"))
        return one_line(" ".join(found for found in told if isinstance(found, str)))
    return next((one_line(found) for name in GIST if isinstance(found := change.row.get(name), str)), "")


# --- Markdown -------------------------------------------------------------------------------------------------------


def _in_markdown(answer: Difference) -> str:
    """Return what changed as Markdown; every text of the store is shown as code, so that nothing of it is markup."""
    lines = [f"**Memory:** {answer.summary or 'no change'}"]
    for action in SECTIONS:
        found = [change for change in answer.changes if change.action == action]
        if found:
            lines += ["", f"### {action.capitalize()}", ""]
        for change in found:
            gist = "" if change.fields else gist_of(change)
            lines.append(f"- {code(change.ref)}{f': {code(gist)}' if gist else ''}")
            lines += [f"  - {code(field.field)}: {' → '.join(map(code, values(field)))}" for field in change.fields]
    if answer.skipped:
        lines += ["", f"Left out: {count(answer.skipped, 'line')} that are not rows."]
    return "\n".join(lines)
