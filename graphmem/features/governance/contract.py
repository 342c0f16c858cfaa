"""What operations of guarded work take and return."""

from typing import Annotated, Any, Literal

from pydantic import Field

from graphmem.features.governance.routing import Action
from graphmem.features.governance.standing import ItemMoved, StageRun, WorkStatus
from graphmem.features.governance.states import ItemState, StageKind
from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.parameters import Texts, Yes
from graphmem.kernel.request import InputRequest, Request

OfWork = Annotated[str | None, Field(description="The work; the one of the branch that is checked out if not given")]
OfItem = Annotated[str, Field(description="The review item, as item/name or its name alone")]
Token = Annotated[
    str | None, Field(description="Token of the stage that calls; without one the call is a person's, at a terminal")
]


class StartWorkRequest(InputRequest):
    """Which flow to begin, and for what."""

    flow: str = Field(description="Name of the flow")
    objective: str = Field(description="What the work is for")
    cycle: str | None = Field(None, description="Cycle to begin with; the only start of the flow if not given")
    goal: str | None = Field(None, description="When the work is done, in words")


class WorkRequest(Request):
    """Which work is meant."""

    ref: OfWork = None


class ListWorksRequest(Request):
    """Which works to return."""

    everything: bool = Field(False, description="Return finished and abandoned works too")


class NextStageRequest(Request):
    """Of which work to return the next stage."""

    ref: OfWork = None
    peek: bool = Field(False, description="Make no token, and write nothing")


class AdvanceRequest(Request):
    """Which cycle comes next."""

    ref: str = Field(description="The work")
    cycle: str = Field(description="A target of the current cycle")


class AbandonRequest(InputRequest):
    """Which work to give up."""

    ref: str = Field(description="The work")
    reason: str | None = Field(None, description="Why")
    yes: Yes = False


class BranchRequest(InputRequest):
    """Which branch to make."""

    namespace: Literal["config", "work", "dry-run"] = Field(description="What the branch is for")
    description: str = Field(description="What it is for, in words")
    flow: str | None = Field(None, description="Flow of a work or dry-run branch")


class StageRequest(Request):
    """The stage that calls."""

    token: Token = None


class AddReviewItemRequest(InputRequest):
    """What was found."""

    text: str = Field(description="What was found, and what would be right")
    work: OfWork = None
    artefact: str | None = Field(None, description="Artefact type that it is about")
    file: str | None = Field(None, description="File that it is about, as a path in the project")
    about: str | None = Field(None, description="Entity that it is about; the one named as the file if not given")
    tags: Texts = Field((), description="Ids of the laws that it refers to")
    check: str | None = Field(None, description="Check that found it; the stage if not given")
    token: Token = None


class ListReviewItemsRequest(Request):
    """Which items to return."""

    work: OfWork = None
    state: ItemState | None = Field(None, description="Only items in this state")
    everything: bool = Field(False, description="Return resolved items too")


class ItemRequest(Request):
    """Which item is meant."""

    ref: OfItem


class ActItemRequest(ItemRequest):
    """Which item was acted on."""

    token: Token = None


class MoveItemRequest(InputRequest):
    """Which item is moved, and why."""

    ref: OfItem
    reason: str | None = Field(None, description="Why; required but to resolve")
    token: Token = None


# --- answers --------------------------------------------------------------------------------------------------------


class ReviewItemShown(Part):
    """A review item, its state, how often it went back and forth, and its moves."""

    ref: str
    work: str
    state: ItemState
    source: str
    stage: str | None = None
    artefact: str | None = None
    file: str | None = None
    about: str | None = None
    text: str
    tags: list[str] = []
    rounds: int = 0
    reason: str | None = None
    history: list[ItemMoved] = []


class NextStage(Answer):
    """
    Which stage runs next, and why.

    ``dispatch``: it runs with ``token``. ``human``: a person does it. ``done``: ``targets`` may follow. ``blocked`` and
    ``failed``: nothing runs, for ``reasons``.
    """

    work: str
    action: Action
    stage: str | None = None
    kind: StageKind | None = None
    cycle: str
    iteration: int
    token: str | None = None
    model: str | None = None
    inputs: list[str] = []
    output: str | None = None
    targets: list[str] = []
    reasons: list[str]
    items: list[str] = []


class WorkShown(Answer):
    """Where guarded work is, its stages and items, and what is next; ``active`` is of this clone alone."""

    ref: str
    flow: str
    objective: str
    goal: str | None = None
    status: WorkStatus
    reason: str | None = None
    cycle: str
    cycles: list[str]
    iteration: int
    branch: str
    base_branch: str
    base_commit: str
    created_at: str
    items: list[ReviewItemShown] = []
    stages: list[StageRun] = []
    active: StageRun | None = None
    next: NextStage | None = None


class WorkLine(Part):
    """A work in a list: its state, and how many of its items are not resolved."""

    ref: str
    objective: str
    status: WorkStatus
    reason: str | None = None
    cycle: str
    iteration: int
    branch: str
    unresolved: int
    next: str | None = None
    why: list[str] = []


class WorkList(Answer):
    """The works, the newest first."""

    works: list[WorkLine]


class ReviewItemAnswer(Answer):
    """A review item as it is now."""

    item: ReviewItemShown


class ReviewItemList(Answer):
    """Review items, in the order of their names."""

    items: list[ReviewItemShown]


class BranchMade(Answer):
    """A branch that was made and is checked out, and the one that it began at."""

    branch: str
    base: str


class CheckShown(Part):
    """How a command of a stage ended: ``end`` is the end of what it printed."""

    name: str
    passed: bool
    seconds: float
    end: str = ""


class StageBegun(Answer):
    """A stage that is active now, until ``until``, and what it may write."""

    work: str
    stage: str
    kind: StageKind
    cycle: str
    iteration: int
    until: str
    files: list[str] = []
    may: str
    items: list[str] = []


class StageChecked(Answer):
    """What the commands of a stage found: the checks, the items that were added or moved, and rows of extractors."""

    work: str
    stage: str
    checks: list[CheckShown] = []
    items: list[str] = []
    extracted: list[dict[str, Any]] = []
    failed: str | None = None


class StageEnded(Answer):
    """
    How a stage ended.

    ``done``: its files are in ``commit``. ``unexpected_files``: it changed what it may not write, nothing is committed,
    and the work has failed. ``failed``: git did not take the commit.
    """

    work: str
    stage: str
    result: Literal["done", "unexpected_files", "failed"]
    commit: str | None = None
    files: list[str] = []
    unexpected_files: list[str] = []
    reason: str | None = None
