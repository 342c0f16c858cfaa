"""
The questions that the user's own store is asked too, beside that of the project (docs/guides/user-store.md).

What it answers is only in answers: nothing of it is written into the files of the project.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, Self, TypeVar

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
from graphmem.kernel.answer import Answer, address
from graphmem.kernel.model import Failure, Record
from graphmem.kernel.registry import operation
from graphmem.kernel.store.attempt import attempt
from graphmem.kernel.store.runtime import Client
from graphmem.names import for_user

A = TypeVar("A", bound=Answer)


class Result(Protocol):
    """A record that answers."""

    @property
    def record(self) -> Record: ...
    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self: ...


R = TypeVar("R", bound=Result)
OF_THEIRS = {"store": "user"}
KEPT_IN_MEMORY = 2**20  # bytes of a log that is read twice; more are in a temporary file
CERTAINTIES = ("none", "low", "high")


@operation("query", past=True, scoped=True)
def query(client: Client, request: QueryRequest) -> Found:
    """
    Return the records that a text is about, best first; the answer's ``asked`` names the question in reports.

    How certain an answer is says something of its first result alone: it is that of the store that is more certain.
    """
    found = queries.query(client, request)
    theirs = ask_user(client, lambda user: queries.query(user, _known_kinds(user, request)))
    hits = added(theirs.results, found.results) if theirs else []
    if theirs is None or not hits:
        return found
    ranked = sorted([*found.results, *hits], key=lambda hit: (_level_of(found, hit), -hit.score))
    is_judged = hits[0].ref == theirs.results[0].ref  # else it is a copy that is not shown
    certain = {"project": found.certainty, "user": theirs.certainty if is_judged else "none"}
    store = max(certain, key=lambda name: (CERTAINTIES.index(certain[name]), name == ranked[0].store))
    first = next(hit for hit in ranked if hit.store == store)
    judged = theirs if store == "user" and is_judged else found
    return found.model_copy(
        update={
            "results": [first, *(hit for hit in ranked if hit is not first)][: request.most],
            "known": judged.known,
            "certainty": judged.certainty,
            "probability": judged.probability,
            "left_out": [*found.left_out, *(address(ref, "user") for ref in theirs.left_out)],
            "candidates": [] if judged.known else found.candidates,
        }
    )


def _known_kinds(user: Client, request: QueryRequest) -> QueryRequest:
    """Return a query among those of its kinds that the user's own store has."""
    if not request.kinds:
        return request
    user.sync()
    known = {*user.catalog.vocabulary.record_types, "entity"}
    kinds = tuple(kind for kind in request.kinds if kind in known)
    if not kinds:
        raise NotFound("the user's own store has none of these types")
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
    without what only your own store knows.
    """,
    example="graphmem match build.log\npytest 2>&1 | graphmem match",
)
def match(client: Client, raw: Iterable[bytes], request: MatchRequest) -> MatchedLog:
    """Return the known failures that a log reports, with the lines and what fixes them."""
    if own_store(client) is None:
        return matches.match(client, raw, request)
    with tempfile.SpooledTemporaryFile(KEPT_IN_MEMORY) as log:
        found = matches.match(client, _kept(raw, log), request)
        theirs = ask_user(client, lambda user: matches.match(user, _begun(log), request, known_as=found.asked))
    if theirs is None or not theirs.results:
        return found
    results = [*found.results, *added(theirs.results, found.results)]
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

    The user's own store is asked for its failures that are the same error: a name alone could be that of another one.
    """
    with client.reading() as snapshot:
        found = traversal.solutions(snapshot, request)
        failure = snapshot.catalog.records([number := snapshot.resolve(found.failure)])[number]
    assert isinstance(failure, Failure)
    theirs = ask_user(client, lambda user: _solutions_of(user, failure, request))
    if theirs is None:
        return found
    results = [*found.results, *added(theirs.results, found.results)]
    results.sort(key=lambda one: (len(one.path) > 1, -one.strength, one.store))
    said = {fix.text for fix in found.fixes}
    fixes = [*found.fixes, *(fix.model_copy(update=OF_THEIRS) for fix in theirs.fixes if fix.text not in said)]
    return found.model_copy(update={"fixes": fixes, "results": results[: request.limit]})


def _solutions_of(user: Client, failure: Failure, request: SolutionsRequest) -> Solutions:
    """
    Return what the user's own store has against the error of a failure, in the order of its failures.

    Of a trigger of several lines the error counts: others, such as the last line of make, are in many triggers.
    """
    refs = dict[str, None]()
    for text in dict.fromkeys((failure.trigger, failure.headline)):
        log = matches.match(user, text.encode().splitlines(keepends=True), MatchRequest(strict=request.strict))
        sure = (hit for hit in log.results if hit.verdict == "same")
        refs.update((hit.ref, None) for hit in sure if failure.headline in (text, hit.record.headline))
    with user.reading() as snapshot:
        found = [traversal.solutions(snapshot, request.model_copy(update={"ref": ref})) for ref in refs]
    results = {one.ref: one for same in reversed(found) for one in same.results}
    return Solutions(
        failure=failure.ref, fixes=[fix for same in found for fix in same.fixes], results=list(results.values())
    )


def added(theirs: Sequence[R], ours: Sequence[R]) -> list[R]:
    """Return what the user's own store adds to the project's results, marked; the same texts add nothing."""
    known = {(one.record.key_ref, one.record.search_text): _solutions_in(one) for one in ours}
    return [
        one.model_copy(update=OF_THEIRS)
        for one in theirs
        if (same := known.get((one.record.key_ref, one.record.search_text))) is None or _solutions_in(one) - same
    ]


def _solutions_in(result: R) -> set[str]:
    """Return what a result says solves it, as texts; in a context block as references."""
    solved_by: Sequence[str | Listed] = getattr(result, "solved_by", ())
    return {one if isinstance(one, str) else one.record.search_text for one in solved_by}


def ask_user(client: Client, ask: Callable[[Client], A]) -> A | None:
    """
    Return what the user's own store answers; None without one.

    What is wrong with it is reported: it keeps nobody from the answer of the project.
    """
    user = own_store(client)
    if user is None:
        return None
    try:
        answer = attempt(user, lambda: ask(user))
    except NotFound:
        return None
    except (GraphmemError, OSError) as error:
        report(client, error)
        return None
    for text in answer.notices:
        if text not in client.answered_notices():
            client.notify_once(f"of the user's own store: {for_user(text)}")
    return answer


def own_store(client: Client) -> Client | None:
    """Return the user's own store; None without one, and for one that cannot be opened, which is reported."""
    try:
        return client.of_user
    except (GraphmemError, OSError) as error:
        report(client, error)
        return None


def report(client: Client, error: Exception) -> None:
    """Report what is wrong with the user's own store."""
    client.notify_once(f"the user's own store was not asked: {error}")
