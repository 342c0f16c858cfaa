"""The tools: what each takes, which operation it calls, and what it answers."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from graphmem.api import Memory
from graphmem.core.briefing.context_contract import ContextBlock
from graphmem.core.plans.campaign_contract import CampaignTasks, Ready
from graphmem.core.records.candidate_contract import ReviewedList
from graphmem.core.records.feedback_contract import Reported
from graphmem.core.records.record_contract import Changed, Got
from graphmem.core.records.relation_contract import Connection, Edge, Related, Solutions
from graphmem.core.search.match_contract import Matched, MatchedLog
from graphmem.core.search.query_contract import Found
from graphmem.core.stats.contract import Stats
from graphmem.doors.mcp.hints import in_tools
from graphmem.doors.mcp.parameters import MOST_HITS, Parameters, ToolOperation, View
from graphmem.doors.mcp.reply import ADVICE_WIDTH, Reply, Word, cut, escaped, hit, page, values_of
from graphmem.errors import BadInput, NotFound
from graphmem.features.cypher.operations import CypherRows
from graphmem.features.work.task_contract import TaskChanged
from graphmem.kernel import dispatch
from graphmem.kernel.answer import Answer, address
from graphmem.kernel.model.verdict import Verdict
from graphmem.kernel.store.runtime import Runtime
from graphmem.kernel.system.user import OF_USER
from graphmem.names import visible
from graphmem.patterns import lazy_re

OF_THE_USER = " (of the user's own store)"  # after a fix, which has no reference to mark
REFS = ("ref", "target")  # parameters that are references
SHOWN_REFS = frozenset(("ref", "start", "failure", "from", "to"))  # what a reply calls references
END = lazy_re(r"^|(?<=-> )")  # where an edge names a record
Show = Callable[[Any, View], Reply]


@dataclass(frozen=True)
class Tool:
    """
    A tool.

    Args:
        show: makes the reply from the answer of an operation; by the value that chooses it.
        is_read_only, is_idempotent: what clients are told; no tool destroys anything or leaves the machine.
    """

    name: str
    description: str
    parameters: Parameters
    show: Mapping[str, Show]
    is_read_only: bool = True
    is_idempotent: bool = True

    def call(self, memory: Callable[[], Memory], given: Mapping[str, object]) -> Reply:
        """Check the arguments, call the operation, and return the reply."""
        value, request, text, view = self.parameters.parse(bare(given))
        opened = memory()
        runtime = runtime_of(opened, given)
        if not self.is_read_only:
            _refuse_missing(opened.store.client.root, getattr(request, "files", None) or ())
        answer: Answer = dispatch.call(
            runtime, opened.store.caller, self.parameters.operations[value].name, request, text
        )
        reply = self.show[value](answer, view)
        return reply if runtime is opened.store.runtime else marked(reply)


def runtime_of(memory: Memory, given: Mapping[str, object]) -> Runtime:
    """
    Return what a call works on: the project's store, or the user's own where a reference is marked as of that one.

    Raises:
        NotFound: there is no such store, or this caller may not see it.
        BadInput: another reference is not marked.
    """
    refs = [value for name in REFS if isinstance(value := given.get(name), str)]
    marked = [ref for ref in refs if ref.startswith(OF_USER)]
    if not marked:
        return memory.store.runtime
    if others := [ref for ref in refs if ref not in marked]:
        raise BadInput(f"{marked[0]!r} and {others[0]!r} are in two stores", hint="a call works on one")
    user = memory.store.client.of_user
    if user is None:
        raise NotFound(f"{marked[0]!r}: there is no store of the user's own")
    return user.runtime


def bare(given: Mapping[str, object]) -> dict[str, object]:
    """Return arguments whose references have no mark of a store."""
    return {
        name: value.removeprefix(OF_USER) if name in REFS and isinstance(value, str) else value
        for name, value in given.items()
    }


def marked(reply: Reply) -> Reply:
    """Return a reply of the user's own store with its references marked, so that the next call takes them."""
    reply.head = _with_marks(reply.head)
    reply.hits = reply.hits and list(map(_with_marks, reply.hits))
    return reply


