"""Works: to start one, to see where it is and what is next, to go on to another cycle, to give it up."""

from graphmem.core.records.screening import screened
from graphmem.core.records.validation import build
from graphmem.errors import BadInput, NotFound, Refused, Unavailable, Usage
from graphmem.features.governance import lease
from graphmem.features.governance.actor import is_person
from graphmem.features.governance.contract import (
    AbandonRequest,
    AdvanceRequest,
    BranchMade,
    BranchRequest,
    ListWorksRequest,
    NextStage,
    NextStageRequest,
    StartWorkRequest,
    WorkList,
    WorkRequest,
    WorkShown,
)
from graphmem.features.governance.facts import (
    cycle_of,
    definitions_of,
    fact,
    number_of,
    refuse_not_open,
    refuse_other_branch,
    standing_of,
    write,
)
from graphmem.features.governance.files import content_of_branch
from graphmem.features.governance.routing import RoutingDecision
from graphmem.features.governance.show import decided, dispatched, lines, shown_next, shown_work
from graphmem.features.governance.standing import ABANDONED, ADVANCED, ITEM_MOVED, Standing
from graphmem.features.governance.states import NAMESPACES, namespace_of
from graphmem.kernel.git import worktree
from graphmem.kernel.ledger.row import entry
from graphmem.kernel.model import Work
from graphmem.kernel.model.entry import Entry
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.kernel.suggest import did_you_mean
from graphmem.kernel.system.shell import command
from graphmem.names import slug

NAME_CHARACTERS = 60  # of an objective in the names of its work and its branch
REF = Taken("WORK", completes="ref")


@operation(
    "works.start",
    writes=True,
    at_home=True,
    positional=2,
    raises={"Refused": "governance needs the rows in the branch, and a branch that is checked out"},
    example='graphmem work start feature "sign in with a token"',
)
def start(client: Client, request: StartWorkRequest) -> WorkShown:
    """
    Begin a work of a flow, on a branch of its own; from a ``config/`` branch it is a dry run.

    The files stay as they are; repeated after a lost answer it changes nothing.
    """
    request = screened(client, request, "work")
    if client.ledger.place.history is not None or client.layout.home is not None:
        raise Refused(
            "guarded work needs the rows in the branch, and here they are in a ref or a server",
            hint="move them with: graphmem ledger move branch",
        )
    with client.reading() as snapshot:
        flow, cycle = _beginning(snapshot, request)
    head = worktree.head_of(client.root)
    if head.branch is None or head.commit is None:
        raise Unavailable(
            "HEAD is detached" if head.commit else f"branch {head.branch!r} has no commit",
            hint="check out a branch with a commit; a work begins there, and is merged into it",
        )
    name = f"{flow}-{named(request.objective)}"
    base = head.branch
    branch = _branch_name("dry-run" if base.startswith("config/") else "work", name, base)
    if namespace_of(base) in ("work", "dry-run"):  # made by `work branch`, or before an answer was lost
        branch = base
    with client.writing() as snapshot:
        if branch != base and (number := snapshot.catalog.lookup("work", name)) is not None:
            other = snapshot.catalog.stored(number)
            assert isinstance(other, Work)
            raise Refused(
                f"work/{name} is there already", hint=f"go on with it: {command('git', 'switch', other.branch)}"
            )
        if branch == base and (found := _begun(snapshot, branch)) is not None:
            if found.work.key == name:
                return shown_work(snapshot, found)
            raise Refused(f"branch {branch!r} is of {found.work.ref}", hint=f"begin at {found.work.base_branch}")
        if branch == base:
            base = _base_of(client, branch)
        else:
            _check_out(client, branch, head.commit, base)
        fields = {
            "name": name,
            "flow": flow,
            "cycle": cycle,
            "objective": request.objective,
            "goal": request.goal,
            "branch": branch,
            "base_branch": base,
            "base_commit": head.commit,
        }
        made = build("work", fields, snapshot.now)
        assert isinstance(made, Work)
        write(snapshot, [entry(made, snapshot.symmetric)])
        return shown_work(snapshot, standing_of(snapshot, made.key_ref))


