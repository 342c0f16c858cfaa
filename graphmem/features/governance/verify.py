"""Verify: whether the commit of finished work holds what its attestation says; the facts of both are made here."""

import contextlib
import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from graphmem.features.governance import attestation
from graphmem.features.governance.attestation import Attestation, Mismatch, first_mismatch, seal_state
from graphmem.features.governance.definitions import FORM, ArtefactDefinition
from graphmem.features.governance.files import OwnFiles
from graphmem.features.governance.globs import matches
from graphmem.features.governance.standing import Standing, fold
from graphmem.features.governance.tokens import secret_of
from graphmem.kernel.answer import Answer
from graphmem.kernel.git import commands, worktree
from graphmem.kernel.ledger.row import read_entry
from graphmem.kernel.ledger.types import parse
from graphmem.kernel.model import Event, Frozen, ReviewItem, Work
from graphmem.kernel.model.field import format_time
from graphmem.kernel.ndjson import BadLine
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.request import Request
from graphmem.kernel.store.runtime import Client

ARCHIVE = "archive/"
FILE, GITLINK, GONE = "100644", "160000", "000000"
OTHER = "other"  # what changed and is of no artefact type
ROWS = ("data/work", "data/item", "data/event")  # files that hold what guarded work is
NOT_HERE = "of another clone, not checkable here"


class VerifyRequest(Request):
    """Which commit to check."""

    commit: str = Field(description="A commit that `work finish` made: its hash, or a branch or tag")
    require_signature: bool = Field(False, description="Fail if the seal cannot be checked in this clone")


class WorkVerified(Answer):
    """Whether an attestation is true: the first thing that differs, and what there is to say of its seal."""

    commit: str
    work: str | None = None
    ok: bool
    mismatch: Mismatch | None = None
    seal: str
    archive: str | None = None
    complete: bool | None = None


@operation(
    "works.verify",
    at_home=True,
    positional=1,
    arguments=1,
    takes={"commit": Taken("COMMIT")},
    is_report=True,
    raises={"NotFound": "there is no such commit"},
    example="graphmem work verify main",
    help="""
    Check the attestation of finished work against its commit.

    The hashes of the artefacts, the items and the stages are made again from what the commit holds, and the first that
    differs is named. The seal is checked in the clone that made it, the signature of git wherever its key is known.
    """,
)
def verify(client: Client, request: VerifyRequest) -> WorkVerified:
    """Check the attestation of finished work against its commit; the exit status is 1 where it is not true."""
    commit = commands.find_commit(client.root, request.commit)
    with worktree.objects(client.root) as objects:
        raw = objects.read(commit).decode("utf-8", "surrogateescape")
    head, _, message = raw.partition("\n\n")
    found = attestation.parse(message)
    if found is None:
        missing = Mismatch(path="attestation", found="the message does not end in one")
        return WorkVerified(commit=commit, ok=False, mismatch=missing, seal="none")
    parents = [line.removeprefix("parent ") for line in head.split("\n") if line.startswith("parent ")]
    tip = _archived(client, found)
    facts = facts_of(client, commit, _text(found, "work"), parent=parents[0] if parents else None, tip=tip)
    mismatch = first_mismatch(found, facts)
    seal, is_sealed = _seal(client, found, commit, is_required=request.require_signature)
    if mismatch is None and not is_sealed:
        right = "a seal that this clone can check" if seal == NOT_HERE else "a valid seal"
        mismatch = Mismatch(path="seal", attested=seal, found=right)
    complete = found.facts.get("complete")
    return WorkVerified(
        commit=commit,
        work=_text(found, "work"),
        ok=mismatch is None,
        mismatch=mismatch,
        seal=seal,
        archive=_text(found, "archive"),
        complete=complete if isinstance(complete, bool) else None,
    )


def _text(found: Attestation, name: str) -> str:
    """Return a fact that is a text; a stranger's attestation may have anything in its place."""
    value = found.facts.get(name)
    return value if isinstance(value, str) else ""


def _archived(client: Client, found: Attestation) -> str:
    """Return the tip of the archive branch, where that is here, or else the one that is attested."""
    attested = _text(found, "tip")
    name = archive_of(_text(found, "branch"), attested)
    with contextlib.suppress(ValueError):  # a NUL in the name
        return worktree.value_of(client.root, worktree.BRANCHES + name) or attested
    return attested


def _seal(client: Client, found: Attestation, commit: str, *, is_required: bool) -> tuple[str, bool]:
    """Return what there is to say of the seal, and whether that will do."""
    state = seal_state(found, secret_of(client))
    if state == "git":
        signer = worktree.signature_of(client.root, commit)
        return (f"signature of git: {signer}", True) if signer else ("the signature of git is missing or wrong", False)
    if state == "of another clone":
        return NOT_HERE, not is_required
    return ("valid", True) if state == "valid" else ("wrong", False)


# --- the facts -------------------------------------------------------------------------------------------------------


def archive_of(branch: str, tip: str) -> str:
    """Return the branch that keeps a finished one."""
    return f"{ARCHIVE}{branch}-{tip[:10]}"


