"""
Writes the generated pages of `docs/reference/`; `test_docs.py` compares them.

usage: python -m tests.generate_docs
"""

import inspect
import json
import textwrap
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import griffe
import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

import graphmem
from graphmem import errors
from graphmem.core.briefing.context_contract import ContextBlock
from graphmem.core.briefing.prime import Briefing, StoreStatus
from graphmem.core.evidence.doubt_contract import StaleRecords
from graphmem.core.history.contract import Difference, History
from graphmem.core.history.why import Why
from graphmem.core.page.operations import PageData
from graphmem.core.plans.campaign_contract import (
    CampaignStanding,
    CampaignTasks,
    MergedPlan,
    Ready,
    ReplanInput,
    Similar,
)
from graphmem.core.ran.operations import Ran
from graphmem.core.records.candidate_contract import CandidateList, Harvested, HarvestedAll, ProofsChecked, ReviewedList
from graphmem.core.records.event_contract import EventList, Happened
from graphmem.core.records.feedback_contract import BulkReported, Reported
from graphmem.core.records.moves import (
    CHUNK_MOVES,
    ITEM_MOVES,
    PHASE_MOVES,
    STAGE_MOVES,
    TASK_COMMANDS,
    TASK_MOVES,
    Table,
)
from graphmem.core.records.record_contract import BulkAdded, Changed, Got, Listing, Pruned, Purged, Writes
from graphmem.core.records.relation_contract import Connection, Linked, Related, Solutions
from graphmem.core.search.match_contract import MatchedLog
from graphmem.core.search.query_contract import Found
from graphmem.core.sessions.operations import SessionContext
from graphmem.core.stats.contract import Stats
from graphmem.core.stats.effectiveness_contract import Loop
from graphmem.core.stats.impact import Impact
from graphmem.core.vocabulary.contract import TypeBrief, TypeChanged, TypeList
from graphmem.core.vocabulary.scopes import ScopeList
from graphmem.doors.cli.app import command_line, common_options
from graphmem.doors.cli.demo_store import Demonstrated
from graphmem.doors.cli.help import help_of
from graphmem.doors.cli.topics import Help, commands_by_topic, text_of
from graphmem.doors.cli.verbs import VERBS
from graphmem.features.cypher.operations import CypherRows, QueryList
from graphmem.features.cypher.projects import GraphPushed
from graphmem.features.exchange.dump_contract import Dump
from graphmem.features.exchange.operations import Imported
from graphmem.features.explore.operations import ExplorationReported, ExplorationStarted, ExplorationWaited
from graphmem.features.extractors.contract import Extracted, ExtractorAdded, ExtractorList
from graphmem.features.governance import definitions as governance
from graphmem.features.governance import states as governance_states
from graphmem.features.governance.contract import (
    BranchMade,
    NextStage,
    ReviewItemAnswer,
    ReviewItemList,
    StageBegun,
    StageChecked,
    StageEnded,
    WorkList,
    WorkShown,
)
from graphmem.features.governance.finish import WorkFinished
from graphmem.features.governance.snapshots import SnapshotDifference, SnapshotList, SnapshotShown
from graphmem.features.governance.verify import WorkVerified
from graphmem.features.hooks.contract import HookAnswer
from graphmem.features.inbox.operations import ItemChanged, ItemList
from graphmem.features.learning.experiences import Promoted, Recalled
from graphmem.features.learning.lessons import Injected, Learned
from graphmem.features.runs.contract import BuildResume, Required, RunShown
from graphmem.features.team.contract import LedgerMoved, Synced
from graphmem.features.team.server_contract import ServerChanged
from graphmem.features.upkeep.branch_check import BranchChecked
from graphmem.features.upkeep.config import ConfigShown
from graphmem.features.upkeep.embedding import EmbeddingStatus, ModelChanged
from graphmem.features.upkeep.schema import SchemaShown
from graphmem.features.upkeep.store_contract import (
    Exported,
    Initialised,
    Rebuilt,
    Reset,
    Resolved,
    Split,
    Trust,
    Vacuumed,
)
from graphmem.features.work.observation import Observed
from graphmem.features.work.phases import PhaseCan, PhaseDurations, PhaseMoved, PhaseStatus
from graphmem.features.work.task_contract import TaskChanged, TaskShown
from graphmem.kernel.answer import Answer
from graphmem.kernel.finding import Checked, Code, Doctored
from graphmem.kernel.machine.service_state import ServedPage
from graphmem.kernel.model import MODELS, vocabulary
from graphmem.kernel.model.field import Limit
from graphmem.kernel.model.record import Frozen
from graphmem.kernel.model.scope import Scope
from graphmem.kernel.registry import OPERATIONS
from graphmem.kernel.request import Request, bounds
from graphmem.kernel.settings.config import Settings, SettingsSection, sections
from tests.generate_api import class_of
from tests.generate_schema import row_names
from tests.operations import NOUNS, REQUESTS
from tests.source import MODULES
from tests.test_architecture import HOUSES, imports, module_of, room_of

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
NOTE = "<!-- Generated by tests/generate_docs.py; edit that, not this. -->"


# --- Python ---------------------------------------------------------------------------------------------------------


def python() -> str:
    """Return the signature of every public method of the API, as griffe reads it from the source."""
    handle, api = (
        griffe.load(f"graphmem.{name}", search_paths=[str(Path(graphmem.__file__).parents[1])])
        for name in ("kernel.handle", "api")
    )
    assert isinstance(handle, griffe.Module)
    assert isinstance(api, griffe.Module)
    handle_methods = [method("Memory", found) for found in public(handle.classes["Handle"])]
    memory = [method("memory", found) for found in public(api.classes["Memory"])]
    store = [method("memory.store", found) for found in public(handle.classes["OpenStore"])]
    parts = [
        "# Python",
        "Every method of `graphmem.Memory` and of its nouns.\n"
        "A test compares this page with the code, so a changed signature shows in the diff of a pull request.\n"
        "Their parameters are those of the [requests](requests.md), with meanings and limits; the models that they "
        "return are those of the [JSON reference](json.md).\n"
        "Brackets say what an answer holds, for type checkers: the record of a `Changed[Failure]` is a `Failure`.",
        "## memory",
        block("\n\n".join([*handle_methods, *memory])),
    ]
    for noun in NOUNS:
        own = [method(f"memory.{noun}", found) for found in public(api.classes[class_of(noun)])]
        parts += [f"## memory.{noun}", block("\n\n".join([*(store if noun == "store" else ()), *own]))]
    return "\n\n".join([*parts, "## Types", *public_types()])


