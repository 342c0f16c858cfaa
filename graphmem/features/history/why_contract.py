"""What ``why`` takes and returns."""

from pydantic import Field

from graphmem.core.records.relation_contract import Edge
from graphmem.core.search.query_contract import Certainty, Hit
from graphmem.kernel.answer import Answer, Part, Shown
from graphmem.kernel.model.record import Alternate
from graphmem.kernel.parameters import Ref
from graphmem.kernel.request import Request


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
    record: Shown
    origin: Origin
    merged: list[Alternate] = []
    renamed: list[str] = []
    reports: list[ReportMade] = []
    supersedes: list[str] = []
    superseded_by: str | None = None
    relations: list[Edge] = []
    ranking: Ranking | None = None
