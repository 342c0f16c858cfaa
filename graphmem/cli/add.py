"""``graphmem add``: one record, or rows of any kind."""

from typing import Annotated, Any

import typer

from graphmem.cli import text
from graphmem.cli.app import Noun
from graphmem.cli.caller import complete_entity_type, session_of
from graphmem.cli.inputs import lines_of, text_of
from graphmem.cli.paths import from_here
from graphmem.errors import Usage
from graphmem.model import Lesson
from graphmem.model.experience import Complexity, Confidence, ExperienceType, Outcome
from graphmem.model.insight import Category
from graphmem.model.lesson import LessonType, Severity
from graphmem.rules.lesson_state import is_frequent

app = typer.Typer(
    cls=Noun, invoke_without_command=True, no_args_is_help=True, rich_markup_mode=None, add_completion=False
)

Tags = Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag; may be repeated.")]
Sources = Annotated[
    list[str] | None, typer.Option("--source", metavar="WHERE", help="Where it came from; may be repeated.")
]
Files = Annotated[list[str] | None, typer.Option("--file", metavar="PATH", help="A file it is about; may be repeated.")]
Cites = Annotated[
    list[str] | None,
    typer.Option("--cite", metavar="PATH[:SYMBOL][@COMMIT]", help="Code that it speaks of; may be repeated."),
]
MissingOk = Annotated[bool, typer.Option("--missing-ok", help="A --file need not be there yet.")]
Name = Annotated[
    str | None, typer.Option("--name", metavar="SLUG", help="Its name; made from the trigger if not given.")
]
NoDedup = Annotated[bool, typer.Option("--no-dedup", help="Store it even if it repeats another.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")]
Replace = Annotated[
    bool, typer.Option("--replace", help="Under a taken name, or if it is merged: make the new texts the current ones.")
]


