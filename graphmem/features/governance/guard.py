"""
What is asked before every write: whether it may be made here and now.

Three things can speak against it: the rows are those of guarded work, which have commands of their own; the branch is
not one for them; the stage that is active may not write them. In a project without flows nothing is asked.
"""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Literal

from graphmem.errors import Refused
from graphmem.features.governance.actor import is_person
from graphmem.features.governance.lease import Lease, active, keep, lease_of
from graphmem.features.governance.place import branch_of, has_flows
from graphmem.features.governance.standing import GOVERNED_EVENTS
from graphmem.features.governance.states import ALWAYS, AREAS, BELONGS, STAGE_RIGHTS, Area, areas_of
from graphmem.kernel.ledger.types import Types
from graphmem.kernel.store.runtime import Client
from graphmem.names import row_id, row_key, row_title

Row = Mapping[str, Any]
GOVERNED = ("work", "item")  # kinds that have commands of their own
# What of the room itself writes in this context: its own rows, or those of the extractors of an assay stage.
writer: ContextVar[Literal["commands", "extractors"] | None] = ContextVar("writer", default=None)


@contextlib.contextmanager
def writing_as(what: Literal["commands", "extractors"]) -> Iterator[None]:
    """Let what the block writes pass as written by the room itself."""
    token = writer.set(what)
    try:
        yield
    finally:
        writer.reset(token)


def is_governed(row: Row) -> bool:
    """Return whether a row is of guarded work."""
    return row["kind"] in GOVERNED or (row["kind"] == "event" and row.get("type") in GOVERNED_EVENTS)


def refuse_write(client: Client, rows: Sequence[Row], files: Types) -> None:
    """Raise ``Refused`` for a write that the rules of guarded work do not allow."""
    if not (client.settings.governance or has_flows(client)):
        return
    person = is_person(client)
    if writer.get() == "commands":
        if person and (lease := active(client)) is not None:
            _note(client, lease, rows)
        return
    if not person and (own := next(filter(is_governed, rows), None)) is not None:
        raise Refused(
            f"{row_title(own)} is of guarded work, which is changed by its own commands",
            hint="graphmem work, graphmem stage and graphmem item",
        )
    if client.settings.governance:
        refuse_elsewhere(client, _areas(rows, files))
    if (lease := active(client)) is None or client.runtime.command == "hook":
        return
    if person:
        _note(client, lease, rows)
    else:
        refuse_in_stage(lease, rows, files)


def _areas(rows: Sequence[Row], files: Types) -> list[Area]:
    """Return what a write changes."""
    found: list[Area] = ["definitions"] if files else []
    if any(map(is_governed, rows)):
        found.append("governed")
    if any(row["kind"] not in (*ALWAYS, *GOVERNED) for row in rows):
        found.append("memory")
    return found


def refuse_elsewhere(client: Client, areas: Sequence[Area]) -> None:
    """Raise ``Refused`` for an area that may not change on the branch that is checked out."""
    branch = branch_of(client)
    allowed = areas_of(branch or "")
    for area in areas:
        if area not in allowed:
            where = f"branch {branch!r}" if branch else "a detached HEAD"
            raise Refused(
                f"{AREAS[area]} may not change on {where}", hint=BELONGS[area], details={"branch": branch, "area": area}
            )


def refuse_in_stage(lease: Lease, rows: Sequence[Row], files: Types) -> None:
    """Raise ``Refused`` for what the active stage may not write."""
    rights = STAGE_RIGHTS[lease.kind]
    if rights.memory and writer.get() == "extractors":
        return
    named = [row_title(row) for row in rows if row["kind"] not in ALWAYS] or list(files)
    if named:
        only = "through its extractors only" if rights.memory else "no memory and no definitions"
        raise Refused(
            f"stage {lease.stage} ({lease.kind}) of {lease.work} is active: it may write {only}, not {named[0]}",
            hint="write it after graphmem stage end",
            details={"stage": lease.stage, "work": lease.work},
        )


def _note(client: Client, lease: Lease, rows: Sequence[Row]) -> None:
    """Note what a person writes while a stage is active: the end of the stage does not take it for its own."""
    numbers = {row_id(row_key(row, client.ledger.symmetric)) for row in rows}
    with client.state.changing() as kept:
        if lease_of(kept) == lease:
            keep(kept, lease.model_copy(update={"noted": (*lease.noted, *sorted(numbers))}))
