"""The tools: what each takes, which operation it calls, and what it answers."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from graphmem.api import Memory
from graphmem.core.replies.reply import MOST_HITS, Reply, View
from graphmem.doors.mcp.parameters import Parameters, ToolOperation
from graphmem.errors import BadInput, GraphmemError, NotFound
from graphmem.kernel import dispatch
from graphmem.kernel.answer import Answer, store_named
from graphmem.kernel.registry import OPERATIONS, text_of
from graphmem.kernel.store.runtime import Runtime
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.user import STORES, store_of
from graphmem.patterns import lazy_re

REFS = ("ref", "target")  # parameters that are references
SHOWN_REFS = frozenset(("ref", "start", "failure", "from", "to"))  # what a reply calls references
END = lazy_re(r"^|(?<=-> )")  # where an edge names a record


@dataclass(frozen=True)
class Tool:
    """
    A tool.

    Args:
        is_read_only, is_idempotent: what clients are told; no tool destroys anything or leaves the machine.
        folder: of the store, without which the tool is not listed.
    """

    name: str
    description: str
    parameters: Parameters
    is_read_only: bool = True
    is_idempotent: bool = True
    folder: str = ""

    def is_offered(self, memory: Callable[[], Memory]) -> bool:
        """Return whether the tool is listed: what few projects use costs the others no tokens."""
        if not self.folder:
            return True
        try:
            is_used = safe_files.is_folder(memory().store.client.layout.store / self.folder)
        except GraphmemError:
            return False
        return is_used and all(one.name in OPERATIONS for one in self.parameters.operations.values())  # or it is gone

    def call(self, memory: Callable[[], Memory], given: Mapping[str, object]) -> Reply:
        """Check the arguments, call the operation, and return the reply."""
        value, request, text, view = self.parameters.parse(bare(given))
        opened = memory()
        runtime = runtime_of(opened, given)
        if not self.is_read_only:
            for path in getattr(request, "files", None) or ():  # as the command line does
                if not os.path.lexists(opened.store.client.root / path):
                    raise BadInput(f"file {path!r} is not there", hint="a path counts from the project's root")
        operation = self.parameters.operations[value].name
        reply = replied(operation, dispatch.call(runtime, opened.store.caller, operation, request, text), view)
        return marked(reply, store_named(_refs(given)))


def replied(operation: str, answer: Answer, view: View) -> Reply:
    """Return the answer of an operation as a model reads it."""
    reply: Reply = text_of(OPERATIONS[operation], answer, to="model")(answer, view)
    return reply


def runtime_of(memory: Memory, given: Mapping[str, object]) -> Runtime:
    """
    Return what a call works on: the project's store, or another where a reference is marked as of that one.

    Raises:
        NotFound: there is no such store, or this caller may not see it.
        Usage: the references are of two stores.
    """
    store = store_named(_refs(given))
    if store == "project":
        return memory.store.runtime
    if (other := memory.store.client.beside(store)) is None:
        raise NotFound(f"{STORES[store]} is not beside this one")
    return other.runtime


def _refs(given: Mapping[str, object]) -> list[str]:
    """Return the references among arguments."""
    return [value for name in REFS if isinstance(value := given.get(name), str)]


def bare(given: Mapping[str, object]) -> dict[str, object]:
    """Return arguments whose references have no mark of a store."""
    return {
        name: store_of(value)[1] if name in REFS and isinstance(value, str) else value for name, value in given.items()
    }


def marked(reply: Reply, store: str) -> Reply:
    """Return a reply of another store with its references marked, so that the next call takes them."""
    if store == "project":
        return reply
    reply.head = _with_marks(reply.head, f"{store}:")
    reply.hits = reply.hits and [_with_marks(hit, f"{store}:") for hit in reply.hits]
    return reply


def _with_marks(values: Mapping[str, Any], mark: str) -> dict[str, Any]:
    """Return what a reply says with its references marked, those at the ends of edges too."""
    refs = {name: f"{mark}{value}" for name, value in values.items() if name in SHOWN_REFS}
    paths = {name: [END.sub(mark, edge) for edge in values[name]] for name in ("edges", "path") if name in values}
    return {**values, **refs, **paths}


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
        ),
        Tool(
            "get",
            "Show a record with every field and edge.",
            Parameters({"": ToolOperation("get", "ref")}),
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
            is_read_only=False,
        ),
        Tool(
            "feedback",
            "Report whether a recalled record helped, right after trying it; with asked from the answer that "
            "showed it. Answers rank by it.",
            Parameters({"": ToolOperation("feedback", "ref helped wrong note asked")}),
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
        ),
        Tool(
            "work",
            "Guarded work: ask next, begin the stage with its token, do what it may, end it, ask again. "
            "human and blocked are for a person.",
            Parameters(
                {
                    "next": ToolOperation("works.next", "ref peek"),
                    "show": ToolOperation("works.show", "ref"),
                    "start": ToolOperation("works.start", "flow objective goal cycle"),
                    "advance": ToolOperation("works.advance", "ref cycle"),
                    "begin": ToolOperation("stages.begin", "token"),
                    "run": ToolOperation("stages.run", "token"),
                    "end": ToolOperation("stages.end", "token"),
                    "retry": ToolOperation("stages.retry", "ref"),
                    "items": ToolOperation("items.list", "work", {"work": "ref"}),
                    "found": ToolOperation("items.add", "text file artefact tags check token"),
                    "action": ToolOperation("items.action", "ref token"),
                    "wont_fix": ToolOperation("items.wont_fix", "ref reason token"),
                    "resolve": ToolOperation("items.resolve", "ref reason token"),
                    "reject": ToolOperation("items.reject", "ref reason token"),
                },
                choice="action",
                meaning="next: which stage runs, with its token; run: the checks of a quench, the extractors of an "
                "assay stage; found: add an item; action, wont_fix, resolve, reject: move the item ref",
                default="next",
                words={
                    "ref": "The work, if not that of the branch; or the item",
                    "token": "Of the stage that calls",
                    "text": "found: what is wrong, and what would be right",
                    "reason": "Why; required but for resolve",
                    "cycle": "start: to begin with; advance: a target",
                    "tags": "Ids of laws",
                    "check": "Check that found it",
                    "artefact": "Artefact type",
                    "file": "File that it is about",
                    "peek": "Make no token",
                    "goal": "When it is done",
                },
            ),
            is_read_only=False,
            is_idempotent=False,
            folder="flows",
        ),
        Tool(
            "status",
            "Show how much this project remembers, and what is due.",
            Parameters({"": ToolOperation("stats", "")}),
        ),
    )
}