def public_types() -> Iterator[str]:
    """Yield what can be imported from the package."""
    yield (
        "What `graphmem` has beside `Memory`, for signatures: the [errors](errors.md), the [records](records.md), the "
        "[answers](json.md) and what they hold, and what `Memory` takes.\n"
        "A module is imported when one of its names is first asked for."
    )
    places: dict[str, list[str]] = {"errors": [], "records": [], "answers, and what they hold": [], "parameters": []}
    for name, place in vars(graphmem)["_MODULES"].items():
        found = getattr(graphmem, name)
        if place == "graphmem.errors":
            sort = "errors"
        elif place == "graphmem.kernel.model":
            sort = "records"
        elif isinstance(found, type) and issubclass(found, BaseModel):
            sort = "answers, and what they hold"
        else:
            sort = "parameters"
        places[sort] += [] if name == "Memory" else [name]
    yield table(
        ["sort", "names"], [[sort, ", ".join(f"`{name}`" for name in sorted(names))] for sort, names in places.items()]
    )


def public(found: griffe.Class) -> list[griffe.Function]:
    """Return the public methods of a class, and how it is made where that takes arguments."""
    is_made_with = "__init__" if found.name == "Handle" else ""
    own = [(name, made) for name, made in found.functions.items() if not made.is_alias]
    return [made for name, made in own if name == is_made_with or not name.startswith("_")]


def method(owner: str, found: griffe.Function) -> str:
    """Return a method as the page shows it: its signature, and the first sentence of its docstring."""
    found.parameters = griffe.Parameters(*(one for one in found.parameters if one.name != "self"))
    signature = found.signature(name=owner if found.name == "__init__" else f"{owner.lower()}.{found.name}")
    said = (found.docstring.value.strip().partition("\n\n")[0].replace("\n", " ") if found.docstring else "").strip()
    return f"{signature}\n    {said}".rstrip()


# --- command line ---------------------------------------------------------------------------------------------------


def cli() -> str:
    """Return the help of every command."""
    root = command_line()
    parts = [
        "# Command line",
        "Every command with its options, as `--help` prints it.\n"
        "The options of graphmem itself may stand before or after the verb; they are listed here and at no command.",
        block(text_of(commands_by_topic())),
    ]
    context = typer.main.get_command(typer.Typer(callback=lambda: None, add_completion=False))
    for name in VERBS:
        parts += command(root.get_command(context, name), f"graphmem {name}")
    return "\n\n".join(parts)


def command(found: Any, path: str) -> Iterator[str]:
    """Yield the help of a command and of those below it, without the options that all have."""
    found.params = [one for one in found.params if one not in common_options()]
    yield f"## {path}"
    yield block(help_of(found, path))
    for name, below in getattr(found, "commands", {}).items():
        yield from command(below, f"{path} {name}")


def block(text: str) -> str:
    """Return text as a block that is only shown."""
    return f"```text\n{text}\n```"


# --- records --------------------------------------------------------------------------------------------------------

