"""The queue of candidates of a store: what is put in has no credentials in it."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from graphmem.core.records.candidate import about, insight, occasion
from graphmem.core.records.candidate_contract import SeenCandidate
from graphmem.core.records.secrets import exposed, without_secrets
from graphmem.core.records.validation import build, name_of
from graphmem.kernel.machine.candidates import CandidateQueue, Queue
from graphmem.kernel.model import Record
from graphmem.kernel.model.candidate import Candidate, Fields
from graphmem.kernel.store.runtime import Client
from graphmem.names import split_ref

WAITING: Mapping[str, Any] = {"state": "waiting", "refs": ()}
MOST_SEEN = 3  # candidates that an answer shows


def waiting(client: Client) -> Queue:
    """Return the queue for an answer; an empty one for a caller who may not see all kinds, and for the past."""
    if client.rights.sees is not None or client.present is not None:
        return Queue()
    return current(client)


def about_text(client: Client, text: str, limit: int) -> list[SeenCandidate]:
    """Return the candidates that a text is about."""
    return [seen(one) for one in about(text, waiting(client).waiting(), limit)]


def seen(one: Candidate) -> SeenCandidate:
    """Return a candidate as an answer shows it."""
    clause = occasion(one.evidence[0]) if one.evidence else ""
    return SeenCandidate(id=one.id, text=one.headline, insight=insight(one), seen=clause, worth=one.worth)


def for_agent(client: Client, found: Sequence[SeenCandidate]) -> list[SeenCandidate]:
    """Return candidates as an agent gets them: a text that was not reviewed only where it was proved or is wanted."""
    if client.settings.harvest.hand_out or not found:
        return list(found)
    proved = {one.id for one in waiting(client).waiting() if one.proof}
    blank = {"text": "", "insight": "", "seen": ""}
    return [one if one.id in proved else one.model_copy(update=blank) for one in found]


def record_of(client: Client, one: Candidate, kind: str, fields: Fields) -> Record:
    """Return what a part of a candidate would be as a record, with the id as its name."""
    given = {name: value for name, value in fields.items() if value is not None}
    made = build(kind, {**given, "kind": kind, "name": given.get("name") or one.id}, client.now())
    assert isinstance(made, Record)
    return made


def record_name(client: Client, one: Candidate) -> str:
    """Return what the first record of a candidate is called when it is accepted, where that is free."""
    kind, fields = one.parts[0]
    return str(fields.get("name") or name_of(record_of(client, one, kind, fields)))


def names_of(client: Client, found: Iterable[Candidate]) -> dict[str, str]:
    """Return the names of candidates, by their ids."""
    return {one.id: record_name(client, one) for one in found}


def queue_of(client: Client) -> CandidateQueue:
    """Return the queue of a store."""
    return CandidateQueue(client.state)


def current(client: Client) -> Queue:
    """Return the queue; accepted candidates that no record has wait again: an undo was cut off, or git went back."""
    client.sync()
    queue = queue_of(client).read()
    for one in list(queue.candidates.values()):
        if one.refs and one.state in ("accepted", "recorded") and not _is_there(client, one):
            queue.candidates[one.id] = one.model_copy(update=WAITING)
    return queue


def _is_there(client: Client, one: Candidate) -> bool:
    """Return whether a record is there that a candidate became, or that was written of the same problem."""
    if one.state == "recorded":
        return any(client.catalog.lookup(*split_ref(ref)) is not None for ref in one.refs)
    return any(is_of_it for *_, is_of_it in _records_of(client, one))


def _records_of(client: Client, one: Candidate) -> Iterator[tuple[str, frozenset[str], bool]]:
    """Yield the records that an accepted candidate became: each with its sources from it, and whether it is of it."""
    given = {source for _, part in one.parts if isinstance(sources := part.get("sources"), list) for source in sources}
    for ref in one.refs if one.state == "accepted" else ():
        if (number := client.catalog.lookup(*split_ref(ref))) is not None:
            kept = frozenset(given.intersection(client.catalog.stored(number).sources))
            yield ref, kept, bool(kept) or not given


def written(client: Client) -> frozenset[tuple[str, str]]:
    """Return what records have of accepted candidates: pairs of an id, and a reference or a source from it."""
    return frozenset(
        (one.id, text)
        for one in queue_of(client).read().candidates.values()
        for ref, kept, _ in _records_of(client, one)
        for text in (ref, *kept)
    )


def reopen(client: Client, names: Collection[str]) -> None:
    """Let candidates wait again: the write that accepted them was taken back."""
    if names:
        with queue_of(client).changing() as queue:
            for name in queue.candidates.keys() & names:
                queue.candidates[name] = queue.candidates[name].model_copy(update=WAITING)


def _redacted(candidate: Candidate) -> Candidate:
    """Return a candidate with ``[redacted:RULE]`` in the place of credentials, whatever the setting for records is."""
    given = candidate.model_dump(exclude={"id", "marks", "sessions", "keys"})
    if not any(exposed(given)):
        return candidate
    return Candidate.model_validate({**candidate.model_dump(), **without_secrets(given)})


def keep(queue: Queue, found: Iterable[Candidate]) -> list[str]:
    """Put candidates into a queue; return of each whether it was created, merged, unchanged, or worth too little."""
    return [queue.add(_redacted(candidate)) for candidate in found]
