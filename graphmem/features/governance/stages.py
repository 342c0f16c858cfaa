"""
Stages: one begins with the token of routing, holds the working tree of the clone, and ends with a commit of its own.

What changed between the two is looked at, in git and row by row: a stage that wrote what it may not is not committed.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from graphmem.constants import CHECK_BYTES, CHECKS_AT_ONCE
from graphmem.core.records.screening import unexposed
from graphmem.errors import BadInput, GraphmemError, NotFound, Refused, Unavailable
from graphmem.features.governance import lease as leases
from graphmem.features.governance import tokens
from graphmem.features.governance.actor import Actor, actor_of, given_token, is_person, person_name, without_token
from graphmem.features.governance.contract import (
    CheckShown,
    NextStage,
    StageBegun,
    StageChecked,
    StageEnded,
    StageRequest,
    WorkRequest,
)
from graphmem.features.governance.definitions import CycleDefinition, CycleStage, Definitions, read_definitions
from graphmem.features.governance.facts import (
    cycle_of,
    definitions_of,
    fact,
    refuse_not_open,
    refuse_other_branch,
    standing_of,
    write,
)
from graphmem.features.governance.files import OwnFiles, content_of, content_of_branch, dirty_files, entries_of
from graphmem.features.governance.globs import matches
from graphmem.features.governance.guard import is_governed, writing_as
from graphmem.features.governance.items import move_fact, review_item
from graphmem.features.governance.lease import Lease
from graphmem.features.governance.show import decided, dispatched
from graphmem.features.governance.standing import (
    BEGUN,
    FAILED,
    ITEM_MOVED,
    RETRIED,
    STAGE_ENDED,
    WORK_EVENTS,
    Standing,
    named_items,
)
from graphmem.features.governance.states import ALWAYS, STAGE_RIGHTS
from graphmem.kernel.dispatch import Caller, call
from graphmem.kernel.git import worktree
from graphmem.kernel.git.worktree import TreeChange
from graphmem.kernel.ledger.row import entry
from graphmem.kernel.model.entry import Entry
from graphmem.kernel.model.field import format_time
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.settings.trust import are_trusted
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.checks import CheckEnd, run_all
from graphmem.kernel.system.shell import command
from graphmem.kernel.text import count, one_line
from graphmem.names import row_id, row_key, row_title

TOKEN = Taken("TOKEN")
FILE, EXECUTABLE, LINK = "100644", "100755", "120000"  # modes of git
LINK_BYTES = 4_096
ROWS_BYTES = 2**26  # of a file of rows that is compared
VALIDATION_S = 900  # that each check may take: a whole test suite may be one
END_CHARACTERS = 1_000  # of the output of a check that an item quotes


def scratch(client: Client) -> Path:
    """Return a path for an index file of git."""
    with safe_files.folder(client.layout.state, make=True):
        return client.layout.state / "stage.index"


# --- begin ----------------------------------------------------------------------------------------------------------


@operation(
    "stages.begin",
    writes=True,
    at_home=True,
    positional=1,
    arguments=1,
    takes={"token": TOKEN},
    raises={"Refused": "the token is wrong, expired, used or of another stage; or tracked files differ from HEAD"},
    example='graphmem stage begin "$TOKEN"',
)
def begin(client: Client, request: StageRequest) -> StageBegun:
    """
    Begin a stage with its token, which is valid once; without one a person begins a human-appraise stage.

    From now on this clone writes what the stage may write, until it ends or its time is up.
    """
    given = given_token(client, request.token)
    now = client.now().timestamp()
    payload = None if given is None else tokens.payload_of(given, tokens.secret_of(client), now)
    if payload is None and not is_person(client):
        actor_of(client, None)  # says why
    with client.reading() as snapshot:
        standing, definitions, stage, iteration = _next(snapshot, payload)
    if found := dirty_files(client):
        more = f" and {len(found) - 1:,} more" if len(found) > 1 else ""
        raise Refused(
            f"{found[0]!r}{more} differs from HEAD: a stage begins with a clean tree",
            hint="commit it, or put it aside: git stash",
            details={"files": found},
        )
    head = worktree.head_of(client.root)
    assert head.branch is not None and head.commit is not None, "the branch of a work is checked out"
    cycle = cycle_of(definitions, standing.cycle)
    made_of = definitions.artefacts[cycle.output]
    made = Lease(
        work=standing.work.key_ref,
        cycle=standing.cycle,
        stage=stage.name,
        kind=stage.kind,
        iteration=iteration,
        nonce=payload.nonce if payload else client.new_id(),
        exp=payload.exp if payload else now + tokens.TOKEN_S,
        begun_at=client.now(),
        branch=head.branch,
        tree=worktree.take_tree(client.root, scratch(client)),
        head=head.commit,
        is_by_person=payload is None,
        globs=made_of.files if STAGE_RIGHTS[stage.kind].files else (),
        model=cycle.models.get(stage.name),
        content=content_of(entries_of(client, head.commit)),
        owes_run=bool((stage.kind == "quench" and made_of.validation) or (stage.kind == "assay" and cycle.extractors)),
    )
    _hold(client, made, now)
    said = {"stage": stage.name, "kind": stage.kind, "cycle": standing.cycle, "iteration": iteration}
    with client.writing() as snapshot:
        write(snapshot, [fact(snapshot, standing_of(snapshot, made.work), BEGUN, said, identity=made.nonce)])
    return _begun(made, standing)


def _next(snapshot: Snapshot, payload: tokens.TokenPayload | None) -> tuple[Standing, Definitions, CycleStage, int]:
    """Return the stage that routing asks for now, which must be the one of the token."""
    standing = standing_of(snapshot, payload.work if payload else None)
    refuse_not_open(standing)
    if payload is not None and leases.is_used(snapshot.client.state, payload.nonce):
        raise tokens.used()
    refuse_other_branch(snapshot, standing)
    definitions = definitions_of(snapshot)
    decision = decided(standing, definitions, content_of_branch(snapshot.client, standing.work.branch))
    stage = decision.stage
    if payload is not None:
        is_next = decision.action == "dispatch" and stage is not None
        if not is_next or (stage and stage.name, standing.cycle) != (payload.stage, payload.cycle):
            raise tokens.other_stage()
    if stage is None or (payload is None and stage.kind != "human-appraise"):
        raise Refused(
            f"no stage of {standing.work.ref} is for a person now: {'; '.join(decision.reasons)}",
            hint="graphmem work next gives the token of any other stage",
        )
    return standing, definitions, stage, decision.iteration


def _hold(client: Client, made: Lease, now: float) -> None:
    """Make a stage the active one of this clone; its nonce is used from now on."""
    with client.state.changing() as kept:
        active = leases.lease_of(kept)
        if active is not None and active.exp > now:
            raise leases.still_active(active)
        if not leases.use(kept, made.nonce, made.exp, now):
            raise tokens.used()
        leases.keep(kept, made)


def _begun(made: Lease, standing: Standing) -> StageBegun:
    """Return a stage that began, with what it may write."""
    rights = STAGE_RIGHTS[made.kind]
    may = [
        "files of its artefact" if rights.files else "",
        f"moves of items to {' and '.join(rights.moves)}" if rights.moves else "",
        "new items" if rights.adds else "",
        "memory through its extractors" if rights.memory else "",
    ]
    return StageBegun(
        work=standing.work.ref,
        stage=made.stage,
        kind=made.kind,
        cycle=made.cycle,
        iteration=made.iteration,
        until=format_time(made.until),
        files=list(made.globs),
        may=", ".join(filter(None, may)),
        items=named_items(standing.open_items),
    )


# --- the commands of a stage ----------------------------------------------------------------------------------------


@operation(
    "stages.run",
    writes=True,
    at_home=True,
    positional=1,
    arguments=1,
    takes={"token": TOKEN},
    not_over_http="starts programs on this machine",
    raises={"Refused": "this clone does not trust the commands, or the stage has none"},
    example='graphmem stage run "$TOKEN"',
)
def run(client: Client, request: StageRequest) -> StageChecked:
    """
    Run what the active stage runs: the validation of a quench stage, the extractors of an assay stage.

    A check that fails becomes an item, or rejects the one that it raised; one that passes resolves it. An extractor
    that fails makes the work fail.
    """
    lease = _held(client, request)
    with client.reading() as snapshot:
        standing, definitions = standing_of(snapshot, lease.work), definitions_of(snapshot)
        refuse_not_open(standing)
        cycle = cycle_of(definitions, lease.cycle)
    if lease.kind == "quench":
        done = _checked(client, lease, definitions, cycle)
    elif lease.kind == "assay":
        flow = definitions.flows.get(standing.work.flow)
        done = _extracted(client, lease, cycle, cycle.memory or (flow.scope if flow else None))
    else:
        raise Refused(f"stage {lease.stage} ({lease.kind}) has no commands to run", hint="graphmem stage end")
    if done.failed is None:
        with client.state.changing() as kept:
            if (now := leases.lease_of(kept)) is not None and now.nonce == lease.nonce:
                leases.keep(kept, now.model_copy(update={"owes_run": False}))
    return done


def _held(client: Client, request: StageRequest) -> Lease:
    """Return the active stage of a call: by its token, or of a person, who began it."""
    actor = actor_of(client, request.token)
    if actor.lease is not None:
        return actor.lease
    found = leases.active(client)
    if found is None:
        raise NotFound("no stage is active in this clone", hint="graphmem stage begin")
    if not found.is_by_person:
        raise Refused(f"stage {found.stage} of {found.work} is active: its token ends it", hint="--token TOKEN")
    return found


def validations(client: Client) -> list[str]:
    """Return every validation command of the project, for ``trust``."""
    made = read_definitions(client.layout).artefacts.values()
    return [line for one in made for line in one.validation.values()]


def _checked(client: Client, lease: Lease, definitions: Definitions, cycle: CycleDefinition) -> StageChecked:
    """Run the validation of the output, and write what it found."""
    commands = definitions.artefacts[cycle.output].validation
    if not are_trusted(client.layout.config, commands.values()):
        raise Refused(
            f"the validation of {cycle.output!r} comes with the branch and runs commands",
            hint="look at them, and allow them with: graphmem trust",
            details={"commands": list(commands.values())},
        )
    ends = run_all(
        list(commands.values()), client.root, without_token(), at_once=CHECKS_AT_ONCE, seconds=VALIDATION_S,
        kept_bytes=CHECK_BYTES,
    )  # fmt: skip
    found = dict(zip(commands, ends, strict=True))
    with client.writing() as snapshot:
        standing = standing_of(snapshot, lease.work)
        actor, rows, named = Actor(lease, lease.stage), list[Entry](), list[str]()
        for name, end in found.items():
            told = unexposed(snapshot, "item", _told(commands[name], end))
            for one in _check_rows(snapshot, standing, actor, name, "" if end.status == 0 else told, len(rows)):
                named.append(one[0])
                rows.append(one[1])
        if rows:
            write(snapshot, rows)
    return StageChecked(
        work=standing.work.ref,
        stage=lease.stage,
        checks=[
            CheckShown(name=name, passed=end.status == 0, seconds=round(end.seconds, 2), end=one_line(end.tail[-300:]))
            for name, end in found.items()
        ],
        items=named,
    )


def _told(line: str, end: CheckEnd) -> str:
    """Return what an item says of a check that failed."""
    how = "its time was up" if end.is_timed_out else f"exit status {end.status}" if end.could_run else "it cannot run"
    return f"{line} fails ({how}):\n{end.tail[-END_CHARACTERS:].strip()}"


def _check_rows(
    snapshot: Snapshot, standing: Standing, actor: Actor, check: str, told: str, later: int
) -> Iterator[tuple[str, Entry]]:
    """Yield the rows that the end of a check makes, with the items that they are about; no text for one that passed."""
    source = f"quench:{check}"
    known = [one for one in standing.open_items if one.item.source == source]
    for one in known:
        if one.state == "actioned":
            after, why = ("rejected", told) if told else ("resolved", "the check passes")
            yield one.item.ref, move_fact(snapshot, standing, one, after, actor, why, later=later)  # type: ignore[arg-type]
    if told and not known:
        made = review_item(snapshot, standing, source=source, stage=actor.name, text=told, said={}, named=check)
        yield made.ref, entry(made, snapshot.symmetric)


def _extracted(client: Client, lease: Lease, cycle: CycleDefinition, scope: str | None) -> StageChecked:
    """Run the extractors of a cycle within a scope; one that fails makes the work fail."""
    caller = Caller(scope=scope)
    failed, found = None, list[dict[str, Any]]()
    for name in cycle.extractors:
        try:
            with writing_as("extractors"):
                done = call(client.runtime, caller, "extractors.run", {"names": (name,)})
            found.append(done.model_dump(mode="json"))
        except GraphmemError as error:
            if isinstance(error, Refused | NotFound) and not isinstance(error, BadInput):  # it did not run, or not here
                raise
            failed = f"extractor {name!r}: {error.message}"
            break
    if failed is not None:
        with client.writing() as snapshot:
            _fail(snapshot, lease, failed)
        leases.drop(client)
    return StageChecked(work=lease.work, stage=lease.stage, extracted=found, failed=failed)


def _fail(snapshot: Writing, lease: Lease, reason: str) -> None:
    """Note that the work of a stage has failed, and what its files were when that began."""
    said = {"reason": reason, "stage": lease.stage, "content": lease.content}
    write(snapshot, [fact(snapshot, standing_of(snapshot, lease.work), FAILED, said)])


# --- end ------------------------------------------------------------------------------------------------------------


@operation(
    "stages.end",
    writes=True,
    at_home=True,
    positional=1,
    arguments=1,
    takes={"token": TOKEN},
    raises={"Refused": "the stage left out what it has to do"},
    example='graphmem stage end "$TOKEN"',
)
def end(client: Client, request: StageRequest) -> StageEnded:
    """
    End the active stage: look at all that changed since it began, and commit it.

    A file or a row that the stage may not write is not committed, and makes the work fail. Cut off at any moment it can
    be repeated.
    """
    lease = _held(client, request)
    head = worktree.head_of(client.root)
    if head.branch != lease.branch or head.commit is None:
        raise Refused(
            f"stage {lease.stage} began on branch {lease.branch!r}, and another one is checked out",
            hint=command("git", "switch", lease.branch),
        )
    tree = worktree.take_tree(client.root, scratch(client))
    with client.writing() as snapshot:
        standing = standing_of(snapshot, lease.work)
        refuse_not_open(standing)
        _refuse_unfinished(standing, lease)
        own, changed = OwnFiles(client), worktree.changes(client.root, lease.tree, tree)
        if head.commit != lease.head:  # it made commits: they may hold files that were there and not tracked
            own_commits = worktree.changes(client.root, lease.head, head.commit)
            committed = {one.path: one for one in own_commits if not own.holds(one.path)}
            changed = [*(committed | {one.path: one for one in changed}).values()]
        bad = _unexpected(client, lease, changed)
        files = [change.path for change in changed if not own.holds(change.path)]
        if bad:
            shown = ", ".join(bad[:3]) + (f" and {len(bad) - 3:,} more" if len(bad) > 3 else "")
            reason = f"unexpected_files: stage {lease.stage} changed {shown}"
            _fail(snapshot, lease, reason)
            ended = StageEnded(
                work=standing.work.ref,
                stage=lease.stage,
                result="unexpected_files",
                files=files,
                unexpected_files=bad,
                reason=reason,
            )
        elif not any(one.id == lease.nonce for one in standing.runs):
            said = {
                "run": lease.nonce,
                "stage": lease.stage,
                "kind": lease.kind,
                "cycle": lease.cycle,
                "iteration": lease.iteration,
                "model": lease.model,
                "files": len(files) or None,
                "content": content_of(own.after(entries_of(client, lease.head), changed)),
            }
            write(snapshot, [fact(snapshot, standing, STAGE_ENDED, said, identity=f"{lease.nonce}-end")])
    if not bad:
        ended = _committed(client, lease, standing, files, head.commit)
    leases.drop(client)
    return ended


def _refuse_unfinished(standing: Standing, lease: Lease) -> None:
    """Raise ``Refused`` for a stage that did not run its commands, or gave no verdict that it owes."""
    if lease.owes_run:
        raise Refused(f"stage {lease.stage} has not run its commands", hint='graphmem stage run "$TOKEN"')
    owed = [
        one
        for one in standing.open_items
        if one.state in ("actioned", "wont-fix") and one.item.stage == lease.stage and lease.kind != "forge"
    ]
    if owed:
        raise Refused(
            f"{count(len(owed), 'item')} of stage {lease.stage} without a verdict: {', '.join(named_items(owed)[:3])}",
            hint="graphmem item resolve ITEM, or graphmem item reject ITEM WHY",
            details={"items": named_items(owed)},
        )


def _committed(client: Client, lease: Lease, standing: Standing, files: Sequence[str], head: str) -> StageEnded:
    """Commit what a stage changed with the rows of the store; where git refuses, the work has failed."""
    work, own = standing.work.ref, OwnFiles(client)
    try:
        tree = worktree.take_tree(client.root, scratch(client))
        rows = [change.path for change in worktree.changes(client.root, head, tree) if own.holds(change.path)]
        commit = worktree.commit_changes(
            client.root,
            branch=lease.branch,
            parent=head,
            tree=tree,
            paths=[*files, *rows],
            message=f"{work}: {lease.stage} {lease.iteration}\n",
            scratch=scratch(client),
        )
    except Unavailable as error:
        reason = f"git refused the commit of stage {lease.stage}: {error.message}"
        with client.writing() as snapshot:
            _fail(snapshot, lease, reason)
        return StageEnded(work=work, stage=lease.stage, result="failed", files=list(files), reason=reason)
    return StageEnded(work=work, stage=lease.stage, result="done", commit=commit, files=list(files))


def _unexpected(client: Client, lease: Lease, changed: Sequence[TreeChange]) -> list[str]:
    """Return the files and the rows that a stage changed and may not write."""
    own, globs = OwnFiles(client), lease.globs
    found = []
    with worktree.objects(client.root) as objects:
        for change in changed:
            if own.holds(change.path):
                continue
            path = own.in_project(change.path)
            is_fitting = path is not None and matches(globs, path)
            if change.new_mode == LINK:
                target = objects.read(change.new, most=LINK_BYTES).decode("utf-8", "surrogateescape")
                is_fitting = is_fitting and _stays_inside(change.path, target)
            elif change.status != "D":
                is_fitting = is_fitting and change.new_mode in (FILE, EXECUTABLE)
            if not is_fitting:
                found.append(change.path)
        for change in changed:
            if own.holds(change.path) and change.path.endswith(".ndjson"):
                found += _unexpected_rows(client, lease, objects, change)
    return found


def _stays_inside(path: str, target: str) -> bool:
    """Return whether a link leads to a place below the top of the repository, by its text alone."""
    if target.startswith("/"):
        return False
    depth = path.count("/")
    for part in target.split("/"):
        depth += -1 if part == ".." else 0 if part in ("", ".") else 1
        if depth < 0:
            return False
    return True


def _unexpected_rows(client: Client, lease: Lease, objects: Any, change: TreeChange) -> Iterator[str]:
    """Yield the rows of a file that a stage changed, by hand or not, and may not write."""
    before = {*_lines(objects, change.old)} if change.status != "A" else set()
    after = {*_lines(objects, change.new)} if change.status != "D" else set()
    for line in sorted(before ^ after):
        try:
            row = orjson.loads(line)
            title, number = row_title(row), row_id(row_key(row, client.ledger.symmetric))
        except (ValueError, KeyError, TypeError):
            yield f"{change.path}: a line that is not a row"
            continue
        if number not in lease.noted and not may_write(lease, row):
            yield title


def _lines(objects: Any, name: str) -> list[bytes]:
    return [line for line in objects.read(name, most=ROWS_BYTES).split(b"\n") if line]


def may_write(lease: Lease, row: dict[str, Any]) -> bool:
    """Return whether a stage may write a row, by its rights alone."""
    rights = STAGE_RIGHTS[lease.kind]
    given = row.get("data")
    data = given if isinstance(given, dict) else {}
    if row["kind"] == "item":
        return rights.adds and row.get("stage") == lease.stage
    if row["kind"] == "event" and row.get("type") == ITEM_MOVED:
        return data.get("run") == lease.nonce and data.get("to") in rights.moves
    if row["kind"] == "event" and row.get("type") in WORK_EVENTS:
        return lease.nonce in (row.get("id"), data.get("run"))
    if is_governed(row):
        return False
    if row["kind"] in ALWAYS:
        return True
    sources = row.get("sources") or ()
    return rights.memory and any(str(source).startswith("extractor/") for source in sources)


# --- again ----------------------------------------------------------------------------------------------------------


@operation(
    "stages.retry",
    writes=True,
    positional=1,
    arguments=1,
    takes={"ref": Taken("WORK", completes="ref")},
    raises={"Refused": "nothing failed, and no stage is to be taken over"},
    example="graphmem stage retry feature-sign-in",
)
def retry(snapshot: Writing, request: WorkRequest) -> NextStage:
    """Run a stage again that failed, or whose time is up: clears the failure, and returns a new token."""
    client = snapshot.client
    standing = standing_of(snapshot, request.ref)
    if standing.status not in ("open", "failed"):
        refuse_not_open(standing)
    refuse_other_branch(snapshot, standing)
    found = leases.lease_of(client.state)
    is_own = found is not None and found.work == standing.work.key_ref
    if found is not None and leases.active(client) is not None and not (is_own and is_person(client)):
        raise leases.still_active(found)
    if standing.status != "failed" and not is_own:
        raise Refused(f"no stage of {standing.work.ref} failed or is over its time", hint="graphmem work next")
    began_with = found.content if found is not None and is_own else standing.failed_content
    content = content_of_branch(client, standing.work.branch)
    if began_with is not None and content != began_with:
        raise Refused(
            f"{standing.work.branch} has commits that the stage made by itself",
            hint="take them back with git revert, then run this again",
        )
    leases.drop(client)
    stage = standing.failed_stage or (found.stage if found else None)
    write(snapshot, [fact(snapshot, standing, RETRIED, {"stage": stage, "person": _who(client)})])
    standing, definitions = standing_of(snapshot, standing.work.key_ref), definitions_of(snapshot)
    decision = decided(standing, definitions, content)
    return dispatched(client, standing, definitions, decision)


def _who(client: Client) -> str | None:
    """Return the name of the person who calls; None for any other caller."""
    return person_name(client) if is_person(client) else None
