"""Bulk: rows of any kind in any order, all or none."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import compress, islice
from typing import Any, TypeVar

from graphmem.constants import MAX_FINDINGS, MOST_BAD_ROWS
from graphmem.core.records.bulk_dedup import embed_input
from graphmem.core.records.bulk_new import Project
from graphmem.core.records.cycle import refuse_cycle
from graphmem.core.records.event_row import put_fact, task_key
from graphmem.core.records.intake import Given, Intake, Policy, record_of
from graphmem.core.records.kingfisher import finder, is_suspect
from graphmem.core.records.limits import refuse_blank, refuse_oversize
from graphmem.core.records.record_contract import AddRowsRequest, BulkAdded
from graphmem.core.records.relations import known_relation, refuse_ends
from graphmem.core.records.screening import screened_fields, unexposed
from graphmem.core.records.secrets import NAMED, may_hold
from graphmem.core.records.seen import says_fix, settle_recorded
from graphmem.core.records.validation import changed, holder_of, identified, keyed
from graphmem.errors import BadInput, GraphmemError, Refused
from graphmem.kernel.ledger.codec import finding, refused_row, validated
from graphmem.kernel.ledger.row import entry, is_plain_edge, model_of, plain_edge, time_text
from graphmem.kernel.model import MODELS, Fact, Feedback, Insight, Lesson, Purge, Record, Relation, Session, Task
from graphmem.kernel.model.entry import Entry
from graphmem.kernel.model.field import format_time
from graphmem.kernel.model.record import Row
from graphmem.kernel.ndjson import BadLine, decode, encode, read_input, refuse_long
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.collector import collector_paused
from graphmem.kernel.system.shell import command
from graphmem.kernel.text import count
from graphmem.names import row_title, split_ref
from graphmem.patterns import lazy_re

RUNNING_NUMBER = lazy_re(r"[a-z]{1,2}-?\d{3,5}")  # as older files name lessons and insights
Item = TypeVar("Item")
REPORT_EVERY = 5_000  # lines between two reports of progress
PART = 5_000  # rows of the input that are taken in at once
LATER = (Task, Insight, Session)  # what is settled when all records of the input are known
ENDS = {"kind", "from", "type", "to"}  # the fields of an edge as most inputs have it
MANY_RECORDS = 50  # of an input, whose vectors are made in the background; fewer are made by the next query


@operation(
    "add_rows",
    writes=True,
    scoped=True,
    stream="lines",
    is_held=True,
    raises={"BadInput": 'rows that do not check out; ``details["findings"]`` names each, nothing was changed'},
    takes=dict.fromkeys(("dedup", "skip_invalid", "verbose", "purges"), Taken(note="with --ndjson")),
    help="Add one record, or rows of any kind with --ndjson.",
    example="graphmem add --ndjson rows.ndjson",
)
def bulk_add(client: Client, lines: Iterable[bytes], request: AddRowsRequest) -> BulkAdded:
    """
    Add NDJSON rows of any kind, in any order, all or none.

    The input is read, and its texts are embedded, before the lock is taken.

    Args:
        lines: NDJSON; required fields are enough, an edge may come before its ends, and follows what was merged.
        request: ``skip_invalid`` puts the bad lines aside in ``state/rejects.ndjson``.
    """
    given_lines = read_input(lines, sys.maxsize if request.skip_invalid else MOST_BAD_ROWS)
    if request.dedup:
        embed_input(client, given_lines)
    project = Project.around(client.root, given_lines)
    with client.writing() as snapshot, collector_paused():
        policy = Policy(
            compares=request.dedup,
            is_verbose=request.verbose,
            may_skip=request.skip_invalid,
            may_purge=request.purges,
        )
        intake = Intake(snapshot, policy, request.name)
        records, solved = 0, list[tuple[str, str]]()
        later: list[Given] = []  # what is settled when all records are known
        rows = read_lines(intake, drained(given_lines), project)
        while part := list(islice(rows, sys.maxsize if request.dedup else PART)):  # those that are compared all at once
            is_record = [isinstance(given.record, Record) and not isinstance(given.record, Fact) for given in part]
            found = [*compress(part, is_record)]
            records += len(found)
            if records <= MANY_RECORDS:
                solved += [(given.row["trigger"], record_of(given).ref) for given in found if says_fix(given.row)]
            intake.take(found)
            later += [
                given
                for given, is_known in zip(part, is_record, strict=True)
                if not is_known or isinstance(given.record, LATER)
            ]
            for given in found:
                if not isinstance(given.record, LATER):  # no row asks for it again, and very many hold much memory
                    intake.records.pop(record_of(given).key_ref, None)
        _settle_tasks(intake, [given for given in later if isinstance(given.record, Task)])
        for given in later:
            if isinstance(given.record, Insight | Session):
                intake.guarded(given, partial(_settle_references, intake))
        refuse_cycles(intake)
        facts = [given for given in later if isinstance(given.record, Feedback | Fact | Purge)]
        edges = [given for given in later if given.is_edge]
        del later
        add_edges(intake, edges)
        for given in facts:
            intake.guarded(given, partial(add_fact, intake))
        if intake.findings and not request.skip_invalid:
            raise _bad_input(intake)
        del edges, facts
        intake.firsts.clear()
        intake.handles.clear()
        snapshot.commit(list(intake.puts.values()))
        _say_archived(intake)
        _keep_rejects(intake)
    if records > MANY_RECORDS:
        client.embed_later()
    else:
        settle_recorded(client, dict(solved))
    sees = client.rights.sees  # what may be written and not read is not shown
    shown = {
        name: [found for found in getattr(intake, name) if sees is None or split_ref(found.ref)[0] in sees]
        for name in ("updates", "results")
    }
    return BulkAdded.model_validate({**intake.counts, "relations": intake.relations, **shown})


def drained(items: list[Item]) -> Iterator[Item]:
    """Yield the items of a list in their order, and let go of each: very many hold much memory."""
    items.reverse()
    while items:
        yield items.pop()


def read_lines(intake: Intake, lines: Iterable[bytes], project: Project) -> Iterator[Given]:
    """Yield the rows of the input that are whole and of a kind that there is."""
    time, policy = intake.snapshot.now, intake.policy
    now = format_time(time)
    for place, raw in enumerate(lines, 1):
        line = raw.strip(b"\r\n\xef\xbb\xbf") if place == 1 else raw.rstrip(b"\r\n")
        if not line.strip():
            continue
        try:
            refuse_long(line)
            row = decode(line)
            if is_suspect(line) and not _is_bare_edge(intake, row):
                # The records that an edge or a report names must exist anyway.
                given = {name: value for name, value in row.items() if name not in NAMED}
                kept = screened_fields(intake.client, str(row.get("kind")), given, finder())
                row, line = (row, line) if kept is given else ({**row, **kept}, encode({**row, **kept}))
            project.complete(row, line, time)
            is_new = row.get("created_at") is None
            row["created_at"] = _time_of(row, now) if is_new else row["created_at"]
            name, key = row.get("name"), row.get("key")
            if row.get("kind") != "relation":
                complete(intake, row)
            record = None if is_plain_edge(row) else validated(model_of(row), row, line)
            if isinstance(record, Lesson) and is_new and row.get("frequency") is None:
                record = record.seen_by_hand()  # not its row, which may change a lesson that is there
            if record is not None:
                refuse_blank(type(record), vars(record))
                refuse_oversize(record)
            names_record = name is not None or key is not None
            if record is None and (policy.imports or not policy.may_skip):  # else its line as it is may be put aside
                yield Given(place, encode(row), None, None)
            else:
                yield Given(place, line, row, record, None if name is None else str(name), names_record)
        except BadLine as bad:
            intake.findings.append(finding(bad, intake.name, place))
            intake.rejects.append(line)
        except GraphmemError as error:
            intake.refuse(Given(place, line, {}, None), refused_row(error))
        if len(intake.findings) >= MOST_BAD_ROWS and not policy.may_skip:
            raise _bad_input(intake)
        if place % REPORT_EVERY == 0:
            intake.client.runtime.progress("reading", place, 0)


def _time_of(row: Row, now: str) -> Any:
    """Return the time of a row that is new: now, or of an experience when it was recorded."""
    return row.get("recorded_at") or now if row.get("kind") == "experience" else now


def _is_bare_edge(intake: Intake, row: Row) -> bool:
    """Return whether a row is an edge of a known type that has no text beside its ends: it can bring no secret."""
    return (row.keys() == ENDS or is_plain_edge(row)) and str(row["type"]) in intake.types.relations


def complete(intake: Intake, row: Row) -> None:
    """Give a row with its time the other defaults that a file would have: a name made from its text, an id."""
    kind = row.get("kind")
    if kind == "feedback":
        row["at"] = row.get("at") or row["created_at"]
        if not row.get("task"):
            row["id"] = row.get("id") or intake.client.new_id()
    elif kind in ("run", "event"):
        row["at"] = row.get("at") or row["created_at"]
        if kind == "event":
            row["id"] = row.get("id") or intake.client.new_id()
    elif kind in ("lesson", "insight") and _is_running_number(intake, row):
        aliases = row.get("aliases")
        row["aliases"] = [*(aliases if isinstance(aliases, list) else []), row.pop("name")]
        complete(intake, row)
    elif isinstance(kind, str) and _named_from(kind):
        _complete_names(intake, kind, row)


def _complete_names(intake: Intake, kind: str, row: Row) -> None:
    """Give a row the name and key that it lacks: from the record that it refers to, or made from its text."""
    catalog, name, key = intake.catalog, row.get("name"), row.get("key")
    if name is None:
        made = validated(model_of(row), {**row, "name": "unnamed"}, b"")
        assert isinstance(made, Record)
        holder = holder_of(catalog, kind, str(key)) if key is not None else None
        made = identified(catalog, made, intake.names)
        intake.names.setdefault(made.ref, made.key_ref)
        row["name"], row["key"] = holder.name if holder else made.name, key or made.key
    elif key is None and kind in intake.record_types and isinstance(name, str):
        row["key"] = catalog.key_of_name(kind, name) or name


def _is_running_number(intake: Intake, row: Row) -> bool:
    """Return whether a name is a number of an older file, such as m-001: two branches would give the same one."""
    name = row.get("name")
    is_number = isinstance(name, str) and RUNNING_NUMBER.fullmatch(name) is not None and row.get("key") is None
    return is_number and intake.catalog.lookup(str(row["kind"]), str(name)) is None


def _named_from(kind: str) -> str:
    """Return the field that a record of a kind is named from; empty if a name is required."""
    model = MODELS.get(kind)
    return model.named_from if model is not None and issubclass(model, Record) else ""


def _settle_tasks(intake: Intake, rows: Sequence[Given]) -> None:
    """Name what tasks belong to and need by key; one that is refused is taken back, and so is what needs it."""
    refused = -1
    while refused < len(intake.findings):
        refused = len(intake.findings)
        for given in rows:
            if isinstance(given.record, Task) and given.record.key_ref in intake.records:
                intake.guarded(given, partial(_settle_task, intake))


def _settle_task(intake: Intake, given: Given) -> None:
    """Name the campaign and the parents of a task by key; each must exist or be in the input."""
    assert isinstance(given.record, Task)
    task: Record = given.record
    task = intake.records.get(task.key_ref, task)
    assert isinstance(task, Task)
    known = {ref: intake.key_of(ref) for ref in (task.campaign, *task.depends)}
    for ref, key in known.items():
        if key is None:
            intake.take_back(task)
            raise BadInput(
                f"task {task.name} names {ref!r}, which is neither there nor in the input", hint="a reference"
            )
    depends = sorted(str(known[ref]) for ref in task.depends)
    if known[task.campaign] != task.campaign or list(task.depends) != depends:
        task = task.model_copy(update={"campaign": known[task.campaign], "depends": tuple(depends)})
        intake.records[task.key_ref] = task
        intake.put(task)


def _settle_references(intake: Intake, given: Given) -> None:
    """Name what a record refers to by key."""
    assert isinstance(given.record, Record)
    if (record := intake.records.get(given.record.key_ref)) is None:
        return
    try:
        settled = keyed(intake.catalog, record, intake.handles)
    except BadInput:
        intake.take_back(record)
        raise
    if settled is not record:
        intake.records[record.key_ref] = settled
        intake.put(settled)


def refuse_cycles(intake: Intake) -> None:
    """Raise ``Refused`` where tasks of the input wait for each other, or for tasks that wait for them."""
    given = {key: record for key, record in intake.records.items() if isinstance(record, Task)}
    if not given:
        return
    catalog = intake.catalog
    there = (catalog.stored(number) for number, *_ in list(catalog.live_rows("task")))
    tasks = {**{task.key_ref: task for task in there if isinstance(task, Task)}, **given}
    refuse_cycle({key: task.depends for key, task in tasks.items()})


def add_edges(intake: Intake, rows: list[Given]) -> None:
    """Take in edges, and let go of them: their ends by key, in order where they are symmetric."""
    made: list[tuple[Given, Entry]] = []
    for given in drained(rows):
        try:
            made.append((given, settle_edge(intake, given)))
        except (BadInput, Refused) as error:
            intake.refuse(given, refused_row(error))
    times = Counter(fresh.id for _, fresh in made)
    there = intake.client.everything.files_of(times, "relation")
    for given, fresh in drained(made):
        may_swap = given.row["type"] in intake.symmetric
        is_told = times[fresh.id] > 1 or intake.policy.owned is not None  # very many are not kept
        if is_told and intake.is_again(given, fresh.id, may_swap=may_swap):
            continue
        intake.relations += 1
        if fresh.id in there:
            intake.guarded(given, partial(_change_edge, intake, fresh=fresh))
        else:
            intake.puts[fresh.id] = fresh


def settle_edge(intake: Intake, given: Given) -> Entry:
    """Return an edge of the input as a row of the ledger."""
    row, handles = given.row, intake.handles
    kind, source, target = row["type"], row["from"], row["to"]
    source, target = (
        handles.get(ref) or _end_of(intake, ref, other) for ref, other in ((source, target), (target, source))
    )
    pair = (kind, source[: source.find("/")], target[: target.find("/")])
    made = intake.pairs.get(pair)
    if made is None:
        made = known_relation(intake.types, kind)
        refuse_ends(made, source, target)
        intake.pairs[pair] = made
    if source == target:
        raise Refused(f"{source!r} is related to itself", hint="an edge needs two records")
    if target < source and made.symmetric:
        source, target = target, source
    if given.record is None:
        created = time_text(row["created_at"])
        if source != row["from"] or target != row["to"] or created != row["created_at"]:
            row = {**row, "from": source, "to": target, "created_at": created}
        edge = plain_edge(row, intake.symmetric)
        return edge._replace(line=given.line) if edge.line == given.line else edge  # the two are one in memory
    assert isinstance(given.record, Relation)
    return entry(given.record.model_copy(update={"source": source, "target": target}), intake.symmetric)


def _end_of(intake: Intake, ref: str, other: str) -> str:
    """Return the reference by key of an end of an edge, whose other end is named too."""
    key = intake.key_of(ref) or intake.client.hidden_end(ref, other)
    if key is None:
        raise BadInput(
            f"{ref!r} is neither there nor in the input", hint="the reference of a record", details={"code": "dangling"}
        )
    return key


def _change_edge(intake: Intake, given: Given, fresh: Entry) -> None:
    """Change an edge that is there: given values replace, sources are united; a source's own says what it gives."""
    existing, owned = intake.client.everything.relation(fresh.id), intake.policy.owned
    assert existing is not None
    if owned is not None and fresh.id not in owned:
        return intake.left.append(row_title(fresh.row))
    values: dict[str, Any] = {name: given.row.get(name) for name in ("weight", "note")}
    if owned is None:
        values = {name: value for name, value in values.items() if value is not None}
        if isinstance(given.record, Relation):
            values["sources"] = sorted({*existing.sources, *given.record.sources})
    after = changed(existing, values, intake.snapshot.now)
    if after is not existing:
        intake.put(after)
    return None


