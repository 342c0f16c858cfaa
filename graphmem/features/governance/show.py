"""Where guarded work is, as answers show it."""

from graphmem.errors import GraphmemError
from graphmem.features.governance import lease, tokens
from graphmem.features.governance.contract import NextStage, ReviewItemShown, WorkLine, WorkShown
from graphmem.features.governance.definitions import Definitions, read_definitions
from graphmem.features.governance.facts import cycle_of, standing_of
from graphmem.features.governance.files import content_of_branch
from graphmem.features.governance.place import has_flows
from graphmem.features.governance.routing import RoutingDecision, route
from graphmem.features.governance.standing import ItemStanding, StageRun, Standing
from graphmem.kernel.model import Work
from graphmem.kernel.model.field import format_time
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot


def shown_item(found: ItemStanding, work: str) -> ReviewItemShown:
    """Return a review item."""
    item = found.item
    given = item.model_dump(include={"ref", "source", "stage", "about", "text", "tags"})
    return ReviewItemShown(
        **given,
        work=work,
        state=found.state,
        artefact=item.artefact or None,
        file=item.file or None,
        rounds=found.rounds,
        reason=found.reason,
        history=list(found.moves),
    )


def shown_lease(found: lease.Lease) -> StageRun:
    """Return the stage that is active in this clone."""
    given = found.model_dump(include={"stage", "kind", "cycle", "iteration", "begun_at", "model"})
    return StageRun(id=found.nonce, until=found.until, **given)


def decided(standing: Standing, definitions: Definitions, content: str | None = None) -> RoutingDecision:
    """Return what is next for work; ``content`` is the hash of the files of its branch, where that is known."""
    return route(cycle_of(definitions, standing.cycle), standing, content)


def shown_next(
    standing: Standing, definitions: Definitions, decision: RoutingDecision, token: str | None = None
) -> NextStage:
    """Return what is next as an answer."""
    cycle, stage = cycle_of(definitions, standing.cycle), decision.stage
    return NextStage(
        work=standing.work.ref,
        action=decision.action,
        stage=stage and stage.name,
        kind=stage and stage.kind,
        cycle=standing.cycle,
        iteration=decision.iteration,
        token=token,
        model=cycle.models.get(stage.name) if stage else None,
        inputs=list(cycle.inputs),
        output=cycle.output,
        targets=list(decision.targets),
        reasons=list(decision.reasons),
        items=list(decision.items),
    )


def shown_work(snapshot: Snapshot, standing: Standing, definitions: Definitions | None = None) -> WorkShown:
    """Return all of a work; what is next is left out where the definitions do not say it."""
    work, found = standing.work, lease.active(snapshot.client)
    kept = {"ref", "flow", "objective", "goal", "branch", "base_branch", "base_commit"}
    return WorkShown(
        **work.model_dump(include=kept),
        status=standing.status,
        reason=standing.reason,
        cycle=standing.cycle,
        cycles=list(standing.cycles),
        iteration=standing.iteration,
        created_at=format_time(work.created_at),
        items=[shown_item(one, work.ref) for _, one in sorted(standing.items.items())],
        stages=list(standing.runs),
        active=shown_lease(found) if found is not None and found.work == work.key_ref else None,
        next=_next(snapshot, standing, definitions, _content(snapshot, work)),
    )


def _content(snapshot: Snapshot, work: Work) -> str | None:
    """Return the hash of the files of a work; None where there is no git to ask."""
    try:
        return content_of_branch(snapshot.client, work.branch)
    except GraphmemError:
        return None


def _next(
    snapshot: Snapshot, standing: Standing, definitions: Definitions | None, content: str | None = None
) -> NextStage | None:
    """Return what is next; None where the cycle is not defined here."""
    if definitions is None and not has_flows(snapshot.client):
        return None
    found = definitions or read_definitions(snapshot.layout)
    try:
        return shown_next(standing, found, decided(standing, found, content))
    except GraphmemError:
        return None


def lines(snapshot: Snapshot, *, everything: bool) -> list[WorkLine]:
    """Return the works, the newest first; those that go on, or all."""
    works = sorted(snapshot.catalog.of_kind(Work).values(), key=lambda one: (one.created_at, one.key), reverse=True)
    definitions = read_definitions(snapshot.layout) if has_flows(snapshot.client) else None
    found = []
    for work in works:
        standing = standing_of(snapshot, work.key_ref)
        if everything or standing.status in ("open", "failed"):
            follows = _next(snapshot, standing, definitions) if definitions else None
            found.append(
                WorkLine(
                    ref=standing.work.ref,
                    objective=work.objective,
                    status=standing.status,
                    reason=standing.reason,
                    cycle=standing.cycle,
                    iteration=standing.iteration,
                    branch=work.branch,
                    unresolved=len(standing.open_items),
                    next=follows and " ".join(filter(None, (follows.action, follows.stage))),
                    why=follows.reasons if follows else [],
                )
            )
    return found


def page_fields(client: Client) -> dict[str, list[WorkLine]]:
    """Return the works that the page shows: those that go on."""
    if not has_flows(client):
        return {}
    with client.reading() as snapshot:
        return {"works": lines(snapshot, everything=False)}


def dispatched(client: Client, standing: Standing, definitions: Definitions, decision: RoutingDecision) -> NextStage:
    """Return what is next as an answer, with a new token for a stage that is to run."""
    if decision.action != "dispatch" or decision.stage is None:
        return shown_next(standing, definitions, decision)
    payload = tokens.TokenPayload(
        stage=decision.stage.name,
        cycle=standing.cycle,
        work=standing.work.key_ref,
        nonce=client.new_id(),
        exp=int(client.now().timestamp()) + tokens.TOKEN_S,
    )
    return shown_next(standing, definitions, decision, tokens.minted(payload, tokens.secret_of(client)))
