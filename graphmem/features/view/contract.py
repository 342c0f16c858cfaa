"""What ``view`` takes and returns."""

from typing import Any

from pydantic import Field

from graphmem.core.evidence.doubt_contract import Doubt
from graphmem.core.records.candidate_contract import ShownCandidate
from graphmem.core.records.event_contract import Happening
from graphmem.features.inbox.operations import Item
from graphmem.features.stats.contract import Stats
from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.model.run_state import RunState
from graphmem.kernel.request import Request

MOST_DRAWN = 10_000


class ViewRequest(Request):
    """How much of the memory to show."""

    most: int = Field(MOST_DRAWN, ge=1, le=MOST_DRAWN, description="Show at most this many records")


class DrawnRecord(Part):
    """
    A record of the page: what it says, and where it is drawn; ``fields`` are those that have a value.

    ``importance`` is what ``prune`` sorts by, of failures and patterns.
    """

    ref: str
    kind: str
    title: str
    x: float
    y: float
    importance: float | None = None
    doubts: list[Doubt] = []
    fields: dict[str, Any]


class DrawnEdge(Part):
    """An edge of the page, by the places of its ends among the records."""

    source: int
    target: int
    type: str
    weight: float


class PageData(Answer):
    """
    What the page of the memory shows.

    ``unsolved`` are the places of the failures that have neither a fix nor a pattern that solves them, the most
    important first; ``left_out`` is how many records there are more: the least important, then those with the fewest
    edges. ``health`` is what ``stats`` returns but for the candidates. ``waiting`` is how many candidates there are,
    of which ``candidates`` are those of most worth; None in a file, which holds no candidates. ``run`` is what is going
    on on this machine.
    """

    project: str
    records: list[DrawnRecord]
    edges: list[DrawnEdge]
    unsolved: list[int]
    health: Stats
    candidates: list[ShownCandidate] = []
    waiting: int | None = None
    events: list[Happening] = []
    inbox: list[Item] = []
    run: RunState | None = None
    left_out: int = 0