def add_fact(intake: Intake, given: Given) -> None:
    """Take in a report, a run or an event, with what it is about by key."""
    fact = given.record
    if isinstance(fact, Purge):
        _refuse_purge(intake, fact)
    if isinstance(fact, Feedback):
        key = intake.key_of(fact.ref)
        if key is None:
            raise BadInput(f"{fact.ref!r} is neither there nor in the input", hint="the reference of a memory")
        fact = fact.model_copy(update={"ref": key, "task": task_key(intake.catalog, fact.task)})
    assert fact is not None
    made = put_fact(intake.catalog, keyed(intake.catalog, fact, intake.handles), intake.symmetric)
    if intake.is_again(given, made.entry.id):
        return
    intake.tally(made.action, split_ref(fact.ref)[0] if isinstance(fact, Feedback) else fact.kind)
    if made.action != "unchanged":
        intake.puts[made.entry.id] = made.entry


def _refuse_purge(intake: Intake, row: Purge) -> None:
    """Refuse a row that destroys a record for good, unless the caller asks for such rows, and one of a time to come."""
    if not intake.policy.may_purge:
        add = command("graphmem", "add", "--ndjson", intake.name, "--purges")
        raise Refused("a row of kind purge destroys a record for good", hint=f"to take such rows: {add}")
    if row.at > intake.client.now():
        raise BadInput(f"a purge at {format_time(row.at)}, which is not yet", hint="a time that has passed")


