"""Review: candidates are looked at, written as records, or dismissed."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphmem.core.logs.diagnosis import statement
from graphmem.core.records.bulk_add import bulk_add
from graphmem.core.records.candidate_contract import (
    AcceptCandidateRequest,
    CandidateList,
    DismissCandidateRequest,
    Reviewed,
    ReviewedList,
    ReviewRequest,
    ShowCandidateRequest,
    ShownCandidate,
)
from graphmem.core.records.candidates import current, names_of, queue_of, record_name, record_of
from graphmem.core.records.change import with_versions
from graphmem.core.records.duplicates import merged
from graphmem.core.records.record_contract import AddRowsRequest
from graphmem.core.records.screening import portable, screened
from graphmem.core.records.validation import build, changed
from graphmem.core.search.query import same_problems
from graphmem.errors import BadInput, NotFound, Usage
from graphmem.features.harvest.agent_notes import is_loaded
from graphmem.kernel.machine.candidates import Queue
from graphmem.kernel.model import MODELS, Record
from graphmem.kernel.model.candidate import Candidate
from graphmem.kernel.model.field import format_time
from graphmem.kernel.ndjson import encode
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.store.runtime import Client

MOST_ON_PAGE = 100
SHOWN_EVIDENCE = 1  # occasions that a list shows of a candidate
ID = Taken("ID", "candidate")
SOLVING = frozenset(("failure", "pattern"))  # kinds of which one solves the other


@operation("candidates.review", example="graphmem review")
def review(client: Client, request: ReviewRequest) -> CandidateList:
    """Return the candidates that wait, the most worth first."""
    queue = current(client)
    found, notes = queue.waiting(), dict[str, int]()
    if request.dismissed:
        found = [one for one in queue.candidates.values() if one.state == "dismissed"]
    else:
        loaded = {one.id: one.note_file for one in found if one.note_file and is_loaded(one.note_file)}
        found = [one for one in found if (one.id in loaded) == request.notes]
        notes = dict(Counter(loaded.values())) if not request.notes else {}
    shown = [_shown_candidate(client, one, SHOWN_EVIDENCE) for one in found[: request.limit]]
    return CandidateList(candidates=shown, total=len(found), below=queue.below, notes=notes)


def page_fields(client: Client) -> dict[str, Any]:
    """Return the candidates that the page shows, and how many there are."""
    found = review(client, ReviewRequest(limit=MOST_ON_PAGE))
    return {"candidates": found.candidates, "waiting": found.total}


@operation("candidates.show", example="graphmem review show c3f2a91c0", takes={"id": ID})
def show(client: Client, request: ShowCandidateRequest) -> CandidateList:
    """Return one candidate with all its evidence."""
    queue = current(client)
    found = named(client, queue, request.id)
    return CandidateList(candidates=[_shown_candidate(client, found)], total=1, below=queue.below)


def named(client: Client, queue: Queue, text: str) -> Candidate:
    """
    Return the candidate with an id or a name, or whose id begins so, or that alone has these words in its name.

    Those that were settled count too: a request that is repeated does not come to another candidate.

    Raises:
        NotFound: there is none, or several.
    """
    every = queue.candidates
    names = {} if text in every else names_of(client, every.values())
    found = [text] if text in every else [key for key, name in names.items() if name == text]
    found = found or ([key for key in every if key.startswith(text)] if text else [])
    found = found or ([key for key, name in names.items() if f"-{text}-" in f"-{name}-"] if text else [])
    if len(found) == 1:
        return every[found[0]]
    if found:
        several = ", ".join(f"{key} {names[key]}" for key in found[:5])
        raise NotFound(f"{text!r} means {len(found)} candidates", hint=several)
    raise NotFound(f"no candidate {text!r}", hint="see: graphmem review")


def _shown_candidate(client: Client, one: Candidate, most: int | None = None) -> ShownCandidate:
    """Return a candidate as it is shown: what it would be as records, and its evidence."""
    return ShownCandidate.model_validate(
        {
            "id": one.id,
            "name": record_name(client, one),
            "worth": one.worth,
            "occurrences": one.occurrences,
            "state": one.state,
            "failure": record_of(client, one, "failure", one.failure) if one.failure else None,
            "pattern": record_of(client, one, "pattern", one.pattern) if one.pattern else None,
            "other": [record_of(client, one, str(fields["kind"]), fields) for fields in one.other],
            "evidence": list(one.evidence[:most]),
            "near": _near(client, one),
            "reason": one.reason,
            "proof": one.proof,
        }
    )


def _near(client: Client, one: Candidate) -> str | None:
    """Return the record that has the error of a candidate too; None if none has."""
    trigger = (one.failure or {}).get("trigger")
    if one.state != "waiting" or not isinstance(trigger, str):
        return None
    with client.reading(client.clues) as snapshot:
        found = same_problems(snapshot.catalog, statement(trigger))
        return next(iter(sorted(snapshot.catalog.refs(found).values())), None)


@operation(
    "candidates.accept",
    writes=True,
    positional=1,
    previews="dry_run",
    example='graphmem review accept c3f2a91c0 --insight "wrap errors of other packages"',
    arguments=1,
    takes={"id": ID, "at_least": Taken(flag="--all-at-least"), "trigger": Taken("TEXT")},
)
def accept(client: Client, request: AcceptCandidateRequest) -> ReviewedList:
    """Write a candidate as records, in one write that ``undo`` takes back; or all that were repeated or proven."""
    if (request.id is None) == (request.at_least is None):
        raise Usage("which candidate is not said", hint="give an id, or all of them with at_least")
    request = screened(client, request, "candidate")
    queue = current(client)
    found = list(_chosen(client, queue, request))
    reviewed = write(client, found, request)
    if request.dry_run:
        return ReviewedList(reviewed=reviewed, waiting=len(queue.waiting()))
    with queue_of(client).changing() as kept:
        for one, done in zip(found, reviewed, strict=True):
            if one.id in kept.candidates:
                kept.settle(one.id, state="accepted", refs=tuple(done.refs))
        waiting = len(kept.waiting())
    return ReviewedList(reviewed=reviewed, waiting=waiting)


def _chosen(client: Client, queue: Queue, request: AcceptCandidateRequest) -> Iterator[Candidate]:
    """Yield the candidates that a request accepts."""
    if request.id is not None:
        one = named(client, queue, request.id)
        if one.state == "accepted":
            raise Usage(f"candidate {one.id} was accepted before", hint=", ".join(one.refs) or None)
        yield one
        return
    for one in queue.waiting():
        if one.proof is not None or (request.at_least == "repeated" and one.is_repeated):
            yield one


def write(client: Client, found: Sequence[Candidate], request: AcceptCandidateRequest) -> list[Reviewed]:
    """
    Write the records of candidates, in one write that ``undo`` takes back; return what each became.

    The words that are given stand in the place of its own. Two candidates may say the same in a part.
    """
    rows, parts = dict[str, dict[str, Any]](), list[list[str]]()
    for one in found:
        given = list(_rows_of(client, one, request))
        if request.into is not None:
            given = list(_into(client, request.into, given))
        by_name = {_identity(client, row): row for row in given}
        parts.append(list(by_name))
        for name, row in by_name.items():
            sources = {*rows.get(name, {}).get("sources", ()), *row.get("sources", ())}
            rows[name] = {**row, **rows.get(name, {}), **({"sources": sorted(sources)} if sources else {})}
    if request.dry_run:
        ids = {name: one.id for one, names in zip(found, parts, strict=True) for name in names}
        refs = {
            name: f"{row['kind']}/{row.get('name') or ids[name]}"
            for name, row in rows.items()
            if row["kind"] != "relation"
        }
    elif rows:
        adding = AddRowsRequest(name=f"candidate {found[0].id}", dedup=True, verbose=True)
        added = bulk_add(client, map(encode, rows.values()), adding)
        names = list(rows)
        refs = {names[done.line - 1]: done.ref for done in added.results if done.line}
    else:
        refs = {}
    became = [list(dict.fromkeys(refs[name] for name in names if name in refs)) for names in parts]
    return [Reviewed(id=one.id, action="accepted", refs=done) for one, done in zip(found, became, strict=True)]


def _identity(client: Client, row: Mapping[str, Any]) -> str:
    """Return what makes a row the same as another one of the input."""
    if row["kind"] == "relation":
        return " ".join((row["from"], row["type"], row["to"]))
    return f"{row['kind']}/{row.get('name') or _row_record(client, row).text_key}"


def _rows_of(client: Client, one: Candidate, request: AcceptCandidateRequest) -> Iterator[dict[str, Any]]:
    """Yield the rows of the records of a candidate, and of the edge between a pattern and its failure."""
    said = {"trigger": request.trigger, "fix": request.fix, "insight": request.insight, "constraint": request.trigger}
    said |= {"decision": request.trigger, "reasoning": request.insight, "symptom": request.symptom}
    refs = dict[str, str]()
    for kind, part in one.parts:
        given = {name: value for name, value in part.items() if value is not None}
        row: dict[str, Any] = {"kind": kind, **portable(client, "candidate", given)}
        row |= {name: value for name, value in said.items() if value is not None and name in MODELS[kind].model_fields}
        if kind == "pattern" and request.insight is None and (by := one.evidence and one.evidence[0].reverted):
            row["insight"] += f" (taken back by commit {by[:12]})"
        if not refs and request.name is not None:
            row["name"] = request.name
        if request.tags:
            row["tags"] = sorted({*row.get("tags", ()), *request.tags})
        if one.proof is not None:
            row["proven"] = one.proof
        if kind in ("failure", "pattern"):
            row |= with_versions(client.root, row, "lock")
        refs[kind] = f"{kind}/{row.get('name') or _row_record(client, row).text_key}"
        yield row
    if {"failure", "pattern"} <= refs.keys():
        yield _edge(refs["pattern"], refs["failure"])


def _edge(pattern: str, failure: str) -> dict[str, Any]:
    """Return the row of the edge from a pattern to the failure that it solves."""
    return {"kind": "relation", "type": "solves", "from": pattern, "to": failure}


def _row_record(client: Client, row: Mapping[str, Any]) -> Record:
    """Return a row as a record that is in no store."""
    made = build(str(row["kind"]), {"name": "unnamed", **row}, client.now())
    assert isinstance(made, Record)
    return made


def _into(client: Client, ref: str, rows: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """
    Yield the rows that add a candidate to a record: what is of its kind is merged into it, no text is lost.

    Raises:
        BadInput: the candidate has nothing that goes with a record of this kind.
    """
    with client.reading() as snapshot:
        older = snapshot.catalog.stored(snapshot.resolve(ref))
    kinds = {str(row["kind"]) for row in rows}
    if older.kind not in kinds and not (older.kind in SOLVING and kinds & SOLVING):
        raise BadInput(
            f"{ref} is a {older.kind}, and the candidate is a {' and a '.join(sorted(kinds - {'relation'}))}"
        )
    for row in rows:
        if row["kind"] == older.kind:
            after = changed(older, merged(older, _row_record(client, row), alias=None), client.now())
            yield after.to_row()
        elif row["kind"] in SOLVING and older.kind in SOLVING:
            other = f"{row['kind']}/{_row_record(client, row).text_key}"
            yield row
            yield _edge(other, older.key_ref) if older.kind == "failure" else _edge(older.key_ref, other)


@operation(
    "candidates.dismiss",
    writes=True,
    example='graphmem review dismiss c3f2a91c0 --reason "a slip"',
    takes={"id": ID},
)
def dismiss(client: Client, request: DismissCandidateRequest) -> ReviewedList:
    """Dismiss a candidate: what is about the same does not come back."""
    with queue_of(client).changing() as queue:
        one = named(client, queue, request.id)
        queue.settle(one.id, state="dismissed", reason=request.reason or format_time(client.now()))
        waiting = len(queue.waiting())
    return ReviewedList(reviewed=[Reviewed(id=one.id, action="dismissed")], waiting=waiting)
