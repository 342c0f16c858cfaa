"""The operations: one row each, which says all that one has to know of it but what it does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from graphmem.contract.campaigns import (
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
from graphmem.contract.context import ContextBlock, ContextRequest
from graphmem.contract.cypher import CypherNamedRequest, CypherRequest, CypherRows, QueryList
from graphmem.contract.effectiveness import Loop, VerifyLoopRequest
from graphmem.contract.entities import AddEntityRequest
from graphmem.contract.events import AddEventRequest, EventList, Happened, ListEventsRequest
from graphmem.contract.experiences import AddExperienceRequest, Promoted, PromoteRequest, Recalled, RecallRequest
from graphmem.contract.explorations import (
    AggregateExplorationRequest,
    ExplorationReported,
    ExplorationStarted,
    ExplorationWaited,
    ReportExplorationRequest,
    WaitExplorationRequest,
)
from graphmem.contract.failures import AddFailureRequest
from graphmem.contract.feedback import BulkReported, FeedbackRequest, FeedbackRowsRequest, Reported
from graphmem.contract.findings import Checked, Doctored
from graphmem.contract.history import Difference, DiffRequest, History, LogRequest
from graphmem.contract.hooks import HookAnswer, HookRequest
from graphmem.contract.inbox import (
    AddItemRequest,
    DismissItemRequest,
    FinishItemRequest,
    ItemChanged,
    ItemList,
    ListItemsRequest,
    TakeItemRequest,
)
from graphmem.contract.insights import AddInsightRequest
from graphmem.contract.lessons import AddLessonRequest, DecayRequest, Injected, InjectRequest, Learned, LearnRequest
from graphmem.contract.match import MatchedLog, MatchRequest
from graphmem.contract.observation import Observed, ObserveRequest
from graphmem.contract.patterns import AddPatternRequest
from graphmem.contract.phases import MovePhaseRequest, PhaseCan, PhaseDurations, PhaseMoved, PhaseRequest, PhaseStatus
from graphmem.contract.prime import Briefing, PrimeRequest, StoreStatus
from graphmem.contract.query import Found, QueryRequest
from graphmem.contract.records import (
    AddRowsRequest,
    BulkAdded,
    Changed,
    EditRequest,
    ForgetRequest,
    GetRequest,
    Got,
    Listing,
    ListRequest,
    NamesRequest,
    Pruned,
    PruneRequest,
    Purged,
    PurgeRequest,
    RenameRequest,
    RestoreRequest,
    StaleRecords,
    SupersedeRequest,
    UndoRequest,
    Writes,
)
from graphmem.contract.relations import (
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
from graphmem.contract.request import NoParameters, Request
from graphmem.contract.runs import (
    BeginBuildRequest,
    BuildResume,
    CheckpointRequest,
    MoveChunkRequest,
    Required,
    RequireStepRequest,
    ResumeBuildRequest,
    RunShown,
    SetRunRequest,
    StepRequest,
)
from graphmem.contract.sessions import (
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
from graphmem.contract.stats import Stats, StatsRequest
from graphmem.contract.store import (
    DoctorRequest,
    Exported,
    ExportRequest,
    Initialised,
    InitRequest,
    RebuildRequest,
    Rebuilt,
    Resolved,
    Trust,
    TrustRequest,
)
from graphmem.contract.tasks import (
    BlockTaskRequest,
    CompleteTaskRequest,
    ReopenTaskRequest,
    ShowTaskRequest,
    StartTaskRequest,
    TaskChanged,
    TaskShown,
)
from graphmem.contract.test_runs import Ran, RanRequest
from graphmem.contract.vocabulary import AddEntityTypeRequest, AddRelationTypeRequest, ShowTypeRequest, TypeList
from graphmem.model.vocabulary import EntityType, RelationType

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
        past: it can be asked of a past state of the store (``--at``).
        previews: the parameter that decides whether it only says what it would do: ``dry_run`` asks for that, any other
            for the change.
        at_home: a command of it runs in the process that was called, not in the service: it starts programs, writes
            outside of the store, or talks to a person.
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
    past: bool = False
    previews: str | None = None
    at_home: bool = False
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


ROWS = (
    Operation(
        "init",
        InitRequest,
        Initialised,
        WRITE,
        at_home=True,
        not_over_http="prepares a folder anywhere on this machine",
    ),
    Operation("failures.add", AddFailureRequest, Changed, WRITE, previews="dry_run"),
    Operation("patterns.add", AddPatternRequest, Changed, WRITE, previews="dry_run"),
    Operation("entities.add", AddEntityRequest, Changed, WRITE, previews="dry_run"),
    Operation("lessons.add", AddLessonRequest, Changed, WRITE, previews="dry_run"),
    Operation("lessons.learn", LearnRequest, Learned, WRITE, stream="events", is_held=True),
    Operation("lessons.decay", DecayRequest, Learned, WRITE),
    Operation("lessons.inject", InjectRequest, Injected, READ, past=True),
    Operation("experiences.add", AddExperienceRequest, Changed, WRITE, previews="dry_run"),
    Operation("experiences.recall", RecallRequest, Recalled, READ, past=True, from_files=True),
    Operation("experiences.promote", PromoteRequest, Promoted, WRITE, previews="yes"),
    Operation("insights.add", AddInsightRequest, Changed, WRITE, previews="dry_run"),
    Operation("sessions.show", SessionRequest, SessionContext, READ),
    Operation("sessions.start", StartSessionRequest, SessionContext, WRITE),
    Operation("sessions.work_on", WorkOnRequest, SessionContext, WRITE),
    Operation("sessions.decide", DecideRequest, Changed, WRITE),
    Operation("sessions.constrain", ConstrainRequest, Changed, WRITE),
    Operation("sessions.prefer", PreferRequest, SessionContext, WRITE),
    Operation("sessions.note", NoteRequest, SessionContext, WRITE),
    Operation("sessions.end", EndSessionRequest, Changed, WRITE),
    Operation("relations.link", LinkRequest, Linked, WRITE),
    Operation("relations.unlink", UnlinkRequest, Linked, WRITE),
    Operation("campaigns.create", CreateCampaignRequest, Changed, WRITE),
    Operation("campaigns.add_tasks", AddTasksRequest, CampaignTasks, WRITE),
    Operation("campaigns.ready", ReadyRequest, Ready, READ, from_files=True),
    Operation("campaigns.status", CampaignRequest, CampaignStanding, READ),
    Operation("campaigns.propagate", CampaignRequest, CampaignStanding, WRITE),
    Operation("campaigns.replan_input", CampaignRequest, ReplanInput, READ),
    Operation("campaigns.merge_plan", MergePlanRequest, MergedPlan, WRITE),
    Operation("campaigns.complete", CompleteCampaignRequest, CampaignTasks, WRITE),
    Operation("tasks.start", StartTaskRequest, TaskChanged, WRITE),
    Operation("tasks.complete", CompleteTaskRequest, TaskChanged, WRITE),
    Operation("tasks.block", BlockTaskRequest, TaskChanged, WRITE),
    Operation("tasks.reopen", ReopenTaskRequest, TaskChanged, WRITE),
    Operation("tasks.show", ShowTaskRequest, TaskShown, READ),
    Operation("explorations.start", NoParameters, ExplorationStarted, WRITE, at_home=True),
    Operation("explorations.report", ReportExplorationRequest, ExplorationReported, WRITE, at_home=True),
    Operation(
        "explorations.wait",
        WaitExplorationRequest,
        ExplorationWaited,
        WRITE,
        at_home=True,
        not_over_http="holds a worker for minutes; a caller looks at the event stream",
    ),
    Operation("explorations.aggregate", AggregateExplorationRequest, Changed, WRITE, at_home=True),
    Operation("runs.show", NoParameters, RunShown, READ),
    Operation("runs.set", SetRunRequest, RunShown, WRITE),
    Operation("runs.done", StepRequest, RunShown, WRITE),
    Operation("runs.require", RequireStepRequest, Required, WRITE),
    Operation("runs.begin", BeginBuildRequest, RunShown, WRITE),
    Operation("runs.chunk", MoveChunkRequest, RunShown, WRITE),
    Operation("runs.checkpoint", CheckpointRequest, RunShown, WRITE),
    Operation("runs.end", NoParameters, RunShown, WRITE),
    Operation("runs.resume", ResumeBuildRequest, BuildResume, WRITE),
    Operation("phases.status", PhaseRequest, PhaseStatus, READ),
    Operation("phases.can", MovePhaseRequest, PhaseCan, READ),
    Operation("phases.move", MovePhaseRequest, PhaseMoved, WRITE),
    Operation("phases.reset", PhaseRequest, PhaseMoved, WRITE),
    Operation("phases.duration", PhaseRequest, PhaseDurations, READ),
    Operation("inbox.add", AddItemRequest, ItemChanged, WRITE),
    Operation("inbox.items", ListItemsRequest, ItemList, READ),
    Operation("inbox.take", TakeItemRequest, ItemChanged, WRITE),
    Operation("inbox.dismiss", DismissItemRequest, ItemChanged, WRITE),
    Operation("inbox.finish", FinishItemRequest, ItemChanged, WRITE),
    Operation("events.add", AddEventRequest, Happened, WRITE),
    Operation("events.list", ListEventsRequest, EventList, READ),
    Operation("types.list", NoParameters, TypeList, READ, from_files=True),
    Operation("types.show", ShowTypeRequest, EntityType | RelationType, READ, from_files=True),
    Operation("types.add_entity", AddEntityTypeRequest, EntityType, WRITE),
    Operation("types.add_relation", AddRelationTypeRequest, RelationType, WRITE),
    Operation("add_rows", AddRowsRequest, BulkAdded, WRITE, stream="lines", is_held=True),
    Operation("get", GetRequest, Got, READ, past=True),
    Operation("list", ListRequest, Listing, READ, past=True),
    Operation("edit", EditRequest, Changed, WRITE, previews="dry_run"),
    Operation("rename", RenameRequest, Changed, WRITE),
    Operation("forget", ForgetRequest, Changed, WRITE),
    Operation("restore", RestoreRequest, Changed, WRITE),
    Operation("supersede", SupersedeRequest, Changed, WRITE),
    Operation(
        "purge",
        PurgeRequest,
        Purged,
        WRITE,
        previews="yes",
        at_home=True,
        without={"history_script": "writes a program to any file"},
    ),
    Operation("undo", UndoRequest, Writes, WRITE),
    Operation("undoable", NoParameters, Writes, READ),
    Operation("prune", PruneRequest, Pruned, WRITE, previews="yes"),
    Operation("feedback", FeedbackRequest, Reported, WRITE),
    Operation("feedback_rows", FeedbackRowsRequest, BulkReported, WRITE, stream="lines", is_held=True),
    Operation("query", QueryRequest, Found, READ, past=True),
    Operation("context", ContextRequest, ContextBlock, READ, past=True),
    Operation("stale", NoParameters, StaleRecords, READ),
    Operation("match", MatchRequest, MatchedLog, READ, past=True, stream="lines"),
    Operation("ran", RanRequest, Ran, WRITE, at_home=True, stream="log"),
    Operation("related", RelatedRequest, Related, READ, past=True),
    Operation("path", PathRequest, Connection, READ, past=True, from_files=True),
    Operation("solutions", SolutionsRequest, Solutions, READ, past=True),
    Operation("similar", SimilarRequest, Similar, READ, past=True),
    Operation(
        "observe",
        ObserveRequest,
        Observed,
        WRITE,
        at_home=True,
        without={"run_verify": "runs commands of the project on this machine"},
    ),
    Operation("cypher", CypherRequest, CypherRows, READ, past=True),
    Operation("cypher_named", CypherNamedRequest, CypherRows, READ, past=True),
    Operation("queries", NoParameters, QueryList, READ),
    Operation("log", LogRequest, History, READ),
    Operation("diff", DiffRequest, Difference, READ),
    Operation("export", ExportRequest, Exported, WRITE, at_home=True, without={"to": "writes to any folder"}),
    Operation("export_check", NoParameters, Checked, READ),
    Operation("rebuild", RebuildRequest, Rebuilt, WRITE, at_home=True),
    Operation("resolve", NoParameters, Resolved, WRITE),
    Operation("validate", NoParameters, Checked, READ),
    Operation(
        "doctor",
        DoctorRequest,
        Doctored,
        WRITE,
        previews="fix",
        at_home=True,
        without={"fix": "repairs change the clone, and git's configuration"},
    ),
    Operation(
        "trust",
        TrustRequest,
        Trust,
        WRITE,
        previews="yes",
        at_home=True,
        not_over_http="a person decides what to trust, on this machine",
    ),
    Operation("prime", PrimeRequest, Briefing, READ),
    Operation("hook", HookRequest, HookAnswer, WRITE, not_over_http="answers a process of an agent on this machine"),
    Operation("status", NoParameters, StoreStatus, READ),
    Operation("stats", StatsRequest, Stats, READ, past=True),
    Operation("verify_loop", VerifyLoopRequest, Loop, READ, past=True),
    Operation("names", NamesRequest, Sequence[str], READ, from_files=True),
)

OPERATIONS: dict[str, Operation] = {row.name: row for row in ROWS}
REQUESTS = {row.name: row.request for row in ROWS if row.request is not NoParameters}
