"""A job of CI: what is known of what the log says, and what is not is kept."""

from collections.abc import Iterable
from pathlib import Path

from graphmem import Changed, Failure, Hit, Matched, MatchedLog, Memory


def advice_on(hit: Matched) -> list[str]:
    """Return what to do about a failure that a log reports."""
    fixes = [hit.record.fix] if hit.record.fix else []
    return [*fixes, *(one.record.insight for one in hit.solved_by)]


def keep_unknown(memory: Memory, found: MatchedLog) -> list[Changed[Failure]]:
    """Add what no failure reports yet."""
    return [memory.failures.add(trigger, cost=1.0) for trigger in found.unknown]


def nearest(hits: Iterable[Hit]) -> str | None:
    """Return the trigger of the first failure among hits."""
    return next((hit.record.trigger for hit in hits if isinstance(hit.record, Failure)), None)


def report(project: Path, log: Path) -> list[str]:
    """Return the lines that the job prints."""
    lines = []
    with Memory(project) as memory, log.open("rb") as file:
        found = memory.match(file)
        for hit in found.results:
            lines.append(f"{hit.line}: {hit.record.trigger}: {'; '.join(advice_on(hit))}")
            if hit.solved_by:
                first: str = hit.solved_by[0].record.insight
                lines.append(f"first: {first}")
        for changed in keep_unknown(memory, found):
            lines.append(f"new: {changed.record.trigger}, costs {changed.record.cost:g}")
        lines.append(f"near: {nearest(memory.query('pkg_resources is missing').results)}")
        lines.append("ok" if memory.store.validate().ok else "not ok")
    return lines