MEANINGS = {
    "kind": "Which kind of row this is.",
    "created_at": "When it was made, in UTC.",
    "edited": "Each field changed since then, with the time of its last change.",
    "by": "Who changed the row last.",
    "via": "Through what it was changed last: cli, mcp, http, a coding agent, import or extractor:NAME.",
    "authors": "Who wrote the rest, by field: a name and a way; `created_at` for what was never changed.",
    "name": "What people see and type; unique in its kind, for an entity in its type.",
    "key": "Its first name, which never changes; in the files only where it differs from the name.",
    "aliases": "Old names, and names of duplicates that were merged into it; found by every look-up.",
    "sources": "Where it came from: a task, a run, a file, a person.",
    "archived_at": "When it was archived.",
    "archive_reason": "Why it was archived.",
    "superseded_by": "The record that took its place.",
    "trigger": "The observable error, or when a pattern applies.",
    "tags": "Words to find it by.",
    "files": "Files it is about.",
    "cites": "Code that it speaks of: `path[:symbol][@commit]#hash`, the hash that of the text cited.",
    "alternates": "Texts of merged duplicates: the field and the text.",
    "question": "What was asked when the memory was found; the report counts for questions like it.",
    "helped": "Reports that it helped; in a file only a starting value.",
    "failed": "Reports that it did not help; in a file only a starting value.",
    "versions": "The versions of packages that it was seen with, by name; a list where branches saw several.",
    "check_after": "The day after which it is to be checked again, such as `2027-01-31`.",
    "wrong": "What the memory says is not true; answers mark it until it is edited or superseded.",
    "feedback.note": "Why it helped, did not help, or is wrong.",
    "symptom": "The failure in plain words, one sentence, as a person would report it; found by meaning on its own.",
    "holds_for": "What makes a problem one that the fix is for: `rule` (any names), `names`, `message` or `frame`.",
    "fix": "The action that resolves it; absent as long as nobody knows.",
    "match": "A regular expression that finds it in a log or a query"
    " ([syntax](../guides/matching-logs.md#the-syntax-of-an-expression)).",
    "cost": "What it cost to learn, in thousands of tokens.",
    "pinned": "Nothing archives it, and it goes first among its equals.",
    "flaky": "The failure is flaky: it comes and goes.",
    "insight": "What to do.",
    "saved": "What it saves, in thousands of tokens.",
    "framework": "What it is for, or built with.",
    "type": "Its type.",
    "value": "What belongs to the thing itself; relationships belong in edges.",
    "objective": "What is to be done, in words.",
    "status": "Where it stands.",
    "completed_at": "When it was finished.",
    "outcome": "Outcome of the task.",
    "fingerprint": "What `similar` compares: files, number of tasks, framework, types of tasks.",
    "campaign": "The campaign it belongs to, by key.",
    "depends": "The tasks that must be complete before it, by key.",
    "delta": "Files it may change.",
    "verify": "A command that shows that it is done.",
    "verify_source": "The test file to read first.",
    "budget": "What it may cost.",
    "framework_confidence": "How sure the framework is.",
    "idioms": "What its code must and must not use.",
    "prior_knowledge": "Memories that were handed to it.",
    "lineage": "Its parents and what they delivered.",
    "structure": "How the code is laid out, as an agent reported.",
    "exploration.pattern": "How things are done there.",
    "memory": "What the project remembers.",
    "exploration.delta": "What has to change.",
    "exploration.session": "The exploration session that it comes from.",
    "missing": "The modes that nobody reported.",
    "flow": "The flow it goes through.",
    "cycle": "The cycle it began with.",
    "goal": "When it is done, in words.",
    "branch": "The branch that it is done on.",
    "base_branch": "The branch that it is merged into.",
    "base_commit": "The commit that it began at.",
    "work": "The work that the item is of.",
    "item.source": "What raised it, such as `quench:tests`, `appraise:style` or `human-appraise:ana`.",
    "stage": "The stage of the cycle that raised it; none where a person did without a stage.",
    "iteration": "The iteration of the cycle in which it was raised.",
    "artefact": "The artefact type that it is about.",
    "file": "The file that it is about, as a path in the project.",
    "about": "The entity that it is about, by key.",
    "text": "What was found.",
    "item.tags": "Ids of the laws that it refers to.",
    "delivered": "What it delivered.",
    "blocked_reason": "Why it is blocked, or was.",
    "blocked_by": "The failures that blocked it; of an unreachable one also the tasks that it waits for in vain.",
    "spent": "How much of its budget it took.",
    "sections": "Sections of the specification that it is about.",
    "framework_level": "How unknown the framework is; 0 for well known.",
    "failure_cost_k": "What the failures cost that were known for it, in thousands of tokens.",
    "utilized": "Memories it used.",
    "code_contexts": "Code that belongs to it.",
    "preflight": "What was checked before it began.",
    "started_at": "When it began.",
    "blocked_at": "When it was blocked.",
    "from": "The record it leads from, by key.",
    "to": "The record it leads to, by key.",
    "weight": "Its own weight, above 0 and at most 2; without one it has that of its type.",
    "note": "What is to be said of it.",
    "similarity": "Of a variant that was found: the cosine at that time.",
    "ref": "The memory that is reported on, by key.",
    "at": "When it happened.",
    "task": "For which task; reporting again for the same task replaces the report.",
    "id": "What identifies a report without a task.",
    "lesson.type": "What it is; a preference needs no second time, an archetype_hint has an archetype.",
    "description": "What is to be known; of an experience, what the task was.",
    "source": "Who raised the lesson.",
    "domain": "Where it applies; `general` is everywhere.",
    "severity": "Severity of ignoring the lesson.",
    "archetype": "For which kind of project a hint is.",
    "frequency": "How often runs saw it, less one for every ten silent ones; in a file only a starting value.",
    "insight.frequency": "How often the user does so.",
    "runs_since_last_seen": "Runs since one saw it, up to ten; in a file only a starting value.",
    "last_seen_run": "The last run that saw it; in a file only a starting value.",
    "restored_at": "When it was brought back: from then on it counts as seen once.",
    "task_type": "What kind of task it was.",
    "approach": "Approach that was taken.",
    "lessons": "What to know the next time.",
    "time_taken": "Minutes it took.",
    "complexity_estimated": "Estimated complexity.",
    "complexity_actual": "How hard it was.",
    "capabilities_used": "What it was done with.",
    "confidence": "How sure it is.",
    "category": "Which of four things it says.",
    "statement": "What holds; of a recurring issue its title.",
    "derived_from": "The experiences that agree on it, by key.",
    "file_pattern": "Where in the code it holds.",
    "context": "When it holds.",
    "symptoms": "How the issue shows.",
    "root_cause": "What is behind it.",
    "resolution": "What resolves it.",
    "imported_occurrences": "How often it had been seen where it was imported from; `occurrences` goes on from it.",
    "imported_confidence": "How sure it was where it was imported from; `confidence` is never less.",
    "decision": "What was decided.",
    "reasoning": "Why.",
    "decision.task": "In which task.",
    "session": "In which session.",
    "constraint": "The constraint.",
    "expires_at": "Until when.",
    "ended_at": "When it ended.",
    "session.task": "What it worked on.",
    "conversation": "The id of the conversation.",
    "messages": "How many messages it had.",
    "skills": "Skills that it invoked.",
    "used": "Decisions, constraints and memories that it used, by key.",
    "run": "What identifies the run.",
    "seen": "The lessons that it saw, by key.",
    "purge.salt": "A random text, the same for all purges of a store unless branches purged on their own.",
    "purge.hash": "The SHA-256, in hex, of the salt and the key text of a row that was purged.",
    "event.id": "What identifies it.",
    "event.type": "What happened.",
    "subject": "To what: a reference, or words.",
    "data": "Whatever else there is to say.",
}


def records() -> str:
    """Return the fields of every kind of row."""
    parts = [
        "# Records",
        "The fields of every kind of row, made from the models.\n"
        "A field that holds its default is left out of the files.\n"
        "Answers of graphmem carry `updated_at` and `ref` too, a task's also `seq` and `slug`; no file does.\n"
        "Limits bind what a command takes in, never what a merge made or a file holds.\n"
        "A row is at most 256 KiB, its JSON at most 32 levels deep.",
    ]
    for kind, model in MODELS.items():
        parts += [
            f"## {kind}",
            first_line(model),
            table(["field", "type", "default", "limit", "meaning"], list(fields(kind, model))),
        ]
    return "\n\n".join(parts)


def fields(kind: str, model: type[Frozen]) -> Iterator[list[str]]:
    """Yield a line of the table for each field of a model."""
    for name, field in model.model_fields.items():
        alias = field.alias or name
        if alias not in row_names(model):
            continue
        meaning = MEANINGS.get(f"{kind}.{alias}") or MEANINGS[alias]
        default = "required" if field.is_required() else default_of(field, alias)
        yield [f"`{alias}`", type_of(field.annotation), default, limit_of(field), meaning]


def default_of(field: FieldInfo, name: str) -> str:
    """Return the default of a field, as JSON."""
    if name == "key":
        return "the name"
    value = field.get_default(call_default_factory=True)
    shown = {"None": "–", "()": "`[]`", "{}": "`{}`", "False": "`false`", "True": "`true`", "": '`""`'}
    return shown.get(str(value), f"`{value}`")


def limit_of(field: FieldInfo) -> str:
    """Return the limits of a field in words."""
    told = []
    for found in metadata_of(field):
        if isinstance(found, Limit):
            told += [f"{found.items:,} items"] if found.items else []
            told += [f"{found.characters:,} characters{' each' if found.items else ''}"] if found.characters else []
            told += [f"{found.size // 1024} KiB{' each' if found.items else ''}"] if found.size else []
        for sign, name in ((">", "gt"), ("≥", "ge"), ("≤", "le")):
            bound = getattr(found, name, None)
            told += [f"{sign} {'2^53' if bound == 2**53 else bound}"] if bound is not None else []
    return ", ".join(told) or "–"


def metadata_of(field: FieldInfo) -> Iterator[Any]:
    """Yield what a field's type is annotated with, also inside of a union."""
    found = [
        *field.metadata,
        *(made for part in typing.get_args(field.annotation) for made in getattr(part, "__metadata__", ())),
    ]
    for made in found:
        yield made
        if isinstance(made, FieldInfo):
            yield from made.metadata


