"""Why a record is there: its origin, what was merged into it, its reports, and its place for a query."""

from collections.abc import Sequence

from pydantic import Field

from graphmem.core.history.operations import present, revisions
from graphmem.core.records.candidates import queue_of
from graphmem.core.records.read import edges_of
from graphmem.core.records.relation_contract import Edge
from graphmem.core.search.query import find, prepare
from graphmem.core.search.query_contract import Certainty, Hit, QueryRequest
from graphmem.errors import Unavailable
from graphmem.kernel.answer import Answer, Part, Shown
from graphmem.kernel.model import AnyRecord, Record
from graphmem.kernel.model.field import format_time
from graphmem.kernel.model.record import Alternate
from graphmem.kernel.parameters import Ref
from graphmem.kernel.registry import operation
from graphmem.kernel.request import Request
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot


class WhyRequest(Request):
    """Of which record to return where it comes from."""

    ref: Ref
    query: str | None = Field(None, description="Say too why the record is in its place for this query")


class Origin(Part):
    """
    Where a record comes from.

    ``sources`` are what was imported or observed; ``commit`` is the commit that added the record, ``null`` where none
    did yet; ``candidate`` is the id of the candidate that was accepted as this record on this machine.
    """

    created_at: str
    sources: list[str] = []
    commit: str | None = None
    at: str | None = None
    author: str | None = None
    subject: str | None = None
    candidate: str | None = None


class ReportMade(Part):
    """One report on a record: whether it helped, in which task, for which question."""

    at: str
    helped: bool
    wrong: bool = False
    task: str | None = None
    question: str | None = None
    note: str | None = None


class Ranking(Part):
    """The place of a record among the results of a query, from 1, and the result; ``null`` where it is not there."""

    query: str
    place: int | None
    results: int
    certainty: Certainty
    hit: Hit | None


class Why(Answer):
    """
    Where a record comes from, what became of it, how it did, and why a query finds it.

    ``merged`` are texts of reports that were merged into the record and said it in other words.
    """

    ref: str
    record: Shown[AnyRecord]
    origin: Origin
    merged: list[Alternate] = []
    renamed: list[str] = []
    reports: list[ReportMade] = []
    supersedes: list[str] = []
    superseded_by: str | None = None
    relations: list[Edge] = []
    ranking: Ranking | None = None


RANKED = 100  # results among which a record is looked for


@operation(
    "why",
    positional=1,
    example='graphmem why failure/import-error --query "No module named pkg_resources"',
    arguments=1,
)
def why(client: Client, request: WhyRequest) -> Why:
    """
    Return where a record comes from, what was merged into it, how it did, and why a query finds it.

    Git is asked, which may take long, while no moment is open.
    """
    client = present(client)
    question = None if request.query is None else QueryRequest(text=request.query, limit=RANKED)
    if question is not None:
        prepare(client, question)
    with client.reading(*((client.clues, client.lexical) if question is not None else ())) as snapshot:
        number = snapshot.resolve(request.ref)
        record = snapshot.catalog.records([number])[number]
        keys = snapshot.vocabulary.refs(record.key_ref)
        made = snapshot.catalog.reports_about(number)
        reports = [ReportMade.model_validate(one.model_dump(include=set(ReportMade.model_fields))) for one in made]
        older, edges = _superseded(snapshot, record), edges_of(snapshot, number)
        ranked = None if question is None else ranking(snapshot, question, record.ref)
    return Why(
        ref=record.ref,
        record=record,
        origin=origin(client, record, keys),
        merged=list(record.alternates),
        renamed=list(record.aliases),
        reports=reports,
        supersedes=older,
        superseded_by=record.superseded_by,
        relations=edges,
        ranking=ranked,
    )


def _superseded(snapshot: Snapshot, record: Record) -> list[str]:
    """Return the records in whose place a record was put."""
    numbers = snapshot.catalog.with_field("superseded_by", is_live=False)
    found = snapshot.catalog.records(numbers).values()
    return sorted(other.ref for other in found if other.superseded_by in (record.ref, record.key_ref))


def ranking(snapshot: Snapshot, question: QueryRequest, ref: str) -> Ranking:
    """Return the place of a record among the results of a query."""
    found = find(snapshot, question)
    places = {hit.ref: place for place, hit in enumerate(found.results, 1)}
    return Ranking(
        query=question.text,
        place=places.get(ref),
        results=len(found.results),
        certainty=found.certainty,
        hit=next((hit for hit in found.results if hit.ref == ref), None),
    )


def origin(client: Client, record: Record, keys: Sequence[str]) -> Origin:
    """Return where a record comes from: its sources, the commit that added it, the candidate that it was."""
    try:
        added = next((one for one in reversed(list(revisions(client, keys))) if one.commit is not None), None)
    except Unavailable:  # no git, or no repository
        added = None
    candidates = queue_of(client).read().candidates.values()
    return Origin(
        created_at=format_time(record.created_at),
        sources=list(record.sources),
        commit=added and added.commit,
        at=added and added.at,
        author=added and added.author,
        subject=added and added.subject,
        candidate=next((one.id for one in candidates if record.ref in one.refs), None),
    )
