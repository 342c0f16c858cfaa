"""A report on a project: what it knows, decided, and learned, and how its parts hang together."""

from pathlib import Path

from graphmem import Listed, Memory, Pattern, Reached, Solutions


def insights(solutions: Solutions) -> list[str]:
    """Return what solves a failure."""
    return [solution.record.insight for solution in solutions.results]


def way_to(reached: Reached) -> str:
    """Return the path to a record."""
    return " ".join(f"-{edge.type}->" for edge in reached.path)


def insight_of(listed: Listed[Pattern]) -> str:
    """Return what a listed pattern says."""
    return listed.record.insight


def report(project: Path) -> list[str]:
    """Return the lines of the report."""
    lines = []
    with Memory(project) as memory:
        for listed in memory.list("failure", sort="-cost").results:
            lines.append(f"{listed.ref}: {'; '.join(insights(memory.solutions(listed.ref)))}")
            lines += [f"{way_to(reached)} {reached.ref}" for reached in memory.related(listed.ref, max_hops=1).results]
        decided = memory.decisions.add("Tokens live in the keychain", reasoning="The disk is shared")
        lines.append(f"{decided.record.decision}: {decided.record.reasoning}")
        lesson = memory.lessons.add("Reads come before writes", type="preference").record
        lines.append(f"{lesson.type}: {lesson.description}")
        current = memory.sessions.show()
        lines += [one.record.decision for one in current.recent_decisions]
        lines += [one.record.description for one in memory.lessons.inject().lessons]
    return lines
