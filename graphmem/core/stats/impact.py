"""Impact: what the hooks put into sessions of agents, and what became of it (docs/guides/verify-loop.md)."""

from statistics import median

from graphmem.core.records.credits import hook_sessions
from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.machine import impact as kept
from graphmem.kernel.model.field import format_time
from graphmem.kernel.registry import operation
from graphmem.kernel.store.snapshot import Snapshot


class SessionTokens(Part):
    """What the hooks put into sessions, in tokens: all of it, of which briefings, and a session's mean and median."""

    total: int
    briefings: int
    mean: float
    median: float
    most: int


class Impact(Answer):
    """
    What the hooks of agents did on this machine, over the last sessions, and what all reports of the memory say.

    ``hints`` are memories that were handed out, each once a session and a failure with its pattern as one, ``used``
    those of them that a passing command credited. ``failures`` are runs of tools that failed, ``answered`` those for
    which a memory was handed out at once, and ``answer_tokens`` what these answers took. ``under_way`` are sessions
    that have not ended; ``since`` is when the first of all began. ``helped`` and ``failed`` count the reports in the
    files, whoever made them.
    """

    sessions: int
    under_way: int
    since: str | None
    tokens: SessionTokens
    hints: int
    used: int
    failures: int
    answered: int
    answer_tokens: int
    helped: int
    failed: int


@operation("impact")
def impact(snapshot: Snapshot) -> Impact:
    """Return what the hooks put into sessions of agents here, what of it was used, and what answers cost."""
    every_session = hook_sessions(snapshot.client).every()
    ended = kept.read(snapshot.client.state)
    current = [found.impact(name) for name, found in every_session.items()]
    known = {(one.id, one.at) for one in current}  # of one that is being ended both may be there
    every = [*(one for one in ended if (one.id, one.at) not in known), *current]
    sizes = [one.tokens for one in every]
    reports = snapshot.catalog.reports_by_day()
    helped = sum(good for _, good, _ in reports)
    return Impact(
        sessions=len(every),
        under_way=len(current),
        since=format_time(min(one.at for one in every)) if every else None,
        tokens=SessionTokens(
            total=sum(sizes),
            briefings=sum(one.briefing for one in every),
            mean=round(sum(sizes) / len(sizes), 1) if sizes else 0.0,
            median=float(median(sizes)) if sizes else 0.0,
            most=max(sizes, default=0),
        ),
        hints=sum(one.hints for one in every),
        used=sum(one.used for one in every),
        failures=sum(one.failures for one in every),
        answered=sum(one.answered for one in every),
        answer_tokens=sum(one.answers for one in every),
        helped=helped,
        failed=sum(every_one for *_, every_one in reports) - helped,
    )