def _beginning(snapshot: Snapshot, request: StartWorkRequest) -> tuple[str, str]:
    """Return the flow and the cycle that a work begins with."""
    definitions = definitions_of(snapshot)
    flow = definitions.flows.get(request.flow)
    if flow is None:
        hint = did_you_mean(request.flow, definitions.flows) or f"there is: {', '.join(definitions.flows) or 'none'}"
        raise NotFound(f"no flow {request.flow!r}", hint=hint)
    if request.cycle is None and len(flow.start) > 1:
        raise Usage(f"flow {request.flow!r} can begin with several cycles", hint=f"--cycle {' or '.join(flow.start)}")
    cycle = request.cycle or flow.start[0]
    if cycle not in flow.start:
        raise Refused(f"flow {request.flow!r} does not begin with {cycle!r}", hint=f"with: {', '.join(flow.start)}")
    cycle_of(definitions, cycle)
    return request.flow, cycle


def named(text: str) -> str:
    """Return a text as a part of the name of a branch."""
    found = slug(text)[:NAME_CHARACTERS].strip("-._")
    if not found:
        raise BadInput(f"{text!r} has no letter or digit to name a branch by", hint="say it in words")
    return found


def _branch_name(namespace: str, name: str, base: str) -> str:
    """Return the name of a branch; that of a dry run names the config branch too."""
    config = f"{base.removeprefix('config/')}/" if namespace == "dry-run" else ""
    return f"{NAMESPACES[namespace].prefix}{config}{name}"


def _begun(snapshot: Snapshot, branch: str) -> Standing | None:
    """Return the work of a branch, if it has one."""
    number = number_of(snapshot, branch)
    return None if number is None else standing_of(snapshot, snapshot.catalog.stored(number).key_ref)


BASE_KIND = "stage"  # what the state keeps of this room
BASE_KEY = "base:"


def _check_out(client: Client, branch: str, commit: str, base: str) -> None:
    """Make a branch of the commit that is checked out, and let HEAD name it; it may be there from a call cut off."""
    with client.state.changing() as kept:
        kept.put(BASE_KIND, f"{BASE_KEY}{branch}", base.encode())
    if worktree.value_of(client.root, worktree.BRANCHES + branch) != commit:
        worktree.create_branch(client.root, branch, commit)
    worktree.name_head(client.root, branch)


def _base_of(client: Client, branch: str) -> str:
    """Return the branch that a branch of ``work branch`` began at, as this clone noted it."""
    base = client.state.read(BASE_KIND, f"{BASE_KEY}{branch}", bytes.decode)
    if base is None:
        raise Refused(f"branch {branch!r} was not made here", hint="begin at the branch that it is to be merged into")
    return base


@operation("works.branch", writes=True, at_home=True, example='graphmem work branch config "review of docs"')
def branch(client: Client, request: BranchRequest) -> BranchMade:
    """Make a branch for definitions, for a work or for a dry run, and check it out; the files stay as they are."""
    head = worktree.head_of(client.root)
    if head.branch is None or head.commit is None:
        raise Unavailable("HEAD is detached, or has no commit", hint="check out a branch with a commit")
    if request.namespace == "dry-run" and not head.branch.startswith("config/"):
        raise Refused(f"a dry run tries a config branch out, and {head.branch!r} is not", hint="git switch config/…")
    if (request.flow is None) != (request.namespace == "config"):
        which = "no" if request.flow else "a"
        raise Usage(f"a {request.namespace} branch is named by {which} flow", hint="--flow FLOW")
    described = named(request.description)
    name = described if request.flow is None else f"{request.flow}-{described}"
    made = _branch_name(request.namespace, name, head.branch)
    if made != head.branch:  # else the answer was lost
        _check_out(client, made, head.commit, head.branch)
    return BranchMade(branch=made, base=head.branch)


@operation("works.list", example="graphmem work list", takes={"everything": Taken(flag="--all")})
def list_works(snapshot: Snapshot, request: ListWorksRequest) -> WorkList:
    """Return the works that go on, or all, each with what is next."""
    return WorkList(works=lines(snapshot, everything=request.everything))


@operation("works.show", positional=1, arguments=1, takes={"ref": REF}, example="graphmem work show")
def show(snapshot: Snapshot, request: WorkRequest) -> WorkShown:
    """Return where a work is: its stages, its items, what is next, and why."""
    return shown_work(snapshot, standing_of(snapshot, request.ref))


