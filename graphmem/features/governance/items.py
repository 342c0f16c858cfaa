"""Review items: what a stage or a person found, and how it goes on with it."""

from collections.abc import Mapping, Sequence

from graphmem.core.logs.draft import SEEN_WORTH
from graphmem.core.records.candidates import keep, queue_of
from graphmem.core.records.screening import screened
from graphmem.core.records.validation import build
from graphmem.errors import NotFound, Refused
from graphmem.features.governance.actor import Actor, actor_of, given_token, held
from graphmem.features.governance.contract import (
    ActItemRequest,
    AddReviewItemRequest,
    ItemRequest,
    ListReviewItemsRequest,
    MoveItemRequest,
    ReviewItemAnswer,
    ReviewItemList,
)
from graphmem.features.governance.definitions import Definitions
from graphmem.features.governance.facts import (
    definitions_of,
    fact,
    refuse_not_open,
    refuse_other_branch,
    standing_of,
    work_of_item,
    write,
)
from graphmem.features.governance.show import shown_item
from graphmem.features.governance.standing import ITEM_MOVED, ItemStanding, Standing
from graphmem.features.governance.states import STAGE_RIGHTS, ItemState, StageKind, refuse_item_move
from graphmem.kernel.ledger.row import entry
from graphmem.kernel.model import Entity, ReviewItem
from graphmem.kernel.model.candidate import Candidate, Fields, Occasion, candidate_id
from graphmem.kernel.model.entry import Entry
from graphmem.kernel.model.field import format_time
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.kernel.suggest import did_you_mean
from graphmem.names import mark, slug

NAME_CHARACTERS = 50  # of a text in the name of its item
ITEM = Taken("ITEM", completes="ref")


@operation(
    "items.add",
    writes=True,
    positional=1,
    example='graphmem item add "the token is never checked" --file src/auth.ts --tag secure --token "$TOKEN"',
    takes={"tags": Taken("TAG", flag="--tag"), "work": Taken("WORK", completes="ref")},
    raises={"Refused": "the stage that calls may not add items, or no person calls"},
)
def add(snapshot: Writing, request: AddReviewItemRequest) -> ReviewItemAnswer:
    """Add what a check, a reviewer or a person found; the same finding in the same iteration is one item."""
    request = screened(snapshot, request, "item")
    token = given_token(snapshot.client, request.token)
    work = held(snapshot.client, token).work if token is not None and request.work is None else request.work
    standing = standing_of(snapshot, work)
    actor = _actor(snapshot, standing, request.token)
    lease = actor.lease
    if lease is not None and not STAGE_RIGHTS[lease.kind].adds:
        raise Refused(f"stage {lease.stage} ({lease.kind}) may not add items", hint=f"it may {_rights(lease.kind)}")
    if request.artefact is not None:
        _refuse_unknown(definitions_of(snapshot), request.artefact, request.tags)
    kind = "human-appraise" if lease is None else lease.kind
    name = request.check or actor.name
    made = review_item(
        snapshot,
        standing,
        source=f"{kind}:{name}",
        stage=None if lease is None else lease.stage,
        text=request.text,
        said={
            "artefact": request.artefact,
            "file": request.file,
            "about": _about(snapshot, request),
            "tags": sorted(request.tags) or None,
        },
    )
    if made.key_ref not in standing.items:
        write(snapshot, [entry(made, snapshot.symmetric)])
        standing = standing_of(snapshot, work)
    return ReviewItemAnswer(item=shown_item(standing.items[made.key_ref], standing.work.ref))


def _rights(kind: StageKind) -> str:
    """Return what a stage of a kind may do with items, in words."""
    rights = STAGE_RIGHTS[kind]
    return "write " + ("files and move items to " + " or ".join(rights.moves) if rights.files else "memory alone")


def _refuse_unknown(definitions: Definitions, artefact: str, tags: Sequence[str]) -> None:
    """Raise for an artefact type that is not defined, and for ids of laws that it does not have."""
    if artefact not in definitions.artefacts:
        hint = did_you_mean(artefact, definitions.artefacts) or f"there is: {', '.join(definitions.artefacts)}"
        raise NotFound(f"no artefact type {artefact!r}", hint=hint)
    laws = [law.id for law in definitions.artefacts[artefact].laws]
    if laws and (unknown := [tag for tag in tags if tag not in laws]):
        raise NotFound(f"artefact type {artefact!r} has no law {unknown[0]!r}", hint=f"laws: {', '.join(laws)}")


def _about(snapshot: Snapshot, request: AddReviewItemRequest) -> str | None:
    """Return the reference by key of the entity that an item is about: the one that is named, or named as its file."""
    if request.about is not None:
        return snapshot.catalog.stored(snapshot.resolve(request.about)).key_ref
    if request.file is None:
        return None
    found = [snapshot.catalog.stored(number) for number in snapshot.catalog.anywhere(request.file, None)]
    entities = [one.key_ref for one in found if isinstance(one, Entity)]
    return entities[0] if len(entities) == 1 else None


def review_item(
    snapshot: Snapshot,
    standing: Standing,
    *,
    source: str,
    stage: str | None,
    text: str,
    said: Mapping[str, object],
    named: str | None = None,
) -> ReviewItem:
    """Return a new item; its name begins with ``named`` or its text, and has a mark of all that identifies it."""
    identity = [standing.work.key, standing.cycle, standing.iteration, source, said.get("file"), " ".join(text.split())]
    fields = {
        "name": f"{slug(named or text)[:NAME_CHARACTERS].strip('-._') or 'item'}-{mark(repr(identity))}",
        "work": standing.work.key_ref,
        "source": source,
        "stage": stage,
        "iteration": standing.iteration or None,
        "text": text,
        **said,
    }
    made = build("item", fields, snapshot.now)
    assert isinstance(made, ReviewItem)
    return made


