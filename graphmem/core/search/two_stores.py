"""
The questions that other stores are asked too, beside that of the project (docs/guides/user-store.md).

What they answer is only in answers: nothing of it is written into the files of the project.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, Self, TypeVar, cast

from graphmem.core.evidence.score import BANDS
from graphmem.core.logs.comparison import ORDER
from graphmem.core.records.record_contract import Listed
from graphmem.core.records.relation_contract import Solutions, SolutionsRequest
from graphmem.core.search import match as matches
from graphmem.core.search import query as queries
from graphmem.core.search import traversal
from graphmem.core.search.match_contract import Matched, MatchedLog, MatchRequest
from graphmem.core.search.query_contract import Found, Hit, QueryRequest
from graphmem.errors import GraphmemError, NotFound
from graphmem.kernel.answer import Answer, Store, address, of_store
from graphmem.kernel.model import Failure, Record
from graphmem.kernel.registry import operation
from graphmem.kernel.store.attempt import attempt
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.system.user import STORES

A = TypeVar("A", bound=Answer)
T = TypeVar("T")


class Result(Protocol):
    """A record that answers."""

    @property
    def record(self) -> Record: ...
    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self: ...


R = TypeVar("R", bound=Result)
KEPT_IN_MEMORY = 2**20  # bytes of a log that is read twice; more are in a temporary file
CERTAINTIES = ("none", "low", "high")


@operation("query", past=True, scoped=True)
def query(client: Client, request: QueryRequest) -> Found:
    """
    Return the records that a text is about, best first; the answer's ``asked`` names the question in reports.

    How certain an answer is says something of its first result alone: it is that of the store that is more certain.
    """
    found = queries.query(client, request)
    for store, theirs in ask_others(client, lambda other: queries.query(other, _known_kinds(other, request))):
        found = _with_hits(found, theirs, store, request.most)
    return found


def _with_hits(found: Found, theirs: Found, store: Store, most: int | None) -> Found:
    """Return what was found with what another store has."""
    hits = added(theirs.results, found.results, store)
    if not hits:
        return found
    ranked = sorted([*found.results, *hits], key=lambda hit: (_level_of(found, hit), -hit.score))
    is_judged = hits[0].ref == theirs.results[0].ref  # else it is a copy that is not shown
    is_theirs = ranked[0].store == store
    ours_is = CERTAINTIES.index(found.certainty)
    theirs_is = CERTAINTIES.index(theirs.certainty) if is_judged else 0
    first = hits[0] if (theirs_is, is_theirs) > (ours_is, not is_theirs) else found.results[0]
    judged = theirs if first is hits[0] and is_judged else found
    return found.model_copy(
        update={
            "results": [first, *(hit for hit in ranked if hit is not first)][:most],
            "known": judged.known,
            "certainty": judged.certainty,
            "probability": judged.probability,
            "left_out": [*found.left_out, *(address(ref, store) for ref in theirs.left_out)],
            "candidates": [] if judged.known else found.candidates,
        }
    )


def _known_kinds(other: Client, request: QueryRequest) -> QueryRequest:
    """Return a query among those of its kinds that another store has."""
    if not request.kinds:
        return request
    other.sync()
    known = {*other.catalog.vocabulary.record_types, "entity"}
    kinds = tuple(kind for kind in request.kinds if kind in known)
    if not kinds:
        raise NotFound("the other store has none of these types")
    return request.model_copy(update={"kinds": kinds})


def _level_of(found: Found, hit: Hit) -> int:
    """Return what results are sorted by before their score: the band, or only whether they are exact."""
    return BANDS.index(hit.band) if found.profile == "classic" else int(hit.band != BANDS[0])


@operation(
    "match",
    past=True,
    scoped=True,
    stream="lines",
    help="""
    Show the known failures in a log, on which lines, and what fixes them.

    With --format markdown it is a part of a comment on a forge, without the credentials that the log may hold, and
    without what only your own store or that of your organisation knows.
    """,
    example="graphmem match build.log\npytest 2>&1 | graphmem match",
)
def match(client: Client, raw: Iterable[bytes], request: MatchRequest) -> MatchedLog:
    """Return the known failures that a log reports, with the lines and what fixes them."""
    if not others(client):
        return matches.match(client, raw, request)
    with tempfile.SpooledTemporaryFile(KEPT_IN_MEMORY) as log:
        found = matches.match(client, _kept(raw, log), request)
        asked = found.asked
        for store, theirs in ask_others(
            client, lambda other: matches.match(other, _begun(log), request, known_as=asked)
        ):
            found = _with_failures(found, theirs, store)
    return found


def _with_failures(found: MatchedLog, theirs: MatchedLog, store: Store) -> MatchedLog:
    """Return what was found in a log with what another store knows of it."""
    if not theirs.results:
        return found
    results = [*found.results, *added(theirs.results, found.results, store)]
    answered = any(hit.verdict == "same" for hit in theirs.results)
    return found.model_copy(
        update={
            "results": sorted(results, key=_rank_of),
            "unknown": [error for error in found.unknown if error in theirs.unknown],
            "unlike": [error for error in found.unlike if error in theirs.unknown],
            "asked": found.asked or theirs.asked,
            "candidates": [] if answered else found.candidates,
        }
    )


def _kept(lines: Iterable[bytes], log: tempfile.SpooledTemporaryFile[bytes]) -> Iterator[bytes]:
    """Yield lines, and write each into a file; they come with or without their ends."""
    for line in lines:
        log.write(line if line.endswith(b"\n") else line + b"\n")
        yield line


def _begun(log: tempfile.SpooledTemporaryFile[bytes]) -> Iterable[bytes]:
    """Return a log from its first line, also where it was read before."""
    log.seek(0)
    return log


def _rank_of(hit: Matched) -> tuple[int, int, int]:
    """Return where a failure is among those of both stores: by how sure it is, then by its line."""
    return ORDER.index(hit.verdict), matches.RANKS.index(hit.by), hit.line


@operation("solutions", past=True, scoped=True, example="graphmem solutions failure/import-error")
def solutions(client: Client, request: SolutionsRequest) -> Solutions:
    """
    Return the fixes of a failure, the patterns that solve it, then those that solve a variant or a cause of it.

    Other stores are asked for their failures that are the same error: a name alone could be that of another one.
    """
    with client.reading() as snapshot:
        found = traversal.solutions(snapshot, request)
        failure = snapshot.catalog.records([number := snapshot.resolve(found.failure)])[number]
    assert isinstance(failure, Failure)
    results, fixes = [*found.results], [*found.fixes]
    for store, theirs in ask_others(client, lambda other: _solutions_of(other, failure, request)):
        results += added(theirs.results, results, store)
        said = {fix.text for fix in fixes}
        fixes += [fix.model_copy(update={"store": store}) for fix in theirs.fixes if fix.text not in said]
    results.sort(key=lambda one: (len(one.path) > 1, -one.strength))
    return found.model_copy(update={"fixes": fixes, "results": results[: request.limit]})


def _solutions_of(other: Client, failure: Failure, request: SolutionsRequest) -> Solutions:
    """
    Return what another store has against the error of a failure, in the order of its failures.

    Of a trigger of several lines the error counts: others, such as the last line of make, are in many triggers.
    """
    refs = dict[str, None]()
    for text in dict.fromkeys((failure.trigger, failure.headline)):
        log = matches.match(other, text.encode().splitlines(keepends=True), MatchRequest(strict=request.strict))
        sure = (hit for hit in log.results if hit.verdict == "same")
        refs.update((hit.ref, None) for hit in sure if failure.headline in (text, hit.record.headline))
    with other.reading() as snapshot:
        found = [traversal.solutions(snapshot, request.model_copy(update={"ref": ref})) for ref in refs]
    results = {one.ref: one for same in reversed(found) for one in same.results}
    return Solutions(
        failure=failure.ref, fixes=[fix for same in found for fix in same.fixes], results=list(results.values())
    )


def added(theirs: Sequence[R], ours: Sequence[R], store: Store) -> list[R]:
    """Return what another store adds to results, marked; the same texts add nothing."""
    known = {(one.record.key_ref, one.record.search_text): _solutions_in(one) for one in ours}
    return [
        one.model_copy(update={"store": store})
        for one in theirs
        if (same := known.get((one.record.key_ref, one.record.search_text))) is None or _solutions_in(one) - same
    ]


def _solutions_in(result: R) -> set[str]:
    """Return what a result says solves it, as texts; in a context block as references."""
    solved_by: Sequence[str | Listed] = getattr(result, "solved_by", ())
    return {one if isinstance(one, str) else one.record.search_text for one in solved_by}


def ask_others(client: Client, ask: Callable[[Client], A]) -> Iterator[tuple[Store, A]]:
    """Yield what the stores beside that of the project answer; their notices are those of the project's answer too."""
    for store, answer in from_others(client, lambda other, store: ask(other)):
        for text in answer.notices:
            if text not in client.answered_notices():
                client.notify_once(of_store(store, text))
        yield store, answer


def from_others(client: Client, read: Callable[[Client, Store], T]) -> Iterator[tuple[Store, T]]:
    """
    Yield what is read of the stores beside that of the project, nothing of one that has none of it.

    What is wrong with one is reported: it keeps nobody from the others.
    """
    for store, other in others(client).items():
        try:
            found = attempt(other, partial(read, other, store))
        except NotFound:
            continue
        except (GraphmemError, OSError) as error:
            report(client, store, error)
            continue
        yield store, found


def others(client: Client) -> dict[Store, Client]:
    """Return the stores that are asked beside that of the project; one that cannot be opened is reported."""
    found: dict[Store, Client] = {}
    for store in cast(Iterable[Store], STORES):
        try:
            if (other := client.beside(store)) is not None:
                found[store] = other
        except (GraphmemError, OSError) as error:
            report(client, store, error)
    return found


def report(client: Client, store: Store, error: Exception) -> None:
    """Report what is wrong with a store beside that of the project."""
    client.notify_once(f"{STORES[store]} was not asked: {error}")
