"""``graphmem add``: one record, or rows of any kind."""

from typing import Annotated

import typer

from graphmem.cli import text
from graphmem.cli.app import Noun
from graphmem.cli.caller import complete_entity_type, complete_ref, invocation_of
from graphmem.cli.inputs import lines_of, text_of, versions_of
from graphmem.cli.options import argument, option
from graphmem.cli.paths import from_here
from graphmem.contract.entities import AddEntityRequest
from graphmem.contract.experiences import AddExperienceRequest
from graphmem.contract.failures import AddFailureRequest
from graphmem.contract.insights import AddInsightRequest
from graphmem.contract.lessons import AddLessonRequest
from graphmem.contract.patterns import AddPatternRequest
from graphmem.contract.records import AddRowsRequest, VersionSource
from graphmem.errors import Usage
from graphmem.model import Lesson
from graphmem.model.experience import Complexity, Confidence, ExperienceType, Outcome
from graphmem.model.insight import Category
from graphmem.model.lesson import LessonType, Severity
from graphmem.rules.lesson_state import is_frequent

app = typer.Typer(
    cls=Noun, invoke_without_command=True, no_args_is_help=True, rich_markup_mode=None, add_completion=False
)

MissingOk = Annotated[bool, typer.Option("--missing-ok", help="A --file need not be there yet.")]
NoDedup = Annotated[bool, typer.Option("--no-dedup", help="Store it even if it repeats another.")]


@app.callback(epilog="Example: graphmem add --ndjson rows.ndjson")
def add(
    ctx: typer.Context,
    ndjson: Annotated[
        str | None,
        typer.Option("--ndjson", metavar="FILE|-", help="Rows of any kind, one JSON object a line, all or none."),
    ] = None,
    dedup: bool = option(AddRowsRequest, "dedup", note="with --ndjson"),
    skip_invalid: bool = option(AddRowsRequest, "skip_invalid", note="with --ndjson"),
    verbose: bool = option(AddRowsRequest, "verbose", note="with --ndjson"),
) -> None:
    """Add one record, or rows of any kind with --ndjson."""
    if ctx.invoked_subcommand is not None:
        return
    if ndjson is None:
        raise Usage("nothing to add", hint='see: graphmem add --help, such as graphmem add failure --trigger "…"')
    invocation = invocation_of(ctx)
    name = "<stdin>" if ndjson == "-" else ndjson
    with lines_of(ndjson) as lines:
        answer = invocation.memory.add_rows(lines, name=name, dedup=dedup, skip_invalid=skip_invalid, verbose=verbose)
    found = [
        f"{answer.created:,} created, {answer.merged:,} merged, {answer.updated:,} updated, "
        f"{answer.unchanged:,} unchanged, {text.count(answer.relations, 'relation')}"
    ]
    updates = [] if verbose else [f"updated {update.ref}: {', '.join(update.fields)}" for update in answer.updates]
    invocation.answer(answer, "\n".join([*(text.changed(result) for result in answer.results), *updates, *found]))


@app.command(epilog='Example: graphmem add failure --trigger "ImportError: no module yaml" --fix "pip install pyyaml"')
def failure(
    ctx: typer.Context,
    trigger: str = option(AddFailureRequest, "trigger", metavar="TEXT|-", note="- reads standard input"),
    fix: str | None = option(AddFailureRequest, "fix", metavar="TEXT"),
    name: str | None = option(AddFailureRequest, "name", metavar="SLUG"),
    match: str | None = option(AddFailureRequest, "match", metavar="RE"),
    cost: float | None = option(AddFailureRequest, "cost", metavar="K"),
    tag: list[str] | None = option(AddFailureRequest, "tags", "--tag", metavar="TAG"),
    source: list[str] | None = option(AddFailureRequest, "sources", "--source", metavar="WHERE"),
    file: list[str] | None = option(AddFailureRequest, "files", "--file", metavar="PATH"),
    cite: list[str] | None = option(AddFailureRequest, "cites", "--cite", metavar="PATH[:SYMBOL][@COMMIT]"),
    version: list[str] | None = option(AddFailureRequest, "versions", "--version", metavar="NAME=V"),
    versions_from: VersionSource = option(AddFailureRequest, "versions_from", "--versions"),
    check_after: str | None = option(AddFailureRequest, "check_after", metavar="DAY"),
    missing_ok: MissingOk = False,
    flaky: bool | None = option(AddFailureRequest, "flaky", "--flaky"),
    no_dedup: NoDedup = False,
    dry_run: bool = option(AddFailureRequest, "dry_run"),
    replace: bool = option(AddFailureRequest, "replace"),
    supersedes: str | None = option(AddFailureRequest, "supersedes", metavar="REF", autocompletion=complete_ref),
) -> None:
    """Add a failure: what went wrong and, once known, what fixes it."""
    invocation = invocation_of(ctx)
    trigger = text_of(trigger)
    answer = invocation.memory.failures.add(
        trigger,
        fix=fix,
        name=name,
        match=match,
        cost=cost,
        tags=tag,
        sources=source,
        flaky=flaky,
        versions=versions_of(version),
        versions_from=versions_from,
        check_after=check_after,
        supersedes=supersedes,
        dedup=not no_dedup,
        dry_run=dry_run,
        replace=replace,
        **from_here(invocation, file, cite, is_missing_ok=missing_ok),
    )
    invocation.answer(answer, text.changed(answer, is_dry=dry_run))


