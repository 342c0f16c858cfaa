"""Capture: add a record, change it, rename it, archive it, bring it back."""

import contextlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from graphmem.core.evidence.citation_contract import VersionSource
from graphmem.core.evidence.citations import pinned
from graphmem.core.evidence.versions import beside_given, captured
from graphmem.core.records.add_contract import AddEntityRequest, AddFailureRequest, AddInsightRequest, AddPatternRequest
from graphmem.core.records.duplicates import NEVER, with_alternates
from graphmem.core.records.experience_limits import refuse_chance
from graphmem.core.records.intake import Given, Intake, Policy
from graphmem.core.records.record_contract import (
    Action,
    AddRequest,
    Changed,
    EditRequest,
    ForgetRequest,
    PinRequest,
    RenameRequest,
    RestoreRequest,
    UnpinRequest,
)
from graphmem.core.records.screening import portable, screened, screened_fields
from graphmem.core.records.seen import says_fix, settle_recorded
from graphmem.core.records.validation import (
    build,
    changed,
    identified,
    keyed,
    name_of,
    refuse_archived,
    refuse_no_slug,
    refuse_pinned,
    refuse_taken,
)
from graphmem.errors import GraphmemError, Refused
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.catalog.records import shown_as
from graphmem.kernel.ledger.row import entry
from graphmem.kernel.model import MODELS, Campaign, Entity, Fact, Failure, Insight, MemoryRecord, Pattern, Record, Task
from graphmem.kernel.model.authors import SIGNATURE
from graphmem.kernel.model.entry import Entry
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.kernel.system.shell import command
from graphmem.names import row_id

KEEPS_PATHS = "; --verbatim keeps them"


def add(
    client: Client,
    kind: str,
    fields: Mapping[str, Any],
    *,
    dedup: bool = True,
    dry_run: bool = False,
    verbatim: bool = False,
    versions_from: VersionSource = "none",
    replace: bool = False,
    supersedes: str | None = None,
) -> Changed[Any]:
    """
    Add a record, or change the one that has its key; ``ready`` and ``add_to`` say what the parameters are.

    Args:
        dry_run: say what would be done, and do nothing.
    """
    given = ready(client, kind, fields, dedup=dedup, verbatim=verbatim, versions_from=versions_from)
    is_compared = dedup and issubclass(MODELS[kind], MemoryRecord)
    if dry_run and is_compared:
        catch_up(client)
    followers = client.compared_by if is_compared and not dry_run else (client.clues,)
    with client.deciding(*followers, is_real=not dry_run) as snapshot:
        answer = add_to(snapshot, kind, given, dedup=dedup, replace=replace, supersedes=supersedes)
    if not dry_run and says_fix({"kind": kind, **given}):
        settle_recorded(client, {given["trigger"]: answer.ref})
    return answer


def add_record(client: Client, request: AddRequest) -> Changed[Any]:
    """Add the record of a request, or change the one that has its key."""
    answer = add(client, request.kind, request.row, **request.options)
    sees = client.rights.sees
    return answer if sees is None or answer.record.record_type in sees else _as_given(request, client.now())


def _as_given(request: AddRequest, now: datetime) -> Changed:
    """Return the answer to a caller who may write a record and not read it: what it gave, whatever was there."""
    given = {name: value for name, value in request.row.items() if value is not None and name != "cites"}
    made = build(request.kind, {"name": "unnamed", **given}, now)
    assert isinstance(made, Record)
    if "name" not in given:
        made = build(request.kind, {**given, "name": name_of(made) or made.text_key}, now)
        assert isinstance(made, Record)
    return Changed(ref=made.ref, action="created", record=made)


