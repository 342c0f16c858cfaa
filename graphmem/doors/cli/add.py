"""``graphmem add``: one record, or rows of any kind."""

from typing import Annotated

import typer

from graphmem.core.records.entities import AddEntityRequest
from graphmem.core.records.failures import AddFailureRequest
from graphmem.core.records.insights import AddInsightRequest
from graphmem.core.records.patterns import AddPatternRequest
from graphmem.core.records.record_contract import AddRowsRequest, BulkAdded, Changed
from graphmem.doors.cli import text
from graphmem.doors.cli.app import Noun
from graphmem.doors.cli.caller import Invocation, complete_entity_type
from graphmem.doors.cli.commands import Call, passes
from graphmem.doors.cli.inputs import lines_of, text_of, versions_of
from graphmem.doors.cli.paths import from_here
from graphmem.errors import Usage
from graphmem.features.learning.experiences import AddExperienceRequest
from graphmem.features.learning.lessons import AddLessonRequest
from graphmem.kernel.model import Lesson
from graphmem.kernel.model.lesson_state import is_frequent
from graphmem.kernel.registry import Taken

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
        f"{answer.unchanged:,} unchanged, {text.count(answer.relations, 'relation')}"
    ]
    updates = [] if verbose else [f"updated {update.ref}: {', '.join(update.fields)}" for update in answer.updates]
    invocation.answer(answer, "\n".join([*(text.changed(result) for result in answer.results), *updates, *found]))


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
    invocation.answer(answer, text.changed(answer, is_dry=dry_run))


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
    invocation.answer(answer, text.changed(answer, is_dry=dry_run))


@app.command(epilog='Example: graphmem add entity class pkg.store.Store --value "Owns the files."')
@passes("entities.add", AddEntityRequest, type_name=Taken("TYPE", complete_entity_type))
def entity(invocation: Invocation, answer: Changed, dry_run: bool) -> None:
    """Add an entity of a declared type, or change its value."""
    invocation.answer(answer, text.changed(answer, is_dry=dry_run))


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
    invocation.answer(answer, text.changed(answer, is_dry=dry_run))
    if isinstance(answer.record, Lesson) and not is_frequent(answer.record):
        invocation.say("graphmem inject has it once two runs saw it; a preference at once (--type preference)")


@app.command(
    epilog='Example: graphmem add experience --type bug --description "login loop" --approach "traced the cookie"'
    ' --outcome success --lesson "SameSite=Lax drops the cookie on a POST from another site"'
)
@passes(
    "experiences.add",
    AddExperienceRequest,
    arguments=0,
    task_type=Taken(flag="--type"),
    time_taken=Taken(flag="--minutes"),
    complexity_estimated=Taken(flag="--estimated"),
    complexity_actual=Taken(flag="--actual"),
    capabilities_used=Taken("NAME", flag="--capability"),
)
def experience(invocation: Invocation, answer: Changed, dry_run: bool) -> None:
    """Add what a finished task taught."""
    invocation.answer(answer, text.changed(answer, is_dry=dry_run))


@app.command(
    epilog='Example: graphmem add insight --category codebase_insight --statement "src/api is generated"'
    " --from experience/2026-11-01_login-loop --from experience/2026-11-08_token-refresh"
)
@passes("insights.add", AddInsightRequest, arguments=0, derived_from=Taken("EXPERIENCE", flag="--from"))
def insight(invocation: Invocation, answer: Changed, dry_run: bool) -> None:
    """Add an insight by hand; most come from experiences, with promote."""
    invocation.answer(answer, text.changed(answer, is_dry=dry_run))
