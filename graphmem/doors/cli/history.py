"""``log``, ``diff``, ``textconv``: what changed, as git has it."""

from typing import Annotated

import typer
from pydantic import JsonValue

from graphmem.doors.cli import text
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, passes
from graphmem.doors.cli.event import line
from graphmem.doors.cli.markdown import code
from graphmem.errors import Usage
from graphmem.features.history.contract import (
    Difference,
    DiffRequest,
    FieldChange,
    History,
    LogRequest,
    Revision,
    RowChange,
)
from graphmem.kernel.git import textconv as conversion
from graphmem.kernel.registry import Taken

SAID = 120  # characters of a field's old and new value together
MARKS = {"created": "+ ", "changed": "~ ", "removed": "- "}
SECTIONS = ("created", "changed", "renamed", "superseded", "archived", "restored", "removed")
GIST = ("trigger", "objective", "value", "note")  # the field that says what a row is about


@passes("log", LogRequest)
def log(invocation: Invocation, answer: History) -> None:
    """
    Show the commits that changed a record, newest first, under whatever name it had; then what happened to it.

    Example: graphmem log failure/import-error --limit 5
    """
    invocation.answer(answer, "\n".join([*map(revision, answer.results), *map(line, reversed(answer.events))]))
    if answer.truncated:
        invocation.say("more commits changed it; raise --limit")
    if answer.shallow:
        invocation.say("the clone is shallow: what happened before is not here; git fetch --unshallow")
    if not answer.results:
        invocation.say(f"no commit changed {answer.ref}")


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
    invocation.answer(answer, in_markdown(answer) if markdown else in_words(answer), is_file=markdown)
    if answer.skipped:
        invocation.say(f"left out: {text.count(answer.skipped, 'line')} that are not rows")
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


def revision(found: Revision) -> str:
    """Return a commit with what it did to the record."""
    head = "not committed yet"
    if found.commit is not None:
        parts = found.commit[:10], found.at, text.one_line(found.author), text.one_line(found.subject)
        head = "  ".join(filter(None, parts))
    return "\n".join([head, f"  {found.change.action} {found.change.ref}", *fields(found.change)])


def in_words(answer: Difference) -> str:
    """Return what changed: all of it in one line, then row by row."""
    lines = [answer.summary] if answer.changes else []
    for change in answer.changes:
        mark = MARKS.get(change.action, f"{change.action} ")
        lines += [f"{mark}{change.ref}{about(change)}", *fields(change)]
    return "\n".join(lines)


def about(change: RowChange) -> str:
    """Return what a row says, where its fields are not listed one by one."""
    gist = "" if change.fields else gist_of(change)
    return f"  {gist}" if gist else ""


def gist_of(change: RowChange) -> str:
    """Return the one thing to know of a row."""
    if change.kind == "feedback":
        if change.row.get("wrong") is True:
            note = change.row.get("note")
            return f"is wrong{f': {text.one_line(note)}' if isinstance(note, str) else ''}"
        return "helped" if change.row.get("helped") is True else "did not help"
    if change.kind == "event":
        told = (change.row.get("type"), change.row.get("subject"))
        return text.one_line(" ".join(found for found in told if isinstance(found, str)))
    return next((text.one_line(found) for name in GIST if isinstance(found := change.row.get(name), str)), "")


def fields(change: RowChange) -> list[str]:
    """Return the changed fields of a row, one a line."""
    return [f"    {text.one_line(field.field)}: {' → '.join(values(field))}" for field in change.fields]


def values(field: FieldChange) -> tuple[str, ...]:
    """Return what a field was and is; of a list, the items that came and went."""
    if isinstance(field.old, list | None) and isinstance(field.new, list | None):
        old, new = [[item_of(item) for item in value or []] for value in (field.old, field.new)]
        told = [f"+{item}" for item in new if item not in old] + [f"-{item}" for item in old if item not in new]
        return (text.one_line(", ".join(told) or "another order", SAID),)
    return told_apart(said(field.old), said(field.new))


def item_of(value: JsonValue) -> str:
    """Return an item of a list: of a text that was set aside its field and itself, not its time."""
    if isinstance(value, dict) and value.keys() >= {"field", "text"}:
        return f"{text.shown(value['field'])}: {text.shown(value['text'])}"
    return text.shown(value)


def told_apart(old: str, new: str) -> tuple[str, str]:
    """Return two values, each cut to half a line; where both are long, from a little before they differ."""
    room = SAID // 2
    start = next((place for place, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), 0)
    skip = max(0, start - room // 3) if max(len(old), len(new)) > room else 0
    old, new = (f"…{value[skip:]}" if skip else value for value in (old, new))
    return text.one_line(old, room), text.one_line(new, room)


def said(value: JsonValue) -> str:
    """Return a field's value on one line."""
    return text.one_line(text.shown(value), 2**20) if value is not None else "none"


# --- Markdown -------------------------------------------------------------------------------------------------------


def in_markdown(answer: Difference) -> str:
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
        lines += ["", f"Left out: {text.count(answer.skipped, 'line')} that are not rows."]
    return "\n".join(lines)
