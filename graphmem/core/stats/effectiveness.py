"""The loop: failures are captured, passed to later tasks, used, and help (docs/guides/verify-loop.md)."""

from collections.abc import Collection
from datetime import datetime

from graphmem.constants import MOST_RESULTS
from graphmem.core.stats.effectiveness_contract import Loop, LoopStage, StageReached, VerifyLoopRequest
from graphmem.core.stats.health import LoopCounts, Piece, broken_stage, verdict, window
from graphmem.kernel.machine.usage import accesses
from graphmem.kernel.model import Failure, Task
from graphmem.kernel.model.field import format_time, parse_time
from graphmem.kernel.registry import operation
from graphmem.kernel.store.snapshot import Snapshot

Carriers = dict[int, set[int]]  # by failure, by number: itself and the patterns that solve it
Report = tuple[int, bool]  # on which record, and whether it helped


@operation(
    "verify_loop",
    past=True,
    example="graphmem verify-loop --last 5",
    help="""
    Report whether learning happens: failures are captured, passed to later tasks, used, and help.

    A failure comes to a stage by itself or by a pattern that solves it. What breaks the loop is named; the exit
    status is 0 either way.
    """,
)
def verify(snapshot: Snapshot, request: VerifyLoopRequest) -> Loop:
    """
    Report whether learning happens, over the last so many campaigns and runs, and where the loop is broken.

    Where there are not more campaigns and runs than asked for, everything counts.
    """
    last = min(request.last, MOST_RESULTS)
    since, pieces = window(_latest_pieces(snapshot, last + 1), last)  # and the one before these
    records = [snapshot.catalog.stored(number) for number, *_ in list(snapshot.catalog.live_rows("task"))]
    tasks = [one for one in records if isinstance(one, Task) and (since is None or one.created_at >= since)]
    failures = snapshot.catalog.of_kind(Failure, is_live=False)
    carriers = solved_by(snapshot, failures)
    reports = _reports_since(snapshot, carriers, since)
    captured = {number for number, one in failures.items() if since is None or one.created_at >= since}
    stages = {"captured": captured, **_handed_on(snapshot, tasks, carriers, reports, since)}
    counts = LoopCounts(
        **{name: len(found) for name, found in stages.items()},
        reports=len(reports),
        known=sum(not one.is_archived for one in failures.values()),
        pieces=len(pieces),
        finished=sum(task.status == "complete" for task in tasks),
    )
    refs = snapshot.catalog.refs(failures)
    return Loop(
        since=since and format_time(since),
        campaigns=[piece.ref for piece in pieces if not piece.is_run],
        runs=[piece.ref for piece in pieces if piece.is_run],
        tasks=len(tasks),
        reports=len(reports),
        stages=[
            StageReached(stage=name, number=len(found), refs=sorted(refs[number] for number in found))
            for name, found in stages.items()
        ],
        is_learning=bool(counts.helped),
        broken=broken_stage(counts),
        verdict=verdict(counts),
    )


def _handed_on(
    snapshot: Snapshot, tasks: Collection[Task], carriers: Carriers, reports: Collection[Report], since: datetime | None
) -> dict[LoopStage, set[int]]:
    """Return the failures that were injected, used, and helped: what helped was used, what was used was injected."""
    given = snapshot.catalog.known({ref for task in tasks for ref in task.prior_knowledge}).values()
    named = snapshot.catalog.known({ref for task in tasks for ref in task.utilized}).values()
    helped = _carried({number for number, is_good in reports if is_good}, carriers)
    used = _carried({*named, *(number for number, _ in reports)}, carriers)
    injected = used | _carried({*given, *_accessed_since(snapshot, carriers, since)}, carriers)
    return {"injected": injected, "used": used, "helped": helped}


def _latest_pieces(snapshot: Snapshot, most: int) -> list[Piece]:
    """Return every campaign, and the latest runs, with their times."""
    numbers = [number for number, *_ in list(snapshot.catalog.live_rows("campaign"))]
    campaigns = [Piece(record.created_at, record.ref) for record in snapshot.catalog.records(numbers).values()]
    return campaigns + [Piece(parse_time(at), f"run/{run}") for at, run in snapshot.catalog.latest_runs(most)]


def solved_by(snapshot: Snapshot, failures: Collection[int]) -> Carriers:
    """Return by what each failure may be passed on."""
    carriers: Carriers = {number: {number} for number in failures}
    for step in snapshot.catalog.steps(failures, ["solves"], "in"):
        carriers[step.near].add(step.far)
    return carriers


def _carried(numbers: Collection[int], carriers: Carriers) -> set[int]:
    """Return the failures that any of these records represents."""
    return {failure for failure, found in carriers.items() if not found.isdisjoint(numbers)}


def _reports_since(snapshot: Snapshot, carriers: Carriers, since: datetime | None) -> list[Report]:
    """Return the reports on failures, and on what solves them, since a time."""
    known = set[int]().union(*carriers.values())
    reports = snapshot.catalog.reports_since(format_time(since) if since else "")
    return [(number, helped) for number, helped in reports if number in known]


def _accessed_since(snapshot: Snapshot, carriers: Carriers, since: datetime | None) -> set[int]:
    """Return the failures, and what solves them, that this machine returned since a time."""
    numbers = set[int]().union(*carriers.values())
    keys = {record.key_ref: number for number, record in snapshot.catalog.records(numbers).items()}
    counted = accesses(snapshot.client.state, keys)
    return {keys[ref] for ref, (_, at) in counted.items() if since is None or at >= format_time(since)}