def type_of(annotation: Any) -> str:
    """Return a type as JSON has it."""
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return "time" if "format_time" in repr(parts) else type_of(parts[0])
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(type_of(part) for part in parts if part is not types.NoneType))
    if origin is typing.Literal:
        return " \\| ".join(f"`{part}`" for part in parts)
    if origin in (list, tuple):
        return f"list of {type_of(parts[0])}"
    if origin in (dict, Mapping):
        return f"object of {type_of(parts[1])}"
    names = {"str": "text", "float": "number", "int": "integer", "bool": "`true` \\| `false`", "datetime": "time",
             "Path": "path", "object": "any JSON"}  # fmt: skip
    if annotation is Answer:
        return "the command's own document"
    if annotation is Code:
        return "[code](errors.md#findings)"
    if annotation in answer_shapes():
        page = page_on("json", shelf_of(annotation.__module__))
        return f"[{annotation.__name__}]({page}#{annotation.__name__.lower()})"
    found = getattr(annotation, "__name__", str(annotation))
    return names.get(found, "any JSON" if "JsonValue" in str(annotation) else found)


# --- requests -------------------------------------------------------------------------------------------------------


def requests() -> str:
    """Return what each operation takes."""
    parts = [
        "# Requests",
        "What each operation takes, whichever way it is called.\n"
        "The methods of the [Python API](python.md) build a request, and the options of the [command line](cli.md) "
        "have their meaning, default, limits and choices from it.\n"
        "`graphmem schema requests` prints the same as JSON Schema, which is in `schema/requests.schema.json` too.\n"
        "An unknown parameter is refused, and so is a value outside of the limits; the [error](errors.md) names the "
        "parameter, the value and what would be right.\n"
        "Input that is read line by line, such as a log, is not part of a request.",
        table(
            ["requests", "page"],
            [[", ".join(f"`{name}`" for name in requests_on(shelf)), f"[{title}]({page_on('requests', shelf)})"]
             for shelf, title in SHELVES.items() if requests_on(shelf)],
        ),
    ]  # fmt: skip
    inside = shapes(given_as(field) for request in REQUESTS.values() for field in request.model_fields.values())
    for model in inside:
        parts += [f"## {model.__name__}", (inspect.getdoc(model) or "").replace("``", "`"), parameters(model, "field")]
    return "\n\n".join(parts)


# A page of all requests, or answers, would be too long: each shelf has one, by the room in which they are.
SHELVES = {"kernel": "of all", "core": "records and search", "work": "work and sessions", "features": "other features"}
WORK = ("briefing", "explore", "governance", "hooks", "inbox", "learning", "ran", "runs", "work")


def shelf_of(module: str) -> str:
    """Return on which shelf is what a module has."""
    _, house, room, *_ = module.split(".")
    return "work" if room in WORK else "features" if house == "doors" else house


def page_on(name: str, shelf: str) -> str:
    """Return the page of a shelf."""
    return f"{name}-{shelf}.md"


def requests_on(shelf: str) -> dict[str, type[Request]]:
    """Return the requests of the operations on a shelf."""
    return {
        name: request for name, request in REQUESTS.items() if shelf_of(OPERATIONS[name].function.__module__) == shelf
    }


def requests_page(shelf: str) -> str:
    """Return what the operations on a shelf take."""
    parts = [f"# Requests: {SHELVES[shelf]}", "How they are made is in [requests](requests.md)."]
    for name, request in requests_on(shelf).items():
        parts += [f"## {name}", first_line(request), parameters(request, "parameter")]
    return "\n\n".join(parts)


def parameters(model: type[BaseModel], head: str) -> str:
    """Return the table of the fields of a model that a caller gives."""
    rows = [
        [f"`{name}`", type_of(given_as(field)), default_in_json(field), bounds(field),
         f"{field.description}." if field.description else "–"]
        for name, field in model.model_fields.items()
    ]  # fmt: skip
    return table([head, "type", "default", "limits", "meaning"], rows)


def given_as(field: FieldInfo) -> Any:
    """Return the type of a field as a caller gives it."""
    types_of_input = (getattr(found, "json_schema_input_type", PydanticUndefined) for found in field.metadata)
    return next((found for found in types_of_input if found is not PydanticUndefined), field.annotation)


def default_in_json(field: FieldInfo) -> str:
    """Return the default of a parameter, in JSON."""
    return "required" if field.is_required() else f"`{json.dumps(field.default)}`"


# --- answers --------------------------------------------------------------------------------------------------------

