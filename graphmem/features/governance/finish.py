"""
Finish: what a work made becomes one commit on its base branch, which attests how it was made.

Each step can be repeated: whatever ends the command between two of them, the next call goes on there. The work branch
is deleted last, when an archive branch keeps all of it.
"""

from pydantic import Field

from graphmem.core.records.screening import screened
from graphmem.errors import NotFound, Refused, Unavailable
from graphmem.features.governance import lease, snapshots
from graphmem.features.governance.actor import is_person
from graphmem.features.governance.attestation import attested
from graphmem.features.governance.contract import OfWork
from graphmem.features.governance.facts import definitions_of, fact, refuse_other_branch, standing_of, write
from graphmem.features.governance.files import OwnFiles, content_of_branch, dirty_files
from graphmem.features.governance.place import trace_of
from graphmem.features.governance.show import decided
from graphmem.features.governance.stages import scratch
from graphmem.features.governance.standing import FINISHED, Standing
from graphmem.features.governance.tokens import secret_of
from graphmem.features.governance.verify import archive_of, facts_of
from graphmem.kernel.answer import Answer
from graphmem.kernel.git import worktree
from graphmem.kernel.git.places import top_of
from graphmem.kernel.git.worktree import BRANCHES
from graphmem.kernel.model import Work
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.request import InputRequest
from graphmem.kernel.store.git_setup import drivers
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.shell import command
from graphmem.kernel.text import one_line
from graphmem.names import visible

SHOWN = 10  # paths in a message


class FinishWorkRequest(InputRequest):
    """Which work to finish."""

    ref: OfWork = None
    unfinished: str | None = Field(
        None, description="Why the work is finished although it is not done; only a person may say so"
    )


class WorkFinished(Answer):
    """
    Finished work: the commit on the base branch, and the branch that keeps the commits of the work.

    Of a dry run there is no commit: ``snapshot`` is the id of what was kept of it.
    """

    work: str
    base_branch: str
    commit: str | None = None
    archive: str | None = None
    snapshot: str | None = None
    complete: bool


@operation(
    "works.finish",
    writes=True,
    at_home=True,
    positional=1,
    arguments=1,
    takes={"ref": Taken("WORK", completes="ref"), "unfinished": Taken("REASON")},
    not_over_http="moves branches, and git may ask for the passphrase of a key",
    raises={"Refused": "the work is not done, or its branch does not merge", "Unavailable": "git refuses a step"},
    example="graphmem work finish feature-sign-in",
    help="""
    Merge a work that is done onto its base branch, as one commit that attests how it was made.

    The branch of the work is kept as archive/NAME-HASH. On a dry-run branch nothing is merged: what happened is kept in
    .snapshots/ for the config branch. If the command is interrupted, run it again.
    """,
)
def finish(client: Client, request: FinishWorkRequest) -> WorkFinished:
    """Merge a work that is done onto its base branch, as one commit that attests how it was made."""
    request = screened(client, request, "work")
    try:
        with client.reading() as snapshot:
            standing = standing_of(snapshot, request.ref)
    except NotFound:  # of a dry run, its config branch does not have the rows
        if request.ref is None or (kept := snapshots.left_over(client, request.ref)) is None:
            raise
        return _end_dry_run(client, kept)
    work = standing.work
    if standing.status == "finished" and (done := _merged(client, work)) is not None:
        return _end(client, standing, *done)
    _refuse_unready(client, standing, request.unfinished)
    _try_merge(client, work)
    if standing.status != "finished":
        standing = _note(client, work.key_ref, request.unfinished)
    tip = _commit_rows(client, work)
    if work.branch.startswith("dry-run/"):
        return _end_dry_run(client, snapshots.keep(client, standing, tip))
    return _end(client, standing, tip, _squash(client, work, tip))


def _refuse_unready(client: Client, standing: Standing, unfinished: str | None) -> None:
    """Raise ``Refused`` or ``Unavailable`` for a work that cannot be finished here and now; nothing is changed."""
    work = standing.work
    with client.reading() as snapshot:
        refuse_other_branch(snapshot, standing)
        definitions = definitions_of(snapshot) if unfinished is None and standing.status != "finished" else None
    if (active := lease.active(client)) is not None:
        raise Refused(f"stage {active.stage} of {active.work} is active", hint="graphmem stage end")
    if standing.status == "abandoned":
        raise Refused(f"{work.ref} is abandoned: it is not finished any more", hint=f"its branch is {work.branch}")
    if unfinished is not None and not is_person(client):
        raise Refused("only a person, at a terminal, finishes work that is not done", hint="graphmem work next")
    if (
        definitions is not None
        and (decision := decided(standing, definitions, content_of_branch(client, work.branch))).action != "done"
    ):
        raise Refused(
            f"{work.ref} is not done: {'; '.join(decision.reasons)}",
            hint="see: graphmem work next; a person may say why it ends: graphmem work finish --unfinished WHY",
            details={"action": decision.action, "reasons": list(decision.reasons)},
        )
    base = work.base_branch
    place = worktree.worktrees(client.root).get(base)
    if place is not None and place != top_of(client.root):
        raise Refused(
            f"branch {base!r} is checked out in {visible(str(place))!r}, whose files would not follow it",
            hint=f"there: {command('git', 'switch', '--detach')}; then run this again",
        )
    if changed := dirty_files(client):
        raise Refused(f"tracked files differ from HEAD: {_listed(changed)}", hint="commit them, or: git stash")


