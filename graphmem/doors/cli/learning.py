"""``learn``, ``inject``, ``decay``, ``experience``, ``promote``, ``adopt``, ``prune``."""

from typing import Annotated, Literal

import typer

from graphmem.core.records.record_contract import Changed, CopyRequest, Pruned, PrunedRecord, PruneRequest
from graphmem.doors.cli import text
from graphmem.doors.cli.caller import Invocation, complete_ref
from graphmem.doors.cli.commands import Call, passes
from graphmem.doors.cli.inputs import lines_of
from graphmem.errors import Usage
from graphmem.features.learning.experiences import Promoted, PromoteRequest, Promotion, Recalled, RecallRequest
from graphmem.features.learning.lessons import (
    DecayRequest,
    Injected,
    InjectRequest,
    Learned,
    LearnRequest,
    SeenLesson,
)
from graphmem.kernel.answer import address
from graphmem.kernel.registry import Taken


@passes("lessons.learn", LearnRequest, without=("name",))
def learn(
    invocation: Invocation,
    call: Call,
    events: Annotated[str, typer.Argument(metavar="RUN_EVENTS|-", help="NDJSON, an event a line.")],
) -> None:
    """
    Take from the events of a finished run which lessons it saw, and new ones.

    The findings of every review.verdict count. Half of a finding's keywords in a lesson make it that lesson; a bug or
    warning that matches no lesson becomes a new one. The same events again change nothing.

    Example: graphmem learn events.ndjson --run 2026-11-22-1
    """
    with lines_of(events) as lines:
        answer: Learned = call(lines, name="<stdin>" if events == "-" else events)
    invocation.answer(answer, learned(answer))


@passes("lessons.decay", DecayRequest, arguments=0)
def decay(invocation: Invocation, answer: Learned) -> None:
    """
    Record a run that saw no lesson: every tenth silent run takes one off a lesson's frequency.

    Preferences do not fade. At frequency 0 a lesson counts as archived until a run sees it again. A run that is there
    already changes nothing.

    Example: graphmem decay --run 2026-11-22-2
    """
    invocation.answer(answer, learned(answer))


def learned(answer: Learned) -> str:
    """Return what a run taught."""
    lines = [f"{answer.action} run/{answer.run}", *map(seen, answer.seen)]
    for moved in answer.moved:
        faded = ", faded away" if moved.faded else ""
        lines.append(f"    {moved.ref}  frequency {moved.before} -> {moved.after}{faded}")
    if answer.passed_over:
        lines.append(f"    passed over: {text.count(answer.passed_over, 'finding')}")
    return "\n".join(lines)


def seen(lesson: SeenLesson) -> str:
    """Return a lesson that a run saw, and why that was thought."""
    by = {"keywords": lesson.overlap, "similarity": lesson.similarity}.get(lesson.rule)
    rule = lesson.rule if by is None else f"{lesson.rule} {by:.2f}"
    return f"    {lesson.ref}  ({rule}) {text.one_line(lesson.finding, 72)}"


@passes("lessons.inject", InjectRequest)
def inject(invocation: Invocation, answer: Injected) -> None:
    """
    Print the lessons that belong into a prompt, at most ten.

    Those that two runs saw, and every preference: of this domain or general, preferences first. What five runs
    saw is for every prompt.
    Where there is nothing to say, nothing is printed.

    Example: graphmem inject --domain code
    """
    invocation.answer(answer, answer.text)


@passes("experiences.recall", RecallRequest, task_type=Taken(flag="--type"))
def experience(invocation: Invocation, call: Call, task_type: str | None, tags: list[str] | None) -> None:
    """
    Show the newest experiences with tasks of this type or with one of these tags, then their lessons.

    Example: graphmem experience --type bug --tag auth
    """
    if task_type is None and not tags:
        raise Usage("say what the task is", hint="graphmem experience --type bug, or --tag auth")
    answer: Recalled = call()
    invocation.answer(answer, recalled(answer))


def recalled(answer: Recalled) -> str:
    """Return experiences and what they teach."""
    lines = [text.line(found.record) for found in answer.experiences]
    lines += [f"- {text.one_line(lesson.text, text.ADVICE)}  ({lesson.ref})" for lesson in answer.lessons]
    return "\n".join(lines)


@passes("experiences.promote", PromoteRequest)
def promote(
    invocation: Invocation,
    call: Call,
    ref: Annotated[
        str | None, typer.Argument(metavar="REF", autocompletion=complete_ref, help="A record to copy instead.")
    ] = None,
    to: Annotated[
        Literal["user"] | None, typer.Option("--to", help="Where to copy the record: into your own store.")
    ] = None,
    yes: bool = False,
) -> None:
    """
    Find what experiences of different days and tasks agree on, and write it as insights.

    With a record and --to user, copy that record into your own store.

    Example: graphmem promote --yes
    graphmem promote pattern/pin-build-tools --to user
    """
    if (ref is None) != (to is None):
        raise Usage("a record is copied to the user's own store", hint="graphmem promote REF --to user")
    if ref is not None:
        copied: Changed = invocation.memory.call("user.promote", ref=ref)
        invocation.answer(copied, text.changed(copied.model_copy(update={"ref": address(copied.ref, "user")})))
        return
    answer: Promoted = call()
    invocation.answer(answer, "\n".join(promotion(found, is_done=answer.done) for found in answer.promotions))
    if not answer.promotions:
        invocation.say("nothing to promote")
    elif not yes:
        invocation.say("nothing was changed; do it with --yes")


@passes("user.adopt", CopyRequest, ref=Taken("REF"))
def adopt(invocation: Invocation, answer: Changed) -> None:
    """
    Copy a record of your own store into the memory of this project.

    Example: graphmem adopt pattern/pin-build-tools
    """
    invocation.answer(answer, text.changed(answer))


def promotion(found: Promotion, *, is_done: bool) -> str:
    """Return an insight and the experiences behind it."""
    would = "" if is_done else "would be "
    count = text.count(found.occurrences, "experience")
    lines = [
        f"{would}{found.action} {found.ref}  ({found.category}, {count}, confidence {found.confidence})",
        f"    {text.one_line(found.statement)}",
    ]
    return "\n".join([*lines, *(f"    from {ref}" for ref in found.experiences)])


@passes("prune", PruneRequest, min_importance=Taken("I"))
def prune(invocation: Invocation, answer: Pruned, yes: bool) -> None:
    """
    Archive what is worth least: over the caps, and what is old and worth next to nothing. restore brings it back.

    Example: graphmem prune --max-failures 300 --yes
    """
    invocation.answer(answer, "\n".join(pruned(found, is_done=answer.done) for found in answer.records))
    if not answer.records:
        invocation.say("nothing to prune")
    elif not yes:
        invocation.say("nothing was changed; do it with --yes")


def pruned(found: PrunedRecord, *, is_done: bool) -> str:
    """Return a record that goes, and why."""
    worth = "" if found.importance is None else f"importance {found.importance:.3f}, "
    return f"{'' if is_done else 'would be '}archived {found.ref}  ({worth}{found.reason})"