ANSWERS: dict[str, type[BaseModel]] = {  # by the commands that print it; a test compares it with the operations
    "`init`": Initialised,
    "`add KIND`, `edit`, `rename`, `forget`, `restore`, `pin`, `unpin`, `supersede`, `session decide`, "
    "`session constrain`, `session end`, `campaign create`": Changed,
    "`add --ndjson`": BulkAdded,
    "`get`": Got,
    "`list`": Listing,
    "`link`, `unlink`": Linked,
    "`related`": Related,
    "`solutions`": Solutions,
    "`path`": Connection,
    "`query`": Found,
    "`context`": ContextBlock,
    "`match`": MatchedLog,
    "`ran`": Ran,
    "`stale`": StaleRecords,
    "`similar`": Similar,
    "`feedback REF`": Reported,
    "`feedback --ndjson`": BulkReported,
    "`lesson learn`, `lesson decay`": Learned,
    "`lesson inject`": Injected,
    "`experience`": Recalled,
    "`experience insights`": Promoted,
    "`prune`": Pruned,
    "`session`, `session start`, `session task`, `session prefer`, `session note`": SessionContext,
    "`campaign add-tasks`, `campaign complete`": CampaignTasks,
    "`campaign ready`": Ready,
    "`campaign status`, `campaign propagate`": CampaignStanding,
    "`campaign replan-input`": ReplanInput,
    "`campaign merge-plan`": MergedPlan,
    "`task start`, `task complete`, `task block`, `task reopen`": TaskChanged,
    "`task show`": TaskShown,
    "`campaign learn`": Observed,
    "`explore start`": ExplorationStarted,
    "`explore report`": ExplorationReported,
    "`explore wait`": ExplorationWaited,
    "`build show`, `build set`, `build done`, `build change`, `build begin`, `build chunk`, `build checkpoint`,"
    " `build end`": RunShown,
    "`build require`": Required,
    "`build resume`": BuildResume,
    "`phase status`": PhaseStatus,
    "`phase can`": PhaseCan,
    "`phase to`, `phase reset`": PhaseMoved,
    "`phase duration`": PhaseDurations,
    "`inbox add`, `inbox take`, `inbox dismiss`, `inbox done`": ItemChanged,
    "`inbox list`": ItemList,
    "`work start`, `work show`, `work advance`, `work abandon`": WorkShown,
    "`work list`": WorkList,
    "`work next`, `stage retry`": NextStage,
    "`work branch`": BranchMade,
    "`work finish`": WorkFinished,
    "`work verify`": WorkVerified,
    "`snapshot list`": SnapshotList,
    "`snapshot show`": SnapshotShown,
    "`snapshot diff`": SnapshotDifference,
    "`stage begin`": StageBegun,
    "`stage run`": StageChecked,
    "`stage end`": StageEnded,
    "`item add`, `item show`, `item action`, `item wont-fix`, `item resolve`, `item reject`": ReviewItemAnswer,
    "`item list`": ReviewItemList,
    "`import sessions`, `import git`, `import ci`, `import notes`": Harvested,
    "`import --all`": HarvestedAll,
    "`review`, `review show`": CandidateList,
    "`stale --prove`": ProofsChecked,
    "`review accept`, `review dismiss`, `review prove`": ReviewedList,
    "`event`": Happened,
    "`event list`": EventList,
    "`prime`": Briefing,
    "`status`": StoreStatus,
    "`resolve`": Resolved,
    "`hook`": HookAnswer,
    "`type list`": TypeList,
    "`scope add`, `scope show`": Scope,
    "`scope list`": ScopeList,
    "`type brief`": TypeBrief,
    "`type rename`, `type drop`": TypeChanged,
    "`type add entity`, `type show`": vocabulary.EntityType,
    "`type add relation`, `type show`": vocabulary.RelationType,
    "`import`": Imported,
    "`extract add`": ExtractorAdded,
    "`extract list`": ExtractorList,
    "`extract run`": Extracted,
    "`cypher`": CypherRows,
    "`cypher --list`": QueryList,
    "`history`": History,
    "`diff`": Difference,
    "`why`": Why,
    "`config`": ConfigShown,
    "`view`": ServedPage,
    "`view --out`": PageData,
    "`check`": BranchChecked,
    "`export`": Exported,
    "`embed status`": EmbeddingStatus,
    "`embed change`": ModelChanged,
    "`rebuild`": Rebuilt,
    "`split`": Split,
    "`sync`": Synced,
    "`ledger move`": LedgerMoved,
    "`vacuum`": Vacuumed,
    "`reset`": Reset,
    "`dump`": Dump,
    "`validate`, `export --check`": Checked,
    "`doctor`": Doctored,
    "`undo`, `undo --list`": Writes,
    "`purge`": Purged,
    "`trust`": Trust,
    "`graph push`": GraphPushed,
    "`team init`, `team grant`, `team revoke`, `team upgrade`": ServerChanged,
    "`schema`": SchemaShown,
    "`stats`": Stats,
    "`stats --impact`": Impact,
    "`verify-loop`": Loop,
    "`demo`": Demonstrated,
    "`help`": Help,
}


def json_page() -> str:
    """Return what every command prints."""
    parts = [
        "# JSON",
        "With `--json` a command prints one document; the Python API returns the model that it is made of.\n"
        "`graphmem schema answers` prints all of them as JSON Schema.\n"
        "Fields are added, never changed or removed.\n"
        "A list is a list also when it is empty, and a field without a value is `null`.\n"
        "Every `ref` is `kind/name`, for an entity `type/name`, by current name.\n"
        "A `record` is one of [the records](records.md) with `ref`, `updated_at` and its counts as they are now.\n"
        "An error is one document on standard error; see [errors](errors.md).\n"
        "Every document may hold `notices`: lines to report beside the answer, such as the bad lines of a file.",
        table(
            ["command", "document"],
            [[name, type_of(model)] for name, model in ANSWERS.items()],
        ),
        "Its parts are on the pages "
        + ", ".join(f"[{title}]({page_on('json', one)})" for one, title in SHELVES.items())
        + ".",
    ]
    return "\n\n".join(parts)


@cache
def answer_shapes() -> list[type[BaseModel]]:
    """Return every model of an answer, and what it is made of."""
    return shapes(ANSWERS.values())


def answers_page(shelf: str) -> str:
    """Return the shape of the answers on a shelf, and of their parts there."""
    parts = [f"# JSON: {SHELVES[shelf]}", "Which command prints what is in [JSON](json.md)."]
    for model in answer_shapes():
        if shelf_of(model.__module__) != shelf:
            continue
        fields = {name: field for name, field in model.model_fields.items() if name != "notices"}
        rows = [[f"`{field.alias or name}`", type_of(held_in(field))] for name, field in fields.items()]
        parts += [f"## {model.__name__}", first_line(model), table(["field", "type"], rows)]
    return "\n\n".join(parts)


def shapes(types_met: Iterable[Any]) -> list[type[BaseModel]]:
    """Return every model among types and inside of them, in the order in which they are met."""
    found: dict[str, type[BaseModel]] = {}

    def meet(annotation: Any) -> None:
        for part in typing.get_args(annotation):
            meet(part)
        is_model = isinstance(annotation, type) and issubclass(annotation, BaseModel)
        if not is_model or issubclass(annotation, Frozen) or annotation in (*found.values(), Answer):
            return
        found[annotation.__name__] = annotation
        for field in annotation.model_fields.values():
            meet(held_in(field))

    for one in types_met:
        meet(one)
    return list(found.values())


def held_in(field: FieldInfo) -> Any:
    """Return the type of a field of an answer; of one whose type is a parameter, all that it may be."""
    return getattr(field.annotation, "__default__", field.annotation)


# --- errors and settings --------------------------------------------------------------------------------------------


def error_page() -> str:
    """Return every error class with its code and its exit status."""
    rows = [
        [f"`{found.__name__}`", f"`{found.code}`", str(found.exit_status), first_line(found)]
        for found in below(errors.GraphmemError)
    ]
    return "\n\n".join([
        "# Errors",
        "Every error that graphmem raises on purpose is a `GraphmemError`.\n"
        "Its class says what the caller can do, and `code` says it to a program.\n"
        "The command line ends with its `exit_status`.\n"
        "`message` says what was refused and which value, `hint` what would be right, `details` holds the facts.",
        table(["class", "code", "exit status", "meaning"], rows),
        "## Exit status",
        table(["status", "meaning"], [
            ["0", "done, also with an empty result"],
            ["1", "not found, not connected, or a check (`validate`, `doctor`, `export --check`) found errors"],
            ["2", "usage: an unknown command or option, a missing argument, a value of the wrong type"],
            ["3", "input refused: bad data, a rule, a forbidden statement, a conflict"],
            ["4", "locked or unavailable: no store, no permission, time is up"],
            ["5", "the store is damaged"],
            ["130", "interrupted"],
        ]),
        "## Findings",
        "What `validate`, `doctor` and `export --check` find, and what is wrong with the lines of an input: each has a "
        "`code`.\n"
        "With `--json` a finding is [an object](json-kernel.md#finding); `expected` names what would be right in its "
        "place, `fix` what to do.",
        table(["code", "severity", "meaning"], [[f"`{code}`", code.severity, code.meaning] for code in Code]),
        "## On the command line",
        "For people an error is a line that begins with `error:`, often followed by one that begins with `hint:`.",
        "With `--json` it is one document on standard error, with the same exit status:",
        '```json\n{"error": {"code": "not_found", "message": "nothing is named \'failure/import-eror\'", '
        '"hint": "did you mean failure/import-error?", "details": {"ref": "failure/import-eror"}}}\n```',
        "The command line knows two codes more: `interrupted`, and `bug` for what should never happen; "
        "`details.notes` holds what would have been said on standard error beside it.",
    ])  # fmt: skip


