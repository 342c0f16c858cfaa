"""``graphmem add``: one record, or rows of any kind."""

from typing import Annotated

import typer

from graphmem.core.records import wording
from graphmem.core.records.failures import AddFailureRequest
from graphmem.core.records.patterns import AddPatternRequest
from graphmem.core.records.record_contract import AddRowsRequest, BulkAdded, Changed
from graphmem.doors.cli.app import Noun
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, add_commands, passes
from graphmem.doors.cli.inputs import lines_of, text_of, versions_of
from graphmem.doors.cli.paths import from_here
from graphmem.errors import Usage
from graphmem.features.learning.lessons import AddLessonRequest
from graphmem.kernel.model import Lesson
from graphmem.kernel.model.lesson_state import is_frequent
from graphmem.kernel.registry import Taken
from graphmem.kernel.text import count

app = typer.Typer(
    cls=Noun, invoke_without_command=True, no_args_is_help=True, rich_markup_mode=None, add_completion=False
)

WITH_ROWS = Taken(note="with --ndjson")
MissingOk = Annotated[bool, typer.Option("--missing-ok", help="A --file need not be there yet.")]


@app.callback(epilog="Example: graphmem add --ndjson rows.ndjson")
@passes("add_rows", AddRowsRequest, dedup=WITH_ROWS, skip_invalid=WITH_ROWS, verbose=WITH_ROWS, purges=WITH_ROWS)
def add(
    invocation: Invocation,
    call: Call,
    name: Annotated[
        str | None,
        typer.Option("--ndjson", metavar="FILE|-", help="Rows of any kind, one JSON object a line, all or none."),
    ] = None,
    verbose: bool = False,
) -> None:
    """Add one record, or rows of any kind with --ndjson."""
    if name is None:
        raise Usage("nothing to add", hint='see: graphmem add --help, such as graphmem add failure --trigger "…"')
    with lines_of(name) as lines:
        answer: BulkAdded = call(lines, name="<stdin>" if name == "-" else name)
    found = [
        f"{answer.created:,} created, {answer.merged:,} merged, {answer.updated:,} updated, "
        f"{answer.unchanged:,} unchanged, {count(answer.relations, 'relation')}"
    ]
    updates = [] if verbose else [f"updated {update.ref}: {', '.join(update.fields)}" for update in answer.updates]
    invocation.answer(answer, "\n".join([*(wording.changed(result) for result in answer.results), *updates, *found]))


@app.command(epilog='Example: graphmem add failure --trigger "ImportError: no module yaml" --fix "pip install pyyaml"')
@passes("failures.add", AddFailureRequest, arguments=0, match=Taken("RE"), cost=Taken("K"))
def failure(
    invocation: Invocation,
    call: Call,
    trigger: str,
    versions: list[str] | None,
    files: list[str] | None,
    cites: list[str] | None,
    missing_ok: MissingOk = False,
    dry_run: bool = False,
) -> None:
    """Add a failure: what went wrong and, once known, what fixes it."""
    answer: Changed = call(
        trigger=text_of(trigger),
        versions=versions_of(versions),
        **from_here(invocation, files, cites, is_missing_ok=missing_ok),
    )
    invocation.answer(answer, wording.changed(answer, is_dry=dry_run))


@app.command(
    epilog='Example: graphmem add pattern --trigger "a flaky test" --insight "wait for the event, not the clock"'
)
@passes("patterns.add", AddPatternRequest, arguments=0, saved=Taken("K"), framework=Taken("NAME"))
def pattern(
    invocation: Invocation,
    call: Call,
    trigger: str,
    versions: list[str] | None,
    files: list[str] | None,
    cites: list[str] | None,
    missing_ok: MissingOk = False,
    dry_run: bool = False,
) -> None:
    """Add a pattern: when it applies, and what to do then."""
    answer: Changed = call(
        trigger=text_of(trigger),
        versions=versions_of(versions),
        **from_here(invocation, files, cites, is_missing_ok=missing_ok),
    )
    invocation.answer(answer, wording.changed(answer, is_dry=dry_run))


@app.command(epilog='Example: graphmem add lesson --description "never retry a payment blindly" --type anti_pattern')
@passes("lessons.add", AddLessonRequest, arguments=0, source=Taken("WHO", flag="--raised-by"))
def lesson(
    invocation: Invocation,
    call: Call,
    files: list[str] | None,
    cites: list[str] | None,
    missing_ok: MissingOk = False,
    dry_run: bool = False,
) -> None:
    """Add a lesson by hand; most come from runs, with learn."""
    answer: Changed = call(**from_here(invocation, files, cites, is_missing_ok=missing_ok))
    invocation.answer(answer, wording.changed(answer, is_dry=dry_run))
    if isinstance(answer.record, Lesson) and not is_frequent(answer.record):
        invocation.say("graphmem inject has it once two runs saw it; a preference at once (--type preference)")


add_commands(app, "add")
