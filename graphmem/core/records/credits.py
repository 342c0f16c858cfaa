"""
Credits: what a pass says of the memories that were shown before it, written as reports that they helped.

Those of an agent's session wait in ``state/`` until it ends, and are written all at once; those of a session that was
killed when the next one begins.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from itertools import chain

from graphmem.core.records.feedback import prepared
from graphmem.core.records.screening import unexposed
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.ledger.row import entry
from graphmem.kernel.machine.hook_sessions import Credit, HookSessions
from graphmem.kernel.model import Feedback
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot, Writing


def hook_sessions(client: Client) -> HookSessions:
    """Return what is kept of the sessions of agents."""
    return HookSessions(client.state)


def creditable(snapshot: Snapshot, credit: Credit) -> dict[str, int]:
    """
    Return what a credit counts for, with the numbers of the records; what is gone is left out.

    So is what was reported since then not to help, itself or a failure that it solves: who reports that knows more
    than a pass says.
    """
    catalog, known = snapshot.catalog, snapshot.catalog.known(credit.shown)
    solved = list(catalog.steps(known.values(), ["solves"], "out"))
    asked = {*known.values(), *(step.far for step in solved)}
    bad = {number for number in asked if is_reported(catalog, number, credit.since)}
    bad |= {step.near for step in solved if step.far in bad}
    return {ref: number for ref, number in known.items() if number not in bad}


def is_reported(catalog: Catalog, number: int, since: datetime) -> bool:
    """Return whether a report since a time says that a record did not help."""
    return any(at >= since and not is_good for at, is_good, _ in catalog.times_of_reports(number))


def write_credits(writing: Writing, found: Iterable[Credit]) -> list[str]:
    """Report what helped, in one write; an earlier report on the same task stays. Return what was reported on."""
    made: dict[tuple[str, str | None], tuple[Feedback, int]] = {}
    for credit in found:
        questions = unexposed(writing, "report", dict(credit.shown))  # an older version kept them as they were
        for ref, number in creditable(writing, credit).items():
            row = {"ref": ref, "helped": True, "task": credit.task, "question": questions[ref] or None}
            report, action = prepared(writing, row)
            if action == "created":
                made.setdefault((report.ref, report.task), (report, number))
    if made:
        writing.commit([entry(report, ()) for report, _ in made.values()])
    names = writing.catalog.refs([number for _, number in made.values()])
    return [names[number] for _, number in made.values()]


def write_waiting(writing: Writing, sessions: Collection[str]) -> None:
    """Write what waits of these sessions; what cannot be taken off the list is found to be written the next time."""
    kept = hook_sessions(writing.client)
    waiting = {name: found.waiting for name, found in kept.every().items() if name in sessions and found.waiting}
    write_credits(writing, chain.from_iterable(waiting.values()))
    for name, written in waiting.items():
        with kept.changing(name, writing.now) as session:
            session.waiting = [credit for credit in session.waiting if credit not in written]
