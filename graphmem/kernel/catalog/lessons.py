"""The states of lessons, kept up to date as runs and lessons come and go (rules/lesson_state.py)."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.catalog.database import marks, rows_among
from graphmem.kernel.model import Lesson
from graphmem.kernel.model.field import format_time
from graphmem.kernel.model.lesson_state import LessonState, Order, after_seen, after_silence, standing

MOST_STEPS = 20  # runs that move every lesson step by step; with more, each is folded again


class StandingStep(NamedTuple):
    """A run that came after all others, and the lessons that it saw."""

    order: Order
    saw: frozenset[int]


def resolve_seen(catalog: Catalog, handles: Collection[str]) -> set[int]:
    """Look up again the lessons that runs name in one of these ways; return those that more or fewer runs saw now."""
    found: set[int] = set()
    rows = list(rows_among(catalog.connection, "SELECT ref, lesson, run FROM seen WHERE ref IN (...)", handles))
    known = catalog.known({ref for ref, _, _ in rows})
    for ref, lesson, run in rows:
        if known.get(ref) != lesson:
            found |= {number for number in (lesson, known.get(ref)) if number is not None}
            sql = "UPDATE seen SET lesson = ? WHERE run = ? AND ref = ?"
            catalog.connection.execute(sql, (known.get(ref), run, ref))
    return found


def moved(catalog: Catalog, changed: Collection[int], runs: Collection[int] | None) -> dict[int, LessonState]:
    """
    Recompute the states of those lessons, store them, and return those that changed.

    Args:
        changed: lessons that are new or changed, or that other runs than before saw.
        runs: that are new; None where a run is gone or changed.

    Runs that come after all others move each lesson by a step; else it is folded over all runs.
    """
    steps = _appended(catalog, runs) if runs is not None else None
    if not steps and not changed and steps is not None:
        return {}
    if steps == []:  # no run moves the others
        known = {number: catalog.stored(number) for number in changed if catalog.has(number)}
        lessons = {number: record for number, record in known.items() if isinstance(record, Lesson)}
    else:
        lessons = catalog.of_kind(Lesson, is_live=False)
    before = catalog.lesson_states(lessons)
    first = steps[0].order[0] if steps else None
    anew: dict[int, Lesson] = {}
    after: dict[int, LessonState] = {}
    for number, lesson in lessons.items():
        is_later = first and lesson.restored_at and format_time(lesson.restored_at) > first
        if steps is None or number in changed or number not in before or is_later:
            anew[number] = lesson
        else:
            after[number] = _apply_runs(before[number], lesson, number, steps)
    after |= _replay(catalog, anew)
    found = {number: now for number, now in after.items() if before.get(number) != now}
    rows = [(number, *now) for number, now in found.items()]
    catalog.connection.executemany("INSERT OR REPLACE INTO standing VALUES (?,?,?,?,?)", rows)
    return found


def _appended(catalog: Catalog, runs: Collection[int]) -> list[StandingStep] | None:
    """Return some new runs in their order; None where one does not come after all others, or there are very many."""
    if not runs or len(runs) > MOST_STEPS:
        return None if runs else []
    numbers = list(runs)
    among = f"IN ({marks(numbers)})"
    sql = f"SELECT at, run, id FROM run WHERE id {among} ORDER BY at, run"
    new = catalog.connection.execute(sql, numbers).fetchall()
    sql = f"SELECT at, run FROM run WHERE id NOT {among} ORDER BY at DESC, run DESC LIMIT 1"
    last = catalog.connection.execute(sql, numbers).fetchone()
    if new and last and new[0][:2] < last:
        return None
    steps = []
    for at, run, number in new:
        seen = catalog.connection.execute("SELECT lesson FROM seen WHERE run = ? AND lesson NOT NULL", (number,))
        steps.append(StandingStep((at, run), frozenset(lesson for (lesson,) in seen)))
    return steps


def _apply_runs(found: LessonState, lesson: Lesson, number: int, steps: Collection[StandingStep]) -> LessonState:
    """Return the state of a lesson after some more runs."""
    made = format_time(lesson.created_at)
    for (at, run), saw in steps:
        if number in saw:
            found = after_seen(found, run)
        elif at >= made:
            found = after_silence(found, 1, lesson)
    return found


def _replay(catalog: Catalog, lessons: Mapping[int, Lesson]) -> dict[int, LessonState]:
    """Return the states of lessons after all runs. A run that is older than every lesson counts only if it saw one."""
    if not lessons:
        return {}
    seen: dict[int, list[Order]] = {}
    sql = (
        "SELECT DISTINCT lesson, at, run.run FROM seen JOIN run ON run.id = seen.run"
        " WHERE lesson IN (...) ORDER BY at, run.run"
    )
    for lesson, at, run in rows_among(catalog.connection, sql, lessons):
        seen.setdefault(lesson, []).append((at, run))
    first = format_time(min(lesson.created_at for lesson in lessons.values()))
    runs = catalog.connection.execute("SELECT at, run FROM run WHERE at >= ? ORDER BY at, run", (first,)).fetchall()
    earlier = {order for orders in seen.values() for order in orders if order[0] < first}
    runs = [*sorted(earlier), *runs]
    return {number: standing(lesson, runs, seen.get(number, ())) for number, lesson in lessons.items()}