@operation(
    "works.next",
    writes=True,
    previews="peek",
    positional=1,
    arguments=1,
    takes={"ref": REF},
    raises={"Refused": "a stage is active in this clone"},
    example="graphmem work next --peek",
)
def next_stage(client: Client, request: NextStageRequest) -> NextStage:
    """Return which stage runs next, and why, with a token for it; items that went back and forth become deadlocked."""
    with client.deciding(is_real=not request.peek) as snapshot:
        standing = standing_of(snapshot, request.ref)
        definitions = definitions_of(snapshot)
        decision = decided(standing, definitions, content_of_branch(client, standing.work.branch))
        if request.peek or not isinstance(snapshot, Writing):
            return shown_next(standing, definitions, decision)
        if (found := lease.active(client)) is not None:
            raise lease.still_active(found)
        if standing.status == "open":
            refuse_other_branch(snapshot, standing)
        if decision.deadlocked:
            write(snapshot, deadlocks(snapshot, standing, decision))
        return dispatched(client, standing, definitions, decision)


def deadlocks(snapshot: Snapshot, standing: Standing, decision: RoutingDecision) -> list[Entry]:
    """Return the rows that make items deadlocked."""
    return [
        fact(
            snapshot,
            standing,
            ITEM_MOVED,
            {"from": standing.items[ref].state, "to": "deadlocked", "who": "routing"},
            subject=ref,
            later=place,
        )
        for place, ref in enumerate(decision.deadlocked)
    ]


@operation(
    "works.advance", writes=True, positional=2, takes={"ref": REF}, example="graphmem work advance feature-sign-in docs"
)
def advance(snapshot: Writing, request: AdvanceRequest) -> WorkShown:
    """Go on to a target of the current cycle; only after everything of that is done."""
    standing = standing_of(snapshot, request.ref)
    refuse_not_open(standing)
    refuse_other_branch(snapshot, standing)
    definitions = definitions_of(snapshot)
    decision = decided(standing, definitions, content_of_branch(snapshot.client, standing.work.branch))
    if standing.cycle == request.cycle and len(standing.cycles) > 1 and not standing.current:
        return shown_work(snapshot, standing, definitions)  # the answer was lost
    if decision.action != "done":
        raise Refused(
            f"cycle {standing.cycle!r} is not done: {'; '.join(decision.reasons)}",
            hint=command("graphmem", "work", "next", standing.work.ref),
        )
    if request.cycle not in decision.targets:
        raise Refused(
            f"{request.cycle!r} is not a target of cycle {standing.cycle!r}",
            hint=f"targets: {', '.join(decision.targets) or 'none'}",
        )
    cycle_of(definitions, request.cycle)
    write(snapshot, [fact(snapshot, standing, ADVANCED, {"from": standing.cycle, "to": request.cycle})])
    return shown_work(snapshot, standing_of(snapshot, request.ref), definitions)


@operation(
    "works.abandon",
    writes=True,
    previews="yes",
    positional=1,
    takes={"ref": REF},
    example="graphmem work abandon feature-sign-in --yes",
)
def abandon(snapshot: Snapshot, request: AbandonRequest) -> WorkShown:
    """Give a work up, for good; its branch stays."""
    request = screened(snapshot, request, "work")
    standing = standing_of(snapshot, request.ref)
    if standing.status == "finished":
        refuse_not_open(standing)
    if request.yes and isinstance(snapshot, Writing) and standing.status != "abandoned":
        refuse_other_branch(snapshot, standing)
        _refuse_active(snapshot, standing)
        write(snapshot, [fact(snapshot, standing, ABANDONED, {"reason": request.reason})])
        standing = standing_of(snapshot, request.ref)
    return shown_work(snapshot, standing)


def _refuse_active(snapshot: Snapshot, standing: Standing) -> None:
    """Raise ``Refused`` while a stage of the work is active, but for a person, who ends it."""
    found = lease.lease_of(snapshot.client.state)
    if found is None or found.work != standing.work.key_ref:
        return
    if lease.active(snapshot.client) is not None and not is_person(snapshot.client):
        raise Refused(f"stage {found.stage} of {found.work} is active", hint="graphmem stage end")
    lease.drop(snapshot.client)