@app.command(
    epilog='Example: graphmem add pattern --trigger "a flaky test" --insight "wait for the event, not the clock"'
)
def pattern(
    ctx: typer.Context,
    trigger: str = option(AddPatternRequest, "trigger", metavar="TEXT|-", note="- reads standard input"),
    insight: str = option(AddPatternRequest, "insight", metavar="TEXT"),
    name: str | None = option(AddPatternRequest, "name", metavar="SLUG"),
    saved: float | None = option(AddPatternRequest, "saved", metavar="K"),
    framework: str | None = option(AddPatternRequest, "framework", metavar="NAME"),
    tag: list[str] | None = option(AddPatternRequest, "tags", "--tag", metavar="TAG"),
    source: list[str] | None = option(AddPatternRequest, "sources", "--source", metavar="WHERE"),
    file: list[str] | None = option(AddPatternRequest, "files", "--file", metavar="PATH"),
    cite: list[str] | None = option(AddPatternRequest, "cites", "--cite", metavar="PATH[:SYMBOL][@COMMIT]"),
    version: list[str] | None = option(AddPatternRequest, "versions", "--version", metavar="NAME=V"),
    versions_from: VersionSource = option(AddPatternRequest, "versions_from", "--versions"),
    check_after: str | None = option(AddPatternRequest, "check_after", metavar="DAY"),
    missing_ok: MissingOk = False,
    no_dedup: NoDedup = False,
    dry_run: bool = option(AddPatternRequest, "dry_run"),
    replace: bool = option(AddPatternRequest, "replace"),
    supersedes: str | None = option(AddPatternRequest, "supersedes", metavar="REF", autocompletion=complete_ref),
) -> None:
    """Add a pattern: when it applies, and what to do then."""
    invocation = invocation_of(ctx)
    trigger = text_of(trigger)
    answer = invocation.memory.patterns.add(
        trigger,
        insight,
        name=name,
        saved=saved,
        framework=framework,
        tags=tag,
        sources=source,
        versions=versions_of(version),
        versions_from=versions_from,
        check_after=check_after,
        supersedes=supersedes,
        dedup=not no_dedup,
        dry_run=dry_run,
        replace=replace,
        **from_here(invocation, file, cite, is_missing_ok=missing_ok),
    )
    invocation.answer(answer, text.changed(answer, is_dry=dry_run))


@app.command(epilog='Example: graphmem add entity class pkg.store.Store --value "Owns the files."')
def entity(
    ctx: typer.Context,
    type_name: str = argument(AddEntityRequest, "type_name", metavar="TYPE", autocompletion=complete_entity_type),
    name: str = argument(AddEntityRequest, "name", metavar="NAME"),
    value: str | None = option(AddEntityRequest, "value", metavar="TEXT"),
    source: list[str] | None = option(AddEntityRequest, "sources", "--source", metavar="WHERE"),
    dry_run: bool = option(AddEntityRequest, "dry_run"),
) -> None:
    """Add an entity of a declared type, or change its value."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.entities.add(type_name, name, value=value, dry_run=dry_run, sources=source)
    invocation.answer(answer, text.changed(answer, is_dry=dry_run))


@app.command(epilog='Example: graphmem add lesson --description "never retry a payment blindly" --type anti_pattern')
def lesson(
    ctx: typer.Context,
    description: str = option(AddLessonRequest, "description", metavar="TEXT"),
    type_name: LessonType | None = option(AddLessonRequest, "type"),
    name: str | None = option(AddLessonRequest, "name", metavar="SLUG"),
    domain: str | None = option(AddLessonRequest, "domain", metavar="D"),
    severity: Severity | None = option(AddLessonRequest, "severity"),
    archetype: str | None = option(AddLessonRequest, "archetype", metavar="A"),
    raised_by: str | None = option(AddLessonRequest, "source", "--raised-by", metavar="WHO"),
    tag: list[str] | None = option(AddLessonRequest, "tags", "--tag", metavar="TAG"),
    source: list[str] | None = option(AddLessonRequest, "sources", "--source", metavar="WHERE"),
    file: list[str] | None = option(AddLessonRequest, "files", "--file", metavar="PATH"),
    cite: list[str] | None = option(AddLessonRequest, "cites", "--cite", metavar="PATH[:SYMBOL][@COMMIT]"),
    missing_ok: MissingOk = False,
    no_dedup: NoDedup = False,
    dry_run: bool = option(AddLessonRequest, "dry_run"),
    replace: bool = option(AddLessonRequest, "replace"),
    supersedes: str | None = option(AddLessonRequest, "supersedes", metavar="REF", autocompletion=complete_ref),
) -> None:
    """Add a lesson by hand; most come from runs, with learn."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.lessons.add(
        description,
        type=type_name,
        name=name,
        domain=domain,
        severity=severity,
        archetype=archetype,
        source=raised_by,
        tags=tag,
        sources=source,
        dedup=not no_dedup,
        dry_run=dry_run,
        supersedes=supersedes,
        replace=replace,
        **from_here(invocation, file, cite, is_missing_ok=missing_ok),
    )
    invocation.answer(answer, text.changed(answer, is_dry=dry_run))
    if isinstance(answer.record, Lesson) and not is_frequent(answer.record):
        invocation.say("graphmem inject has it once two runs saw it; a preference at once (--type preference)")


