"""``learn``, ``inject``, ``decay``, ``experience``, ``promote``, ``prune``."""

from typing import Annotated

import typer

from graphmem.cli import text
from graphmem.cli.caller import invocation_of
from graphmem.cli.inputs import lines_of
from graphmem.cli.options import option
from graphmem.contract.experiences import PromoteRequest, Promotion, Recalled, RecallRequest
from graphmem.contract.lessons import DecayRequest, InjectRequest, Learned, LearnRequest, SeenLesson
from graphmem.contract.records import PrunedRecord, PruneRequest
from graphmem.errors import Usage
from graphmem.model.experience import ExperienceType
from graphmem.model.insight import Category


def learn(
    ctx: typer.Context,
    events: Annotated[str, typer.Argument(metavar="RUN_EVENTS|-", help="NDJSON, an event a line.")],
    run: str | None = option(LearnRequest, "run", metavar="ID"),
    semantic: bool = option(LearnRequest, "semantic"),
) -> None:
    """
    Take from the events of a finished run which lessons it saw, and new ones.

    The findings of every review.verdict count. Half of a finding's keywords in a lesson make it that lesson; a bug or
    warning that matches no lesson becomes a new one. The same events again change nothing.

    Example: graphmem learn events.ndjson --run 2026-11-22-1
    """
    invocation = invocation_of(ctx)
    with lines_of(events) as lines:
        answer = invocation.memory.lessons.learn(
            lines, name="<stdin>" if events == "-" else events, run=run, semantic=semantic
        )
    invocation.answer(answer, learned(answer))


def decay(
    ctx: typer.Context,
    run: str = option(DecayRequest, "run", metavar="ID"),
) -> None:
    """
    Record a run that saw no lesson: every tenth silent run takes one off a lesson's frequency.

    Preferences do not fade. At frequency 0 a lesson counts as archived until a run sees it again. A run that is there
    already changes nothing.

    Example: graphmem decay --run 2026-11-22-2
    """
    invocation = invocation_of(ctx)
    answer = invocation.memory.lessons.decay(run)
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


def inject(
    ctx: typer.Context,
    domain: str | None = option(InjectRequest, "domain", metavar="D"),
    archetype: str | None = option(InjectRequest, "archetype", metavar="A"),
) -> None:
    """
    Print the lessons that belong into a prompt, at most ten.

    Those that two runs saw, and every preference: of this domain or general, preferences first. What five runs
    saw is for every prompt.
    Where there is nothing to say, nothing is printed.

    Example: graphmem inject --domain code
    """
    invocation = invocation_of(ctx)
    answer = invocation.memory.lessons.inject(domain=domain, archetype=archetype)
    invocation.answer(answer, answer.text)


def experience(
    ctx: typer.Context,
    task_type: ExperienceType | None = option(RecallRequest, "task_type", "--type"),
    tag: list[str] | None = option(RecallRequest, "tags", "--tag", metavar="TAG"),
) -> None:
    """
    Show the newest experiences with tasks of this type or with one of these tags, then their lessons.

    Example: graphmem experience --type bug --tag auth
    """
    if task_type is None and not tag:
        raise Usage("say what the task is", hint="graphmem experience --type bug, or --tag auth")
    invocation = invocation_of(ctx)
    answer = invocation.memory.experiences.recall(task_type=task_type, tags=tag or ())
    invocation.answer(answer, recalled(answer))


def recalled(answer: Recalled) -> str:
    """Return experiences and what they teach."""
    lines = [text.line(found.record) for found in answer.experiences]
    lines += [f"- {text.one_line(lesson.text, text.ADVICE)}  ({lesson.ref})" for lesson in answer.lessons]
    return "\n".join(lines)


def promote(
    ctx: typer.Context,
    category: Category | None = option(PromoteRequest, "category"),
    yes: bool = option(PromoteRequest, "yes"),
) -> None:
    """
    Find what experiences of different days and tasks agree on, and write it as insights.

    Example: graphmem promote --yes
    """
    invocation = invocation_of(ctx)
    answer = invocation.memory.experiences.promote(category=category, yes=yes)
    invocation.answer(answer, "\n".join(promotion(found, is_done=answer.done) for found in answer.promotions))
    if not answer.promotions:
        invocation.say("nothing to promote")
    elif not yes:
        invocation.say("nothing was changed; do it with --yes")


def promotion(found: Promotion, *, is_done: bool) -> str:
    """Return an insight and the experiences behind it."""
    would = "" if is_done else "would be "
    count = text.count(found.occurrences, "experience")
    lines = [
        f"{would}{found.action} {found.ref}  ({found.category}, {count}, confidence {found.confidence})",
        f"    {text.one_line(found.statement)}",
    ]
    return "\n".join([*lines, *(f"    from {ref}" for ref in found.experiences)])


def prune(
    ctx: typer.Context,
    max_failures: int = option(PruneRequest, "max_failures", metavar="N"),
    max_patterns: int = option(PruneRequest, "max_patterns", metavar="N"),
    min_importance: float = option(PruneRequest, "min_importance", metavar="I"),
    yes: bool = option(PruneRequest, "yes"),
) -> None:
    """
    Archive what is worth least: over the caps, and what is old and worth next to nothing. restore brings it back.

    Example: graphmem prune --max-failures 300 --yes
    """
    invocation = invocation_of(ctx)
    answer = invocation.memory.prune(
        max_failures=max_failures, max_patterns=max_patterns, min_importance=min_importance, yes=yes
    )
    invocation.answer(answer, "\n".join(pruned(found, is_done=answer.done) for found in answer.records))
    if not answer.records:
        invocation.say("nothing to prune")
    elif not yes:
        invocation.say("nothing was changed; do it with --yes")


def pruned(found: PrunedRecord, *, is_done: bool) -> str:
    """Return a record that goes, and why."""
    worth = "" if found.importance is None else f"importance {found.importance:.3f}, "
    return f"{'' if is_done else 'would be '}archived {found.ref}  ({worth}{found.reason})"