def below(root: type[errors.GraphmemError]) -> Iterator[type[errors.GraphmemError]]:
    """Yield the classes below a class, in the order of the source, each before those below it."""
    for found in root.__subclasses__():
        if found.__module__ == errors.__name__:
            yield found
            yield from below(found)


SETTINGS = {
    "embedding.model": "A sentence-transformers name, a local path, `none`, or what the endpoint calls it.",
    "embedding.endpoint": "Address of an OpenAI-compatible server that has the model; empty: it runs here.",
    "embedding.dimensions": "Dimensions of the vectors of the endpoint's model; `embed change` finds them out.",
    "embedding.background": "Whether a process of low priority makes the vectors of texts that no command waits for.",
    "embedding.wait": "Seconds that a command embeds texts that others brought, before it answers.",
    "retrieval.profile": "How relevance becomes a score: `learned` from reports, or by the `classic` formula.",
    "retrieval.half_life_days": "Days until a memory counts half, in the classic profile and in pruning.",
    "retrieval.cost_exponent": "Power of log2(cost + 1) in the learned profile; 0 leaves it out.",
    "retrieval.recency_exponent": "Power of the age in the learned profile; 0 leaves it out.",
    "retrieval.recency_days": "Days until the age counts half, before its power.",
    "retrieval.occasion_similarity": "Cosine of two questions up to which a report on one means nothing to the other.",
    "retrieval.unasked_weight": "Weight of a report that does not say what was asked, beside 1 for the same question.",
    "retrieval.critical": "Similarity from which a record is about the very thing.",
    "retrieval.productive": "From which it is likely to help.",
    "retrieval.exploration": "From which it may be worth a look.",
    "retrieval.rrf_k": "The constant of reciprocal rank fusion.",
    "retrieval.candidates": "Records that each index puts forward.",
    "retrieval.lexical_weight": "Weight of the best lexical evidence of a query beside the cosine.",
    "retrieval.merge_similarity": "Cosine from which a record with the same telling tokens is the same record.",
    "retrieval.variant_similarity": "Cosine from which a new record is linked as a variant.",
    "retrieval.min_strength": "A path whose product falls below is cut there.",
    "retrieval.similar_threshold": "Similarity from which a campaign is shown.",
    "retrieval.known": "Probability that the first result is what was asked from which a query is certain: `high`.",
    "retrieval.unsure": "From which the certainty is `low`; below it is `none`.",
    "retrieval.reranker": "A cross-encoder that reorders the first hits: a name or a local path; empty: none.",
    "retrieval.rerank": "Hits that the reranker looks at.",
    "store.lock_timeout": "Seconds that a writer waits for the lock.",
    "store.secrets": "What happens to a text that looks like it holds a secret: `refuse`, `redact` or `allow`.",
    "team.require": "What a write to a server has to be worth: `any`, on a `disk`, or on that of a `standby` too.",
    "ledger.place": "Where the project has its rows: in files of the branch, or in commits of a ref of its own.",
    "cypher.timeout": "Seconds that a user's query may take.",
    "cypher.limit": "Rows that a user's query returns at most.",
    "hooks.off": "Events of agents that get no answer: `start`, `prompt`, `before`, `after`, `end`, or `all`;"
    " `credit`: a pass reports nothing.",
    "hooks.note_edits": "Whether files that an agent edits outside of a plan are noted in the run state.",
    "stores.organisation": "The store of your organisation, asked too: a folder, or the address of a server."
    " A project cannot set it.",
    "graph.url": "The server with the graphs of many projects, as `falkordb://HOST:PORT`. A project cannot set it.",
    "harvest.hand_out": "Whether agents get the texts of candidates that nobody has reviewed.",
    "service.autostart": "Whether the first command starts the service that answers the next ones.",
}


def config() -> str:
    """Return every setting with its default and its environment variable."""
    rows = []
    for section, model in sections().items():
        for key, field in model.model_fields.items():
            name = f"{section}.{key}"
            default = f"`{field.default:g}`" if isinstance(field.default, float) else f"`{field.default}`"
            variable = f"`GRAPHMEM_{section.upper()}_{key.upper()}`"
            most = next((f"{bound.le:,g}" for bound in field.metadata if hasattr(bound, "le")), "")
            rows.append([f"`{name}`", default, most, variable, SETTINGS.get(name, "–")])
    assert issubclass(Settings, SettingsSection)
    meaning = "The name that rows give who writes them; empty for no name. A project cannot set it."
    rows.append(["`by`", "git's `user.name`", "", "`GRAPHMEM_BY`", meaning])
    meaning = "Whether the user's own store is asked too; the variable names its folder, and empty turns it off."
    rows.append(["`user_store`", "`True`", "", "`GRAPHMEM_USER_STORE`", meaning])
    meaning = "Whether a write is refused on a branch that it does not belong on; no variable sets it."
    rows.append(["`governance`", "`False`", "", "", meaning])
    return "\n\n".join([
        "# Settings",
        "Later wins: the defaults, the user's file `~/.config/graphmem/config.toml`, the project's "
        "`.graphmem/config.toml`, "
        "the environment, the options of a command.\n"
        "An unknown key and an invalid value are left out: the default is used, each answer names file, key and "
        "what is right, and `validate` and `doctor` are red.\n"
        "Nothing is written where such a setting decides what is stored: `format`, `store.secrets`, "
        "`retrieval.merge_similarity`, `retrieval.variant_similarity`, or a project's file that cannot be read.\n"
        "An option of a command that is wrong is an error.\n"
        "`graphmem config` shows the values that hold, and where each comes from.\n"
        "A project's file can name no model but the default or `none`, no endpoint and no reranker, until somebody "
        "trusts it: "
        "see [taking back](../guides/taking-back.md#what-a-project-may-ask-for).\n"
        "`store.secrets = \"allow\"` of a project counts only then, too.\n"
        "It may lower `cypher.timeout`, `cypher.limit` and `embedding.wait`, and not raise them above what you or the "
        "defaults allow.\n"
        "Where a file or the environment names a model, the endpoint is the one that it names beside it, or none; "
        "see [the model](../guides/change-the-model.md).",
        table(["key", "default", "at most", "environment variable", "meaning"], rows),
        "`GRAPHMEM_DIR` names the folder that holds `.graphmem`, as `--dir` does.\n"
        "`GRAPHMEM_EMBEDDING_KEY` is the key for the endpoint; it is no setting, and in no file.\n"
        "`GRAPHMEM_GRAPH_PASSWORD` is the password for the server of graphs, and no setting either.\n"
        "`graphmem mcp` also looks at `CLAUDE_PROJECT_DIR`, which Claude Code sets.\n"
        "`NO_COLOR` takes the colours from the progress display, the only thing that has any.",
        "A project's file begins with the format of its store:",
        '```toml\nformat = 1\n\n[retrieval]\nhalf_life_days = 60\n\n[cypher]\nlimit = 200\n```',
    ])  # fmt: skip


