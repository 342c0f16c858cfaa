"""Guarded work in the store: where it is, and the rows that say what happens to it."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from graphmem.core.records.events import event, events_about
from graphmem.errors import NotFound, Refused
from graphmem.features.governance.definitions import CycleDefinition, Definitions, read_definitions
from graphmem.features.governance.guard import writing_as
from graphmem.features.governance.place import branch_of, has_flows
from graphmem.features.governance.standing import Standing, fold
from graphmem.kernel.model import ReviewItem, Work
from graphmem.kernel.model.entry import Entry
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.kernel.suggest import did_you_mean
from graphmem.kernel.system.shell import command

GUIDE = "docs/guides/guarded-work.md"
TICK = timedelta(milliseconds=1)  # between two events of one call: their order is that of their times


def standing_of(snapshot: Snapshot, ref: str | None) -> Standing:
    """
    Return where work is.

    Args:
        ref: of the work; None for the one of the branch that is checked out.

    Raises:
        NotFound: there is no such work.
    """
    number = snapshot.resolve(ref, ["work"]) if ref is not None else _of_branch(snapshot)
    work = snapshot.catalog.records([number])[number]
    assert isinstance(work, Work)
    parts = {step.far for step in snapshot.catalog.steps([number], ["part_of"], "in")}
    items = {n: one for n, one in snapshot.catalog.records(parts).items() if isinstance(one, ReviewItem)}
    events = [one for found in events_about(snapshot, [number, *items]).values() for one in found]
    return fold(work, items.values(), events)


def _of_branch(snapshot: Snapshot) -> int:
    """Return the number of the work of the branch that is checked out."""
    branch = branch_of(snapshot.client)
    found = number_of(snapshot, branch)
    if found is None:
        where = f"branch {branch!r} is of no work" if branch else "no branch is checked out"
        raise NotFound(where, hint="name the work; see: graphmem work list")
    return found


def number_of(snapshot: Snapshot, branch: str | None) -> int | None:
    """Return the number of the work of a branch, if it has one."""
    works = snapshot.catalog.of_kind(Work).items()
    return next((number for number, one in works if one.branch == branch), None)


def work_of_item(snapshot: Snapshot, ref: str) -> tuple[Standing, str]:
    """Return where the work of an item is, and the reference by key of the item."""
    number = snapshot.resolve(ref, ["item"])
    item = snapshot.catalog.stored(number)
    assert isinstance(item, ReviewItem)
    return standing_of(snapshot, item.refs_in("work")[0]), item.key_ref


def definitions_of(snapshot: Snapshot) -> Definitions:
    """Return the definitions of the project, or raise ``Refused`` where it has none."""
    if not has_flows(snapshot.client):
        raise Refused("this project has no flows, so there is no guarded work", hint=f"how to write one: {GUIDE}")
    return read_definitions(snapshot.layout)


def cycle_of(definitions: Definitions, name: str) -> CycleDefinition:
    """Return a cycle, or raise ``NotFound`` where its file or that of its output is not there or wrong."""
    wrong = "see what is wrong with: graphmem validate"
    if name not in definitions.cycles:
        raise NotFound(f"no cycle {name!r}", hint=did_you_mean(name, definitions.cycles) or wrong)
    found = definitions.cycles[name]
    if found.output not in definitions.artefacts:
        raise NotFound(f"no artefact type {found.output!r}, which cycle {name!r} makes", hint=wrong)
    return found


def fact(
    snapshot: Snapshot,
    standing: Standing,
    event_type: str,
    data: Mapping[str, Any],
    *,
    subject: str | None = None,
    identity: str | None = None,
    later: int = 0,
) -> Entry:
    """
    Return the row of an event of work, later than all that are known of it.

    Args:
        subject: reference by key of the item that it is about; None for the work itself.
        identity: of the event, where a repeat of the call is to change nothing.
        later: how many events of the same call come before it.
    """
    at = max(snapshot.now, standing.last_at + TICK if standing.last_at else snapshot.now) + later * TICK
    return event(snapshot, event_type, at, subject or standing.work.key_ref, data, identity=identity)


def write(snapshot: Writing, rows: Iterable[Entry]) -> None:
    """Write rows of guarded work."""
    with writing_as("commands"):
        snapshot.commit(list(rows))


def refuse_not_open(standing: Standing) -> None:
    """Raise ``Refused`` for work that failed or ended; it quotes the reason."""
    if standing.status == "open":
        return
    work = standing.work.ref
    why = f": {standing.reason}" if standing.reason else ""
    ways = ("stage", "retry", work), ("work", "abandon", work, "--yes"), ("work", "finish", work, "--unfinished", "WHY")
    hint = " or ".join(command("graphmem", *way) for way in ways)
    raise Refused(
        f"{work} is {standing.status}{why}",
        hint=hint if standing.status == "failed" else None,
        details={"work": work, "status": standing.status, "reason": standing.reason},
    )


def refuse_other_branch(snapshot: Snapshot, standing: Standing) -> None:
    """Raise ``Refused`` where another branch than that of the work is checked out."""
    branch = branch_of(snapshot.client)
    if branch != standing.work.branch:
        where = f"branch {branch!r}" if branch else "a detached HEAD"
        raise Refused(
            f"{standing.work.ref} is on branch {standing.work.branch!r}, and {where} is checked out",
            hint=command("git", "switch", standing.work.branch),
        )