def _with_marks(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a reply says with its references marked, those at the ends of edges too."""
    refs = {name: address(value, "user") for name, value in values.items() if name in SHOWN_REFS}
    paths = {name: [END.sub(OF_USER, edge) for edge in values[name]] for name in ("edges", "path") if name in values}
    return {**values, **refs, **paths}


def _refuse_missing(root: Path, files: Iterable[str]) -> None:
    """Raise ``BadInput`` for a file that is not there, as the command line does."""
    for path in files:
        if not os.path.lexists(root / path):
            raise BadInput(f"file {path!r} is not there", hint="a path counts from the project's root")


# --- recall ---------------------------------------------------------------------------------------------------------


def found(answer: Found, view: View) -> Reply:
    """Return what a query found."""
    hits, more, notes = page(answer, [] if _nothing_known(answer, view) else answer.results, view)
    shown = [
        hit(one.record, view, one.doubts, one.variant_fix, one.holds, one.store, **_differing(one.verdict))
        for one in hits
    ]
    left = [f"left out for marks of doubt: {len(answer.left_out)}"] if answer.left_out else []
    if answer.results and _nothing_known(answer, view):
        left.append("nothing is known for this; detail: full shows the nearest")
    return Reply(_sureness(answer) | more, shown, notes + left)


def matched(answer: MatchedLog, view: View) -> Reply:
    """Return the known failures in a log, and the unknown errors."""
    hits, more, notes = page(answer, answer.results, view)
    unknown = {"unknown_errors": [cut(error, ADVICE_WIDTH, view) for error in answer.unknown[: view.limit]]}
    head = {
        "known": any(one.verdict == "same" for one in answer.results),
        **_asked(answer),
        **(unknown if answer.unknown else {}),
    }
    return Reply(head | more, [_of_log(one, view) for one in hits], notes)


def _of_log(one: Matched, view: View) -> dict[str, Any]:
    """Return a failure that a log reports, with what solves it."""
    made = hit(one.record, view, one.doubts, one.variant_fix, one.holds, one.store, by=Word(one.by), line=one.line)
    if one.verdict != "same":
        made |= {**_differing(one.verdict), "because": escaped(one.reasons)}
    if one.solved_by:
        made["solved_by"] = {
            address(solution.ref, one.store): cut(getattr(solution.record, "insight", ""), ADVICE_WIDTH, view)
            for solution in one.solved_by
        }
    return made


def _differing(verdict: Verdict | None) -> dict[str, Word]:
    """Return the verdict on a hit as its mark, where it is not simply the same."""
    return {} if verdict in (None, "same") else {"verdict": Word(verdict)}


def block(answer: ContextBlock, view: View) -> Reply:
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
    return Reply(_sureness(answer) | more, shown, notes + ([answer.note] if answer.note else []))


def _sureness(answer: Found | ContextBlock) -> dict[str, Any]:
    """Return whether the first result is what was asked for, and the id of the question."""
    certainty = {} if answer.known else {"certainty": Word(answer.certainty)}
    return {"known": answer.known, **certainty, "probability": round(answer.probability, 2), **_asked(answer)}


def _nothing_known(answer: Found, view: View) -> bool:
    """Return whether the results are only the nearest of what is unrelated, which a full answer alone shows."""
    return answer.certainty == "none" and view.detail != "full"


def _asked(answer: Found | MatchedLog | ContextBlock) -> dict[str, Any]:
    """Return the id of the question for a report."""
    return {"asked": Word(answer.asked)} if answer.asked else {}


# --- get and related ------------------------------------------------------------------------------------------------


def got(answer: Got, view: View) -> Reply:
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


def _reached(answer: Related, view: View) -> Reply:
    """Return what a record is related to, strongest path first."""
    hits, more, notes = page(answer, answer.results, view)
    shown = [
        hit(one.record, view, one.doubts, strength=round(one.strength, 3)) | {"path": [edge(step) for step in one.path]}
        for one in hits
    ]
    notes += [] if answer.exhaustive else ["the search ended at its budget: there may be stronger paths"]
    return Reply({"start": answer.start, **more}, shown, notes)


def _solved(answer: Solutions, view: View) -> Reply:
    """Return the fixes of a failure, then what solves it."""
    hits, more, notes = page(answer, answer.results, view)
    fixes = [cut(fix.text, ADVICE_WIDTH, view) + OF_THE_USER * (fix.store == "user") for fix in answer.fixes]
    doubts = [escaped(doubt.text) for doubt in answer.doubts if doubt.is_mark]
    head = {"failure": answer.failure, **({"doubts": doubts} if doubts else {}), "fixes": fixes}
    shown = [hit(one.record, view, one.doubts, store=one.store, strength=round(one.strength, 3)) for one in hits]
    return Reply(head | more, shown, notes)


def _connected(answer: Connection, view: View) -> Reply:
    """Return the strongest path between two records."""
    head = {"from": answer.source, "to": answer.target, "strength": round(answer.strength, 3)}
    return Reply({**head, "path": [edge(step) for step in answer.path]}, notes=list(answer.notices))


# --- writing --------------------------------------------------------------------------------------------------------


def _changed(answer: Changed, view: View) -> Reply:
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


def _accepted(answer: ReviewedList, view: View) -> Reply:
    """Return the records that a candidate became."""
    refs = [ref for one in answer.reviewed for ref in one.refs]
    return Reply({"action": Word("accepted"), "refs": refs, "waiting": answer.waiting}, notes=list(answer.notices))


def _reported(answer: Reported, view: View) -> Reply:
    """Return the track record after a report."""
    head = {"ref": answer.ref, "action": Word(answer.action), "helped": answer.helped, "failed": answer.failed}
    return Reply(head | values_of(answer, "disputed"), notes=list(answer.notices))


def _startable(answer: Ready, view: View) -> Reply:
    """Return the tasks that can start now: pending, every parent complete."""
    hits, more, notes = page(answer, answer.ready, view)
    return Reply({"campaign": answer.campaign, **more}, [hit(task, view) for task in hits], notes)


def _moved(answer: TaskChanged, view: View) -> Reply:
    """Return what happened to a task: its workspace when it starts, what is known of the error when it is blocked."""
    head: dict[str, Any] = {"ref": answer.ref, "action": Word(answer.action)}
    head |= {name: Word(value) for name in ("since", "by") if (value := getattr(answer, name))}
    head |= {"released": answer.released} if answer.released else {}
    head |= {"solved": answer.solved} if answer.solved else {}
    found = answer.workspace
    if found is not None:
        head |= {"asked": Word(found.asked)} if found.asked else {}
        head["workspace"] = escaped(in_tools(found.text))
    return Reply(head, [_of_log(one, view) for one in answer.known], list(answer.notices))


def _finished(answer: CampaignTasks, view: View) -> Reply:
    """Return a campaign that is finished, with its tasks."""
    tasks, more, notes = page(answer, answer.tasks, view)
    shown = [hit(task, view, status=Word(getattr(task, "status", ""))) for task in tasks]
    status = Word(getattr(answer.record, "status", ""))
    return Reply({"campaign": answer.campaign, "status": status, **more}, shown, notes)


# --- the rest -------------------------------------------------------------------------------------------------------


def _rows(answer: CypherRows, view: View) -> Reply:
    """Return the rows of a Cypher query."""
    doubts = {ref: [escaped(one.text) for one in against if one.is_mark] for ref, against in answer.doubts.items()}
    head: dict[str, Any] = {"columns": answer.columns, "truncated": answer.truncated}
    head |= {"doubts": {ref: against for ref, against in doubts.items() if against}} if any(doubts.values()) else {}
    named = [dict(zip(answer.columns, map(_cell, row), strict=True)) for row in answer.rows]
    return Reply(head, [{"row": row} for row in named], list(answer.notices))


def _cell(value: Any) -> Any:
    """Return a value of a row: a record by its reference, for ``get`` shows it."""
    if isinstance(value, dict) and value.get("label") and value.get("ref"):
        return escaped(value["ref"])
    return escaped(value)


def health(answer: Stats, view: View) -> Reply:
    """Return how much there is, and what is due."""
    due = {one.kind: one.prunable for one in answer.capacity if one.prunable}
    head: dict[str, Any] = {
        "records": {kind: number for kind, number in answer.records.items() if number},
        "entities": answer.entities,
        "edges": sum(answer.relations.values()),
        "archived": answer.archived,
        "unsolved_failures": answer.coverage.unsolved,
        "search": Word(answer.search),
    }
    head |= {"candidates_to_review": escaped(answer.candidates)} if answer.candidates else {}
    return Reply(head | ({"prune": due} if due else {}), notes=list(answer.notices))


# --- all of them ----------------------------------------------------------------------------------------------------

NOTED = "tags files cites supersedes"
TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "recall",
            "Find what this project remembers. Call it before work on a task, before debugging, and at every error. "
            "Each result: reference, helped and failed reports, marks of doubt (!), text, fix. "
            "known: the first is what was asked; low: perhaps not. asked goes into feedback.",
            Parameters(
                {
                    "query": ToolOperation("query", "text kinds strict", is_cut=True),
                    "match": ToolOperation("match", "strict", text="text"),
                    "context": ToolOperation("context", "objective tags files strict", {"objective": "text"}),
                },
                choice="intent",
                meaning="query: search; match: known failures in text, an error or a log; "
                "context: text is an objective; also constraints, decisions, lessons",
                default="query",
                has_view=True,
                words={
                    "kinds": "query: only these kinds",
                    "strict": "Leave out doubted records",
                    "text": "An error, a log, a symbol, a question or an objective",
                },
            ),
            {"query": found, "match": matched, "context": block},
        ),
        Tool(
            "get",
            "Show a record with every field and edge.",
            Parameters({"": ToolOperation("get", "ref")}),
            {"": got},
        ),
        Tool(
            "related",
            "Walk the graph: what is connected, what solves a failure, how two records connect.",
            Parameters(
                {
                    "related": ToolOperation("related", "ref max_hops types"),
                    "solutions": ToolOperation("solutions", "ref"),
                    "path": ToolOperation("path", "source target max_hops types", {"source": "ref"}),
                },
                choice="intent",
                meaning="related: the neighbourhood of ref; solutions: what solves the failure ref; "
                "path: the strongest path from ref to target",
                default="related",
                has_view=True,
                words={"ref": "The record, as kind/name"},
            ),
            {"related": _reached, "solutions": _solved, "path": _connected},
        ),
        Tool(
            "remember",
            "Record what was learned, once it is certain. The answer says whether it is created, merged into "
            "its like, or a variant of another. No secrets: the memory goes into git.",
            Parameters(
                {
                    "failure": ToolOperation("failures.add", f"trigger fix symptom {NOTED} replace"),
                    "pattern": ToolOperation("patterns.add", f"trigger insight {NOTED} replace"),
                    "lesson": ToolOperation("lessons.add", f"description type {NOTED} replace"),
                    "decision": ToolOperation("sessions.decide", "decision reasoning"),
                    "constraint": ToolOperation("sessions.constrain", "constraint"),
                    "experience": ToolOperation(
                        "experiences.add", "task_type description approach outcome lessons tags supersedes"
                    ),
                    "candidate": ToolOperation(
                        "candidates.accept", "id trigger fix symptom insight tags", renamed={"id": "candidate"}
                    ),
                },
                choice="kind",
                meaning="Required: failure: trigger; pattern: trigger, insight; lesson: description; "
                "experience: task_type, description, approach, outcome, lessons; others: the field of that name",
                words={
                    "tags": "Tags",
                    "files": "Files it is about",
                    "cites": "Code it is about: path, path:symbol or path:symbol@commit",
                    "supersedes": "Record it replaces",
                    "replace": "In a merge, make the new texts current",
                    "type": "lesson: a preference is injected at once, others after two runs",
                    "decision": "What was decided",
                    "constraint": "A rule that holds",
                    "insight": "pattern: What to do then",
                    "lessons": "What it taught",
                    "approach": "What was done",
                    "candidate": "Its id",
                    "trigger": "The error; pattern: when it applies",
                    "fix": "What resolves it",
                    "symptom": "What one does and why it fails",
                },
            ),
            dict.fromkeys(("failure", "pattern", "lesson", "decision", "constraint", "experience"), _changed)
            | {"candidate": _accepted},
            is_read_only=False,
        ),
        Tool(
            "feedback",
            "Report whether a recalled record helped, right after trying it; with asked from the answer that "
            "showed it. Answers rank by it.",
            Parameters({"": ToolOperation("feedback", "ref helped wrong note asked")}),
            {"": _reported},
            is_read_only=False,
            is_idempotent=False,
        ),
        Tool(
            "task",
            "Work on a campaign, a plan of tasks; start answers with a workspace.",
            Parameters(
                {
                    "ready": ToolOperation("campaigns.ready", "ref"),
                    "start": ToolOperation("tasks.start", "ref"),
                    "complete": ToolOperation("tasks.complete", "ref delivered used solved_by"),
                    "block": ToolOperation("tasks.block", "ref reason"),
                    "finish": ToolOperation("campaigns.complete", "ref outcome status"),
                },
                choice="action",
                meaning="ready: what can start; start, complete, block: a task; finish: the campaign",
                default="ready",
                words={
                    "ref": "The campaign, or the task",
                    "delivered": "What it delivered",
                    "used": "Memories that helped",
                    "solved_by": "Patterns that fixed its block",
                    "reason": "The error, as reported",
                    "outcome": "How it ended",
                    "status": "partial if tasks are open",
                },
            ),
            {"ready": _startable, "start": _moved, "complete": _moved, "block": _moved, "finish": _finished},
            is_read_only=False,
        ),
        Tool(
            "cypher",
            "Ask the graph in Cypher. Labels are kinds and types "
            "(Failure, WorkItem), relations in capitals (SOLVES), properties as in get.",
            Parameters(
                {"": ToolOperation("cypher", "query parameters limit", usual={"limit": MOST_HITS})},
                words={"limit": f"Rows; {MOST_HITS} if not given"},
            ),
            {"": _rows},
        ),
        Tool(
            "status",
            "Show how much this project remembers, and what is due.",
            Parameters({"": ToolOperation("stats", "")}),
            {"": health},
        ),
    )
}
