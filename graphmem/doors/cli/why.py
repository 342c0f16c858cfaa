"""``why``: where a record comes from, on one screen."""

from collections.abc import Iterator

from graphmem.doors.cli import text
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import passes
from graphmem.doors.cli.query import reckoning
from graphmem.features.history.why import Origin, Ranking, ReportMade, Why, WhyRequest
from graphmem.kernel.registry import Taken

SHOWN = 5  # reports, edges and merged texts that a screen shows; --json has all


@passes("why", WhyRequest, arguments=1, query=Taken("TEXT"))
def why(invocation: Invocation, answer: Why) -> None:
    """
    Show where a record comes from, what was merged into it, how it did, and why a query finds it.

    Example: graphmem why failure/import-error --query "No module named pkg_resources"
    """
    invocation.answer(answer, "\n".join(lines_of(answer)))


def lines_of(found: Why) -> Iterator[str]:
    """Yield a record and why it is there, a line each."""
    yield f"{found.ref}  {text.one_line(found.record.headline)}"
    yield from came_from(found.origin)
    if found.renamed:
        yield text.field("renamed from", ", ".join(found.renamed))
    yield from several("merged in", [f"{one.field}: {text.one_line(one.text)}" for one in found.merged])
    yield from several("reports", list(map(report, reversed(found.reports))))
    if found.supersedes:
        yield text.field("supersedes", ", ".join(found.supersedes))
    if found.superseded_by:
        yield text.field("superseded by", found.superseded_by)
    yield from several("edges", list(map(text.edge, found.relations)))
    if found.ranking is not None:
        yield from ranked(found.ranking)


def came_from(origin: Origin) -> Iterator[str]:
    """Yield where a record comes from."""
    yield text.field("created", origin.created_at)
    yield from several("seen in", origin.sources)
    if origin.candidate:
        yield text.field("accepted", f"from candidate {origin.candidate}")
    if origin.commit:
        said = f"{origin.commit[:10]}  {text.one_line(origin.author)}  {text.one_line(origin.subject)}"
        yield text.field("committed", said)
    else:
        yield text.field("committed", "not yet")


def several(name: str, values: list[str]) -> Iterator[str]:
    """Yield the first of several values below each other, and how many more there are."""
    more = [f"… and {len(values) - SHOWN:,} more: --json"] if len(values) > SHOWN else []
    if values:
        yield text.field(name, "\n".join([*values[:SHOWN], *more]))


def report(one: ReportMade) -> str:
    """Return a report in a line."""
    said = "wrong" if one.wrong else "helped" if one.helped else "did not help"
    about = [f"in {one.task}"] if one.task else []
    about += [f'asked "{text.one_line(one.question, 60)}"'] if one.question else []
    about += [text.one_line(one.note, 60)] if one.note else []
    return "  ".join([one.at, said, *about])


def ranked(ranking: Ranking) -> Iterator[str]:
    """Yield the place of a record for a query, and what its score is made of."""
    where = f"place {ranking.place} of {ranking.results}" if ranking.hit else f"not among {ranking.results} results"
    yield text.field("query", f"{where} for: {text.one_line(ranking.query)}")
    if ranking.hit is not None:
        yield from (f"    {line}" for line in (*text.holding(ranking.hit.holds), *reckoning(ranking.hit)))
