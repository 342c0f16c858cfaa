"""The request of each operation that takes parameters, by the name of its method: ``failures.add``, ``query``."""

from graphmem.contract.campaigns import (
    AddTasksRequest,
    CampaignRequest,
    CompleteCampaignRequest,
    CreateCampaignRequest,
    MergePlanRequest,
    ReadyRequest,
    SimilarRequest,
)
from graphmem.contract.context import ContextRequest
from graphmem.contract.cypher import CypherNamedRequest, CypherRequest
from graphmem.contract.effectiveness import VerifyLoopRequest
from graphmem.contract.entities import AddEntityRequest
from graphmem.contract.events import AddEventRequest, ListEventsRequest
from graphmem.contract.experiences import AddExperienceRequest, PromoteRequest, RecallRequest
from graphmem.contract.explorations import (
    AggregateExplorationRequest,
    ReportExplorationRequest,
    WaitExplorationRequest,
)
from graphmem.contract.failures import AddFailureRequest
from graphmem.contract.feedback import FeedbackRequest, FeedbackRowsRequest
from graphmem.contract.history import DiffRequest, LogRequest
from graphmem.contract.hooks import HookRequest
from graphmem.contract.inbox import (
    AddItemRequest,
    DismissItemRequest,
    FinishItemRequest,
    ListItemsRequest,
    TakeItemRequest,
)
from graphmem.contract.insights import AddInsightRequest
from graphmem.contract.lessons import AddLessonRequest, DecayRequest, InjectRequest, LearnRequest
from graphmem.contract.match import MatchRequest
from graphmem.contract.observation import ObserveRequest
from graphmem.contract.patterns import AddPatternRequest
from graphmem.contract.phases import MovePhaseRequest, PhaseRequest
from graphmem.contract.prime import PrimeRequest
from graphmem.contract.query import QueryRequest
from graphmem.contract.records import (
    AddRowsRequest,
    EditRequest,
    ForgetRequest,
    GetRequest,
    ListRequest,
    NamesRequest,
    PruneRequest,
    PurgeRequest,
    RenameRequest,
    RestoreRequest,
    SupersedeRequest,
    UndoRequest,
)
from graphmem.contract.relations import LinkRequest, PathRequest, RelatedRequest, SolutionsRequest, UnlinkRequest
from graphmem.contract.request import Request
from graphmem.contract.runs import (
    BeginBuildRequest,
    CheckpointRequest,
    MoveChunkRequest,
    RequireStepRequest,
    ResumeBuildRequest,
    SetRunRequest,
    StepRequest,
)
from graphmem.contract.sessions import (
    ConstrainRequest,
    DecideRequest,
    EndSessionRequest,
    NoteRequest,
    PreferRequest,
    SessionRequest,
    StartSessionRequest,
    WorkOnRequest,
)
from graphmem.contract.stats import StatsRequest
from graphmem.contract.store import DoctorRequest, ExportRequest, InitRequest, RebuildRequest, TrustRequest
from graphmem.contract.tasks import (
    BlockTaskRequest,
    CompleteTaskRequest,
    ReopenTaskRequest,
    ShowTaskRequest,
    StartTaskRequest,
)
from graphmem.contract.test_runs import RanRequest
from graphmem.contract.vocabulary import AddEntityTypeRequest, AddRelationTypeRequest, ShowTypeRequest