# --- Markdown -------------------------------------------------------------------------------------------------------


def first_line(found: type) -> str:
    """Return the first line of a class's docstring."""
    return (found.__doc__ or "").strip().split("\n")[0].replace("``", "`")


TABLES: dict[str, tuple[str, Table, Mapping[str, str]]] = {
    "A task of a campaign": (
        "`task start`, `complete`, `block` and `reopen` move a task; `campaign propagate` and the moves of other tasks"
        " make it unreachable, and pending again.\n"
        "A task that is in the state already stays as it is: the answer is `unchanged`, and says since when"
        " and by which session.\n"
        "Completed or blocked again, it keeps what it delivered and why it was blocked; more reports and what it does"
        " not say yet are added, and the answer is `updated`.",
        TASK_MOVES,
        {state: f"task {verb}" for state, verb in TASK_COMMANDS.items()},
    ),
    "A chunk of a build run": (
        "`build chunk` moves it; of two callers that begin it, one is refused with the time.",
        CHUNK_MOVES,
        {},
    ),
    "A phase": ("`phase to` moves it; `phase reset` leads to `none` from anywhere.", PHASE_MOVES, {}),
    "An item of the inbox": (
        "`inbox take`, `done` and `dismiss` move it; of two that take it, one is refused.",
        ITEM_MOVES,
        {},
    ),
    "The current task of a session": ("`session task --status` moves it.", STAGE_MOVES, {}),
}


def states() -> str:
    """Return the states of what is worked on, and which may follow which."""
    parts = [
        "# States",
        "What is worked on is in one of a few states.\n"
        "A move that a table does not have is refused, and the message names those that are possible.\n"
        "The program reads the same tables.",
    ]
    for title, (text, moves, commands) in TABLES.items():
        rows = [
            [
                f"`{state}`",
                ", ".join(f"`{after}`" + (f" ({commands[after]})" if after in commands else "") for after in following)
                or "nothing",
            ]
            for state, following in moves.items()
        ]
        parts += [f"## {title}", text, table(["from", "to"], rows)]
    return "\n\n".join(parts)


def governance_tables() -> str:
    """Return the tables of guarded work."""
    rules = governance_states
    named = {
        "moves": [
            [
                ", ".join(f"`{one}`" for one in move.before),
                f"`{move.after}`",
                " or ".join(rules.WORDS[who] for who in move.who)
                + (f"; only for an item of {' or '.join(move.sources)}" if move.sources else ""),
                "yes" if move.needs_reason else "",
                f"`item {move.command}`" if move.command else "`work next`",
            ]
            for move in rules.ITEM_MOVES
        ],
        "stages": [
            [
                f"`{kind}`",
                "those that match the output artefact" if rights.files else "",
                ", ".join(f"`{one}`" for one in rights.moves),
                "yes" if rights.adds else "",
                "within the cycle's scope, through extractors" if rights.memory else "",
            ]
            for kind, rights in rules.STAGE_RIGHTS.items()
        ],
        "branches": [
            [name, f"`{one.pattern}`", ", ".join(rules.AREAS[area] for area in one.areas), one.also]
            for name, one in rules.NAMESPACES.items()
        ]
        + [["any other", "", ", ".join(rules.AREAS[area] for area in rules.ELSEWHERE), "everything else"]],
    }
    kept = ", ".join(f"`{kind}`" for kind in sorted(rules.ALWAYS))
    return "\n\n".join(
        [
            "# Tables of guarded work",
            "The program reads the same tables; the [guide](../guides/guarded-work.md) says what they are for.",
            "## How a review item moves",
            "A move that the table does not have is refused, and the message names those that are possible.\n"
            "`resolved` is final: no row leads from it.",
            table(["from", "to", "who may", "needs a reason", "command"], named["moves"]),
            "## What a stage may write",
            f"Rows of {kept} that reports and hooks bring are allowed in every stage.",
            table(["kind", "files", "moves of items to", "new items", "memory"], named["stages"]),
            "## What may change on a branch",
            "This holds where `governance = true` is in `config.toml`.",
            table(["namespace", "branches", "rows and definitions", "files"], named["branches"]),
        ]
    )


# --- definitions of guarded work --------------------------------------------------------------------------------------

SORTS: tuple[tuple[str, str, type[BaseModel], str], ...] = (
    ("Flows", "flows/<flow>.md", governance.FlowDefinition, ""),
    (
        "Cycles",
        "cycles/<cycle>.md",
        governance.CycleDefinition,
        "A cycle that no flow reaches is a warning.\n"
        "`human_appraise` needs a stage of kind `human-appraise`, and a stage of kind `assay` needs `extractors`.",
    ),
    (
        "Stages of a cycle",
        "",
        governance.CycleStage,
        "A `forge` makes the output, a `quench` runs the commands of the artefact type, an `appraise` is the look of a "
        "reviewer, a `human-appraise` that of a person, and an `assay` runs extractors.",
    ),
    (
        "Artefact types",
        "artefacts/<type>.md",
        governance.ArtefactDefinition,
        "The commands are run by a shell, in the root of the project, and only where the clone trusts them.",
    ),
    ("Laws of an artefact type", "", governance.Law, ""),
)
EXAMPLE = {
    "flows/feature.md": "---\nstart: [build]\ndescription: A feature and its page in the manual\n---\n\n"
    "For all that users see.",
    "cycles/build.md": "---\noutput: code\ninputs: [manual]\ntargets: [explain]\nstages:\n"
    "  - {name: write, kind: forge}\n  - {name: tests, kind: quench}\n  - {name: review, kind: appraise}\n"
    "max_iterations: 4\nmodels: {review: small}\n---",
    "cycles/explain.md": "---\noutput: manual\ninputs: [code]\nstages:\n  - {name: write, kind: forge}\n"
    "  - {name: owner, kind: human-appraise}\nhuman_appraise: true\n---",
    "artefacts/code.md": '---\nfiles: ["src/**", "tests/**/*.py"]\nlaws:\n'
    "  - {id: no-print, text: The library prints nothing.}\n"
    "validation:\n  unit: python -m pytest -q\n  types: python -m mypy src\n---",
    "artefacts/manual.md": '---\nfiles: ["docs/**/*.md", README.md]\nvalidation: [vale docs]\n---',
}
GLOBS = (
    ("`*`", "any characters but `/`, also none"),
    ("`?`", "one character but `/`"),
    ("`[abc]`, `[a-z]`, `[!a]`", "one character of a class, or of all others; never `/`"),
    ("`{a,b}`", "one of these; braces are written out before anything else is read, and may be nested"),
    ("`**`", "as a part of its own: any number of parts, also none; at the end at least one"),
    ("`\\`", "before a character: that character itself"),
)