@app.callback(epilog="Example: graphmem add --ndjson rows.ndjson")
def add(
    ctx: typer.Context,
    ndjson: Annotated[
        str | None,
        typer.Option("--ndjson", metavar="FILE|-", help="Rows of any kind, one JSON object a line, all or none."),
    ] = None,
    dedup: Annotated[bool, typer.Option("--dedup", help="With --ndjson: merge rows that repeat others.")] = False,
    skip_invalid: Annotated[
        bool, typer.Option("--skip-invalid", help="With --ndjson: take the good rows, keep the bad ones aside.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="With --ndjson: say what became of each row.")] = False,
) -> None:
    """Add one record, or rows of any kind with --ndjson."""
    if ctx.invoked_subcommand is not None:
        return
    if ndjson is None:
        raise Usage("nothing to add", hint='see: graphmem add --help, such as graphmem add failure --trigger "…"')
    session = session_of(ctx)
    name = "<stdin>" if ndjson == "-" else ndjson
    with lines_of(ndjson) as lines:
        answer = session.memory.add_rows(lines, name=name, dedup=dedup, skip_invalid=skip_invalid, verbose=verbose)
    found = [f"{answer.created:,} created, {answer.merged:,} merged, {answer.updated:,} updated, "
             f"{answer.unchanged:,} unchanged, {text.count(answer.relations, 'relation')}"]  # fmt: skip
    updates = [] if verbose else [f"updated {update.ref}: {', '.join(update.fields)}" for update in answer.updates]
    session.answer(answer, "\n".join([*(text.changed(result) for result in answer.results), *updates, *found]))


def given(**fields: Any) -> dict[str, Any]:
    """Return the fields that were given: an option that is not there is not an empty list."""
    return {name: value for name, value in fields.items() if value is not None}


@app.command(epilog='Example: graphmem add failure --trigger "ImportError: no module yaml" --fix "pip install pyyaml"')
def failure(
    ctx: typer.Context,
    trigger: Annotated[str, typer.Option("--trigger", metavar="TEXT|-", help="The error; - reads it.")],
    fix: Annotated[str | None, typer.Option("--fix", metavar="TEXT", help="What resolves it.")] = None,
    name: Name = None,
    match: Annotated[
        str | None, typer.Option("--match", metavar="RE", help="Regular expression that finds it in a log.")
    ] = None,
    cost: Annotated[
        float | None, typer.Option("--cost", metavar="K", help="What it cost, in thousands of tokens.")
    ] = None,
    tag: Tags = None,
    source: Sources = None,
    file: Files = None,
    cite: Cites = None,
    missing_ok: MissingOk = False,
    flaky: Annotated[bool | None, typer.Option("--flaky", help="The failure is flaky: it comes and goes.")] = None,
    no_dedup: NoDedup = False,
    dry_run: DryRun = False,
    replace: Replace = False,
) -> None:
    """Add a failure: what went wrong and, once known, what fixes it."""
    session = session_of(ctx)
    trigger = text_of(trigger)
    fields = given(fix=fix, match=match, cost=cost, tags=tag, sources=source, flaky=flaky)
    fields |= from_here(session, file, cite, is_missing_ok=missing_ok)
    answer = session.memory.failures.add(
        trigger, name=name, dedup=not no_dedup, dry_run=dry_run, replace=replace, **fields
    )
    session.answer(answer, text.changed(answer, is_dry=dry_run))


@app.command(
    epilog='Example: graphmem add pattern --trigger "a flaky test" --insight "wait for the event, not the clock"'
)
def pattern(
    ctx: typer.Context,
    trigger: Annotated[str, typer.Option("--trigger", metavar="TEXT|-", help="When it applies; - reads it.")],
    insight: Annotated[str, typer.Option("--insight", metavar="TEXT", help="What to do then.")],
    name: Name = None,
    saved: Annotated[
        float | None, typer.Option("--saved", metavar="K", help="What it saves, in thousands of tokens.")
    ] = None,
    framework: Annotated[
        str | None, typer.Option("--framework", metavar="NAME", help="Framework or tool that the pattern is for.")
    ] = None,
    tag: Tags = None,
    source: Sources = None,
    file: Files = None,
    cite: Cites = None,
    missing_ok: MissingOk = False,
    no_dedup: NoDedup = False,
    dry_run: DryRun = False,
    replace: Replace = False,
) -> None:
    """Add a pattern: when it applies, and what to do then."""
    session = session_of(ctx)
    trigger = text_of(trigger)
    fields = given(
        saved=saved,
        framework=framework,
        tags=tag,
        sources=source,
    )
    fields |= from_here(session, file, cite, is_missing_ok=missing_ok)
    answer = session.memory.patterns.add(
        trigger, insight, name=name, dedup=not no_dedup, dry_run=dry_run, replace=replace, **fields
    )
    session.answer(answer, text.changed(answer, is_dry=dry_run))


@app.command(epilog='Example: graphmem add entity class pkg.store.Store --value "Owns the files."')
def entity(
    ctx: typer.Context,
    type_name: Annotated[
        str, typer.Argument(metavar="TYPE", autocompletion=complete_entity_type, help="A declared entity type.")
    ],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name, unique in its type.")],
    value: Annotated[
        str | None, typer.Option("--value", metavar="TEXT", help="What belongs to the thing itself.")
    ] = None,
    source: Sources = None,
    dry_run: DryRun = False,
) -> None:
    """Add an entity of a declared type, or change its value."""
    session = session_of(ctx)
    answer = session.memory.entities.add(type_name, name, value=value, dry_run=dry_run, **given(sources=source))
    session.answer(answer, text.changed(answer, is_dry=dry_run))


@app.command(epilog='Example: graphmem add lesson --description "never retry a payment blindly" --type anti_pattern')
def lesson(
    ctx: typer.Context,
    description: Annotated[str, typer.Option("--description", metavar="TEXT", help="The lesson.")],
    type_name: Annotated[
        LessonType | None,
        typer.Option("--type", help="Type of lesson; a preference is injected at once, others after two runs."),
    ] = None,
    name: Name = None,
    domain: Annotated[
        str | None, typer.Option("--domain", metavar="D", help="Domain where the lesson applies [default: general].")
    ] = None,
    severity: Annotated[Severity | None, typer.Option("--severity", help="Severity of ignoring the lesson.")] = None,
    archetype: Annotated[
        str | None, typer.Option("--archetype", metavar="A", help="Archetype; only for an archetype_hint.")
    ] = None,
    raised_by: Annotated[str | None, typer.Option("--raised-by", metavar="WHO", help="Who raised the lesson.")] = None,
    tag: Tags = None,
    source: Sources = None,
    file: Files = None,
    cite: Cites = None,
    missing_ok: MissingOk = False,
    no_dedup: NoDedup = False,
    dry_run: DryRun = False,
    replace: Replace = False,
) -> None:
    """Add a lesson by hand; most come from runs, with learn."""
    session = session_of(ctx)
    fields = given(type=type_name, domain=domain, severity=severity, archetype=archetype, source=raised_by, tags=tag,
                   sources=source)  # fmt: skip
    fields |= from_here(session, file, cite, is_missing_ok=missing_ok)
    answer = session.memory.lessons.add(
        description, name=name, dedup=not no_dedup, dry_run=dry_run, replace=replace, **fields
    )
    session.answer(answer, text.changed(answer, is_dry=dry_run))
    if isinstance(answer.record, Lesson) and not is_frequent(answer.record):
        session.say("graphmem inject has it once two runs saw it; a preference at once (--type preference)")


@app.command(
    epilog='Example: graphmem add experience --type bug --description "login loop" --approach "traced the cookie"'
    ' --outcome success --lesson "SameSite=Lax drops the cookie on a POST from another site"'
)
def experience(
    ctx: typer.Context,
    task_type: Annotated[ExperienceType, typer.Option("--type", help="Type of the task.")],
    description: Annotated[str, typer.Option("--description", metavar="TEXT", help="What the task was.")],
    approach: Annotated[str, typer.Option("--approach", metavar="TEXT", help="Approach that was taken.")],
    outcome: Annotated[Outcome, typer.Option("--outcome", help="Outcome of the task.")],
    lesson: Annotated[list[str], typer.Option("--lesson", metavar="TEXT", help="A lesson learned; may be repeated.")],
    name: Name = None,
    minutes: Annotated[float | None, typer.Option("--minutes", metavar="N", help="Minutes that the task took.")] = None,
    estimated: Annotated[Complexity | None, typer.Option("--estimated", help="Estimated complexity.")] = None,
    actual: Annotated[Complexity | None, typer.Option("--actual", help="Complexity as it turned out.")] = None,
    capability: Annotated[
        list[str] | None, typer.Option("--capability", metavar="NAME", help="What it was done with; may be repeated.")
    ] = None,
    confidence: Annotated[
        Confidence | None,
        typer.Option("--confidence", help="Confidence in the experience; low while there are few experiences."),
    ] = None,
    tag: Tags = None,
    source: Sources = None,
    dry_run: DryRun = False,
) -> None:
    """Add what a finished task taught."""
    session = session_of(ctx)
    fields = given(time_taken=minutes, complexity_estimated=estimated, complexity_actual=actual, tags=tag,
                   capabilities_used=capability, confidence=confidence, sources=source)  # fmt: skip
    answer = session.memory.experiences.add(
        task_type, description, approach=approach, outcome=outcome, lessons=lesson, name=name, dry_run=dry_run, **fields
    )
    session.answer(answer, text.changed(answer, is_dry=dry_run))


@app.command(
    epilog='Example: graphmem add insight --category codebase_insight --statement "src/api is generated"'
    " --from experience/2026-11-01_login-loop --from experience/2026-11-08_token-refresh"
)
def insight(
    ctx: typer.Context,
    category: Annotated[
        Category,
        typer.Option(
            "--category", metavar="C", help="codebase_insight, execution_pattern, user_behavior, recurring_issue."
        ),
    ],
    statement: Annotated[str, typer.Option("--statement", metavar="TEXT", help="The insight.")],
    derived_from: Annotated[
        list[str],
        typer.Option(
            "--from", metavar="EXPERIENCE", help="A supporting experience; at least two, from different days."
        ),
    ],
    name: Name = None,
    tag: Tags = None,
    source: Sources = None,
    dry_run: DryRun = False,
) -> None:
    """Add an insight by hand; most come from experiences, with promote."""
    session = session_of(ctx)
    answer = session.memory.insights.add(category, statement, derived_from=derived_from, name=name, dry_run=dry_run,
                                         **given(tags=tag, sources=source))  # fmt: skip
    session.answer(answer, text.changed(answer, is_dry=dry_run))
