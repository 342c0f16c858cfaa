"""The data of the page that people look at: records and edges with their places, what waits, what happened."""

from collections import Counter
from collections.abc import Container, Sequence
from typing import Any

from pydantic import Field, SerializeAsAny

from graphmem.core.evidence.doubt_contract import Doubt
from graphmem.core.evidence.doubts import Doubter
from graphmem.core.page.drawing import drawn
from graphmem.core.records.candidate_contract import ShownCandidate
from graphmem.core.records.event_contract import Happening, ListEventsRequest
from graphmem.core.records.event_log import events
from graphmem.core.stats.contract import Stats
from graphmem.core.stats.operations import health, memories_of
from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.model import Record
from graphmem.kernel.model.merge import FACTS
from graphmem.kernel.model.run_state import RunState
from graphmem.kernel.registry import extensions, operation
from graphmem.kernel.request import Request
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot
from graphmem.kernel.system.collector import collector_paused
from graphmem.names import row_id

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
    on on this machine. Candidates, ``inbox``, ``works`` and ``run`` come from the features that have them.
    """

    project: str
    records: list[DrawnRecord]
    edges: list[DrawnEdge]
    unsolved: list[int]
    health: Stats
    candidates: list[ShownCandidate] = []
    waiting: int | None = None
    events: list[Happening] = []
    inbox: list[SerializeAsAny[Part]] = []
    works: list[SerializeAsAny[Part]] = []
    run: RunState | None = None
    left_out: int = 0

    def shared(self) -> "PageData":
        """Return it as a file has it: without candidates and events of this machine alone."""
        events = [one for one in self.events if not one.is_local]
        return self.model_copy(update={"candidates": [], "waiting": None, "events": events})


MOST_TEXT = 4_000  # characters of a text of a record that the page holds
MOST_EVENTS = 100
EMPTY: tuple[Any, ...] = (None, [], {}, "", False)


@operation("view")
def view(client: Client, request: ViewRequest) -> PageData:
    """Return what the page of the memory shows: records with their places, edges, what waits, what happened."""
    with client.reading() as snapshot, collector_paused():
        found = page_of(snapshot, request.most)
    for fields_of in extensions("page"):
        found = found.model_copy(update=fields_of(client))
    return found


def page_of(
    snapshot: Snapshot, most: int, *, records_of: Container[int] | None = None, types: Container[str] | None = None
) -> PageData:
    """
    Return the records, the edges, the health and the events of the page.

    Args:
        records_of: the records that may be in it, by number, and types: their edges; None for all.
    """
    catalog, memories = snapshot.catalog, memories_of(snapshot)
    worth = {row_id(one.record.key_ref): one.importance for one in (*memories.failures, *memories.patterns)}
    edges = [
        (kind, source, target, weight)
        for kind, source, target, weight, _ in catalog.live_edges()
        if types is None or kind in types
    ]
    degrees = Counter(end for _, source, target, _ in edges for end in (source, target))
    every = sorted(
        (number for number in catalog.all_live(without=FACTS) if records_of is None or number in records_of),
        key=lambda number: (-worth.get(number, 0), -degrees[number], number),
    )
    records = catalog.records(every[:most])
    order = sorted(records, key=lambda number: records[number].ref)
    places = {number: place for place, number in enumerate(order)}
    kept = [edge for edge in edges if edge[1] in places and edge[2] in places]
    points = drawn(len(order), [(places[source], places[target]) for _, source, target, _ in kept])
    doubter = Doubter(snapshot)
    refs = {records[number].ref: place for number, place in places.items()}
    found = {
        "project": snapshot.root.name,
        "records": [
            shown(records[number], *points[place], worth.get(number), doubter.of(records[number]))
            for number, place in places.items()
        ],
        "edges": [
            {"source": places[source], "target": places[target], "type": kind, "weight": weight}
            for kind, source, target, weight in kept
        ],
        "unsolved": [refs[ref] for ref in memories.unsolved if ref in refs],
        "health": health(snapshot, memories),
        "events": events(snapshot, ListEventsRequest(limit=MOST_EVENTS)).events,
        "left_out": len(every) - len(order),
    }
    return PageData.model_validate(found)  # at once: one by one the parts of 10,000 records take 0.2 s more


def shown(record: Record, x: float, y: float, worth: float | None, doubts: Sequence[Doubt]) -> dict[str, Any]:
    """Return a record with its place, as ``DrawnRecord``; its fields are those with a value, long texts cut."""
    return {
        "ref": record.ref,
        "kind": record.record_type,
        "title": record.headline[:MOST_TEXT],
        "x": x,
        "y": y,
        "importance": None if worth is None else round(worth, 4),
        "doubts": [one for one in doubts if one.is_mark],
        "fields": {name: _cut(value) for name, value in record.to_row().items() if value not in EMPTY},
    }


def _cut(value: Any) -> Any:
    """Return a value, its text cut where it is long."""
    return f"{value[:MOST_TEXT]}…" if isinstance(value, str) and len(value) > MOST_TEXT else value
