"""
Proof: the command of a candidate fails before its fix and passes with it (docs/concepts/harvest.md).

Both commits are taken out of git into folders of their own; neither the working tree nor git's own files change. The
command comes from a transcript or a branch, so it runs only where this user has looked at it.
"""

import hashlib
import io
import os
import tarfile
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path

from graphmem.constants import CHECK_S, PROOF_BYTES
from graphmem.contract.harvest import (
    ProofChecked,
    ProofPlan,
    ProofsChecked,
    ProveCandidateRequest,
    Reviewed,
    ReviewedList,
)
from graphmem.errors import BadInput, GraphmemError, NotFound, Refused, Unavailable
from graphmem.git import commands
from graphmem.model import Record
from graphmem.model.candidate import IN_CI, Candidate, Occasion
from graphmem.model.field import format_time
from graphmem.model.record import Triggered
from graphmem.rules.doubt import proof_of
from graphmem.rules.draft import keys_of, problem_in
from graphmem.rules.outcome import outcome_of
from graphmem.rules.problem import problems
from graphmem.settings.trust import DIGEST_CHARS, are_trusted
from graphmem.store.runtime import Client
from graphmem.system.checks import CheckEnd, run
from graphmem.system.surroundings import variables
from graphmem.usecase.harvest.review import named, settle
from graphmem.usecase.writing.candidates import queue_of


def prove(client: Client, request: ProveCandidateRequest) -> ReviewedList:
    """
    Prove a candidate, or say what a proof would run.

    Raises:
        BadInput: it has no command, or no commits are known for it.
        Refused: ``yes`` is the digest of something else.
    """
    queue = queue_of(client)
    found = queue.read(client.notify_once)
    one = named(found, request.id)
    plan = plan_of(client, one)
    is_trusted = are_trusted(client.layout.config, [plan.command])
    if request.yes is not None and request.yes != plan.digest:
        raise Refused(f"{request.yes!r} is not the digest of what would run", hint=f"it is: {plan.digest}")
    if request.yes is None and not is_trusted:
        return ReviewedList(reviewed=[Reviewed(id=one.id, action="planned", plan=plan)], waiting=len(found.waiting()))
    reason = disproof(client.layout.root, plan, one.keys)
    proof = None
    if reason is None:
        proof = {
            "command": plan.command,
            "before": plan.before,
            "after": plan.after,
            "at": format_time(client.now()),
            "folder": plan.folder,
        }
        with queue.changing() as kept:
            settle(kept, one.id, {"proof": proof})
    done = Reviewed(id=one.id, action="disproven" if reason else "proven", proof=proof, reason=reason)
    return ReviewedList(reviewed=[done], waiting=len(found.waiting()))


def check_proofs(client: Client) -> ProofsChecked:
    """Run again what was proven of records, as far as its commands are trusted in this clone."""
    with client.reading() as snapshot:
        records = snapshot.catalog.records(snapshot.catalog.with_field("proven")).values()
        proofs = {record.ref: (record, proof) for record in records if (proof := proof_of(record)) is not None}
    results, untrusted = [], []
    for number, (ref, (record, proof)) in enumerate(sorted(proofs.items()), 1):
        if not are_trusted(client.layout.config, [proof["command"]]):
            untrusted.append(ref)
            continue
        client.runtime.progress("proving", number, len(proofs))
        results.append(ProofChecked(ref=ref, proven=(reason := again(client, record, proof)) is None, reason=reason))
    return ProofsChecked(results=results, untrusted=untrusted)


def again(client: Client, record: Record, proof: Mapping[str, str]) -> str | None:
    """Run a proof again, and return why it does not hold any more; None where it does."""
    root = client.layout.root
    try:
        before, after = (commands.find_commit(root, proof[name]) for name in ("before", "after"))
    except GraphmemError as error:
        return error.message
    plan = ProofPlan(command=proof["command"], folder=proof.get("folder", ""), before=before, after=after, digest="")
    keys = keys_of(problem_in(record.trigger)) if isinstance(record, Triggered) else ()
    return disproof(root, plan, keys)