@app.command(
    epilog='Example: graphmem add experience --type bug --description "login loop" --approach "traced the cookie"'
    ' --outcome success --lesson "SameSite=Lax drops the cookie on a POST from another site"'
)
def experience(
    ctx: typer.Context,
    task_type: ExperienceType = option(AddExperienceRequest, "task_type", "--type"),
    description: str = option(AddExperienceRequest, "description", metavar="TEXT"),
    approach: str = option(AddExperienceRequest, "approach", metavar="TEXT"),
    outcome: Outcome = option(AddExperienceRequest, "outcome"),
    lesson: list[str] = option(AddExperienceRequest, "lessons", "--lesson", metavar="TEXT"),
    name: str | None = option(AddExperienceRequest, "name", metavar="SLUG"),
    minutes: float | None = option(AddExperienceRequest, "time_taken", "--minutes", metavar="N"),
    estimated: Complexity | None = option(AddExperienceRequest, "complexity_estimated", "--estimated"),
    actual: Complexity | None = option(AddExperienceRequest, "complexity_actual", "--actual"),
    capability: list[str] | None = option(AddExperienceRequest, "capabilities_used", "--capability", metavar="NAME"),
    confidence: Confidence | None = option(AddExperienceRequest, "confidence"),
    tag: list[str] | None = option(AddExperienceRequest, "tags", "--tag", metavar="TAG"),
    source: list[str] | None = option(AddExperienceRequest, "sources", "--source", metavar="WHERE"),
    dry_run: bool = option(AddExperienceRequest, "dry_run"),
    supersedes: str | None = option(AddExperienceRequest, "supersedes", metavar="REF", autocompletion=complete_ref),
) -> None:
    """Add what a finished task taught."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.experiences.add(
        task_type,
        description,
        approach=approach,
        outcome=outcome,
        lessons=lesson,
        name=name,
        time_taken=minutes,
        complexity_estimated=estimated,
        complexity_actual=actual,
        capabilities_used=capability,
        confidence=confidence,
        tags=tag,
        sources=source,
        supersedes=supersedes,
        dry_run=dry_run,
    )
    invocation.answer(answer, text.changed(answer, is_dry=dry_run))


@app.command(
    epilog='Example: graphmem add insight --category codebase_insight --statement "src/api is generated"'
    " --from experience/2026-11-01_login-loop --from experience/2026-11-08_token-refresh"
)
def insight(
    ctx: typer.Context,
    category: Category = option(AddInsightRequest, "category"),
    statement: str = option(AddInsightRequest, "statement", metavar="TEXT"),
    derived_from: list[str] = option(AddInsightRequest, "derived_from", "--from", metavar="EXPERIENCE"),
    name: str | None = option(AddInsightRequest, "name", metavar="SLUG"),
    tag: list[str] | None = option(AddInsightRequest, "tags", "--tag", metavar="TAG"),
    source: list[str] | None = option(AddInsightRequest, "sources", "--source", metavar="WHERE"),
    dry_run: bool = option(AddInsightRequest, "dry_run"),
    supersedes: str | None = option(AddInsightRequest, "supersedes", metavar="REF", autocompletion=complete_ref),
) -> None:
    """Add an insight by hand; most come from experiences, with promote."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.insights.add(
        category,
        statement,
        derived_from=derived_from,
        name=name,
        tags=tag,
        sources=source,
        dry_run=dry_run,
        supersedes=supersedes,
    )
    invocation.answer(answer, text.changed(answer, is_dry=dry_run))
