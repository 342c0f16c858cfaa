"""
Proof: the command of a candidate fails before its fix and passes with it (docs/concepts/harvest.md).

Both commits are taken out of git into folders of their own; neither the working tree nor git's own files change. The
command comes from a transcript or a branch, so it runs only where this user has looked at it.
"""

import hashlib
import os
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from graphmem.constants import CHECK_S, PROOF_BYTES
from graphmem.core.logs.draft import keys_of
from graphmem.core.logs.outcome import outcome_of
from graphmem.core.logs.output_problem import problem_in, problems
from graphmem.core.records.candidate_contract import (
    ProofChecked,
    ProofPlan,
    ProofsChecked,
    ProveCandidateRequest,
    Reviewed,
    ReviewedList,
)
from graphmem.core.records.candidates import queue_of
from graphmem.errors import BadInput, NotFound, Refused
from graphmem.features.harvest.review import named
from graphmem.kernel.git import commands
from graphmem.kernel.git.copy import entries_of, write
from graphmem.kernel.model import Record
from graphmem.kernel.model.candidate import IN_CI, Candidate, Occasion
from graphmem.kernel.model.proof import MOST_FILES, Proof, is_plain, text_to_trust, valid_proof
from graphmem.kernel.model.record import Triggered
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.settings.trust import DIGEST_CHARS, are_trusted, note_proof, trust_lock
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.system.checks import CheckEnd, run
from graphmem.kernel.system.lock import locked
from graphmem.kernel.system.surroundings import variables

PACKAGES = frozenset((".venv", "venv", "node_modules"))  # folders of installed packages, by their names
PYTHON_PROJECT = ("pyproject.toml", "setup.py", "setup.cfg")


@operation(
    "candidates.prove",
    writes=True,
    positional=1,
    previews="yes",
    at_home=True,
    not_over_http="it runs a command",
    example="graphmem review prove c3f2a91c0",
    takes={"yes": Taken("DIGEST")},
)
def prove(client: Client, request: ProveCandidateRequest) -> ReviewedList:
    """
    Run the command of a candidate at the commits before and after the fix: it must fail, then pass.

    Raises:
        BadInput: it has no command, or no commits are known for it.
        Refused: ``yes`` is the digest of something else.
    """
    queue = queue_of(client)
    found = queue.read()
    one = named(client, found, request.id)
    plan = _plan_of(client, one)
    is_trusted = are_trusted(client.layout.config, [_what_runs(plan)], "proofs")
    if request.yes is not None and request.yes != plan.digest:
        raise Refused(f"{request.yes!r} is not the digest of what would run", hint=f"it is: {plan.digest}")
    if request.yes is None and not is_trusted:
        return ReviewedList(reviewed=[Reviewed(id=one.id, action="planned", plan=plan)], waiting=len(found.waiting()))
    trial = _tried(client.root, plan, one.keys)
    proof = None
    if trial.reason is None:
        made = Proof(
            command=plan.command,
            before=plan.before,
            after=plan.after,
            at=client.now(),
            folder=plan.folder,
            without="\n".join(trial.without),
        )
        note(client, made, holds=True)
        proof = {name: value for name, value in made.model_dump(mode="json").items() if value or name == "folder"}
        with queue.changing() as kept:
            if one.id in kept.candidates:
                kept.candidates[one.id] = kept.candidates[one.id].model_copy(update={"proof": proof})
    done = Reviewed(id=one.id, action="disproven" if trial.reason else "proven", proof=proof, reason=trial.reason)
    return ReviewedList(reviewed=[done], waiting=len(found.waiting()))


@operation("candidates.check_proofs", writes=True, at_home=True, not_over_http="it runs commands")
def check_proofs(client: Client) -> ProofsChecked:
    """Run again what was proven of records, as far as its commands are trusted in this clone."""
    with client.reading() as snapshot:
        records = snapshot.catalog.records(snapshot.catalog.with_field("proven")).values()
        proofs = {record.ref: (record, proof) for record in records if (proof := valid_proof(record)) is not None}
    results, untrusted = [], []
    for number, (ref, (record, proof)) in enumerate(sorted(proofs.items()), 1):
        if not are_trusted(client.layout.config, [proof.to_trust], "proofs"):
            untrusted.append(ref)
            continue
        client.runtime.progress("proving", number, len(proofs))
        reason = _again(client, record, proof)
        note(client, proof, holds=reason is None)
        results.append(ProofChecked(ref=ref, proven=reason is None, reason=reason))
    return ProofsChecked(results=results, untrusted=untrusted)


def _again(client: Client, record: Record, proof: Proof) -> str | None:
    """Run a proof again, and return why it does not hold any more; None where it does."""
    root = client.root
    for commit in (proof.before, proof.after):
        if not commands.is_in_history(root, commit):
            return f"commit {commit} is not in the history of HEAD"
    plan = ProofPlan(
        command=proof.command,
        folder=proof.folder,
        before=proof.before,
        after=proof.after,
        files=proof.files,
        digest="",
    )
    keys = keys_of(problem_in(record.trigger)) if isinstance(record, Triggered) else ()
    return _tried(root, plan, keys).reason


def note(client: Client, proof: Proof, *, holds: bool) -> None:
    """Note in this user's own file that a proof ran in this clone, and how it ended."""
    with locked(trust_lock(), timeout_s=client.lock_timeout_s):
        note_proof(client.layout.config, proof.to_trust, holds=holds)


def _what_runs(plan: ProofPlan) -> str:
    """Return what a plan runs, as one trusts it."""
    return text_to_trust(plan.command, plan.folder, plan.before, plan.after, plan.files)