def plan_of(client: Client, one: Candidate) -> ProofPlan:
    """Return what a proof of a candidate runs: the command of its latest occasion whose commits are known."""
    root = client.layout.root
    for occasion in reversed(one.evidence):
        if occasion.command and occasion.source != IN_CI and (pair := commits_of(root, occasion)):
            parts = [occasion.command, occasion.folder or "", *pair]
            digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:DIGEST_CHARS]
            return ProofPlan(command=occasion.command, folder=parts[1], before=pair[0], after=pair[1], digest=digest)
    raise BadInput(
        f"candidate {one.id} has no command with commits before and after its fix",
        hint="a proof needs a fix that was committed",
    )


def commits_of(root: Path, occasion: Occasion) -> tuple[str, str] | None:
    """
    Return the commits before and with a fix; None where they are not known.

    Where the evidence does not name them, it is the first commit after the pass that changes the edited files, and its
    parent.
    """
    after = occasion.commit
    if after is None and occasion.passed and occasion.edits:
        files = [edit.file for edit in occasion.edits if not os.path.isabs(edit.file)]
        listed = commands.git(root, "log", "--format=%H", f"--since={occasion.passed}", "--", *files) if files else b""
        after = next(iter(reversed((listed or b"").decode().split())), None)
    if after is None:
        return None
    try:
        after = commands.find_commit(root, after)
        before = commands.find_commit(root, occasion.before or f"{after}^")
    except NotFound:
        return None
    return before, after


def disproof(root: Path, plan: ProofPlan, wanted: Collection[str]) -> str | None:
    """Run a plan, and return why it proves nothing; None where it is a proof."""
    failed = run_at(root, plan, plan.before)
    if failed.is_timed_out:
        return f"at {plan.before[:12]} the command took longer than {CHECK_S:.0f} s"
    if not failed.could_run:
        return f"at {plan.before[:12]} the command could not be run: {failed.tail.strip()[-200:]}"
    if outcome_of(plan.command, failed.status, failed.tail) not in ("failed", "hidden"):
        return f"at {plan.before[:12]} the command passes"
    keys = {key for problem in problems(failed.tail) for key in keys_of(problem)}
    if wanted and keys.isdisjoint(wanted):
        return f"at {plan.before[:12]} the command fails with another error"
    passed = run_at(root, plan, plan.after)
    if outcome_of(plan.command, passed.status, passed.tail) != "passed":
        return f"at {plan.after[:12]} the command does not pass"
    return None


def run_at(root: Path, plan: ProofPlan, commit: str) -> CheckEnd:
    """Run the command of a plan in a copy of a commit."""
    with tempfile.TemporaryDirectory(prefix="graphmem-proof-") as folder:
        take_out(root, commit, Path(folder))
        where = Path(folder) / plan.folder
        if not where.is_dir() or not where.resolve().is_relative_to(Path(folder).resolve()):
            return CheckEnd(None, False, 0.0, f"{plan.folder!r} is not there")
        return run(within(plan.command, root, folder), where, variables(), CHECK_S, PROOF_BYTES)


def within(command: str, root: Path, folder: str) -> str:
    """Return a command that names the project's folder with another one in its place."""
    return command.replace(str(root), folder)


def take_out(root: Path, commit: str, folder: Path) -> None:
    """
    Write the files of a commit into a folder; no link leads out of it.

    Raises:
        Unavailable: git does not give them, or one of them would be written elsewhere.
    """
    data = commands.git(root, "archive", "--format=tar", commit)
    if data is None:
        raise Unavailable(f"git has no files for commit {commit[:12]}")
    try:
        with tarfile.TarFile(fileobj=io.BytesIO(data)) as files:
            files.extractall(folder, filter="data")
    except tarfile.TarError as error:
        raise Unavailable(f"the files of commit {commit[:12]} cannot be written: {error}") from None
