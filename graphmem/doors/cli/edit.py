"""``edit``, ``rename``, ``forget``, ``restore``, ``pin``, ``unpin``, ``feedback``."""

from typing import Annotated, Any

import typer

from graphmem.core.records import wording
from graphmem.core.records.feedback_contract import Reported
from graphmem.core.records.record_contract import Changed
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, passes
from graphmem.doors.cli.completion import complete_ref
from graphmem.doors.cli.inputs import lines_of, parameter, versions_of
from graphmem.doors.cli.paths import from_here
from graphmem.errors import Usage
from graphmem.kernel.model.failure import Identity
from graphmem.kernel.registry import Taken

Trigger = Annotated[
    str | None, typer.Option("--trigger", metavar="TEXT", help="What was observed, or when it applies.")
]
Fix = Annotated[str | None, typer.Option("--fix", metavar="TEXT", help="What resolves a failure.")]
Symptom = Annotated[
    str | None, typer.Option("--symptom", metavar="TEXT", help="A failure in plain words, as a person would report it.")
]
HoldsFor = Annotated[Identity | None, typer.Option("--holds-for", help="What the fix of a failure holds for.")]
Insight = Annotated[str | None, typer.Option("--insight", metavar="TEXT", help="What a pattern says to do.")]
Match = Annotated[
    str | None, typer.Option("--match", metavar="RE", help="Regular expression that finds a failure in a log.")
]
Cost = Annotated[float | None, typer.Option("--cost", metavar="K", help="What a failure cost, in thousands of tokens.")]
Saved = Annotated[
    float | None, typer.Option("--saved", metavar="K", help="What a pattern saves, in thousands of tokens.")
]
Framework = Annotated[
    str | None, typer.Option("--framework", metavar="NAME", help="What a failure, pattern or campaign is about.")
]
Value = Annotated[str | None, typer.Option("--value", metavar="TEXT", help="What belongs to an entity itself.")]
Objective = Annotated[str | None, typer.Option("--objective", metavar="TEXT", help="What a campaign or task is for.")]

Description = Annotated[
    str | None, typer.Option("--description", metavar="TEXT", help="What a lesson or experience says.")
]


@passes("edit", without=("fields",), unset=Taken("FIELD"))
def edit(
    invocation: Invocation,
    call: Call,
    ref: str,  # before the options of the command
    trigger: Trigger = None,
    fix: Fix = None,
    symptom: Symptom = None,
    holds_for: HoldsFor = None,
    insight: Insight = None,
    match: Match = None,
    cost: Cost = None,
    saved: Saved = None,
    framework: Framework = None,
    value: Value = None,
    objective: Objective = None,
    description: Description = None,
    given: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="FIELD=TEXT|FIELD:=JSON", help="Any other field."),
    ] = None,
    flaky: Annotated[bool | None, typer.Option("--flaky/--not-flaky", help="Whether a failure comes and goes.")] = None,
    source: Annotated[list[str] | None, typer.Option("--source", metavar="WHERE", help="Replaces the sources.")] = None,
    file: Annotated[list[str] | None, typer.Option("--file", metavar="PATH", help="Replaces the files.")] = None,
    cite: Annotated[
        list[str] | None,
        typer.Option("--cite", metavar="PATH[:SYMBOL][@COMMIT]", help="Replaces the cites, as the code is now."),
    ] = None,
    missing_ok: Annotated[bool, typer.Option("--missing-ok", help="A --file need not be there yet.")] = False,
    version: Annotated[
        list[str] | None, typer.Option("--version", metavar="NAME=V", help="Replaces the versions of packages.")
    ] = None,
    check_after: Annotated[
        str | None, typer.Option("--check-after", metavar="DAY", help="Day after which it is to be checked again.")
    ] = None,
    tag: list[str] | None = None,
    untag: list[str] | None = None,
    unset: list[str] | None = None,
    dry_run: bool = False,
) -> None:
    """
    Change fields of a record: given ones replace, all others stay.

    Example: graphmem edit failure/import-error --fix "pin setuptools below 81" --tag build
    """
    named: dict[str, Any] = {
        "trigger": trigger,
        "fix": fix,
        "symptom": symptom,
        "holds_for": holds_for,
        "insight": insight,
        "match": match,
        "cost": cost,
        "saved": saved,
        "framework": framework,
        "value": value,
        "objective": objective,
        "flaky": flaky,
        "sources": source,
        "description": description,
        "versions": versions_of(version),
        "check_after": check_after,
        **from_here(invocation, file, cite, is_missing_ok=missing_ok),
    }
    fields = {name: found for name, found in named.items() if found is not None} | dict(map(parameter, given or ()))
    if not (fields or tag or untag or unset):
        raise Usage("nothing to change", hint="give a field, such as --fix TEXT, or --unset FIELD")
    answer: Changed = call(fields=fields)
    invocation.answer(answer, wording.changed(answer, is_dry=dry_run))


@passes("feedback", task=Taken("T"), asked=Taken("ID"))
def feedback(
    invocation: Invocation,
    call: Call,
    ref: Annotated[str | None, typer.Argument(metavar="REF", autocompletion=complete_ref, help="The memory.")] = None,
    helped: Annotated[bool, typer.Option("--helped", help="It helped.")] = False,
    failed: Annotated[bool, typer.Option("--failed", help="It did not help.")] = False,
    wrong: bool = False,
    note: str | None = None,
    question: str | None = None,
    asked: str | None = None,
    ndjson: Annotated[
        str | None,
        typer.Option(
            "--ndjson",
            metavar="FILE|-",
            help="A batch: lines {ref, helped, wrong?, note?, task?, question?, asked?, at?, id?}.",
        ),
    ] = None,
) -> None:
    """
    Report that a memory helped, or did not, or is wrong: then answers say so until it is edited or superseded.

    Example: graphmem feedback failure/import-error --helped --task auth/001-setup
    """
    if ndjson is not None:
        if ref is not None or helped or failed or wrong or any((note, question, asked)):
            raise Usage("--ndjson is a batch of its own", hint="give either a REF or --ndjson FILE")
        with lines_of(ndjson) as lines:
            batch = invocation.memory.store.feedback_rows(lines, name="<stdin>" if ndjson == "-" else ndjson)
        invocation.answer(batch, f"{batch.created:,} created, {batch.updated:,} updated, {batch.unchanged:,} unchanged")
        return
    if ref is None or helped == (failed or wrong):
        raise Usage(
            "say which memory, and whether it helped",
            hint="graphmem feedback REF --helped, or --failed, or --wrong --note TEXT; not both",
        )
    answer: Reported = call(ref=ref, helped=helped)
    disputed = f", disputed {answer.disputed}" if answer.disputed else ""
    invocation.answer(
        answer,
        f"{answer.action}: {answer.ref} helped {answer.helped}, failed {answer.failed}{disputed}"
        f" (help ratio {answer.help_ratio:.2f})",
    )
