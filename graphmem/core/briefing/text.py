"""How the briefing and the context of a task read on a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Annotated

from graphmem.constants import FEW_EXPERIENCES
from graphmem.core.briefing.context_contract import ContextBlock
from graphmem.core.briefing.prime import Briefing, StoreStatus
from graphmem.core.records.wording import waiting
from graphmem.core.replies.reply import Reply, View, Word, hit, page
from graphmem.core.search.text import sureness
from graphmem.kernel.answer import address
from graphmem.kernel.registry import Printout, Taken, asks, reads
from graphmem.kernel.text import count, one_line

SHOWN_TASKS = 6  # of a sort, so that all is one screen


@reads(Briefing)
def _prime_text(answer: Briefing) -> str:
    return answer.text


@asks("context")
def _ask_context(
    tags: Sequence[str] | None,
    role: Annotated[str | None, Taken("ROLE", flag="--role", meaning="Of the agent: a tag more")] = None,
) -> Mapping[str, object]:
    return {"tags": [*(tags or ()), role]} if role else {}


@reads(ContextBlock)
def _context_text(answer: ContextBlock, explain: bool) -> Printout:
    left = [f"left out ({out.reason}, similarity {out.similarity:.2f}): {out.ref}" for out in answer.left_out]
    size = f"{answer.tokens:,} of {answer.budget:,} tokens; {len(left)} left out"
    return Printout(answer.text.rstrip("\n"), answer.note or "", *([size, *left] if explain else []))


@reads(StoreStatus)
def _status_text(answer: StoreStatus) -> str:
    return "\n".join(_shown(answer))


def _shown(answer: StoreStatus) -> Iterator[str]:
    """Yield the lines for people."""
    yield f"store: {answer.store}, {count(answer.records, 'record')}, {count(answer.relations, 'relation')}"
    if answer.rows:
        yield f"rows: {answer.rows}"
    beside = {"your own": answer.user_store, "your organisation's": answer.organisation}
    yield from (f"{whose} store: {where}, asked too" for whose, where in beside.items() if where)
    if answer.findings:
        yield f"files: {count(answer.findings, 'finding')}"
    yield from (f"git: {found.with_fix('fix')}" for found in answer.in_git)
    if answer.without_vector:
        lacking = count(answer.without_vector, "record")
        yield f"search: {lacking} of {answer.records:,} not yet indexed by meaning, found by words alone"
    if answer.unregistered:
        yield f"clone: git does not know how to merge and show the memory ({', '.join(answer.unregistered)})"
    if answer.candidates:
        yield f"review: {waiting(answer.candidates)}: graphmem review"
    if answer.cold_start:
        yield f"experiences: fewer than {FEW_EXPERIENCES}, so new ones get low confidence"
    yield f"task: {one_line(answer.task)}  [{answer.task_status}]" if answer.task else "task: none"
    for campaign in answer.campaigns:
        ready = f"ready: {', '.join(campaign.ready)}" if campaign.ready else "no task is ready"
        lost = f"; cannot run: {_some(campaign.unreachable)}" if campaign.unreachable else ""
        yield f"campaign: {campaign.ref}  [{campaign.state.replace('_', ' ')}]  {ready}{lost}"
    for status in ("active", "blocked"):
        tasks = [task for task in answer.tasks if task.status == status]
        for task in tasks[:SHOWN_TASKS]:
            yield f"{status}: {task.ref}  {one_line(task.objective)}"
            yield from [f"    reason: {one_line(task.reason)}"] if task.reason else []
        if len(tasks) > SHOWN_TASKS:
            yield f"{status}: {len(tasks) - SHOWN_TASKS:,} more: graphmem list task"
    if answer.service is not None:
        yield f"service: {f'runs as process {answer.service.pid}' if answer.service.ok else 'not running'}"
    yield "next:"
    yield from (f"    {step}" for step in answer.next)


def _some(refs: Sequence[str]) -> str:
    """Return the first of some references, and how many more there are."""
    more = f" and {len(refs) - SHOWN_TASKS:,} more" if len(refs) > SHOWN_TASKS else ""
    return ", ".join(refs[:SHOWN_TASKS]) + more


# --- for a model ----------------------------------------------------------------------------------------------------


@reads(ContextBlock, to="model")
def _context_reply(answer: ContextBlock, view: View) -> Reply:
    """Return what a project remembers for an objective; of each section as much as is asked for."""
    pages = [page(answer, list(found), view) for _, found in groupby(answer.entries, key=lambda entry: entry.section)]
    entries = [entry for shown, _, _ in pages for entry in shown]
    more = {name: value for _, cursor, _ in pages for name, value in cursor.items()}
    notes = list(answer.notices)
    shown = [
        hit(
            one.record,
            view,
            one.doubts,
            one.variant_fix,
            store=one.store,
            tier=Word(one.tier),
            section=Word(one.section),
        )
        | ({"contradicts": [address(ref, one.store) for ref in one.contradicts]} if one.contradicts else {})
        for one in entries
    ]
    return Reply(
        sureness(answer.known, answer.certainty, answer.probability, answer.asked) | more,
        shown,
        notes + ([answer.note] if answer.note else []),
    )