def _bad_input(intake: Intake) -> BadInput:
    """Return the error that names every bad line, up to a hundred and then a count."""
    found = sorted(intake.findings, key=lambda finding: finding.line or 0)
    shown = "\n".join(finding.with_fix("hint") for finding in found[:MAX_FINDINGS])
    more = f"\nand {len(found) - MAX_FINDINGS:,} more" if len(found) > MAX_FINDINGS else ""
    return BadInput(
        f"{count(len(found), 'bad row')}, nothing was changed:\n{shown}{more}",
        hint="correct them, or add the good ones with --skip-invalid",
        details={"findings": [finding.model_dump() for finding in found[:MAX_FINDINGS]], "total": len(found)},
    )


def _without_tokens(intake: Intake) -> Iterator[bytes]:
    """Yield the lines that were left aside, without the secrets for which some of them were."""
    for line in intake.rejects:
        text = line.decode("utf-8", "surrogateescape") if may_hold(line) else None
        yield unexposed(intake.client, "rejects", text).encode("utf-8", "surrogateescape") if text else line


def _say_archived(intake: Intake) -> None:
    """Say how many records are new and archived already: no list shows them."""
    fresh = (entry for number, entry in intake.puts.items() if number not in intake.there)
    archived = (entry for entry in fresh if entry.kind != "relation" and b'"archived_at":' in entry.line)
    if number := sum(isinstance(entry.record, Record) and entry.record.is_archived for entry in archived):
        intake.client.notify_once(f"{number:,} of the new records are archived; graphmem list --archived shows them")


def _keep_rejects(intake: Intake) -> None:
    """Write the lines that were left aside where they can be looked at, and report it."""
    if intake.rejects:
        path = intake.client.layout.rejects
        safe_files.put(path, b"\n".join([*_without_tokens(intake), b""]))
        intake.client.notify_once(f"left aside {count(len(intake.rejects), 'bad row')}: {path}")
        for finding in intake.findings[:MAX_FINDINGS]:
            intake.client.notify_once(str(finding))