def definition_field(name: str, field: FieldInfo) -> list[str]:
    """Return the line of a table for a field of a definition."""
    of_type = type_of(field.annotation).replace("CycleStage", "stages").replace("Law", "laws")
    lengths = [f"at most {made.max_length}" for made in field.metadata if getattr(made, "max_length", 0)]
    default = "required" if field.is_required() else default_of(field, name)
    return [f"`{name}`", of_type, default, ", ".join(lengths) or limit_of(field), field.description or ""]


def definitions() -> str:
    """Return the page of the files that guarded work follows, with their fields and an example that runs."""
    parts = [
        "# Definitions",
        "Guarded work follows files of the project: flows, cycles and artefact types.\n"
        "Each is a Markdown file below `.graphmem/` whose front matter has the fields of this page, made from the "
        "models; its name is in a-z 0-9 - _, at most 64 characters.\n"
        "The text below the front matter says what it is for.\n"
        "A project without these folders has no guarded work, and nothing of it is read.\n"
        "`graphmem validate` and `graphmem doctor` name each file that is wrong, the line, and what would be right.\n"
        f"Of each sort {governance.MOST_FILES} files are read.",
    ]
    for title, path, model, text in SORTS:
        parts += [f"{'##' if path else '###'} {title}", *([f"File: `.graphmem/{path}`"] if path else ())]
        parts += [first_line(model), *([text] if text else ())]
        rows = [definition_field(name, field) for name, field in model.model_fields.items() if name != "prose"]
        rows.sort(key=lambda row: row[0] == "`description`")  # which all have
        parts += [table(["field", "type", "default", "limit", "meaning"], rows)]
    parts += [
        "## Globs",
        "A glob is matched with a path from the root of the project, in upper and lower case as it is written.\n"
        "Quote it in the front matter: `*`, `[`, `{` and `!` mean something else to YAML.\n"
        "A path that is absolute, or has an empty part, `.` or `..`, is matched by none.",
        table(["in a glob", "matches"], [[*row] for row in GLOBS]),
        "Two artefact types whose globs can match one path are refused: of the two, the second in the order of names "
        "is left out, and the message shows a shortest path of both.\n"
        "This is decided for all paths that there can be, whether files are there or not.\n"
        "So is a type that can have files of graphmem or git, below "
        f"{', '.join(f'`{glob[:-2]}`' for glob in governance.OWN_FILES)}: "
        "instead of `**/*.md` write `docs/**/*.md`, or `[!.]*/**/*.md`.",
        "## Example",
        "A flow with two cycles: one makes the code, one explains it in the manual.",
        "```console\n$ graphmem init\nmade …/.graphmem\nnext: graphmem install CLIENT …\n"
        "$ mkdir .graphmem/flows .graphmem/cycles .graphmem/artefacts\n```",
        *(f"<!-- file: .graphmem/{path} -->\n```text\n{text}\n```" for path, text in EXAMPLE.items()),
        "```console\n$ graphmem validate\nall files are well\n```",
        "A third type takes in files of the second:",
        '<!-- file: .graphmem/artefacts/release.md -->\n```text\n---\nfiles: [CHANGES, "*.md"]\n---\n```',
        "```console\n$ graphmem validate\nerror: artefacts/release.md:2:1: '*.md' matches 'README.md', which "
        "can be a file of the artefact type 'manual'; this artefact type is left out, "
        "expected globs that share no path\n```",
    ]
    return "\n\n".join(parts)


def table(heads: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


PAGES: dict[str, Callable[[], str]] = {
    "cli.md": cli,
    "records.md": records,
    "requests.md": requests,
    **{page_on("requests", shelf): partial(requests_page, shelf) for shelf in SHELVES if requests_on(shelf)},
    "json.md": json_page,
    **{page_on("json", shelf): partial(answers_page, shelf) for shelf in SHELVES},
    "errors.md": error_page,
    "states.md": states,
    "governance.md": governance_tables,
    "definitions.md": definitions,
    "config.md": config,
    "python.md": python,
}


CONTRIBUTING = Path(__file__).parents[1] / "docs" / "contributing.md"
ROOMS = ("<!-- rooms: drawn from the imports by tests/generate_docs.py -->\n", "<!-- end of rooms -->\n")


def with_rooms(text: str) -> str:
    """Return the page for contributors with what each room imports from; of a lower house, its name."""
    arrows: dict[str, set[str]] = {}
    for file in MODULES:
        mine = room_of(file)
        for _, name in imports(file):
            theirs = room_of(module_of(name.removeprefix("graphmem.")))
            if name.startswith("graphmem.") and "." in theirs and "." in mine and theirs != mine:
                house = theirs.partition(".")[0]
                arrows.setdefault(mine, set()).add(theirs if house == mine.partition(".")[0] else house)
    width = max(map(len, arrows))
    lines = [
        textwrap.fill(" ".join(sorted(found)), 112, initial_indent=f"{room:<{width}}  ",
                      subsequent_indent=" " * (width + 2), break_on_hyphens=False)
        for room, found in sorted(arrows.items(), key=lambda one: (HOUSES.index(one[0].partition(".")[0]), one[0]))
    ]  # fmt: skip
    before, _, rest = text.partition(ROOMS[0])
    return f"{before}{ROOMS[0]}\n```text\n{chr(10).join(lines)}\n```\n\n{ROOMS[1]}{rest.partition(ROOMS[1])[2]}"


def page(name: str) -> str:
    """Return a generated page."""
    return f"{NOTE}\n\n{PAGES[name]().rstrip()}\n"


def main() -> None:
    """Write the pages."""
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for name in PAGES:
        (REFERENCE / name).write_text(page(name), encoding="utf-8")
    CONTRIBUTING.write_text(with_rooms(CONTRIBUTING.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