def _actor(snapshot: Snapshot, standing: Standing, token: str | None) -> Actor:
    """Return who moves or adds an item of work, which is neither failed nor ended, and is checked out."""
    refuse_not_open(standing)
    refuse_other_branch(snapshot, standing)
    return actor_of(snapshot.client, token, standing.work.key_ref)


@operation(
    "items.list",
    positional=0,
    takes={"everything": Taken(flag="--all"), "work": Taken("WORK", completes="ref")},
    example="graphmem item list",
)
def list_items(snapshot: Snapshot, request: ListReviewItemsRequest) -> ReviewItemList:
    """Return the items of a work that are not resolved, or all, in the order of their names."""
    standing = standing_of(snapshot, request.work)
    wanted = request.state
    found = [
        shown_item(one, standing.work.ref)
        for _, one in sorted(standing.items.items())
        if (one.state == wanted if wanted else request.everything or one.state != "resolved")
    ]
    return ReviewItemList(items=found)


@operation("items.show", takes={"ref": ITEM}, example="graphmem item show the-token-is-never-checked-1f2a")
def show(snapshot: Snapshot, request: ItemRequest) -> ReviewItemAnswer:
    """Return an item with its moves."""
    standing, ref = work_of_item(snapshot, request.ref)
    return ReviewItemAnswer(item=shown_item(standing.items[ref], standing.work.ref))


@operation("items.action", writes=True, positional=1, takes={"ref": ITEM}, example="graphmem item action ITEM")
def action(snapshot: Writing, request: ActItemRequest) -> ReviewItemAnswer:
    """Report that an item was acted on, from a forge stage."""
    return _moved(snapshot, request.ref, "actioned", request.token, None)


@operation(
    "items.wont_fix",
    writes=True,
    positional=2,
    arguments=2,
    takes={"ref": ITEM},
    example='graphmem item wont-fix ITEM "why"',
)
def wont_fix(snapshot: Writing, request: MoveItemRequest) -> ReviewItemAnswer:
    """Decline an item that a reviewer raised, with a reason, from a forge stage; the reviewer decides on it."""
    request = screened(snapshot, request, "item")
    return _moved(snapshot, request.ref, "wont-fix", request.token, request.reason)


@operation("items.resolve", writes=True, positional=1, takes={"ref": ITEM}, example="graphmem item resolve ITEM")
def resolve(snapshot: Writing, request: MoveItemRequest) -> ReviewItemAnswer:
    """Resolve an item, for good: from the stage that raised it, or as a person."""
    request = screened(snapshot, request, "item")
    return _moved(snapshot, request.ref, "resolved", request.token, request.reason)


@operation(
    "items.reject",
    writes=True,
    positional=2,
    arguments=2,
    takes={"ref": ITEM},
    example='graphmem item reject ITEM "why"',
)
def reject(snapshot: Writing, request: MoveItemRequest) -> ReviewItemAnswer:
    """Reject what was done about an item, with a reason: from the stage that raised it, or as a person."""
    request = screened(snapshot, request, "item")
    return _moved(snapshot, request.ref, "rejected", request.token, request.reason)


def _moved(snapshot: Writing, ref: str, after: ItemState, token: str | None, reason: str | None) -> ReviewItemAnswer:
    """Move an item, as the table allows."""
    standing, key = work_of_item(snapshot, ref)
    found = standing.items[key]
    actor = _actor(snapshot, standing, token)
    if found.moves and found.moves[-1].is_same(after, actor.movers(found.item), actor.run):
        return ReviewItemAnswer(item=shown_item(found, standing.work.ref))  # the answer was lost
    refuse_item_move(found.item.ref, found.item.source, found.state, after, actor.movers(found.item), reason)
    write(snapshot, [move_fact(snapshot, standing, found, after, actor, reason)])
    standing = standing_of(snapshot, standing.work.key_ref)
    found = standing.items[key]
    if after == "resolved" and found.was_rejected:
        _offer(snapshot.client, found)
    return ReviewItemAnswer(item=shown_item(found, standing.work.ref))


def move_fact(
    snapshot: Snapshot,
    standing: Standing,
    found: ItemStanding,
    after: ItemState,
    actor: Actor,
    reason: str | None,
    *,
    later: int = 0,
) -> Entry:
    """Return the row of a move that the table allows."""
    said = {
        "from": found.state,
        "to": after,
        "who": actor.movers(found.item)[0],
        "stage": actor.lease.stage if actor.lease else None,
        "run": actor.run,
        "person": None if actor.lease else actor.name,
        "reason": reason,
    }
    return fact(snapshot, standing, ITEM_MOVED, said, subject=found.item.key_ref, later=later)


def _offer(client: Client, found: ItemStanding) -> None:
    """Keep an item that was resolved after a rejection as a candidate: what was wrong, and what resolved it."""
    item, why = found.item, found.reason
    seen = Occasion(source="review", run=item.key_ref, at=format_time(found.moves[-1].at))
    trigger: Fields = {"trigger": item.text, "files": [item.file] if item.file else [], "tags": list(item.tags)}
    made = Candidate(
        id=candidate_id(item.key_ref),
        base=SEEN_WORTH,
        failure=trigger,
        pattern={"trigger": item.text, "insight": why} if why else None,
        evidence=(seen,),
        marks=(seen.mark,),
        sessions=(seen.mark,),
    )
    with queue_of(client).changing() as queue:
        keep(queue, [made])