@dataclass(frozen=True)
class _Held:
    """What a commit or tree holds of a project: the rows of guarded work, and the artefact types."""

    records: list[Frozen]
    artefacts: Mapping[str, ArtefactDefinition]


def facts_of(client: Client, tree: str, work: str, *, parent: str | None, tip: str) -> dict[str, Any]:
    """
    Return the facts of finished work, made from what git holds alone.

    Args:
        tree: the commit that finishes it, or its tree.
        work: its reference by key.
        parent: the commit that it was merged into.
        tip: the last commit of its branch.
    """
    with worktree.objects(client.root) as objects:
        held = _held(client, tree, objects)
        standing = _standing(held, work)
        artefacts = _artefacts(client, tree, parent, held.artefacts, objects)
    exact = worktree.value_of(client.root, tree, kind="tree")
    found: dict[str, Any] = {"format": 1, "artefacts": artefacts, "tip": tip, "tree": exact}
    return found if standing is None else {**found, **_said(standing, parent, tip)}


def _said(standing: Standing, parent: str | None, tip: str) -> dict[str, Any]:
    """Return what the rows say of the work."""
    work = standing.work
    items: dict[str, dict[str, Any]] = {}
    for ref, one in sorted(standing.items.items()):
        items.setdefault(one.state, {})[ref] = {"source": one.item.source, "reason": one.reason}
    forged = [run.cycle for run in standing.runs if run.kind == "forge"]
    return {
        "work": work.key_ref,
        "flow": work.flow,
        "objective": work.objective,
        "branch": work.branch,
        "archive": archive_of(work.branch, tip),
        "base": {"branch": work.base_branch, "begun": work.base_commit, "commit": parent},
        "cycles": list(standing.cycles),
        "iterations": {cycle: forged.count(cycle) for cycle in sorted({*standing.cycles, *forged})},
        "items": items,
        "open": [one.item.key_ref for one in standing.open_items],
        "stages": [
            {
                "stage": run.stage,
                "kind": run.kind,
                "cycle": run.cycle,
                "iteration": run.iteration,
                "model": run.model,
                "begun_at": format_time(run.begun_at),
                "ended_at": format_time(run.ended_at),
            }
            for run in standing.runs
        ],
        "complete": standing.status == "finished" and standing.reason is None,
        "reason": standing.reason,
    }


def _held(client: Client, tree: str, objects: commands.Objects) -> _Held:
    """Read what a commit or tree holds of a project; lines and files that are wrong are left out."""
    prefix = f"{OwnFiles(client).store}/"
    records, artefacts = list[Frozen](), dict[str, ArtefactDefinition]()
    for one in worktree.changes(client.root, None, tree):
        file = one.path.removeprefix(prefix) if one.path.startswith(prefix) and one.new_mode == FILE else ""
        if file.startswith(ROWS):
            records += _records(objects.read(one.new))
        elif file.startswith("artefacts/") and file.endswith(".md"):
            with contextlib.suppress(ValueError):
                text = objects.read(one.new).decode("utf-8-sig")
                artefacts[Path(file).stem] = parse(text, ArtefactDefinition, FORM)
    return _Held(records, artefacts)


def _records(data: bytes) -> Iterator[Frozen]:
    """Yield the records of a file of rows."""
    for line in filter(None, data.split(b"\n")):
        with contextlib.suppress(BadLine):
            record = read_entry(line, frozenset()).record
            if record is not None:
                yield record


def _standing(held: _Held, ref: str) -> Standing | None:
    """Return where a work is by the rows of a commit; None where they do not have it."""
    work = next((one for one in held.records if isinstance(one, Work) and one.key_ref == ref), None)
    if work is None:
        return None
    items = [one for one in held.records if isinstance(one, ReviewItem) and ref in one.refs_in("work")]
    subjects = {ref, *(one.key_ref for one in items)}
    return fold(work, items, [one for one in held.records if isinstance(one, Event) and one.subject in subjects])


def _artefacts(
    client: Client, tree: str, parent: str | None, kinds: Mapping[str, ArtefactDefinition], objects: commands.Objects
) -> dict[str, dict[str, str | None]]:
    """Return the files that the work changed, by artefact type, with mode and SHA-256; None for one that went."""
    own = OwnFiles(client)
    found: dict[str, dict[str, str | None]] = {}
    for change in worktree.changes(client.root, parent, tree):
        if change.path.startswith(f"{own.store}/"):
            continue
        inner = own.in_project(change.path)
        kind = next((name for name, one in kinds.items() if inner and matches(one.files, inner)), OTHER)
        path = os.fsencode(change.path).decode("utf-8", "backslashreplace")
        found.setdefault(kind, {})[path] = _content(change, objects)
    return found


def _content(change: worktree.TreeChange, objects: commands.Objects) -> str | None:
    """Return the mode and the hash of what a path has now; of a nested repository its commit."""
    if change.new_mode == GONE:
        return None
    is_link = change.new_mode == GITLINK
    digest = change.new if is_link else hashlib.sha256(objects.read(change.new)).hexdigest()
    return f"{change.new_mode} {digest}"