REQUESTS: dict[str, type[Request]] = {
    "init": InitRequest,
    "failures.add": AddFailureRequest,
    "patterns.add": AddPatternRequest,
    "entities.add": AddEntityRequest,
    "lessons.add": AddLessonRequest,
    "lessons.learn": LearnRequest,
    "lessons.decay": DecayRequest,
    "lessons.inject": InjectRequest,
    "experiences.add": AddExperienceRequest,
    "experiences.recall": RecallRequest,
    "experiences.promote": PromoteRequest,
    "insights.add": AddInsightRequest,
    "sessions.show": SessionRequest,
    "sessions.start": StartSessionRequest,
    "sessions.work_on": WorkOnRequest,
    "sessions.decide": DecideRequest,
    "sessions.constrain": ConstrainRequest,
    "sessions.prefer": PreferRequest,
    "sessions.note": NoteRequest,
    "sessions.end": EndSessionRequest,
    "relations.link": LinkRequest,
    "relations.unlink": UnlinkRequest,
    "campaigns.create": CreateCampaignRequest,
    "campaigns.add_tasks": AddTasksRequest,
    "campaigns.ready": ReadyRequest,
    "campaigns.status": CampaignRequest,
    "campaigns.propagate": CampaignRequest,
    "campaigns.replan_input": CampaignRequest,
    "campaigns.merge_plan": MergePlanRequest,
    "campaigns.complete": CompleteCampaignRequest,
    "tasks.start": StartTaskRequest,
    "tasks.complete": CompleteTaskRequest,
    "tasks.block": BlockTaskRequest,
    "tasks.reopen": ReopenTaskRequest,
    "tasks.show": ShowTaskRequest,
    "observe": ObserveRequest,
    "explorations.report": ReportExplorationRequest,
    "explorations.wait": WaitExplorationRequest,
    "explorations.aggregate": AggregateExplorationRequest,
    "runs.set": SetRunRequest,
    "runs.done": StepRequest,
    "runs.require": RequireStepRequest,
    "runs.begin": BeginBuildRequest,
    "runs.chunk": MoveChunkRequest,
    "runs.checkpoint": CheckpointRequest,
    "runs.resume": ResumeBuildRequest,
    "phases.status": PhaseRequest,
    "phases.can": MovePhaseRequest,
    "phases.move": MovePhaseRequest,
    "phases.reset": PhaseRequest,
    "phases.duration": PhaseRequest,
    "inbox.add": AddItemRequest,
    "inbox.items": ListItemsRequest,
    "inbox.take": TakeItemRequest,
    "inbox.dismiss": DismissItemRequest,
    "inbox.finish": FinishItemRequest,
    "events.add": AddEventRequest,
    "events.list": ListEventsRequest,
    "types.show": ShowTypeRequest,
    "types.add_entity": AddEntityTypeRequest,
    "types.add_relation": AddRelationTypeRequest,
    "add_rows": AddRowsRequest,
    "get": GetRequest,
    "list": ListRequest,
    "edit": EditRequest,
    "rename": RenameRequest,
    "forget": ForgetRequest,
    "restore": RestoreRequest,
    "supersede": SupersedeRequest,
    "purge": PurgeRequest,
    "undo": UndoRequest,
    "prune": PruneRequest,
    "feedback": FeedbackRequest,
    "feedback_rows": FeedbackRowsRequest,
    "query": QueryRequest,
    "context": ContextRequest,
    "match": MatchRequest,
    "ran": RanRequest,
    "related": RelatedRequest,
    "path": PathRequest,
    "solutions": SolutionsRequest,
    "similar": SimilarRequest,
    "cypher": CypherRequest,
    "cypher_named": CypherNamedRequest,
    "hook": HookRequest,
    "log": LogRequest,
    "diff": DiffRequest,
    "export": ExportRequest,
    "rebuild": RebuildRequest,
    "doctor": DoctorRequest,
    "trust": TrustRequest,
    "prime": PrimeRequest,
    "stats": StatsRequest,
    "verify_loop": VerifyLoopRequest,
    "names": NamesRequest,
}

# Operations that change nothing that is remembered: a token for reading may call them.
READS = frozenset(
    "lessons.inject experiences.recall sessions.show campaigns.ready campaigns.status campaigns.replan_input tasks.show"
    " runs.show phases.status phases.can phases.duration inbox.items events.list types.list types.show get list"
    " undoable query context stale match related path solutions similar cypher cypher_named queries log diff"
    " export_check validate doctor prime status stats verify_loop names".split()
)
