"""How lessons and experiences read on a terminal."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from graphmem.core.evidence.text import ADVICE
from graphmem.core.records import wording
from graphmem.core.records.record_contract import Changed
from graphmem.errors import Usage
from graphmem.features.learning.experiences import Promoted, Promotion, Recalled
from graphmem.features.learning.lessons import Injected, Learned, SeenLesson
from graphmem.kernel.model import Lesson
from graphmem.kernel.model.lesson_state import is_frequent
from graphmem.kernel.registry import Printout, Taken, asks, reads
from graphmem.kernel.text import count, one_line


@reads("lessons.add")
def _add_lesson_text(answer: Changed, dry_run: bool) -> Printout:
    is_waiting = isinstance(answer.record, Lesson) and not is_frequent(answer.record)
    return Printout(
        wording.changed(answer, is_dry=dry_run),
        "graphmem lesson inject has it once two runs saw it; a preference at once (--type preference)"
        if is_waiting
        else "",
    )


@reads(Injected)
def _inject_text(answer: Injected) -> str:
    return answer.text


@asks("lessons.learn")
def _ask_learn(
    events: Annotated[str, Taken("RUN_EVENTS|-", meaning="NDJSON, an event a line")],
) -> Mapping[str, object]:
    return {"events": events}


@reads(Learned)
def learned(answer: Learned) -> str:
    """Return what a run taught."""
    lines = [f"{answer.action} run/{answer.run}", *map(_seen, answer.seen)]
    for moved in answer.moved:
        faded = ", faded away" if moved.faded else ""
        lines.append(f"    {moved.ref}  frequency {moved.before} -> {moved.after}{faded}")
    if answer.passed_over:
        lines.append(f"    passed over: {count(answer.passed_over, 'finding')}")
    return "\n".join(lines)


def _seen(lesson: SeenLesson) -> str:
    """Return a lesson that a run saw, and why that was thought."""
    by = {"keywords": lesson.overlap, "similarity": lesson.similarity}.get(lesson.rule)
    rule = lesson.rule if by is None else f"{lesson.rule} {by:.2f}"
    return f"    {lesson.ref}  ({rule}) {one_line(lesson.finding, 72)}"


@asks("experiences.recall")
def _ask_experience(task_type: str | None, tags: Sequence[str] | None) -> Mapping[str, object]:
    if task_type is None and not tags:
        raise Usage("say what the task is", hint="graphmem experience --type bug, or --tag auth")
    return {}


@reads(Recalled)
def _experience_text(answer: Recalled) -> str:
    lines = [wording.line(found.record) for found in answer.experiences]
    lines += [f"- {one_line(lesson.text, ADVICE)}  ({lesson.ref})" for lesson in answer.lessons]
    return "\n".join(lines)


@reads(Promoted)
def _promote_text(answer: Promoted, yes: bool) -> Printout:
    return Printout(
        "\n".join(_promotion(found, is_done=answer.done) for found in answer.promotions),
        "nothing to promote" if not answer.promotions else "nothing was changed; do it with --yes" if not yes else "",
    )


def _promotion(found: Promotion, *, is_done: bool) -> str:
    """Return an insight and the experiences behind it."""
    would = "" if is_done else "would be "
    counted = count(found.occurrences, "experience")
    lines = [
        f"{would}{found.action} {found.ref}  ({found.category}, {counted}, confidence {found.confidence})",
        f"    {one_line(found.statement)}",
    ]
    return "\n".join([*lines, *(f"    from {ref}" for ref in found.experiences)])