def _plan_of(client: Client, one: Candidate) -> ProofPlan:
    """Return what a proof of a candidate runs: the command of its latest occasion whose commits are known."""
    root = client.root
    for occasion in reversed(one.evidence):
        if occasion.command and occasion.source != IN_CI and (pair := _commits_of(root, occasion)):
            files = list(dict.fromkeys(edit.file for edit in occasion.edits if is_plain(edit.file)))
            plan = ProofPlan(
                command=occasion.command,
                folder=occasion.folder or "",
                before=pair[0],
                after=pair[1],
                files=files if len(files) <= MOST_FILES else [],
                digest="",
            )
            digest = hashlib.sha256(_what_runs(plan).encode()).hexdigest()[:DIGEST_CHARS]
            return plan.model_copy(update={"digest": digest})
    is_of_ci = all(occasion.source == IN_CI for occasion in one.evidence)
    raise BadInput(
        f"candidate {one.id} has no command with commits before and after its fix",
        hint="a report of CI names checks, not commands" if is_of_ci else "a proof needs a fix that was committed",
    )


def _commits_of(root: Path, occasion: Occasion) -> tuple[str, str] | None:
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


class Trial(NamedTuple):
    """
    How a plan ended.

    Attributes:
        reason: why it proves nothing; None where it is a proof.
        without: the files whose change was taken out of the commit with the fix, so that the command failed.
    """

    reason: str | None
    without: Sequence[str] = ()


def _tried(root: Path, plan: ProofPlan, wanted: Collection[str]) -> Trial:
    """
    Run a plan: its command must fail with the problem wanted before the fix, and pass with it.

    The commit before may not have the check yet: most projects commit a test with its fix. Then the command must fail
    at the commit with both, with the edited files as they were before.
    """
    without: Sequence[str] = ()
    reason = _no_failure(root, plan, wanted)
    if reason is not None and plan.files:
        without = plan.files
        other = _no_failure(root, plan, wanted, without)
        reason = None if other is None else f"{reason}; {other}"
    if reason is None:
        end = _run_at(root, plan, plan.after)
        if outcome_of(plan.command, end.status, end.tail) != "passed":
            reason = f"at {plan.after[:12]} the command {_unfinished(end) or 'does not pass'}"
    return Trial(reason, without)


def _no_failure(root: Path, plan: ProofPlan, wanted: Collection[str], without: Sequence[str] = ()) -> str | None:
    """Return in which way the command does not fail as it should before the fix; None where it does."""
    where = f"at {plan.before[:12]}"
    if without:
        where = f"at {plan.after[:12]} without the change of {', '.join(without)}"
    end = _run_at(root, plan, plan.after if without else plan.before, without)
    if reason := _unfinished(end):
        return f"{where} the command {reason}"
    if outcome_of(plan.command, end.status, end.tail) != "failed":
        return f"{where} the command passes"
    keys = {key for problem in problems(end.tail) for key in keys_of(problem)}
    if wanted and keys.isdisjoint(wanted):
        return f"{where} the command fails with another error"
    return None


def _unfinished(end: CheckEnd) -> str:
    """Return why a command did not come to its end; empty where it did."""
    if end.is_timed_out:
        return f"took longer than {CHECK_S:.0f} s"
    return "" if end.could_run else f"could not be run: {end.tail.strip()[-200:]}"


def _run_at(root: Path, plan: ProofPlan, commit: str, without: Sequence[str] = ()) -> CheckEnd:
    """Run the command of a plan in a copy of a commit, with some files as they were before the fix."""
    with tempfile.TemporaryDirectory(prefix="graphmem-proof-") as folder:
        copy = Path(folder)
        entries = [entry for entry in entries_of(root, commit) if entry.path not in without]
        if without:
            entries += [entry for entry in entries_of(root, plan.before) if entry.path in without]
        write(root, entries, copy)
        where = copy / plan.folder
        is_named = not plan.folder or is_plain(plan.folder)
        if not is_named or not where.is_dir() or not where.resolve().is_relative_to(copy.resolve()):
            return CheckEnd(None, False, 0.0, f"{plan.folder!r} is not there, or has a name with white space or signs")
        _link_packages(root, copy)
        return run(_within(plan.command, root, folder), where, _own_first(copy, where), CHECK_S, PROOF_BYTES)


def _link_packages(root: Path, copy: Path) -> None:
    """Link the folders of installed packages, which no commit has, from the working tree into a copy."""
    listed = (commands.git(root, "ls-files", "--others", "--directory", "-z") or b"").decode("utf-8", "surrogateescape")
    for name in listed.split("\0"):
        place = copy / name
        if place.name in PACKAGES and place.parent.is_dir() and not os.path.lexists(place):
            place.symlink_to(os.path.abspath(root / name))


def _own_first(copy: Path, where: Path) -> Mapping[str, str]:
    """Return the environment for a copy: Python finds its code there, also where the working tree is installed."""
    given = variables()
    own = [place for base in dict.fromkeys((where, copy)) for place in (base / "src", base)]
    places = [str(place) for place in own if place.is_dir()]
    is_python = any((base / name).is_file() for base in (where, copy) for name in PYTHON_PROJECT)
    path = os.pathsep.join([*places, *filter(None, [given.get("PYTHONPATH")])])
    return {**given, "PYTHONPATH": path} if is_python else given


def _within(command: str, root: Path, folder: str) -> str:
    """Return a command that names the project's folder with another one in its place."""
    return command.replace(str(root), folder)