def ready(
    client: Client,
    kind: str,
    fields: Mapping[str, Any],
    *,
    dedup: bool = True,
    verbatim: bool = False,
    versions_from: VersionSource = "none",
) -> dict[str, Any]:
    """
    Return the fields of a record as ``add_to`` takes them; a memory is embedded for its comparison with others.

    ``Client.writing`` brings in step what it is compared by.

    It is called before the lock is taken: git, the installed packages and a model are asked.

    Args:
        fields: by their names in a row; but for an entity, one without a name is given one.
        verbatim: keep paths of this machine in its texts.
        versions_from: where the versions of the packages come from that its texts name; those in ``fields`` are first.
    """
    given = {name: value for name, value in fields.items() if value is not None}
    given = screened_fields(client, kind, given if verbatim else portable(client, kind, given, advice=KEEPS_PATHS))
    given |= _with_hashes(client.root, given)
    given |= with_versions(client.root, given, versions_from)
    if dedup:
        encode(client, kind, given)
    return given


def add_to(
    snapshot: Snapshot,
    kind: str,
    fields: Mapping[str, Any],
    *,
    dedup: bool = True,
    replace: bool = False,
    supersedes: str | None = None,
) -> Changed[Any]:
    """
    Add a record, or change the one that has its key, in a write that is under way; any other snapshot is only read.

    Args:
        kind: of a record that is no task and no fact.
        fields: by their names in a row, screened.
        dedup: look for a near-duplicate among failures, patterns and lessons, and merge into it.
        replace: the new texts become the current ones, in a merge and under a name that is taken; the older are kept.
        supersedes: a record whose place it takes, which is archived in the same write.
    """
    given = {name: value for name, value in fields.items() if value is not None}
    if kind != "entity" and "name" in given:
        refuse_no_slug(kind, str(given["name"]))
    row = _row_of(snapshot, kind, given)
    if isinstance(row.record, Insight):
        refuse_chance(snapshot, row.record)
    old = snapshot.resolve(supersedes) if supersedes is not None else None
    intake = Intake(snapshot, Policy(is_single=True, compares=dedup, replaces=replace, supersedes=old))
    intake.take([row])
    if intake.puts and isinstance(snapshot, Writing):
        snapshot.commit(list(intake.puts.values()))
    (done,) = intake.results
    return done if done.action == "created" else _as_stored(snapshot, done)


def _row_of(snapshot: Snapshot, kind: str, given: Mapping[str, Any]) -> Given:
    """Return a record that is given as a row of the intake, which names others by key, as rows do."""
    name = given.get("name")
    made = build(kind, {"name": "unnamed", **given}, snapshot.now)
    assert isinstance(made, Record)
    made = keyed(snapshot.catalog, identified(snapshot.catalog, made, is_named=name is not None))
    row = {**given, **{field: getattr(made, field) for field in made.references if field in given}}
    return Given(0, b"", row, made, None if name is None else str(name))


def rows_to_add(snapshot: Snapshot, kind: str, fields: Mapping[str, Any]) -> tuple[str, list[Entry]]:
    """
    Return the key of a memory without a name, and the rows that add it, to be written together with others.

    One that is there already, or that it repeats, gets what is new in it.
    """
    intake = Intake(snapshot, Policy(is_single=True, compares=True, keeps=True))
    intake.take([_row_of(snapshot, kind, fields)])
    return intake.results[0].record.key_ref, list(intake.puts.values())


def catch_up(client: Client) -> None:
    """Bring in step what new memories are compared by, before the lock is taken; what is wrong is reported later."""
    with contextlib.suppress(GraphmemError):
        client.sync()
        for follower in client.compared_by:
            client.catch_up(follower)


def encode(client: Client, kind: str, given: Mapping[str, Any]) -> None:
    """Make the vector of a new memory before the lock is taken; what is wrong with it is reported later."""
    if not issubclass(MODELS[kind], MemoryRecord):
        return
    with contextlib.suppress(GraphmemError):
        made = build(kind, {"name": "unnamed", **given}, NEVER)
        if isinstance(made, MemoryRecord):
            client.encode_ahead(made.search_text)