def _listed(paths: list[str]) -> str:
    """Return paths for a message."""
    more = f" and {len(paths) - SHOWN:,} more" if len(paths) > SHOWN else ""
    return ", ".join(map(visible, paths[:SHOWN])) + more


def _try_merge(client: Client, work: Work) -> str:
    """Merge the work branch and its base as trees, and return the tree; raise ``Refused`` for a conflict."""
    base = _base_of(client, work)
    tree, conflicts = worktree.merge_trees(client.root, base, _tip_of(client, work) or base, drivers())
    if conflicts and not work.branch.startswith("dry-run/"):
        raise Refused(
            f"{work.branch} and {work.base_branch} both changed {_listed(conflicts)}; nothing was merged",
            hint=f"{command('git', 'merge', work.base_branch)}, resolve, commit, then run this again",
            details={"paths": conflicts},
        )
    return tree


def _base_of(client: Client, work: Work) -> str:
    found = worktree.value_of(client.root, BRANCHES + work.base_branch)
    if found is None:
        remake = command("git", "branch", work.base_branch, work.base_commit)
        raise Refused(f"there is no branch {work.base_branch!r} any more", hint=f"make it again: {remake}")
    return found


def _tip_of(client: Client, work: Work) -> str | None:
    return worktree.value_of(client.root, BRANCHES + work.branch)


def _note(client: Client, work: str, reason: str | None) -> Standing:
    """Write that the work is finished, unless it is by now, and return its standing."""
    with client.writing() as snapshot:
        standing = standing_of(snapshot, work)
        if standing.status != "finished":
            left = [one.item.key_ref for one in standing.open_items]
            write(snapshot, [fact(snapshot, standing, FINISHED, {"reason": reason, "open": left})])
        return standing_of(snapshot, work)


def _commit_rows(client: Client, work: Work) -> str:
    """Commit the rows that are in no commit yet on the branch of the work, and return its last commit."""
    head, own = _tip_of(client, work), OwnFiles(client)
    if head is None:
        raise Unavailable(f"there is no branch {work.branch!r}", hint="git branch --all")
    tree = worktree.take_tree(client.root, scratch(client))
    paths = [one.path for one in worktree.changes(client.root, head, tree) if own.holds(one.path)]
    if not paths:
        return head
    return worktree.commit_changes(
        client.root,
        branch=work.branch,
        parent=head,
        tree=tree,
        paths=paths,
        message=f"{work.branch}: finish\n",
        scratch=scratch(client),
    )


def _squash(client: Client, work: Work, tip: str) -> str:
    """Make the commit on the base branch and the archive branch, both or neither, and return the commit."""
    base, tree = _base_of(client, work), _try_merge(client, work)
    is_signed = worktree.does_sign(client.root)
    facts = facts_of(client, tree, work.key_ref, parent=base, tip=tip)
    subject = f"{work.flow}: {one_line(work.objective)}"
    message = attested(subject, facts, None if is_signed else secret_of(client))
    made = worktree.commit_tree(client.root, tree, [base], message, sign=is_signed)
    refs = {BRANCHES + work.base_branch: (made, base), BRANCHES + archive_of(work.branch, tip): (tip, None)}
    worktree.move_refs(client.root, refs)
    return made


def _merged(client: Client, work: Work) -> tuple[str, str] | None:
    """Return the last commit of the work and the one that it was merged as; None where it was not merged yet."""
    tip = _tip_of(client, work)
    tips = [tip] if tip is not None else worktree.tips(client.root, BRANCHES + archive_of(work.branch, ""))
    for one in tips:
        if worktree.value_of(client.root, BRANCHES + archive_of(work.branch, one)) == one:
            merged = worktree.commit_saying(client.root, BRANCHES + work.base_branch, f'"tip":"{one}"')
            if merged is not None:
                return one, merged
    return None


def _end(client: Client, standing: Standing, tip: str, merged: str) -> WorkFinished:
    """Check the base branch out and delete that of the work, which is archived; what is done already is left out."""
    work = standing.work
    _leave(client, work.branch, work.base_branch, tip)
    return WorkFinished(
        work=work.ref,
        base_branch=work.base_branch,
        commit=merged,
        archive=archive_of(work.branch, tip),
        complete=standing.reason is None,
    )


def _end_dry_run(client: Client, kept: snapshots.SnapshotShown) -> WorkFinished:
    """Check the config branch out, and delete that of the dry run."""
    _leave(client, kept.branch, kept.base_branch, kept.tip)
    safe_files.remove(trace_of(client, kept.branch))
    return WorkFinished(work=kept.work, base_branch=kept.base_branch, snapshot=kept.id, complete=kept.complete)


def _leave(client: Client, branch: str, base: str, tip: str) -> None:
    """Check a branch out in the place of another, and delete that; rows that are in no commit stay."""
    if worktree.head_of(client.root).branch == branch:
        worktree.switch(client.root, base, spares=OwnFiles(client).holds)
    if worktree.value_of(client.root, BRANCHES + branch) == tip:
        worktree.delete_branch(client.root, branch, tip)
