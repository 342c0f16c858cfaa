"""How lessons and experiences read on a terminal."""

from graphmem.core.records import wording
from graphmem.core.records.record_contract import Changed
from graphmem.features.learning.lessons import Injected, Learned, SeenLesson
from graphmem.kernel.registry import reads
from graphmem.kernel.text import count, one_line


@reads("experiences.add")
def _add_experience_text(answer: Changed, dry_run: bool) -> str:
    return wording.changed(answer, is_dry=dry_run)


@reads(Injected)
def _inject_text(answer: Injected) -> str:
    return answer.text


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
