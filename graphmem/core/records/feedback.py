"""Feedback: reports that a memory helped or did not, as rows; counts are folds over them."""

from collections.abc import Iterable, Mapping
from typing import Any

from graphmem.constants import ASKED_DAYS, MOST_BAD_ROWS
from graphmem.core.records.event_row import refuse_other_kind, task_key
from graphmem.core.records.feedback_contract import BulkReported, FeedbackRequest, FeedbackRowsRequest, Reported
from graphmem.core.records.screening import screened, screened_fields, unexposed
from graphmem.core.records.validation import build
from graphmem.errors import BadInput, NotFound, Refused, Usage
from graphmem.kernel.finding import Finding
from graphmem.kernel.ledger.codec import finding, refused_row
from graphmem.kernel.ledger.row import entry
from graphmem.kernel.machine import asked
from graphmem.kernel.model import Fact, Feedback, MemoryRecord, Record
from graphmem.kernel.model.reports import help_ratio
from graphmem.kernel.ndjson import BadLine, decode, read_input, refuse_long
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.kernel.system.shell import command
from graphmem.names import row_id, row_key


@operation(
    "feedback",
    writes=True,
    positional=1,
    scoped=True,
    raises={"NotFound": "no such memory, or nothing with this id was asked here in the last 30 days"},
    takes={"task": Taken("T"), "asked": Taken("ID")},
    help="Report that a memory helped, or did not, or is wrong: then answers say so until it is edited or superseded.",
    example="graphmem feedback failure/import-error --helped --task auth/001-setup",
)
def feedback(snapshot: Writing, request: FeedbackRequest) -> Reported:
    """Report that a memory helped or did not; with a task, reporting again replaces the report."""
    request = screened(snapshot, request, "feedback")
    made, action = prepared(snapshot, request.model_dump())
    if action != "unchanged":
        snapshot.commit([entry(made, snapshot.symmetric)])
    return _reported(snapshot, made, action)


def _reported(snapshot: Snapshot, made: Feedback, action: str) -> Reported:
    """Return what is now known of the memory that was reported on."""
    number = snapshot.resolve(made.ref)
    record = snapshot.catalog.records([number])[number]
    disputed = record.disputed if isinstance(record, MemoryRecord) else 0
    counts = (
        (record.helped, record.failed)
        if isinstance(record, MemoryRecord)
        else snapshot.catalog.reports([number])[number][:2]
    )
    return Reported.model_validate(
        {
            "ref": record.ref,
            "helped": counts[0],
            "failed": counts[1],
            "help_ratio": help_ratio(*counts),
            "disputed": disputed,
            "action": action,
        }
    )


def prepared(snapshot: Snapshot, row: Mapping[str, Any]) -> tuple[Feedback, str]:
    """Return a report with its reference by key, and what storing it does."""
    number = snapshot.resolve(str(row.get("ref") or ""))
    record = snapshot.catalog.stored(number)
    if isinstance(record, Fact):
        raise Refused(f"{record.ref} is an event; only records can be rated", hint="report on a memory that was used")
    if row.get("wrong") and not isinstance(record, MemoryRecord):
        edit = command("graphmem", "edit", record.ref)
        raise Refused(
            f"{record.ref} is a {record.kind}; failures, patterns and lessons are disputed",
            hint=f"correct it: {edit}; or archive it: {command('graphmem', 'forget', record.ref)}",
        )
    task = row.get("task")
    task = task_key(snapshot.catalog, str(task) if task else None)
    fields = {**row, "ref": record.key_ref, "task": task, "question": _question_for(snapshot, record, row)}
    fields["at"] = row.get("at") or row.get("created_at") or snapshot.now
    if not task:
        fields["id"] = row.get("id") or snapshot.client.new_id()
    made = build(
        "feedback", {name: value for name, value in fields.items() if name not in ("created_at", "asked")}, snapshot.now
    )
    assert isinstance(made, Feedback)
    number = row_id(row_key(made.to_row(), ()))
    refuse_other_kind(snapshot.catalog.fact(number), "feedback")
    existing = snapshot.catalog.report(number)
    if existing is None:
        return made, "created"
    if made.question is None:  # it stays as it was, and so does what was asked
        made = made.model_copy(update={"question": existing.question})
    is_same = all(getattr(existing, name) == getattr(made, name) for name in ("helped", "question", "wrong", "note"))
    return made, "unchanged" if is_same and (not row.get("at") or existing.at == made.at) else "updated"


def _question_for(snapshot: Snapshot, record: Record, row: Mapping[str, Any]) -> str | None:
    """
    Return what was asked when a memory was found: as the report says it, or as this machine kept it.

    Raises:
        NotFound: nothing with the id that the report has was asked here lately.
        Usage: the report has both.
    """
    question, made = row.get("question"), row.get("asked")
    if made is None:
        return question
    if question is not None:
        raise Usage("a report has a question or the id of one", hint="leave one of them out")
    found = asked.find(snapshot.client.state, snapshot.now, str(made), record.key_ref)
    if found is None:
        raise NotFound(
            f"nothing with the id {made!r} was asked here in the last {ASKED_DAYS} days",
            hint="give the question itself: --question TEXT",
        )
    kept: str = unexposed(snapshot, "question", found)  # nobody chose what to keep of it
    return kept


@operation("feedback_rows", writes=True, stream="lines", is_held=True)
def feedback_batch(client: Client, lines: Iterable[bytes], request: FeedbackRowsRequest) -> BulkReported:
    """
    Store a batch of reports, NDJSON lines ``{ref, helped, task?, question?, asked?, at?, id?}``, all or none.

    The input is read before the lock is taken.
    """
    counts = {"created": 0, "updated": 0, "unchanged": 0}
    found: dict[int, tuple[Feedback, str]] = {}
    findings: list[Finding] = []
    given, name = read_input(lines, MOST_BAD_ROWS), request.name
    with client.writing() as snapshot:
        for place, line in enumerate(given, 1):
            if not line.strip():
                continue
            try:
                refuse_long(line)
                row = screened_fields(client, "feedback", _known_fields(decode(line.strip())))
                made, action = prepared(snapshot, row)
            except BadLine as bad:
                findings.append(finding(bad, name, place))
            except (BadInput, NotFound, Refused, Usage) as error:
                findings.append(finding(refused_row(error), name, place))
            else:
                number = row_id(row_key(made.to_row(), ()))
                if number in found and not made.task:
                    twice = BadLine(f"id {made.id!r} appears twice", "each report once", code="duplicate_key")
                    findings.append(finding(twice, name, place))
                found[number] = (
                    made,
                    found[number][1] if number in found and found[number][1] == "created" else action,
                )
        if findings:
            raise BadInput(
                f"{len(findings)} of the reports are bad, none was stored: {findings[0]}",
                hint=findings[0].fix,
                details={"findings": [finding.model_dump() for finding in findings]},
            )
        for _, action in found.values():
            counts[action] += 1
        snapshot.commit([entry(made, ()) for made, action in found.values() if action != "unchanged"])
    return BulkReported(**counts)


def _known_fields(row: dict[str, Any]) -> dict[str, Any]:
    """Return a line of a batch whose required fields are there and of the right type."""
    if not isinstance(row.get("ref"), str):
        raise BadLine("field 'ref' is missing", "the reference of the memory", code="bad_row")
    if row.get("wrong") is True and row.get("helped") is None:
        row = {**row, "helped": False}
    if not isinstance(row.get("helped"), bool):
        raise BadLine(f"field 'helped' is {row.get('helped')!r}", "true or false", code="bad_row")
    return row