def _with_hashes(root: Path, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the cites that are given with the hashes of what is there now."""
    cites = given.get("cites")
    if not isinstance(cites, list | tuple | set | frozenset) or not all(isinstance(one, str) for one in cites):
        return {}  # it is refused by the model
    return {"cites": pinned(root, cites)}


def with_versions(root: Path, given: Mapping[str, Any], source: VersionSource) -> dict[str, Any]:
    """Return the versions of the packages that the texts of a memory name; one that is given is as it is given."""
    versions = given.get("versions", {})
    found = captured(root, given, source) if isinstance(versions, Mapping) else {}
    return {"versions": beside_given(found, versions)} if found else {}  # else it stays, or its model refuses it


def shown(catalog: Catalog, number: int, record: Record) -> Record:
    """Return a record as answers show it, with the values of ``record``."""
    now = catalog.records([number])[number]
    counts = {name: getattr(now, name) for name in ("helped", "failed", "disputed", *now.counted) if hasattr(now, name)}
    (named,) = catalog.named([record])
    return shown_as(named, named.name, 0, 0).model_copy(update=counts)


def put(
    snapshot: Snapshot, number: int, changes: Mapping[str, Any], action: Action, also: Sequence[Entry] = ()
) -> Changed:
    """Write changed values of a record, and ``also`` other rows; where they change nothing, nothing is written."""
    before = snapshot.catalog.stored(number)
    after = changed(before, changes, snapshot.now)
    puts = [*([] if after is before else [entry(after, snapshot.symmetric)]), *also]
    if puts and isinstance(snapshot, Writing):
        snapshot.commit(puts)
    aside = [found for found in after.alternates if found not in before.alternates]
    done = Changed(ref=after.ref, action="unchanged" if after is before else action, set_aside=aside, record=after)
    return _as_stored(snapshot, done)


def _as_stored(snapshot: Snapshot, done: Changed) -> Changed:
    """Return the answer to a change with the record as others are shown it, after it was written."""
    number = row_id(done.record.key_ref)
    record = shown(snapshot.catalog, number, done.record)
    ref = snapshot.catalog.refs([number])[number] if isinstance(snapshot, Writing) else record.ref
    into = None if done.merged_into is None else ref
    return done.model_copy(update={"ref": ref, "record": record, "merged_into": into})


@operation("edit", writes=True, positional=2, keywords="fields", previews="dry_run", scoped=True)
def edit(client: Client, request: EditRequest) -> Changed:
    """
    Change fields of a record; lists replace, ``tag`` and ``untag`` change single tags, ``unset`` takes away.

    Git may be asked for what is cited, before the lock is taken.
    """
    request = screened(client, request, "edit")
    fields: dict[str, Any] = dict(request.fields or {})
    fields |= _with_hashes(client.root, fields)
    tag, untag, unset = request.tag, request.untag, request.unset
    with client.deciding(is_real=not request.dry_run) as snapshot:
        number = snapshot.resolve(request.ref)
        record = snapshot.catalog.stored(number)
        _refuse_fact(record)
        if isinstance(record, Task) and (moved := sorted(MOVED & {*fields, *unset})):
            raise Refused(
                f"{record.ref}: {moved[0]} is not edited, for it follows from the moves of the task",
                hint="graphmem task start, complete, block or reopen",
            )
        known = set(type(record).model_fields) - set(FIXED) - record.fixed - record.counted
        changes = {name: value for name, value in fields.items() if value is not None}
        for name in (*changes, *unset):
            if name not in known and name not in (record.__pydantic_extra__ or {}):
                raise Refused(
                    f"{record.ref} has no field {name!r} that edit changes", hint=f"it has: {', '.join(sorted(known))}"
                )
        if tag or untag:
            if "tags" not in known:
                raise Refused(f"a {record.kind} has no tags")
            changes["tags"] = sorted({*changes.get("tags", getattr(record, "tags", ())), *tag} - set(untag))
        changes |= dict.fromkeys(unset)
        refuse_archived(snapshot.catalog, number)
        return put(snapshot, number, _swapped(record, changes), "updated")


def _swapped(record: Record, changes: dict[str, Any]) -> dict[str, Any]:
    """Return changes of a record; an alternate that becomes the current text changes places with it."""
    known = {(found.field, found.text) for found in record.alternates}
    swaps = {name: value for name, value in changes.items() if isinstance(value, str) and (name, value) in known}
    return changes | with_alternates(record, swaps)


MOVED = frozenset({"status", "started_at", "completed_at", "blocked_at", "lineage", "prior_knowledge"})
FIXED = (
    "helped",
    "failed",
    "disputed",
    "kind",
    "key",
    "name",
    "created_at",
    "edited",
    "aliases",
    "campaign",
    "depends",
    "archived_at",
    "archive_reason",
    "superseded_by",
    "alternates",
    *SIGNATURE,
)


@operation(
    "rename",
    writes=True,
    scoped=True,
    example="graphmem rename failure/modulenotfounderror-yaml yaml-missing",
    takes={"name": Taken("NEW-NAME")},
)
def rename(snapshot: Writing, request: RenameRequest) -> Changed:
    """Give a record another name; the old one is still found."""
    name = screened(snapshot, request, "rename").name
    number = snapshot.resolve(request.ref)
    record = snapshot.catalog.stored(number)
    _refuse_fact(record)
    record_type, slash, bare = name.partition("/")
    if slash and record_type == record.record_type and not isinstance(record, Entity | Task):
        name = bare
    if isinstance(record, Task) and not name.startswith(record.name.rpartition("/")[0] + "/"):
        name = f"{record.name.rpartition('/')[0]}/{name}"
    if not isinstance(record, Entity | Task):
        refuse_no_slug(record.kind, name)
    if name == record.name:
        return Changed(ref=record.ref, action="unchanged", record=shown(snapshot.catalog, number, record))
    refuse_taken(snapshot.catalog, record.record_type, name, but=number)
    refuse_archived(snapshot.catalog, number)
    tasks = _tasks_renamed(snapshot, number, name) if isinstance(record, Campaign) else []
    return put(snapshot, number, _called(record, name), "updated", tasks)


def _called(record: Record, name: str) -> dict[str, Any]:
    """Return what changes in a record that gets another name."""
    aliases = sorted({*record.aliases, *({record.name} if record.name != record.key else ())} - {name})
    return {"name": name, "aliases": aliases}


def _tasks_renamed(snapshot: Snapshot, campaign: int, name: str) -> list[Entry]:
    """Return the rows of the tasks of a campaign, archived ones too, that is called so from now on."""
    tasks, rows = snapshot.catalog.of_kind(Task, is_live=False), list[Entry]()
    known = snapshot.catalog.known({task.campaign for task in tasks.values()})
    for number, task in tasks.items():
        if known.get(task.campaign) == campaign:
            new = f"{name}/{task.name.rpartition('/')[2]}"
            refuse_taken(snapshot.catalog, "task", new, but=number)
            rows.append(entry(changed(task, _called(task, new), snapshot.now), snapshot.symmetric))
    return rows


@operation(
    "forget",
    writes=True,
    positional=2,
    scoped=True,
    example='graphmem forget failure/import-error --reason "the library is gone"',
)
def forget(snapshot: Writing, request: ForgetRequest) -> Changed:
    """Archive a record: it leaves search and graph, and comes back with ``restore``."""
    request = screened(snapshot, request, "forget")
    number = snapshot.resolve(request.ref)
    _refuse_fact(snapshot.catalog.stored(number))
    if snapshot.catalog.stored(number).is_archived:
        return put(snapshot, number, {}, "unchanged")
    refuse_pinned(snapshot.catalog, number)
    return put(snapshot, number, {"archived_at": snapshot.now, "archive_reason": request.reason}, "archived")


@operation("restore", writes=True, scoped=True, example="graphmem restore failure/import-error")
def restore(snapshot: Writing, request: RestoreRequest) -> Changed:
    """Bring an archived record back."""
    number = snapshot.resolve(request.ref)
    standing = snapshot.catalog.lesson_states([number]).get(number)
    is_faded = standing is not None and standing.is_faded
    if not snapshot.catalog.stored(number).is_archived and not is_faded:
        return put(snapshot, number, {}, "unchanged")
    changes: dict[str, Any] = {"archived_at": None, "archive_reason": None, "superseded_by": None}
    return put(snapshot, number, changes | ({"restored_at": snapshot.now} if is_faded else {}), "restored")


@operation(
    "pin",
    writes=True,
    scoped=True,
    example="graphmem pin constraint/no-new-dependencies",
    help="""
    Pin a record: the briefing begins with it, it goes before its equals, and nothing archives it.

    What is better still goes before it. A pinned lesson does not fade.
    """,
)
def pin(snapshot: Writing, request: PinRequest) -> Changed:
    """
    Pin a record: the briefing begins with it, it goes before its equals, and nothing archives it.

    Raises:
        Refused: it is archived, or of a kind that is not pinned.
    """
    number = snapshot.resolve(request.ref)
    record = snapshot.catalog.stored(number)
    if "pinned" not in type(record).model_fields:
        raise Refused(
            f"{record.ref} is a {record.kind}, which is not pinned",
            hint="failures, patterns, lessons, decisions and constraints are",
        )
    refuse_archived(snapshot.catalog, number)
    return put(snapshot, number, {"pinned": True}, "pinned")


@operation("unpin", writes=True, scoped=True, example="graphmem unpin constraint/no-new-dependencies")
def unpin(snapshot: Writing, request: UnpinRequest) -> Changed:
    """Take the pin from a record."""
    number = snapshot.resolve(request.ref)
    changes = {"pinned": False} if snapshot.catalog.stored(number).is_pinned else {}
    return put(snapshot, number, changes, "unpinned")


def _refuse_fact(record: Record) -> None:
    """Raise ``Refused`` for what happened: it is not changed, only taken back."""
    if isinstance(record, Fact):
        destroy = command("graphmem", "purge", record.ref)
        raise Refused(
            f"{record.ref} is something that happened, which nothing changes",
            hint=f"graphmem undo takes a write back, {destroy} destroys",
        )


@operation(
    "failures.add",
    writes=True,
    previews="dry_run",
    scoped=True,
    command="add failure",
    arguments=0,
    takes={"match": Taken("RE"), "cost": Taken("K")},
    help="Add a failure: what went wrong and, once known, what fixes it.",
    example='graphmem add failure --trigger "ImportError: no module yaml" --fix "pip install pyyaml"',
)
def add_failure(client: Client, request: AddFailureRequest) -> Changed[Failure]:
    """Add a failure; one that repeats another is merged into it."""
    return add_record(client, request)


@operation(
    "patterns.add",
    writes=True,
    previews="dry_run",
    scoped=True,
    command="add pattern",
    arguments=0,
    takes={"saved": Taken("K"), "framework": Taken("NAME")},
    help="Add a pattern: when it applies, and what to do then.",
    example='graphmem add pattern --trigger "a flaky test" --insight "wait for the event, not the clock"',
)
def add_pattern(client: Client, request: AddPatternRequest) -> Changed[Pattern]:
    """Add a pattern; one that repeats another is merged into it."""
    return add_record(client, request)


@operation(
    "entities.add",
    writes=True,
    previews="dry_run",
    scoped=True,
    command="add entity",
    example='graphmem add entity class pkg.store.Store --value "Owns the files."',
    takes={"type_name": Taken("TYPE", "entity type")},
)
def add_entity(client: Client, request: AddEntityRequest) -> Changed[Entity]:
    """Add an entity of a declared type, or change its value."""
    return add_record(client, request)


@operation(
    "insights.add",
    writes=True,
    positional=2,
    previews="dry_run",
    scoped=True,
    command="add insight",
    example='graphmem add insight --category codebase_insight --statement "src/api is generated"'
    " --from experience/2026-11-01_login-loop --from experience/2026-11-08_token-refresh",
    arguments=0,
    takes={"derived_from": Taken("EXPERIENCE", flag="--from")},
)
def add_insight(client: Client, request: AddInsightRequest) -> Changed[Insight]:
    """Add an insight by hand; it needs two experiences of different days and tasks."""
    return add_record(client, request)
