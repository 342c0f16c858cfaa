"""
The operations: one row each, which says all that one has to know of it.

``dispatch`` runs them, ``graphmem/api.py`` is made from them (``python -m tests.generate``), and every
front end reads them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from graphmem.core.evidence.doubt_contract import StaleRecords
from graphmem.core.plans.campaign_contract import (
    AddTasksRequest,
    CampaignRequest,
    CampaignStanding,
    CampaignTasks,
    CompleteCampaignRequest,
    CreateCampaignRequest,
    MergedPlan,
    MergePlanRequest,
    Ready,
    ReadyRequest,
    ReplanInput,
    Similar,
    SimilarRequest,
)
from graphmem.core.records.candidate_contract import (
    AcceptCandidateRequest,
    CandidateList,
    DismissCandidateRequest,
    Harvested,
    HarvestedAll,
    ImportAllRequest,
    ImportCiRequest,
    ImportGitRequest,
    ImportNotesRequest,
    ImportSessionsRequest,
    ProofsChecked,
    ProveCandidateRequest,
    ReviewedList,
    ReviewRequest,
    ShowCandidateRequest,
)
from graphmem.core.records.entities import AddEntityRequest
from graphmem.core.records.event_contract import AddEventRequest, EventList, Happened, ListEventsRequest
from graphmem.core.records.failures import AddFailureRequest
from graphmem.core.records.feedback_contract import BulkReported, FeedbackRequest, FeedbackRowsRequest, Reported
from graphmem.core.records.insights import AddInsightRequest
from graphmem.core.records.patterns import AddPatternRequest
from graphmem.core.records.record_contract import (
    AddRowsRequest,
    BulkAdded,
    Changed,
    CopyRequest,
    EditRequest,
    ForgetRequest,
    GetRequest,
    Got,
    Listing,
    ListRequest,
    NamesRequest,
    PinRequest,
    Pruned,
    PruneRequest,
    Purged,
    PurgeRequest,
    RenameRequest,
    RestoreRequest,
    SupersedeRequest,
    UndoRequest,
    UnpinRequest,
    Writes,
)
from graphmem.core.records.relation_contract import (
    Connection,
    Linked,
    LinkRequest,
    PathRequest,
    Related,
    RelatedRequest,
    Solutions,
    SolutionsRequest,
    UnlinkRequest,
)
from graphmem.core.search.match_contract import MatchedLog, MatchRequest
from graphmem.core.search.query_contract import Found, QueryRequest
from graphmem.core.vocabulary.contract import (
    AddEntityTypeRequest,
    AddRelationTypeRequest,
    BriefTypesRequest,
    DropTypeRequest,
    RenameTypeRequest,
    ShowTypeRequest,
    TypeBrief,
    TypeChanged,
    TypeList,
)
from graphmem.core.vocabulary.scope_contract import AddScopeRequest, ScopeList, ShowScopeRequest
from graphmem.doors.agents.hook_contract import HookAnswer, HookRequest
from graphmem.features.briefing.context_contract import ContextBlock, ContextRequest
from graphmem.features.briefing.prime_contract import Briefing, PrimeRequest, StoreStatus
from graphmem.features.cypher.contract import CypherNamedRequest, CypherRequest, CypherRows, QueryList
from graphmem.features.exchange.contract import Imported, ImportRequest
from graphmem.features.explore.contract import (
    AggregateExplorationRequest,
    ExplorationReported,
    ExplorationStarted,
    ExplorationWaited,
    ReportExplorationRequest,
    WaitExplorationRequest,
)
from graphmem.features.extractors.contract import (
    AddExtractorRequest,
    Extracted,
    ExtractorAdded,
    ExtractorList,
    RunExtractorsRequest,
)
from graphmem.features.history.check_contract import BranchChecked, CheckRequest
from graphmem.features.history.contract import Difference, DiffRequest, History, LogRequest
from graphmem.features.history.why_contract import Why, WhyRequest
from graphmem.features.inbox.contract import (
    AddItemRequest,
    DismissItemRequest,
    FinishItemRequest,
    ItemChanged,
    ItemList,
    ListItemsRequest,
    TakeItemRequest,
)
from graphmem.features.learning.experience_contract import (
    AddExperienceRequest,
    Promoted,
    PromoteRequest,
    Recalled,
    RecallRequest,
)
from graphmem.features.learning.lesson_contract import (
    AddLessonRequest,
    DecayRequest,
    Injected,
    InjectRequest,
    Learned,
    LearnRequest,
)
from graphmem.features.learning.session_contract import (
    ConstrainRequest,
    DecideRequest,
    EndSessionRequest,
    NoteRequest,
    PreferRequest,
    SessionContext,
    SessionRequest,
    StartSessionRequest,
    WorkOnRequest,
)
from graphmem.features.ran.contract import Ran, RanRequest
from graphmem.features.runs.contract import (
    BeginBuildRequest,
    BuildResume,
    ChangeRequest,
    CheckpointRequest,
    MoveChunkRequest,
    Required,
    RequireStepRequest,
    ResumeBuildRequest,
    RunShown,
    SetRunRequest,
    StepRequest,
)
from graphmem.features.stats.contract import Stats, StatsRequest
from graphmem.features.stats.effectiveness_contract import Loop, VerifyLoopRequest
from graphmem.features.stats.impact_contract import Impact
from graphmem.features.upkeep.config_contract import ConfigRequest, ConfigShown
from graphmem.features.upkeep.embedding_contract import ChangeModelRequest, EmbeddingStatus, ModelChanged
from graphmem.features.upkeep.store_contract import (
    DoctorRequest,
    Dump,
    DumpRequest,
    Exported,
    ExportRequest,
    Initialised,
    InitRequest,
    RebuildRequest,
    Rebuilt,
    Reset,
    ResetRequest,
    Resolved,
    Split,
    SplitRequest,
    Trust,
    TrustRequest,
    Vacuumed,
    VacuumRequest,
)
from graphmem.features.view.contract import PageData, ViewRequest
from graphmem.features.work.observation_contract import Observed, ObserveRequest
from graphmem.features.work.phase_contract import (
    MovePhaseRequest,
    PhaseCan,
    PhaseDurations,
    PhaseMoved,
    PhaseRequest,
    PhaseStatus,
)
from graphmem.features.work.task_contract import (
    BlockTaskRequest,
    CompleteTaskRequest,
    ReopenTaskRequest,
    ShowTaskRequest,
    StartTaskRequest,
    TaskChanged,
    TaskShown,
)
from graphmem.kernel.finding import Checked, Doctored
from graphmem.kernel.model.scope import Scope
from graphmem.kernel.model.vocabulary import EntityType, RelationType
from graphmem.kernel.request import NoParameters, Request

Effect = Literal["read", "write"]
READ: Effect = "read"
WRITE: Effect = "write"


@dataclass(frozen=True)
class Operation:
    """
    One operation.

    Args:
        name: what a caller writes after ``memory.``, such as ``failures.add``.
        request: its parameters.
        answer: the type of what it returns.
        effect: whether it changes anything that is remembered.
        use_case: the function that does it, by its module below ``graphmem`` and its name. It takes a
            ``Snapshot`` if it reads or has previews, a ``Writing`` if it writes; a ``Client`` if it waits for something
            before its moment of the store (a model, a program, a stream, another lock) or writes elsewhere. Then comes
            the stream if there is one, then the request if that has parameters.
        meaning: what it does, in a sentence.
        positional: how many parameters Python takes by position; None for those that are required.
        keywords: the parameter, a mapping, whose items Python takes as keywords too.
        also: another name of it in Python.
        raises: errors that a caller has to reckon with, by the name of their class.
        past: it can be asked of a past state of the store (``--at``).
        previews: the parameter that decides whether it only says what it would do: ``dry_run`` asks for that, any other
            for the change.
        at_home: a command of it runs in the process that was called, not in the service: it starts programs, writes
            outside of the store, or talks to a person.
        needs_store: it works on an open store.
        scoped: it reads through the snapshot alone, so it can be limited to the kinds that a caller may see.
        from_files: its answer follows from the files and the settings alone: no clock, no marks of doubt.
        stream: the parameter that is read once, line by line; the request does not have it.
        is_held: it holds all of its stream anyway, so that it can run a second time.
        not_over_http: why HTTP does not offer it.
        without: parameters that HTTP does not take, each with the reason.
    """

    name: str
    request: type[Request]
    answer: Any
    effect: Effect
    use_case: str
    meaning: str
    positional: int | None = None
    keywords: str | None = None
    also: str | None = None
    raises: Mapping[str, str] = field(default_factory=dict)
    past: bool = False
    previews: str | None = None
    at_home: bool = False
    needs_store: bool = True
    scoped: bool = False
    from_files: bool = False
    stream: str | None = None
    is_held: bool = False
    not_over_http: str | None = None
    without: Mapping[str, str] = field(default_factory=dict)

    def only_reads(self, request: Request) -> bool:
        """Return whether one call of it changes nothing: it never does, or it is a preview."""
        if self.previews is None:
            return self.effect == READ
        is_set = bool(getattr(request, self.previews, None))  # HTTP leaves out some parameters
        return is_set if self.previews == "dry_run" else not is_set


NOUNS = {
    "failures": "What went wrong, and what fixes it.",
    "patterns": "What works.",
    "entities": "Things of the project.",
    "lessons": "What runs taught: seen again, fading, and injected into prompts.",
    "experiences": "What finished tasks taught.",
    "user": "The user's own store, which is in no project.",
    "insights": "What several experiences agree on.",
    "decisions": "What was decided, and why.",
    "constraints": "Rules that hold until a time or for ever.",
    "sessions": "The current task, decisions, constraints and preferences; without a name, of the whole project.",
    "relations": "Typed, weighted edges.",
    "campaigns": "Pieces of work that are more than one task.",
    "tasks": "The tasks of campaigns: each is started with what the project knows, and teaches by how it ends.",
    "explorations": "Several agents look at a project at the same time; what they find becomes one record.",
    "runs": "What is going on now on this machine, and the build run; it outlives the process that writes it.",
    "phases": "Where the project, or a campaign, is in its work.",
    "imports": "Files of other programs.",
    "candidates": "Records that wait to be accepted, and what speaks for them.",
    "inbox": "What is to be looked at later; it is committed, and several writers lose nothing.",
    "events": "What happened: moves of tasks and phases, verdicts, and whatever a caller records.",
    "types": "The vocabulary of the project.",
    "scopes": "What a caller may read and write that does not get all.",
    "embed": "The model that makes the vectors.",
    "extractors": "Programs that print entities and edges of the project, which are written as theirs.",
}

STREAMS = {
    "lines": "Lines of any number and length, as a file opened in binary gives them, or all of them as one text",
    "events": "The events, one JSON object a line",
    "log": "The output of the command, as lines or as one text; read only where the command failed",
}

ROWS = (
    Operation("init", InitRequest, Initialised, WRITE, "features.upkeep.init.init",
        "Prepare a project: make ``.graphmem`` in ``folder``, or complete it; run again it changes nothing.",
        at_home=True, needs_store=False, not_over_http="prepares a folder anywhere on this machine"),
    Operation("failures.add", AddFailureRequest, Changed, WRITE, "core.records.change.add_record",
        "Add a failure; one that repeats another is merged into it.", previews="dry_run", scoped=True),
    Operation("patterns.add", AddPatternRequest, Changed, WRITE, "core.records.change.add_record",
        "Add a pattern; one that repeats another is merged into it.", previews="dry_run", scoped=True),
    Operation("entities.add", AddEntityRequest, Changed, WRITE, "core.records.change.add_record",
        "Add an entity of a declared type, or change its value.", previews="dry_run", scoped=True),
    Operation("lessons.add", AddLessonRequest, Changed, WRITE, "core.records.change.add_record",
        "Add a lesson by hand; a ``preference`` is injected at once, any other type after two runs saw it.",
        previews="dry_run", scoped=True),
    Operation("lessons.learn", LearnRequest, Learned, WRITE, "features.learning.lessons.learn",
        "Take from the events of a finished run which lessons it saw, and new ones; the same events change nothing.",
        is_held=True, stream="events"),
    Operation("lessons.decay", DecayRequest, Learned, WRITE, "features.learning.lessons.decay",
        "Record a run that saw no lesson, and report which lessons it moved."),
    Operation("lessons.inject", InjectRequest, Injected, READ, "features.learning.lessons.inject",
        "Return the lessons that belong into a prompt, at most ten, ready to be put there.", past=True, scoped=True),
    Operation("experiences.add", AddExperienceRequest, Changed, WRITE, "core.records.change.add_record",
        "Add what a finished task taught; above 200 experiences, the oldest of low confidence is archived.",
        positional=2, previews="dry_run", scoped=True),
    Operation("experiences.recall", RecallRequest, Recalled, READ, "features.learning.experiences.recall",
        "Return the newest experiences with this type of task or one of these tags, and their lessons.", past=True,
        from_files=True, scoped=True),
    Operation("experiences.promote", PromoteRequest, Promoted, WRITE, "features.learning.experiences.promote",
        "Find what experiences of different days and tasks agree on; ``yes`` writes it as insights.", previews="yes"),
    Operation("insights.add", AddInsightRequest, Changed, WRITE, "core.records.change.add_record",
        "Add an insight by hand; it needs two experiences of different days and tasks.", positional=2,
        previews="dry_run", scoped=True),
    Operation("user.promote", CopyRequest, Changed, WRITE, "core.records.copy.promote",
        "Copy a record into the user's own store, with where it came from; again it changes nothing.", at_home=True,
        not_over_http="the user's own store is not used over HTTP"),
    Operation("user.adopt", CopyRequest, Changed, WRITE, "core.records.copy.adopt",
        "Copy a record of the user's own store into this one; again it changes nothing.", at_home=True,
        not_over_http="the user's own store is not used over HTTP"),
    Operation("sessions.show", SessionRequest, SessionContext, READ, "features.learning.sessions.show",
        "Return what is current; the empty answer where nothing is.", positional=1),
    Operation("sessions.start", StartSessionRequest, SessionContext, WRITE, "features.learning.sessions.start",
        "Begin a new session; the preferences of the user stay.", positional=1),
    Operation("sessions.work_on", WorkOnRequest, SessionContext, WRITE, "features.learning.sessions.work_on",
        "Set what is being worked on, or its state; a new description begins a new task.", positional=2),
    Operation("sessions.decide", DecideRequest, Changed, WRITE, "features.learning.sessions.decide",
        "Record a decision; ``key`` is its name, made from the text if not given.", positional=2, also="decisions.add"),
    Operation("sessions.constrain", ConstrainRequest, Changed, WRITE, "features.learning.sessions.constrain",
        "Record a constraint, for everybody or for a named session, until a time if one is given.",
        positional=2, also="constraints.add"),
    Operation("sessions.prefer", PreferRequest, SessionContext, WRITE, "features.learning.sessions.prefer",
        "Note how the user wants to work.", positional=1),
    Operation("sessions.note", NoteRequest, SessionContext, WRITE, "features.learning.sessions.note",
        "Note how far the session has come, the skills it invoked and the records it used.", positional=1),
    Operation("sessions.end", EndSessionRequest, Changed, WRITE, "features.learning.sessions.end",
        "End the session: what it was and used becomes a record.", positional=1),
    Operation("relations.link", LinkRequest, Linked, WRITE, "core.records.relations.link",
        "Add an edge, or change its weight and note; without a weight it has that of its type.", scoped=True),
    Operation("relations.unlink", UnlinkRequest, Linked, WRITE, "core.records.relations.unlink",
        "Take an edge out.", scoped=True),
    Operation("campaigns.create", CreateCampaignRequest, Changed, WRITE, "features.work.campaigns.create",
        "Begin a campaign."),
    Operation("campaigns.add_tasks", AddTasksRequest, CampaignTasks, WRITE, "features.work.plans.add_tasks",
        "Add the tasks of a plan (a list, or ``{\"tasks\": […]}``), all or none; cycles are refused with their path."),
    Operation("campaigns.ready", ReadyRequest, Ready, READ, "features.work.campaigns.ready",
        "Return the tasks that can start now.", from_files=True),
    Operation("campaigns.status", CampaignRequest, CampaignStanding, READ, "features.work.campaigns.status",
        "Return where a campaign is: its tasks, which of them cannot run and why, and what it took so far."),
    Operation("campaigns.propagate", CampaignRequest, CampaignStanding, WRITE, "features.work.plans.propagate",
        "Mark the tasks that cannot run as unreachable, and those that can again as pending."),
    Operation("campaigns.replan_input", CampaignRequest, ReplanInput, READ, "features.work.plans.replan_input",
        "Return what a planner needs to plan the unfinished part again."),
    Operation("campaigns.merge_plan", MergePlanRequest, MergedPlan, WRITE, "features.work.plans.merge_plan",
        "Put the tasks of a plan in the place of the unfinished part, all or none; what is complete stays as it is."),
    Operation("campaigns.complete", CompleteCampaignRequest, CampaignTasks, WRITE, "features.work.campaigns.complete",
        "Finish a campaign, complete or partly, and keep its fingerprint for ``similar``."),
    Operation("tasks.start", StartTaskRequest, TaskChanged, WRITE, "features.work.tasks.start",
        "Start a task whose parents are complete; the answer's workspace is a prompt to begin with."),
    Operation("tasks.complete", CompleteTaskRequest, TaskChanged, WRITE, "features.work.tasks.complete",
        "Complete a task, report what helped, and link the patterns that solved what it was blocked by."),
    Operation("tasks.block", BlockTaskRequest, TaskChanged, WRITE, "features.work.tasks.block",
        "Block a task; the answer has the known failures that the reason reports, with what fixes them."),
    Operation("tasks.reopen", ReopenTaskRequest, TaskChanged, WRITE, "features.work.tasks.reopen",
        "Make a task pending again, from whatever state it is in."),
    Operation("tasks.show", ShowTaskRequest, TaskShown, READ, "features.work.tasks.show",
        "Return a task with its workspace, what became of what it was handed out, and its moves."),
    Operation("explorations.start", NoParameters, ExplorationStarted, WRITE, "features.explore.operations.start",
        "Begin a session.", at_home=True),
    Operation("explorations.report", ReportExplorationRequest, ExplorationReported, WRITE, "features.explore.operations.report",
        "Keep what an agent found; after the wait has ended it is kept as late.", at_home=True),
    Operation("explorations.wait", WaitExplorationRequest, ExplorationWaited, WRITE, "features.explore.operations.wait",
        "Wait until enough is reported, or structure and delta are, or the time is up.", at_home=True,
        not_over_http="holds a worker for minutes; a caller looks at the event stream"),
    Operation("explorations.aggregate", AggregateExplorationRequest, Changed, WRITE, "features.explore.operations.aggregate",
        "Keep what was found in a session as one record.", at_home=True),
    Operation("runs.show", NoParameters, RunShown, READ, "features.runs.operations.show",
        "Return the run state."),
    Operation("runs.set", SetRunRequest, RunShown, WRITE, "features.runs.operations.set_fields",
        "Change fields of the run state: objects are merged, ``None`` clears, all other fields stay."),
    Operation("runs.done", StepRequest, RunShown, WRITE, "features.runs.operations.done",
        "Note that a step of the workflow is complete."),
    Operation("runs.change", ChangeRequest, RunShown, WRITE, "features.runs.operations.change",
        "Note a file that was changed outside of the plan, or take it away; the others stay."),
    Operation("runs.require", RequireStepRequest, Required, WRITE, "features.runs.operations.require",
        "Return whether what a step needs is complete; ``skip`` goes on without, which is recorded."),
    Operation("runs.begin", BeginBuildRequest, RunShown, WRITE, "features.runs.operations.begin",
        "Begin a build run with the chunks of a plan."),
    Operation("runs.chunk", MoveChunkRequest, RunShown, WRITE, "features.runs.operations.move_chunk",
        "Move a chunk of the build run to its next status."),
    Operation("runs.checkpoint", CheckpointRequest, RunShown, WRITE, "features.runs.operations.checkpoint",
        "Note that the build run got so far."),
    Operation("runs.end", NoParameters, RunShown, WRITE, "features.runs.operations.end",
        "End the build run: cleared where every chunk is completed, else visible as partial."),
    Operation("runs.resume", ResumeBuildRequest, BuildResume, WRITE, "features.runs.operations.resume",
        "Return what is left of a build run that was cut off, and how to go on; a choice does it."),
    Operation("phases.status", PhaseRequest, PhaseStatus, READ, "features.work.phases.status",
        "Return the current phase, and which may follow."),
    Operation("phases.can", MovePhaseRequest, PhaseCan, READ, "features.work.phases.can",
        "Return whether a phase may follow the current one."),
    Operation("phases.move", MovePhaseRequest, PhaseMoved, WRITE, "features.work.phases.move",
        "Go on to another phase; one that may not follow is refused with those that may."),
    Operation("phases.reset", PhaseRequest, PhaseMoved, WRITE, "features.work.phases.reset",
        "Begin again, from whatever phase it is."),
    Operation("phases.duration", PhaseRequest, PhaseDurations, READ, "features.work.phases.duration",
        "Return how long each phase took."),
    Operation("inbox.add", AddItemRequest, ItemChanged, WRITE, "features.inbox.operations.add",
        "Add an item."),
    Operation("inbox.items", ListItemsRequest, ItemList, READ, "features.inbox.operations.listed",
        "Return the items that are not processed, or all, the oldest first."),
    Operation("inbox.take", TakeItemRequest, ItemChanged, WRITE, "features.inbox.operations.take",
        "Begin to work on an item, by its id; the oldest that is pending if not given.", positional=1),
    Operation("inbox.dismiss", DismissItemRequest, ItemChanged, WRITE, "features.inbox.operations.dismiss",
        "Set an item aside without working on it."),
    Operation("inbox.finish", FinishItemRequest, ItemChanged, WRITE, "features.inbox.operations.finish",
        "Note that an item was worked on, or what went wrong."),
    Operation("imports.sessions", ImportSessionsRequest, Harvested, WRITE, "features.harvest.sessions.import_sessions",
        "Read the transcripts of coding agents on this machine, and put what they teach into the queue of candidates.",
        previews="dry_run", at_home=True, not_over_http="it reads files of the user who types it"),
    Operation("imports.notes", ImportNotesRequest, Harvested, WRITE, "features.harvest.notes.import_notes",
        "Read the notes for agents and the decision records of this project, and put what they say into the queue of "
        "candidates.",
        previews="dry_run", at_home=True, not_over_http="it reads files of the user who types it"),
    Operation("imports.git", ImportGitRequest, Harvested, WRITE, "features.harvest.history.import_git",
        "Read the history and the comments of this project, and put what was taken back, what was fixed and what is "
        "there only for now into the queue of candidates.",
        previews="dry_run", at_home=True, not_over_http="it reads files of the user who types it"),
    Operation("imports.ci", ImportCiRequest, Harvested, WRITE, "features.harvest.ci.import_ci",
        "Read reports and logs of CI, and put which checks failed, and passed later, into the queue of candidates.",
        previews="dry_run", at_home=True, not_over_http="it reads files of the user who types it"),
    Operation("imports.all", ImportAllRequest, HarvestedAll, WRITE, "features.harvest.everything.import_all",
        "Read the sessions of coding agents, the history and the notes of this project, and put what they teach into "
        "the queue of candidates.",
        previews="dry_run", at_home=True, not_over_http="it reads files of the user who types it"),
    Operation("candidates.review", ReviewRequest, CandidateList, READ, "features.harvest.review.review",
        "Return the candidates that wait, the most worth first."),
    Operation("candidates.show", ShowCandidateRequest, CandidateList, READ, "features.harvest.review.show",
        "Return one candidate with all its evidence."),
    Operation("candidates.accept", AcceptCandidateRequest, ReviewedList, WRITE, "features.harvest.review.accept",
        "Write a candidate as records, in one write; or all that were repeated or proven.",
        positional=1, previews="dry_run"),
    Operation("candidates.prove", ProveCandidateRequest, ReviewedList, WRITE, "features.harvest.prove.prove",
        "Run the command of a candidate at the commits before and after the fix: it must fail, then pass.",
        positional=1, previews="yes", at_home=True, not_over_http="it runs a command"),
    Operation("candidates.check_proofs", NoParameters, ProofsChecked, WRITE, "features.harvest.prove.check_proofs",
        "Run again what was proven of records, as far as its commands are trusted in this clone.",
        at_home=True, not_over_http="it runs commands"),
    Operation("candidates.dismiss", DismissCandidateRequest, ReviewedList, WRITE, "features.harvest.review.dismiss",
        "Dismiss a candidate: what is about the same does not come back."),
    Operation("events.add", AddEventRequest, Happened, WRITE, "core.records.event_log.add",
        "Record something that happened; types that begin with ``context-`` stay on this machine."),
    Operation("events.list", ListEventsRequest, EventList, READ, "core.records.event_log.events",
        "Return events in the order of time: the last ones, or the next after a cursor."),
    Operation("types.list", NoParameters, TypeList, READ, "core.vocabulary.types.type_list",
        "Return the project's types, and graphmem's own relations.", from_files=True, scoped=True),
    Operation("types.show", ShowTypeRequest, EntityType | RelationType, READ, "core.vocabulary.types.type_show",
        "Return one type.", from_files=True, scoped=True),
    Operation("types.add_entity", AddEntityTypeRequest, EntityType, WRITE, "core.vocabulary.types.add_entity_type",
        "Declare an entity type."),
    Operation("types.add_relation", AddRelationTypeRequest, RelationType, WRITE, "core.vocabulary.types.add_relation_type",
        "Declare a relation type, and the kinds that it may connect.", positional=1),
    Operation("types.rename", RenameTypeRequest, TypeChanged, WRITE, "core.vocabulary.change.rename_type",
        "Give a type another name in its rows, in what refers to them and in files; without ``yes`` only report that.",
        previews="yes"),
    Operation("types.drop", DropTypeRequest, TypeChanged, WRITE, "core.vocabulary.change.drop_type",
        "Take out a type with its rows and what names them; without ``yes`` only report what would go.",
        positional=1, previews="yes"),
    Operation("types.brief", BriefTypesRequest, TypeBrief, READ, "core.vocabulary.brief.brief",
        "Return the vocabulary as Markdown for a prompt, cut to a budget of tokens.", from_files=True, scoped=True),
    Operation("scopes.list", NoParameters, ScopeList, READ, "core.vocabulary.scopes.scope_list",
        "Return the project's scopes: what a caller that is bound to one may read and write."),
    Operation("scopes.show", ShowScopeRequest, Scope, READ, "core.vocabulary.scopes.scope_show",
        "Return one scope."),
    Operation("scopes.add", AddScopeRequest, Scope, WRITE, "core.vocabulary.scopes.scope_add",
        "Declare a scope, or change what it allows.", positional=1),
    Operation("extractors.list", NoParameters, ExtractorList, READ, "features.extractors.operations.listed",
        "Return the extractors of the project, and whether each may run in this clone."),
    Operation("extractors.add", AddExtractorRequest, ExtractorAdded, WRITE, "features.extractors.operations.add",
        "Set up an extractor that comes with graphmem: its file, the types that it writes, and trust in this clone.",
        at_home=True, not_over_http="trusts a program on this machine"),
    Operation("extractors.run", RunExtractorsRequest, Extracted, WRITE, "features.extractors.operations.run",
        "Run extractors one after the other, each in one write; what it wrote before and no longer finds is removed.",
        positional=1, previews="dry_run", at_home=True, not_over_http="starts programs on this machine", scoped=True,
        raises={
            "Refused": "this clone does not trust the extractor, or it printed what the caller may not write",
            "Unavailable": "it failed, or took too long; nothing of it was written",
            "BadInput": "it printed what cannot be written; nothing of it was written",
        }),
    Operation("imports.file", ImportRequest, Imported, WRITE, "features.exchange.operations.import_file",
        "Make records and edges of a file or a folder of another tool, all or none; the same file changes nothing.",
        previews="dry_run", at_home=True, not_over_http="reads any file of this machine",
        raises={
            "BadInput": "its format is not known, or not sure",
            "NotFound": "there is no such file or folder, or no such format",
            "Refused": "it is too large, or a link, or tasks would wait for each other",
        }),
    Operation("add_rows", AddRowsRequest, BulkAdded, WRITE, "core.records.bulk_add.bulk_add",
        "Add NDJSON rows of any kind, in any order, all or none.", is_held=True, stream="lines",
        raises={"BadInput": "rows that do not check out; ``details[\"findings\"]`` names each, nothing was changed"},
        scoped=True),
    Operation("get", GetRequest, Got, READ, "core.records.read.get",
        "Return a record with its edges, by reference or unambiguous name; an archived one too.", past=True,
        scoped=True),
    Operation("list", ListRequest, Listing, READ, "core.records.read.listing",
        "Return records of a kind or entity type with all of ``tags``; ``sort`` is a field, ``-field`` reversed.",
        positional=1, past=True, scoped=True),
    Operation("edit", EditRequest, Changed, WRITE, "core.records.change.edit",
        "Change fields of a record; lists replace, ``tag`` and ``untag`` change single tags, ``unset`` takes away.",
        positional=2, previews="dry_run", keywords="fields", scoped=True),
    Operation("rename", RenameRequest, Changed, WRITE, "core.records.change.rename",
        "Give a record another name; the old one is still found.", scoped=True),
    Operation("forget", ForgetRequest, Changed, WRITE, "core.records.change.forget",
        "Archive a record: it leaves search and graph, and comes back with ``restore``.", positional=2, scoped=True),
    Operation("restore", RestoreRequest, Changed, WRITE, "core.records.change.restore",
        "Bring an archived record back.", scoped=True),
    Operation("pin", PinRequest, Changed, WRITE, "core.records.change.pin",
        "Pin a record: the briefing begins with it, it goes before its equals, and nothing archives it.", scoped=True),
    Operation("unpin", UnpinRequest, Changed, WRITE, "core.records.change.unpin",
        "Take the pin from a record.", scoped=True),
    Operation("supersede", SupersedeRequest, Changed, WRITE, "core.records.undo.supersede",
        "Archive a record that another one of its kind takes the place of.", positional=3),
    Operation("purge", PurgeRequest, Purged, WRITE, "core.records.purge.purge",
        "Destroy records with every row that names them; without ``yes`` only report what would go.", positional=1,
        at_home=True, previews="yes", without={"history_script": "writes a program to any file"}),
    Operation("undo", UndoRequest, Writes, WRITE, "core.records.undo.undo",
        "Take back the last ``number`` writes of this clone, all or none; return them, the last first.", positional=1),
    Operation("undoable", NoParameters, Writes, READ, "core.records.undo.undoable",
        "Return the writes of this clone that can be taken back, the last first."),
    Operation("prune", PruneRequest, Pruned, WRITE, "core.records.prune.prune",
        "Archive the least important memories over a cap, and old ones worth next to nothing; preview without yes.",
        previews="yes"),
    Operation("feedback", FeedbackRequest, Reported, WRITE, "core.records.feedback.feedback",
        "Report that a memory helped or did not; with a task, reporting again replaces the report.", positional=1,
        raises={"NotFound": "no such memory, or nothing with this id was asked here in the last 30 days"}, scoped=True),
    Operation("feedback_rows", FeedbackRowsRequest, BulkReported, WRITE, "core.records.feedback.feedback_batch",
        "Store a batch of reports, NDJSON lines ``{ref, helped, task?, question?, asked?, at?, id?}``, all or none.",
        is_held=True, stream="lines"),
    Operation("query", QueryRequest, Found, READ, "core.search.two_stores.query",
        "Return the records that a text is about, best first; the answer's ``asked`` names the question in reports.",
        past=True, scoped=True),
    Operation("context", ContextRequest, ContextBlock, READ, "core.search.two_stores.context",
        "Return what the project remembers for an objective, as a block for a prompt, cut to a budget of tokens.",
        past=True, scoped=True),
    Operation("stale", NoParameters, StaleRecords, READ, "core.evidence.doubts.stale",
        "Return the records that may no longer hold: of changed code, past their day, of another major version.",
        scoped=True),
    Operation("match", MatchRequest, MatchedLog, READ, "core.search.two_stores.match",
        "Return the known failures that a log reports, with the lines and what fixes them.", past=True, stream="lines",
        scoped=True),
    Operation("ran", RanRequest, Ran, WRITE, "features.ran.operations.ran",
        "Take the end of a run of a command, such as a test suite: what fails is matched, what passes after it counts.",
        positional=1, at_home=True, stream="log"),
    Operation("related", RelatedRequest, Related, READ, "core.search.traversal.related",
        "Return what a record is related to, strongest path first, each path edge by edge.", past=True, scoped=True),
    Operation("path", PathRequest, Connection, READ, "core.search.traversal.path",
        "Return the strongest chain of edges between two records, however weak; strength 0 without one.",
        past=True, from_files=True, scoped=True),
    Operation("solutions", SolutionsRequest, Solutions, READ, "core.search.two_stores.solutions",
        "Return the patterns that solve a failure, then those that solve a variant or a cause of it.", past=True,
        scoped=True),
    Operation("similar", SimilarRequest, Similar, READ, "core.plans.similar_campaigns.similar",
        "Return campaigns that have ended in any way and resemble a campaign or an objective.", past=True, scoped=True),
    Operation("observe", ObserveRequest, Observed, WRITE, "features.work.observation.observe",
        "Turn the finished and blocked tasks of a campaign into failures, patterns, edges and reports.", positional=1,
        at_home=True, without={"run_verify": "runs commands of the project on this machine"}),
    Operation("cypher", CypherRequest, CypherRows, READ, "features.cypher.operations.cypher",
        "Run a Cypher query, read-only and bounded in time, memory and rows.", positional=2, past=True,
        raises={
            "Refused": "a statement that is not allowed; the hint names the command that does it",
            "Usage": "a parameter that is missing or that the query does not have",
            "BadInput": "the engine does not understand it",
            "Unavailable": "it ran out of time or memory",
        }, scoped=True),
    Operation("cypher_named", CypherNamedRequest, CypherRows, READ, "features.cypher.operations.cypher_named",
        "Run a stored query by its name, such as ``failure/solutions``.", positional=2, past=True, scoped=True),
    Operation("queries", NoParameters, QueryList, READ, "features.cypher.operations.query_list",
        "Return the stored queries that read, with their parameters and columns.", scoped=True),
    Operation("log", LogRequest, History, READ, "features.history.operations.log",
        "Return the commits that changed a record, newest first, and what happened to it; git is asked.",
        scoped=True),
    Operation("why", WhyRequest, Why, READ, "features.history.why.why",
        "Return where a record comes from, what was merged into it, how it did, and why a query finds it.",
        positional=1),
    Operation("view", ViewRequest, PageData, READ, "features.view.operations.view",
        "Return what the page of the memory shows: records with their places, edges, what waits, what happened."),
    Operation("diff", DiffRequest, Difference, READ, "features.history.operations.diff",
        "Return what changed in the memory.", positional=1, scoped=True),
    Operation("check", CheckRequest, BranchChecked, READ, "features.history.branch_check.check",
        "Return what a branch does to the memory since it left another one, and what speaks against merging it."),
    Operation("export", ExportRequest, Exported, WRITE, "features.upkeep.export.export",
        "Bring every file into canonical form, or write a canonical copy to another folder.", at_home=True,
        without={"to": "writes to any folder"}),
    Operation("export_check", NoParameters, Checked, READ, "features.upkeep.export.export_check",
        "Report where a file is not canonical or does not check out; nothing is written."),
    Operation("embed.status", NoParameters, EmbeddingStatus, READ, "features.upkeep.embedding.status",
        "Return which model makes the vectors, and how many texts lack one of it."),
    Operation("embed.change", ChangeModelRequest, ModelChanged, WRITE, "features.upkeep.embedding.change",
        "Let another model make the vectors: all are made first, then the settings name it.",
        at_home=True, not_over_http="chooses what is loaded on this machine, or where texts are sent"),
    Operation("rebuild", RebuildRequest, Rebuilt, WRITE, "features.upkeep.rebuild.rebuild",
        "Rebuild everything derived from the files; ``embed=False`` makes no vectors.", at_home=True),
    Operation("resolve", NoParameters, Resolved, WRITE, "features.upkeep.conflicts.resolve",
        "Merge what is between git's conflict markers, row by row, in every data file that has them."),
    Operation("split", SplitRequest, Split, WRITE, "features.upkeep.split.split",
        "Put the rows of a kind into 16 or 256 files by the hash that orders them, or into one again.", positional=2),
    Operation("vacuum", VacuumRequest, Vacuumed, WRITE, "features.upkeep.vacuum.vacuum",
        "Remove what is derived and not needed now: old vectors, past states, graphs of scopes, unused room.",
        at_home=True, previews="dry_run"),
    Operation("reset", ResetRequest, Reset, WRITE, "features.upkeep.reset.reset",
        "Take all rows out of the memory, in one write; types, scopes and settings stay. Without ``yes`` count them.",
        previews="yes", not_over_http="empties the memory of a project"),
    Operation("dump", DumpRequest, Dump, READ, "features.exchange.dump.dump",
        "Return all rows, or those of kinds and types, one JSON object a line, or in the form of another program.",
        positional=1, past=True),
    Operation("validate", NoParameters, Checked, READ, "features.upkeep.validate.validate",
        "Check files, vocabulary, graph and search index against each other.", scoped=True),
    Operation("doctor", DoctorRequest, Doctored, WRITE, "features.upkeep.doctor.doctor",
        "Check all that ``validate`` does, the clone, and what is derived; ``fix`` repairs what a program can.",
        at_home=True, previews="fix", without={"fix": "repairs change the clone, and git's configuration"}),
    Operation("trust", TrustRequest, Trust, WRITE, "features.upkeep.trust.trust",
        "Return what of the project needs trust; ``yes``, the digest of that answer, lets it count in this clone.",
        at_home=True, previews="yes", not_over_http="a person decides what to trust, on this machine"),
    Operation("prime", PrimeRequest, Briefing, READ, "features.briefing.prime.prime",
        "Return what an agent needs to begin: what is pinned, constraints, decisions, tasks, what helped, how to ask.",
        scoped=True),
    Operation("hook", HookRequest, HookAnswer, WRITE, "doors.agents.hooks.hook",
        "Answer an event of a coding agent, and keep what its session was shown.",
        not_over_http="answers a process of an agent on this machine"),
    Operation("status", NoParameters, StoreStatus, READ, "features.briefing.prime.status",
        "Return where one is: the store, this clone, the current task, active campaigns, and what to do next."),
    Operation("config", ConfigRequest, ConfigShown, READ, "features.upkeep.config.config",
        "Return the settings that hold here, and what gave each.",
        not_over_http="it names files and variables of the user who runs the service"),
    Operation("stats", StatsRequest, Stats, READ, "features.stats.operations.stats",
        "Return counts, capacity, worth, connectivity, and estimates; with an objective also the tiers for it.",
        past=True, scoped=True),
    Operation("impact", NoParameters, Impact, READ, "features.stats.impact.impact",
        "Return what the hooks put into sessions of agents here, what of it was used, and what answers cost."),
    Operation("verify_loop", VerifyLoopRequest, Loop, READ, "features.stats.effectiveness.verify",
        "Report whether learning happens, over the last so many campaigns and runs, and where the loop is broken.",
        past=True),
    Operation("names", NamesRequest, Sequence[str], READ, "core.records.read.names",
        "Return references that begin with ``prefix``, in name order: what a shell completes.", positional=2,
        from_files=True, scoped=True),
)  # fmt: skip

OPERATIONS: dict[str, Operation] = {row.name: row for row in ROWS}
REQUESTS = {row.name: row.request for row in ROWS if row.request is not NoParameters}
