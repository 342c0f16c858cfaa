"""How answers about records, relations and events read on a terminal."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from graphmem.core.evidence.doubt import cited
from graphmem.core.evidence.text import ASIDE, against
from graphmem.core.records import wording
from graphmem.core.records.event_contract import Happened, Happening
from graphmem.core.records.feedback_contract import BulkReported, Reported
from graphmem.core.records.record_contract import (
    BulkAdded,
    Changed,
    Got,
    Listed,
    Listing,
    Pruned,
    PrunedRecord,
    Purged,
    Write,
    Writes,
)
from graphmem.core.records.relation_contract import Edge, Linked
from graphmem.core.replies.reply import ADVICE_WIDTH, Reply, View, Word, cut, escaped, hit, values_of
from graphmem.errors import Usage
from graphmem.kernel.answer import Store, address
from graphmem.kernel.registry import Printout, Taken, asks, reads
from graphmem.kernel.rows import rows_as
from graphmem.kernel.text import count, one_line
from graphmem.names import visible

NO_RECORDS = "no records yet; to begin with what the project knows: graphmem import --all"


@reads(Changed, "failures.add", "patterns.add", "entities.add", "insights.add")
def _changed_text(answer: Changed, dry_run: bool = False) -> str:
    return wording.changed(answer, is_dry=dry_run)


@reads("user.promote")
def _promote_text(answer: Changed, to: Store) -> str:
    return wording.changed(answer.model_copy(update={"ref": address(answer.ref, to)}))


@reads(Happened)
def _event_add_text(answer: Happened) -> str:
    return event_line(answer.event)


@reads("prune")
def _prune_text(answer: Pruned, yes: bool) -> Printout:
    return Printout(
        "\n".join(_pruned(found, is_done=answer.done) for found in answer.records),
        "nothing to prune" if not answer.records else "nothing was changed; do it with --yes" if not yes else "",
    )


@reads(Got)
def _get_text(answer: Got) -> str:
    edges = "".join(f"\n  {wording.edge(edge)}" for edge in answer.relations)
    cites = "".join(f"\n  cites:          {cited(one)}" for one in answer.cites)
    head, _, rest = wording.fields(answer.record, but="cites").partition("\n")
    notes = [doubt.text for doubt in answer.doubts if not doubt.is_mark]
    tasks = [wording.handed_out(answer).strip()] if answer.handed_out else []
    marks = "".join(f"\n  {one}" for one in (*against(answer.doubts), *notes, *tasks))
    alike = "".join(f"\n  {one}" for one in wording.variant_lines(answer.variant_fix))
    return f"{head}{marks}\n{rest}{alike}{cites}{edges}"


@reads("list")
def _list_text(
    answer: Listing,
    kind: str | None,
    tags: list[str] | None,
    archived: bool,
    limit: int | None,
    form: Annotated[
        Literal["text", "ndjson", "csv", "markdown"], Taken(flag="--format", meaning="How the records are printed")
    ] = "text",
) -> Printout:
    return Printout(
        wording.listed(answer.results) if form == "text" else _rows_of(answer.results, form),
        f"{len(answer.results):,} of {answer.total:,}; the next ones: --cursor {answer.cursor}"
        if answer.cursor
        else f"0 of {answer.total:,}; raise --limit"
        if limit == 0 < answer.total
        else "",
        ("no such records" if kind or tags or archived else NO_RECORDS) if not answer.total else "",
    )


@reads(Linked)
def _link_text(answer: Linked) -> str:
    return f"{answer.action} {wording.edge(answer.edge)}"


@reads("supersede")
def _supersede_text(answer: Changed) -> str:
    return f"{wording.changed(answer)}{ASIDE}superseded by {answer.record.superseded_by}"


@reads("purge")
def _purge_text(answer: Purged, yes: bool, history_script: Path | None) -> Printout:
    return Printout(
        purged(answer, is_written=history_script is not None),
        "nothing to purge"
        if not answer.records and history_script is None
        else "nothing was changed; do it with --yes"
        if answer.records and (not yes)
        else "",
    )


def event_line(one: Happening) -> str:
    """Return an event in one line."""
    data = one.data if isinstance(one.data, dict) else {}
    moved = f"  {data['from']} to {data['to']}" if {"from", "to"} <= data.keys() else ""
    rest = {name: value for name, value in data.items() if name not in ("from", "to")}
    more = f"  {one_line(json.dumps(rest, ensure_ascii=False))}" if rest else ""
    return f"{one.at}  {one.type}{f'  {one.subject}' if one.subject else ''}{moved}{more}"


def _pruned(found: PrunedRecord, *, is_done: bool) -> str:
    """Return a record that goes, and why."""
    worth = "" if found.importance is None else f"importance {found.importance:.3f}, "
    return f"{'' if is_done else 'would be '}archived {found.ref}  ({worth}{found.reason})"


def _rows_of(found: Sequence[Listed], form: str) -> str:
    """Return records as rows, with their references and the fields that one of them has a value in."""
    rows = [{"ref": one.ref, **one.record.model_dump(mode="json", by_alias=True)} for one in found]
    columns = [
        name for name in dict.fromkeys(name for row in rows for name in row) if any(row.get(name) for row in rows)
    ]
    return rows_as(form, columns, [[row.get(name) for name in columns] for row in rows]) if rows else ""


def purged(answer: Purged, *, is_written: bool) -> str:
    """Return what a purge destroyed, or would."""
    would = "" if answer.done else "would be "
    lines = [f"{would}purged {ref}" for ref in answer.records]
    lines += [f"{would}changed {ref}" for ref in answer.changed]
    lines += [f"{would}removed from {file}: {count(rows, 'row')}" for file, rows in answer.rows.items()]
    lines += [f"{would}removed: {count(answer.vectors, 'vector')}"] if answer.vectors else []
    lines += [f"quoted by {ref}, which stays: edit it, or purge it too" for ref in answer.quoted_by]
    if is_written:
        lines += [f"git's history: look at the head of the program, then run it: {answer.history[0]}"]
    elif answer.done and answer.history:
        lines += [f"git's history still has them; to remove them there: {answer.history[0]}"]
    return "\n".join(lines)


@asks("add_rows")
def _ask_add_rows(
    name: Annotated[
        str | None, Taken("FILE|-", flag="--ndjson", meaning="Rows of any kind, one JSON object a line, all or none")
    ] = None,
) -> Mapping[str, object]:
    if name is None:
        raise Usage("nothing to add", hint='see: graphmem add --help, such as graphmem add failure --trigger "…"')
    return {"lines": name}


@reads(BulkAdded)
def _add_rows_text(answer: BulkAdded, verbose: bool = False) -> str:
    updates = [] if verbose else [f"updated {update.ref}: {', '.join(update.fields)}" for update in answer.updates]
    counts = (
        f"{answer.created:,} created, {answer.merged:,} merged, {answer.updated:,} updated, "
        f"{answer.unchanged:,} unchanged, {count(answer.relations, 'relation')}"
    )
    return "\n".join([*map(wording.changed, answer.results), *updates, counts])


@asks("undo")
def _ask_undo(
    number: Annotated[int | None, Taken("N", meaning="How many writes [default: 1]")] = None,
    listing: Annotated[bool, Taken(flag="--list", meaning="Show what can be taken back, the last first")] = False,
) -> Mapping[str, object]:
    if listing and number is not None:
        raise Usage("--list takes nothing back", hint="give either N or --list")
    return {"operation": "undoable"} if listing else {} if number is None else {"number": number}


@reads("undo")
def _undo_text(answer: Writes) -> str:
    return "\n".join(f"took back {_written(write)}" for write in answer.writes)


@reads("undoable")
def _undoable_text(answer: Writes) -> Printout:
    lines = [f"{n:>2}  {_written(write)}" for n, write in enumerate(answer.writes, 1)]
    return Printout("\n".join(lines), "nothing to undo" if not lines else "")


def _written(write: Write) -> str:
    """Return a write on one line: when, by what, how many rows, and which."""
    counts = [f"{number:,} {what}" for what in ("added", "changed", "removed") if (number := getattr(write, what))]
    total = write.added + write.changed + write.removed
    rows = ", ".join(write.rows) + (", …" if total > len(write.rows) else "")
    return f"{write.at}  {write.command}  {', '.join(counts)}: {rows}"


@asks("feedback")
def _ask_feedback(
    ref: Annotated[str | None, Taken("REF", "ref", meaning="The memory")] = None,
    helped: Annotated[bool, Taken(flag="--helped", meaning="It helped")] = False,
    failed: Annotated[bool, Taken(flag="--failed", meaning="It did not help")] = False,
    wrong: bool = False,
    note: str | None = None,
    question: str | None = None,
    asked: str | None = None,
    ndjson: Annotated[
        str | None,
        Taken(
            "FILE|-",
            flag="--ndjson",
            meaning="A batch: lines {ref, helped, wrong?, note?, task?, question?, asked?, at?, id?}",
        ),
    ] = None,
) -> Mapping[str, object]:
    if ndjson is not None:
        if ref is not None or helped or failed or wrong or any((note, question, asked)):
            raise Usage("--ndjson is a batch of its own", hint="give either a REF or --ndjson FILE")
        return {"operation": "feedback_rows", "lines": ndjson}
    if ref is None or helped == (failed or wrong):
        raise Usage(
            "say which memory, and whether it helped",
            hint="graphmem feedback REF --helped, or --failed, or --wrong --note TEXT; not both",
        )
    return {"ref": ref, "helped": helped}


@reads(BulkReported)
def _feedback_rows_text(answer: BulkReported) -> str:
    return f"{answer.created:,} created, {answer.updated:,} updated, {answer.unchanged:,} unchanged"


@reads(Reported)
def _feedback_text(answer: Reported) -> str:
    disputed = f", disputed {answer.disputed}" if answer.disputed else ""
    ratio = f" (help ratio {answer.help_ratio:.2f})"
    return f"{answer.action}: {answer.ref} helped {answer.helped}, failed {answer.failed}{disputed}{ratio}"


# --- for a model ----------------------------------------------------------------------------------------------------


@reads(Got, to="model")
def _get_reply(answer: Got, view: View) -> Reply:
    """Return a record with every field and its edges."""
    full = View(detail="full")
    return Reply(
        hits=[hit(answer.record, full, answer.doubts, answer.variant_fix) | _edges(answer.relations)],
        notes=list(answer.notices),
    )


def _edges(found: list[Edge]) -> dict[str, Any]:
    """Return edges, each as text."""
    return {"edges": [edge(one) for one in found]} if found else {}


def edge(one: Edge) -> str:
    """Return an edge as text."""
    return visible(f"{one.source} -{one.type} {one.weight:g}-> {one.target}")


@reads(Changed, to="model")
def _changed_reply(answer: Changed, view: View) -> Reply:
    """Return what became of a new record."""
    head: dict[str, Any] = {"action": Word(answer.action), "ref": answer.ref}
    head |= values_of(answer, "merged_into", "superseded")
    head |= {} if answer.similarity is None else {"similarity": round(answer.similarity, 3)}
    variants = [
        {"ref": one.ref, "similarity": round(one.similarity, 3), "variant_that_differs_in": escaped(one.differs)}
        for one in answer.variants
    ]
    aside = [{f"{one.field}_set_aside": cut(one.text, ADVICE_WIDTH, view)} for one in answer.set_aside]
    return Reply(head, variants + aside, list(answer.notices))


@reads(Reported, to="model")
def _feedback_reply(answer: Reported, view: View) -> Reply:
    """Return the track record after a report."""
    head = {"ref": answer.ref, "action": Word(answer.action), "helped": answer.helped, "failed": answer.failed}
    return Reply(head | values_of(answer, "disputed"), notes=list(answer.notices))
