"""Snapshots: what is kept of dry runs, in ``.snapshots/`` of the project, to be looked at and compared."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import orjson
from pydantic import Field, JsonValue

from graphmem.constants import FILE_BYTES
from graphmem.core.records.events import events_about
from graphmem.core.records.secrets import redacted, without_secrets
from graphmem.errors import NotFound, Refused
from graphmem.features.governance.place import plain, trace_of
from graphmem.features.governance.standing import GOVERNED_EVENTS, Standing
from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.git import worktree
from graphmem.kernel.ledger.row import entry
from graphmem.kernel.ledger.types import parse
from graphmem.kernel.model import Frozen
from graphmem.kernel.model.field import format_time
from graphmem.kernel.registry import operation
from graphmem.kernel.request import Request
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.suggest import did_you_mean
from graphmem.kernel.system import safe_files
from graphmem.kernel.text import count, one_line
from graphmem.names import row_id

FOLDER = ".snapshots"
README, ITEMS, EVENTS, PATCH, TRACE = "README.md", "items.ndjson", "events.ndjson", "diff.patch", "trace.jsonl"
README_BYTES = 2**20
PATCH_BYTES = 2**28  # of a patch that is compared
FORM = "front matter as graphmem work finish writes it"
COMPARED = ("objective", "flow", "cycles", "iterations", "reason", "base_commit")

SnapshotId = Annotated[str, Field(description="Id of the snapshot, as `snapshot list` shows it")]


class SnapshotRequest(Request):
    """Which snapshot is meant."""

    id: SnapshotId


class CompareSnapshotsRequest(Request):
    """Which two snapshots to compare."""

    first: SnapshotId
    second: SnapshotId


class SnapshotShown(Answer):
    """
    What is kept of a dry run: the front matter of its README, and the files that it changed.

    ``tip`` was the last commit of its branch; ``items`` are the states of the review items.
    """

    id: str
    work: str
    objective: str
    flow: str
    cycles: list[str]
    iterations: int
    branch: str
    base_branch: str
    base_commit: str
    tip: str
    at: str
    complete: bool
    reason: str | None = None
    items: dict[str, str] = {}
    files: list[str] = []


class SnapshotList(Answer):
    """The snapshots of dry runs, the oldest first."""

    snapshots: list[SnapshotShown]


class SnapshotChange(Part):
    """What differs between two snapshots; null where one has nothing of it."""

    name: str
    first: JsonValue = None
    second: JsonValue = None


class SnapshotDifference(Answer):
    """What differs between two snapshots: fields, items by state, and files that were changed in different ways."""

    first: str
    second: str
    fields: list[SnapshotChange]
    items: list[SnapshotChange]
    files: list[str]


# --- made ------------------------------------------------------------------------------------------------------------


def keep(client: Client, standing: Standing, tip: str) -> SnapshotShown:
    """Write the snapshot of a dry run, which is on its branch, and return it; repeated, it writes the same."""
    work = standing.work
    with client.reading() as snapshot:
        numbers = [row_id(ref) for ref in (work.key_ref, *standing.items)]
        events = [one for found in events_about(snapshot, numbers).values() for one in found]
        events = sorted((one for one in events if one.type in GOVERNED_EVENTS), key=lambda one: (one.at, one.id))
        items = [one.item for _, one in sorted(standing.items.items())]
        rows = {ITEMS: _rows([work, *items], snapshot.symmetric), EVENTS: _rows(events, snapshot.symmetric)}
    kept = SnapshotShown(
        id=f"{plain(work.key_ref.partition('/')[2])}-{tip[:8]}",
        work=work.key_ref,
        objective=work.objective,
        flow=work.flow,
        cycles=list(standing.cycles),
        iterations=sum(run.kind == "forge" for run in standing.runs),
        branch=work.branch,
        base_branch=work.base_branch,
        base_commit=work.base_commit,
        tip=tip,
        at=format_time(events[-1].at if events else work.created_at),
        complete=standing.reason is None,
        reason=standing.reason,
        items={ref: one.state for ref, one in sorted(standing.items.items())},
    )
    files = {
        **rows,
        PATCH: worktree.patch(client.root, work.base_commit, tip),
        TRACE: _trace(trace_of(client, work.branch)),
        README: _readme(kept).encode(),  # the last: with it the snapshot is whole
    }
    place = client.root / FOLDER / kept.id
    for folder in (place.parent, place):
        if safe_files.is_linked(folder):
            raise Refused(f"{str(folder)!r} is a link: no snapshot is written through it", hint="remove the link")
    with safe_files.folder(place, make=True):
        for name, data in files.items():
            safe_files.put(place / name, data, is_flushed=True)
    return kept


def _rows(records: Iterable[Frozen], symmetric: frozenset[str]) -> bytes:
    """Return records as lines."""
    return b"".join(entry(one, symmetric).line + b"\n" for one in records)


def _trace(path: Path) -> bytes:
    """Return the calls of a dry run without secrets."""
    try:
        lines = safe_files.read(path, most=FILE_BYTES).splitlines()
    except OSError:
        return b""
    return b"".join(_without_secrets(line) + b"\n" for line in lines)


def _without_secrets(line: bytes) -> bytes:
    """Return a line of a trace without secrets; one that was cut off is a text."""
    try:
        return orjson.dumps(without_secrets(orjson.loads(line)))
    except ValueError:
        return orjson.dumps({"cut": redacted(line.decode("utf-8", "replace"))})


def _readme(kept: SnapshotShown) -> str:
    """Return what a snapshot says of itself."""
    fields = kept.model_dump(exclude={"files"})
    front = "".join(f"{name}: {orjson.dumps(value).decode()}\n" for name, value in fields.items())
    result = "It is complete." if kept.complete else f"It is not complete: {one_line(kept.reason or '')}"
    text = f"A dry run of the flow {kept.flow} on {kept.base_branch}, finished {kept.at}. {result}"
    rest = f"{count(kept.iterations, 'iteration')}, {count(len(kept.items), 'item')}."
    return f"---\n{front}---\n# {one_line(kept.objective)}\n\n{text}\n{rest}\n"


# --- asked for -------------------------------------------------------------------------------------------------------


def left_over(client: Client, ref: str) -> SnapshotShown | None:
    """Return the last snapshot of a work, whose rows went with its branch; None where it has no snapshot."""
    name = ref.removeprefix("work/")
    return next((one for one in reversed(_all(client)) if one.work.removeprefix("work/") == name), None)


def _all(client: Client) -> list[SnapshotShown]:
    """Return the snapshots of a project, the oldest first; a folder needs a README that says so."""
    found = list[SnapshotShown]()
    try:
        folders = safe_files.folders(client.root / FOLDER)
    except OSError:
        return found
    for place in folders:
        try:
            kept = parse(safe_files.read(place / README, most=README_BYTES).decode(), SnapshotShown, FORM)
        except (OSError, ValueError):
            continue
        found.append(kept.model_copy(update={"id": place.name}))
    return sorted(found, key=lambda one: (one.at, one.id))


def _one(client: Client, name: str) -> SnapshotShown:
    """Return a snapshot by its id."""
    known = {one.id: one for one in _all(client)}
    if name not in known:
        hint = did_you_mean(name, known) or "see: graphmem snapshot list"
        raise NotFound(f"no snapshot {name!r}", hint=hint)
    return known[name]


def _patches(client: Client, kept: SnapshotShown) -> dict[str, str]:
    """Return the patch of each file that a dry run changed."""
    try:
        text = safe_files.read(client.root / FOLDER / kept.id / PATCH, most=PATCH_BYTES).decode("utf-8", "replace")
    except OSError:
        return {}
    found = {}
    for part in re.split(r"^diff --git ", text, flags=re.MULTILINE)[1:]:
        both, _, rest = part.partition("\n")
        found[both[len(both) // 2 + 1 :].strip('"').removeprefix("b/")] = rest  # both names are the same
    return found


@operation("snapshots.list", example="graphmem snapshot list")
def list_snapshots(client: Client) -> SnapshotList:
    """Return what is kept of dry runs, the oldest first."""
    return SnapshotList(snapshots=_all(client))


@operation("snapshots.show", positional=1, example="graphmem snapshot show feature-sign-in-0a1b2c3d")
def show(client: Client, request: SnapshotRequest) -> SnapshotShown:
    """Return what is kept of a dry run: its work, the states of its items, and the files that it changed."""
    kept = _one(client, request.id)
    return kept.model_copy(update={"files": [*_patches(client, kept)]})


@operation("snapshots.diff", positional=2, example="graphmem snapshot diff feature-a-0a1b2c3d feature-a-4e5f6a7b")
def diff(client: Client, request: CompareSnapshotsRequest) -> SnapshotDifference:
    """Return what differs between two dry runs: fields, items, and files that they changed in different ways."""
    first, second = _one(client, request.first), _one(client, request.second)
    patches = _patches(client, first), _patches(client, second)
    return SnapshotDifference(
        first=first.id,
        second=second.id,
        fields=_changes({name: getattr(first, name) for name in COMPARED}, {n: getattr(second, n) for n in COMPARED}),
        items=_changes(first.items, second.items),
        files=[one.name for one in _changes(*patches)],
    )


def _changes(first: dict[str, Any], second: dict[str, Any]) -> list[SnapshotChange]:
    """Return what two mappings have different values for."""
    names = sorted({*first, *second})
    pairs = ((name, first.get(name), second.get(name)) for name in names)
    return [SnapshotChange(name=name, first=one, second=other) for name, one, other in pairs if one != other]
