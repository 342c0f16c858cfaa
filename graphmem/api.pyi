# The types of the Python API; made from the operations in the registry by ``python -m tests.generate``.
# ruff: noqa: A002, E501, I001
# fmt: off
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal

from graphmem.core.briefing.context_contract import (ContextBlock as ContextBlock, ContextEntry as ContextEntry)
from graphmem.core.briefing.prime import (Briefing as Briefing, StoreStatus as StoreStatus)
from graphmem.core.evidence.citation_contract import (Cited as Cited, Fix as Fix)
from graphmem.core.evidence.doubt_contract import (Doubt as Doubt, StaleRecords as StaleRecords)
from graphmem.core.history.contract import (Difference as Difference, History as History)
from graphmem.core.history.why import (Why as Why)
from graphmem.core.page.operations import (PageData as PageData)
from graphmem.core.plans.campaign_contract import (
    CampaignStanding as CampaignStanding, CampaignTasks as CampaignTasks, MergedPlan as MergedPlan, Ready as Ready,
    ReplanInput as ReplanInput, Similar as Similar, SimilarCampaign as SimilarCampaign,
)
from graphmem.core.ran.operations import (Ran as Ran)
from graphmem.core.records.candidate_contract import (
    CandidateList as CandidateList, Harvested as Harvested, HarvestedAll as HarvestedAll,
    ProofsChecked as ProofsChecked, ReviewedList as ReviewedList, ShownCandidate as ShownCandidate,
)
from graphmem.core.records.event_contract import (EventList as EventList, Happened as Happened)
from graphmem.core.records.feedback_contract import (BulkReported as BulkReported, Reported as Reported)
from graphmem.core.records.record_contract import (
    BulkAdded as BulkAdded, Changed as Changed, Got as Got, Listed as Listed, Listing as Listing, Pruned as Pruned,
    Purged as Purged, Writes as Writes,
)
from graphmem.core.records.relation_contract import (
    Connection as Connection, Edge as Edge, Linked as Linked, Reached as Reached, Related as Related,
    Solution as Solution, Solutions as Solutions,
)
from graphmem.core.search.match_contract import (Matched as Matched, MatchedLog as MatchedLog)
from graphmem.core.search.query_contract import (Found as Found, Hit as Hit)
from graphmem.core.sessions.operations import (SessionContext as SessionContext)
from graphmem.core.stats.contract import (Stats as Stats)
from graphmem.core.stats.effectiveness_contract import (Loop as Loop)
from graphmem.core.stats.impact import (Impact as Impact)
from graphmem.core.vocabulary.contract import (
    TypeBrief as TypeBrief, TypeChanged as TypeChanged, TypeList as TypeList,
)
from graphmem.core.vocabulary.scopes import (ScopeList as ScopeList)
from graphmem.errors import (
    AlreadyDone as AlreadyDone, BadInput as BadInput, Conflict as Conflict, Damaged as Damaged,
    DamagedCatalog as DamagedCatalog, FileReplaced as FileReplaced, GraphmemError as GraphmemError, Locked as Locked,
    NotFound as NotFound, ReadOnly as ReadOnly, Refused as Refused, Unavailable as Unavailable, Usage as Usage,
)
from graphmem.features.cypher.operations import (CypherRows as CypherRows, QueryList as QueryList)
from graphmem.features.cypher.projects import (GraphPushed as GraphPushed)
from graphmem.features.exchange.dump_contract import (Dump as Dump)
from graphmem.features.exchange.operations import (Imported as Imported)
from graphmem.features.explore.operations import (
    ExplorationReported as ExplorationReported, ExplorationStarted as ExplorationStarted,
    ExplorationWaited as ExplorationWaited,
)
from graphmem.features.extractors.contract import (
    Extracted as Extracted, ExtractorAdded as ExtractorAdded, ExtractorList as ExtractorList,
)
from graphmem.features.governance.contract import (
    BranchMade as BranchMade, NextStage as NextStage, ReviewItemAnswer as ReviewItemAnswer,
    ReviewItemList as ReviewItemList, StageBegun as StageBegun, StageChecked as StageChecked, StageEnded as StageEnded,
    WorkList as WorkList, WorkShown as WorkShown,
)
from graphmem.features.governance.finish import (WorkFinished as WorkFinished)
from graphmem.features.governance.snapshots import (
    SnapshotDifference as SnapshotDifference, SnapshotList as SnapshotList, SnapshotShown as SnapshotShown,
)
from graphmem.features.governance.verify import (WorkVerified as WorkVerified)
from graphmem.features.hooks.contract import (HookAnswer as HookAnswer)
from graphmem.features.inbox.operations import (Item as Item, ItemChanged as ItemChanged, ItemList as ItemList)
from graphmem.features.learning.experiences import (Promoted as Promoted, Recalled as Recalled)
from graphmem.features.learning.lessons import (Injected as Injected, Learned as Learned)
from graphmem.features.runs.contract import (BuildResume as BuildResume, Required as Required, RunShown as RunShown)
from graphmem.features.team.contract import (LedgerMoved as LedgerMoved, Synced as Synced)
from graphmem.features.team.server_contract import (ServerChanged as ServerChanged)
from graphmem.features.upkeep.branch_check import (BranchChecked as BranchChecked)
from graphmem.features.upkeep.config import (ConfigShown as ConfigShown)
from graphmem.features.upkeep.embedding import (EmbeddingStatus as EmbeddingStatus, ModelChanged as ModelChanged)
from graphmem.features.upkeep.schema import (SchemaShown as SchemaShown)
from graphmem.features.upkeep.store_contract import (
    Exported as Exported, Initialised as Initialised, Rebuilt as Rebuilt, Reset as Reset, Resolved as Resolved,
    Split as Split, Trust as Trust, Vacuumed as Vacuumed,
)
from graphmem.features.work.observation import (Observed as Observed)
from graphmem.features.work.phases import (
    PhaseCan as PhaseCan, PhaseDurations as PhaseDurations, PhaseMoved as PhaseMoved, PhaseStatus as PhaseStatus,
)
from graphmem.features.work.task_contract import (
    TaskChanged as TaskChanged, TaskMove as TaskMove, TaskShown as TaskShown, Workspace as Workspace,
)
from graphmem.kernel.dispatch import (Log as Log)
from graphmem.kernel.embed.shared import (Models as Models)
from graphmem.kernel.finding import (Checked as Checked, Doctored as Doctored, Finding as Finding)
from graphmem.kernel.handle import (Handle, OpenStore, Operations)
from graphmem.kernel.model import (
    AnyRecord as AnyRecord, Campaign as Campaign, Constraint as Constraint, Decision as Decision, Entity as Entity,
    Event as Event, Experience as Experience, Exploration as Exploration, Failure as Failure, Insight as Insight,
    Lesson as Lesson, Pattern as Pattern, Relation as Relation, ReviewItem as ReviewItem, Run as Run,
    Session as Session, Task as Task, Work as Work,
)
from graphmem.kernel.model.candidate import (Candidate as Candidate)
from graphmem.kernel.model.run_state import (RunState as RunState)
from graphmem.kernel.model.scope import (Scope as Scope)
from graphmem.kernel.model.vocabulary import (EntityType as EntityType, RelationType as RelationType)
from graphmem.kernel.store.runtime import (MessageHandler as MessageHandler, Progress as Progress)

class Store(OpenStore):
    """The store itself: what it is made of, its files and its settings."""
    @cached_property
    def scopes(self) -> Scopes: ...
    @cached_property
    def graph(self) -> Graph: ...
    @cached_property
    def extractors(self) -> Extractors: ...
    @cached_property
    def works(self) -> Works: ...
    @cached_property
    def stages(self) -> Stages: ...
    @cached_property
    def snapshots(self) -> Snapshots: ...
    @cached_property
    def items(self) -> Items: ...
    @cached_property
    def ledger(self) -> Ledger: ...
    @cached_property
    def team(self) -> Team: ...
    @cached_property
    def embed(self) -> Embed: ...
    def view(self, *, most: int = 10000) -> PageData:
        """Return what the page of the memory shows: records with their places, edges, what waits, what happened."""
    def names(self, prefix: str = "", limit: int = 50) -> Sequence[str]:
        """Return references that begin with ``prefix``, in name order; where none does, those with it in their name."""
    def undoable(self) -> Writes:
        """Return the writes of this clone that can be taken back, the last first."""
    def purge(
        self, refs: Collection[str] = (), *, archived: bool = False, yes: bool = False,
        history_script: Path | str | None = None,
    ) -> Purged:
        """Destroy records with every row that names them; without ``yes`` only report what would go."""
    def prune(
        self, *, max_failures: int = 500, max_patterns: int = 200, min_importance: float = 0.1, yes: bool = False,
    ) -> Pruned:
        """Archive the least important memories over a cap, and old ones worth little; without ``yes`` only a preview."""
    def feedback_rows(self, lines: Log, *, name: str = "input") -> BulkReported:
        """Store a batch of reports, NDJSON lines ``{ref, helped, task?, question?, asked?, at?, id?}``, all or none."""
    def cypher_named(
        self, name: str, parameters: Mapping[str, object] | None = None, *, timeout_s: float | None = None,
        limit: int | None = None,
    ) -> CypherRows:
        """Run a stored query by its name, such as ``failure/solutions``."""
    def queries(self) -> QueryList:
        """Return the stored queries that read, with their parameters and columns."""
    def cypher_projects(
        self, query: str, projects: list[str], *, parameters: Mapping[str, object] | None = None,
        timeout_s: float | None = None, limit: int | None = None,
    ) -> CypherRows:
        """Run a Cypher query, or a stored one by its name, on the graph of each project, and put the rows together."""
    def hook(
        self, client: Literal["claude-code", "codex", "gemini", "opencode", "cursor"], event: str, *,
        until: float | None = None,
    ) -> HookAnswer:
        """Answer an event of a coding agent, and keep what its session was shown."""
    def sync(self, remote: str | None = None, *, dry_run: bool = False) -> Synced:
        """Exchange the memory of a ref with another repository, or any with a server, merged by rows."""
    def export(self, *, to: Path | str | None = None) -> Exported:
        """Bring every file into canonical form, or write a canonical copy to another folder."""
    def export_check(self) -> Checked:
        """Report where a file is not canonical or does not check out; nothing is written."""
    def rebuild(self, *, embed: bool = True) -> Rebuilt:
        """Rebuild everything derived from the files; ``embed=False`` makes no vectors."""
    def resolve(self) -> Resolved:
        """Merge what is between git's conflict markers, row by row, in every data file that has them."""
    def split(self, kind: str, files: Literal[1, 16, 256] = 16) -> Split:
        """Put the rows of a kind into 16 or 256 files by the hash that orders them, or into one again."""
    def vacuum(self, *, dry_run: bool = False) -> Vacuumed:
        """Remove what is derived and not needed now: old vectors, past states, graphs of scopes, unused room."""
    def reset(self, *, yes: bool = False) -> Reset:
        """Take all rows out of the memory, in one write; types, scopes and settings stay. Without ``yes`` count them."""
    def validate(self) -> Checked:
        """Check files, vocabulary, graph and search index against each other."""
    def doctor(self, *, fix: bool = False) -> Doctored:
        """Check all that ``validate`` does, the clone, and what is derived; ``fix`` repairs what a program can."""
    def trust(self, *, yes: str | None = None) -> Trust:
        """Return what of the project needs trust; ``yes``, the digest of that answer, lets it count in this clone."""
    def config(self, *, name: str | None = None) -> ConfigShown:
        """Return the settings that hold here, and what gave each."""
    @staticmethod
    def schema(of: Literal["records", "requests", "answers"] = "records") -> SchemaShown:
        """Return the JSON Schema of the rows in files, of what operations take, or of what they answer."""

class Failures(Operations):
    """What went wrong, and what fixes it."""
    def add(
        self, trigger: str, *, fix: str | None = None, symptom: str | None = None,
        holds_for: Literal["rule", "names", "message", "frame"] | None = None, name: str | None = None,
        match: str | None = None, cost: float | None = None, framework: str | None = None,
        tags: Collection[str] | None = None, sources: Collection[str] | None = None,
        files: Collection[str] | None = None, cites: Collection[str] | None = None,
        versions: Mapping[str, str] | None = None, versions_from: Literal["lock", "auto", "none"] = "lock",
        check_after: str | None = None, flaky: bool | None = None, dedup: bool = True, dry_run: bool = False,
        verbatim: bool = False, replace: bool = False, supersedes: str | None = None,
    ) -> Changed[Failure]:
        """Add a failure; one that repeats another is merged into it."""

class Patterns(Operations):
    """What works."""
    def add(
        self, trigger: str, insight: str, *, name: str | None = None, saved: float | None = None,
        framework: str | None = None, tags: Collection[str] | None = None, sources: Collection[str] | None = None,
        files: Collection[str] | None = None, cites: Collection[str] | None = None,
        versions: Mapping[str, str] | None = None, versions_from: Literal["lock", "auto", "none"] = "lock",
        check_after: str | None = None, dedup: bool = True, dry_run: bool = False, verbatim: bool = False,
        replace: bool = False, supersedes: str | None = None,
    ) -> Changed[Pattern]:
        """Add a pattern; one that repeats another is merged into it."""

class Entities(Operations):
    """Things of the project."""
    def add(
        self, type_name: str, name: str, *, value: str | None = None, sources: Collection[str] | None = None,
        dry_run: bool = False, verbatim: bool = False,
    ) -> Changed[Entity]:
        """Add an entity of a declared type, or change its value."""

class User(Operations):
    """The user's own store, which is in no project."""
    def promote(self, ref: str, *, to: Literal["user", "organisation"] = "user") -> Changed:
        """Copy a record into the user's own store, or the organisation's, with where it came from; again it changes nothing."""
    def adopt(self, ref: str) -> Changed:
        """Copy a record of the user's own store, or of the organisation's, into this one; again it changes nothing."""

class Insights(Operations):
    """What several experiences agree on."""
    def add(
        self, category: Literal["codebase_insight", "execution_pattern", "user_behavior", "recurring_issue"],
        statement: str, *, derived_from: Collection[str], name: str | None = None, tags: Collection[str] | None = None,
        sources: Collection[str] | None = None, dry_run: bool = False, verbatim: bool = False,
        supersedes: str | None = None,
    ) -> Changed[Insight]:
        """Add an insight by hand; it needs two experiences of different days and tasks."""

class Relations(Operations):
    """Typed, weighted edges."""
    def link(
        self, source: str, kind: str, target: str, *, weight: float | None = None, note: str | None = None,
        sources: Collection[str] = (),
    ) -> Linked:
        """Add an edge, or change its weight and note; without a weight it has that of its type."""
    def unlink(self, source: str, kind: str, target: str) -> Linked:
        """Take an edge out."""

class Events(Operations):
    """What happened: moves of tasks and phases, verdicts, and whatever a caller records."""
    def add(self, type: str, *, subject: str | None = None, data: Mapping[str, object] | None = None) -> Happened:
        """Record something that happened; types that begin with ``context-`` stay on this machine."""
    def list(
        self, *, types: Collection[str] = (), subject: str | None = None, cursor: str | None = None, limit: int = 100,
    ) -> EventList:
        """Return events in the order of time: the last ones, or the next after a cursor."""

class Decisions(Operations):
    """What was decided, and why."""
    def add(
        self, decision: str, name: str | None = None, *, reasoning: str | None = None, task: str | None = None,
        key: str | None = None,
    ) -> Changed[Decision]:
        """Record a decision; it is committed with the rest of the memory."""

class Constraints(Operations):
    """Rules that hold until a time or for ever."""
    def add(
        self, constraint: str, name: str | None = None, *, source: str | None = None, expires_at: str | None = None,
        key: str | None = None,
    ) -> Changed[Constraint]:
        """Record a constraint, for everybody or for a named session, until a time if one is given."""

class Sessions(Operations):
    """The current task, decisions, constraints and preferences; without a name, of the whole project."""
    def show(self, name: str | None = None) -> SessionContext:
        """Return what is current; the empty answer where nothing is."""
    def start(
        self, name: str | None = None, *, conversation: str | None = None, task: str | None = None,
    ) -> SessionContext:
        """Begin a new session; the preferences of the user stay."""
    def work_on(
        self, description: str | None = None, name: str | None = None, *, id: str | None = None,
        type: str | None = None, status: Literal["pending", "in_progress", "blocked", "complete"] | None = None,
    ) -> SessionContext:
        """Set what is being worked on, or its state; a new description begins a new task."""
    def decide(
        self, decision: str, name: str | None = None, *, reasoning: str | None = None, task: str | None = None,
        key: str | None = None,
    ) -> Changed[Decision]:
        """Record a decision; it is committed with the rest of the memory."""
    def constrain(
        self, constraint: str, name: str | None = None, *, source: str | None = None, expires_at: str | None = None,
        key: str | None = None,
    ) -> Changed[Constraint]:
        """Record a constraint, for everybody or for a named session, until a time if one is given."""
    def prefer(
        self, name: str | None = None, *, communication_style: str | None = None, approval_gates: str | None = None,
        default_model_profile: str | None = None,
    ) -> SessionContext:
        """Note how the user wants to work."""
    def note(
        self, name: str | None = None, *, messages: int | None = None, conversation: str | None = None,
        skills: Collection[str] = (), used: Collection[str] = (),
    ) -> SessionContext:
        """Note how far the session has come, the skills it invoked and the records it used."""
    def end(self, name: str | None = None) -> Changed[Session]:
        """End the session: what it was and used becomes a record."""

class Types(Operations):
    """The vocabulary of the project."""
    def list(self) -> TypeList:
        """Return the project's types, and graphmem's own relations."""
    def show(self, name: str) -> EntityType | RelationType:
        """Return one type."""
    def add_entity(self, name: str, *, description: str = "", search: bool = True) -> EntityType:
        """Declare an entity type."""
    def add_relation(
        self, name: str, *, sources: Collection[str], targets: Collection[str], weight: float = 1.0,
        symmetric: bool = False, description: str = "",
    ) -> RelationType:
        """Declare a relation type, and the kinds that it may connect."""
    def rename(self, old: str, new: str, *, yes: bool = False) -> TypeChanged:
        """Give a type another name in its rows, in what refers to them and in files; without ``yes`` only report that."""
    def drop(self, name: str, *, yes: bool = False) -> TypeChanged:
        """Take out a type with its rows and what names them; without ``yes`` only report what would go."""
    def brief(self, *, budget: int = 1000) -> TypeBrief:
        """Return the vocabulary as Markdown for a prompt, cut to a budget of tokens."""

class Scopes(Operations):
    """What a caller may read and write that does not get all."""
    def list(self) -> ScopeList:
        """Return the project's scopes: what a caller that is bound to one may read and write."""
    def show(self, name: str) -> Scope:
        """Return one scope."""
    def add(
        self, name: str, *, read: Collection[str] = (), write: Collection[str] = (), description: str = "",
    ) -> Scope:
        """Declare a scope, or change what it allows."""

class Graph(Operations):
    """The graph of a memory, in a server with those of other projects."""
    def push(self, url: str | None = None, *, project: str | None = None) -> GraphPushed:
        """Write the graph of this memory to a FalkorDB server, in the place of the one that the project has there."""

class Imports(Operations):
    """Files of other programs."""
    def file(
        self, path: Path | str, *, format: str | None = None, map: Mapping[str, str] | None = None,
        dry_run: bool = False,
    ) -> Imported:
        """Make records and edges of a file or a folder of another tool, all or none; the same file changes nothing."""
    def sessions(
        self, *, paths: Collection[Path | str] = (), client: str | None = None, since: str | None = None,
        any_project: bool = False, dry_run: bool = False,
    ) -> Harvested:
        """Read the transcripts of coding agents on this machine, and put what they teach into the queue of candidates."""
    def notes(self, *, paths: Collection[Path | str] = (), dry_run: bool = False) -> Harvested:
        """Read the notes for agents and the decision records of this project, and put what they say into the queue of candidates."""
    def git(self, *, since: str | None = None, dry_run: bool = False) -> Harvested:
        """Read the history and the comments of this project, and put what was taken back, what was fixed and what is there only for now into the queue of candidates."""
    def ci(self, paths: Collection[Path | str], *, commit: str | None = None, dry_run: bool = False) -> Harvested:
        """Read reports and logs of CI, and put which checks failed, and passed later, into the queue of candidates."""
    def all(self, *, dry_run: bool = False) -> HarvestedAll:
        """Read the sessions of coding agents, the history and the notes of this project, and put what they teach into the queue of candidates."""

class Explorations(Operations):
    """Several agents look at a project at the same time; what they find becomes one record."""
    def start(self) -> ExplorationStarted:
        """Begin a session."""
    def report(
        self, session: str, mode: Literal["structure", "pattern", "memory", "delta"], text: str,
    ) -> ExplorationReported:
        """Keep what an agent found; after the wait has ended it is kept as late."""
    def wait(self, session: str, *, required: int = 3, timeout: float = 300.0, poll: float = 2.0) -> ExplorationWaited:
        """Wait until enough is reported, or structure and delta are, or the time is up."""
    def aggregate(self, session: str, objective: str) -> Changed[Exploration]:
        """Keep what was found in a session as one record."""

class Extractors(Operations):
    """Programs that print entities and edges of the project, which are written as theirs."""
    def list(self) -> ExtractorList:
        """Return the extractors of the project, and whether each may run in this clone."""
    def add(self, name: str) -> ExtractorAdded:
        """Set up an extractor that comes with graphmem: its file, the types that it writes, and trust in this clone."""
    def run(self, names: Collection[str], *, dry_run: bool = False) -> Extracted:
        """Run extractors one after the other, each in one write; what it wrote before and no longer finds is removed."""

class Works(Operations):
    """Works of a flow: on a branch of their own, through stages, to one commit that is attested."""
    def start(self, flow: str, objective: str, *, cycle: str | None = None, goal: str | None = None) -> WorkShown:
        """Begin a work of a flow, on a branch of its own; from a ``config/`` branch it is a dry run."""
    def branch(
        self, namespace: Literal["config", "work", "dry-run"], description: str, *, flow: str | None = None,
    ) -> BranchMade:
        """Make a branch for definitions, for a work or for a dry run, and check it out; the files stay as they are."""
    def list(self, *, everything: bool = False) -> WorkList:
        """Return the works that go on, or all, each with what is next."""
    def show(self, ref: str | None = None) -> WorkShown:
        """Return where a work is: its stages, its items, what is next, and why."""
    def next(self, ref: str | None = None, *, peek: bool = False) -> NextStage:
        """Return which stage runs next, and why, with a token for it; items that went back and forth become deadlocked."""
    def advance(self, ref: str, cycle: str) -> WorkShown:
        """Go on to a target of the current cycle; only after everything of that is done."""
    def abandon(self, ref: str, *, reason: str | None = None, yes: bool = False) -> WorkShown:
        """Give a work up, for good; its branch stays."""
    def finish(self, ref: str | None = None, *, unfinished: str | None = None) -> WorkFinished:
        """Merge a work that is done onto its base branch, as one commit that attests how it was made."""
    def verify(self, commit: str, *, require_signature: bool = False) -> WorkVerified:
        """Check the attestation of finished work against its commit; the exit status is 1 where it is not true."""

class Stages(Operations):
    """Stages: one is active in a clone, and writes what its kind may write."""
    def begin(self, token: str | None = None) -> StageBegun:
        """Begin a stage with its token, which is valid once; without one a person begins a human-appraise stage."""
    def run(self, token: str | None = None) -> StageChecked:
        """Run what the active stage runs: the validation of a quench stage, the extractors of an assay stage."""
    def end(self, token: str | None = None) -> StageEnded:
        """End the active stage: look at all that changed since it began, and commit it."""
    def retry(self, ref: str | None = None) -> NextStage:
        """Run a stage again that failed, or whose time is up: clears the failure, and returns a new token."""

class Snapshots(Operations):
    """What is kept of dry runs, to be looked at and compared."""
    def list(self) -> SnapshotList:
        """Return what is kept of dry runs, the oldest first."""
    def show(self, id: str) -> SnapshotShown:
        """Return what is kept of a dry run: its work, the states of its items, and the files that it changed."""
    def diff(self, first: str, second: str) -> SnapshotDifference:
        """Return what differs between two dry runs: fields, items, and files that they changed in different ways."""

class Items(Operations):
    """Review items: what checks, reviewers and people found in a work."""
    def add(
        self, text: str, *, work: str | None = None, artefact: str | None = None, file: str | None = None,
        about: str | None = None, tags: Collection[str] = (), check: str | None = None, token: str | None = None,
    ) -> ReviewItemAnswer:
        """Add what a check, a reviewer or a person found; the same finding in the same iteration is one item."""
    def list(
        self, *, work: str | None = None,
        state: Literal["open", "actioned", "wont-fix", "rejected", "resolved", "deadlocked"] | None = None,
        everything: bool = False,
    ) -> ReviewItemList:
        """Return the items of a work that are not resolved, or all, in the order of their names."""
    def show(self, ref: str) -> ReviewItemAnswer:
        """Return an item with its moves."""
    def action(self, ref: str, *, token: str | None = None) -> ReviewItemAnswer:
        """Report that an item was acted on, from a forge stage."""
    def wont_fix(self, ref: str, reason: str | None = None, *, token: str | None = None) -> ReviewItemAnswer:
        """Decline an item that a reviewer raised, with a reason, from a forge stage; the reviewer decides on it."""
    def resolve(self, ref: str, *, reason: str | None = None, token: str | None = None) -> ReviewItemAnswer:
        """Resolve an item, for good: from the stage that raised it, or as a person."""
    def reject(self, ref: str, reason: str | None = None, *, token: str | None = None) -> ReviewItemAnswer:
        """Reject what was done about an item, with a reason: from the stage that raised it, or as a person."""

class Candidates(Operations):
    """Records that wait to be accepted, and what speaks for them."""
    def review(self, *, limit: int = 10, dismissed: bool = False, notes: bool = False) -> CandidateList:
        """Return the candidates that wait, the most worth first."""
    def show(self, id: str) -> CandidateList:
        """Return one candidate with all its evidence."""
    def accept(
        self, id: str | None = None, *, trigger: str | None = None, fix: str | None = None, symptom: str | None = None,
        insight: str | None = None, name: str | None = None, tags: Collection[str] | None = None,
        into: str | None = None, at_least: Literal["repeated", "proven"] | None = None, dry_run: bool = False,
    ) -> ReviewedList:
        """Write a candidate as records, in one write that ``undo`` takes back; or all that were repeated or proven."""
    def dismiss(self, id: str, *, reason: str | None = None) -> ReviewedList:
        """Dismiss a candidate: what is about the same does not come back."""
    def prove(self, id: str, *, yes: str | None = None) -> ReviewedList:
        """Run the command of a candidate at the commits before and after the fix: it must fail, then pass."""
    def check_proofs(self) -> ProofsChecked:
        """Run again what was proven of records, as far as its commands are trusted in this clone."""

class Inbox(Operations):
    """What is to be looked at later; it is committed, and several writers lose nothing."""
    def add(self, content: str, *, type: Literal["evolve", "reference", "feature"] = "feature") -> ItemChanged:
        """Add an item."""
    def items(self, *, everything: bool = False) -> ItemList:
        """Return the items that are not processed, or all, the oldest first."""
    def take(self, id: str | None = None) -> ItemChanged:
        """Begin to work on an item, by its id; the oldest that is pending if not given."""
    def dismiss(self, id: str) -> ItemChanged:
        """Set an item aside without working on it."""
    def finish(self, id: str, *, error: str | None = None) -> ItemChanged:
        """Note that an item was worked on, or what went wrong."""

class Lessons(Operations):
    """What runs taught: seen again, fading, and injected into prompts."""
    def add(
        self, description: str, *,
        type: Literal["pattern", "preference", "archetype_hint", "anti_pattern"] | None = None,
        name: str | None = None, domain: str | None = None,
        severity: Literal["bug", "warning", "info", "recommendation"] | None = None, archetype: str | None = None,
        source: str | None = None, tags: Collection[str] | None = None, sources: Collection[str] | None = None,
        files: Collection[str] | None = None, cites: Collection[str] | None = None, dedup: bool = True,
        dry_run: bool = False, verbatim: bool = False, replace: bool = False, supersedes: str | None = None,
    ) -> Changed[Lesson]:
        """Add a lesson by hand; a ``preference`` is injected at once, any other type after two runs saw it."""
    def learn(self, events: Log, *, name: str = "<events>", run: str | None = None, semantic: bool = False) -> Learned:
        """Take from the events of a finished run which lessons it saw, and new ones; the same events change nothing."""
    def decay(self, run: str) -> Learned:
        """Record a run that saw no lesson, and report which lessons it moved."""
    def inject(self, *, domain: str | None = None, archetype: str | None = None) -> Injected:
        """Return the lessons that belong into a prompt, at most ten, ready to be put there."""

class Experiences(Operations):
    """What finished tasks taught."""
    def add(
        self,
        task_type: Literal["feature", "bug", "refactor", "investigation", "configuration", "documentation", "test", "deploy"],
        description: str, *, approach: str, outcome: Literal["success", "partial", "failure"],
        lessons: Collection[str], name: str | None = None, time_taken: float | None = None,
        complexity_estimated: Literal["trivial", "low", "medium", "high", "very_high"] | None = None,
        complexity_actual: Literal["trivial", "low", "medium", "high", "very_high"] | None = None,
        capabilities_used: Collection[str] | None = None, confidence: Literal["low", "medium", "high"] | None = None,
        tags: Collection[str] | None = None, sources: Collection[str] | None = None, dry_run: bool = False,
        verbatim: bool = False, supersedes: str | None = None,
    ) -> Changed[Experience]:
        """Add what a finished task taught; above 200 experiences, the oldest of low confidence is archived."""
    def recall(
        self, *,
        task_type: Literal["feature", "bug", "refactor", "investigation", "configuration", "documentation", "test", "deploy"] | None = None,
        tags: Collection[str] = (),
    ) -> Recalled:
        """Return the newest experiences with this type of task or one of these tags, and their lessons."""
    def promote(
        self, *,
        category: Literal["codebase_insight", "execution_pattern", "user_behavior", "recurring_issue"] | None = None,
        yes: bool = False,
    ) -> Promoted:
        """Find what experiences of different days and tasks agree on; ``yes`` writes it as insights."""

class Runs(Operations):
    """What is going on now on this machine, and the build run; it outlives the process that writes it."""
    def show(self) -> RunShown:
        """Return the run state."""
    def set(self, fields: Mapping[str, object]) -> RunShown:
        """Change fields of the run state: objects are merged, ``None`` clears, all other fields stay."""
    def done(self, step: str) -> RunShown:
        """Note that a step of the workflow is complete."""
    def change(
        self, action: Literal["add", "done"], file: str, *, section: str | None = None,
        section_number: int | str | None = None,
    ) -> RunShown:
        """Note a file that was changed outside of the plan, or take it away; the others stay."""
    def require(self, step: str, *, workflow: str | None = None, skip: bool = False) -> Required:
        """Return whether what a step needs is complete; ``skip`` goes on without, which is recorded."""
    def begin(self, plan: Mapping[str, object]) -> RunShown:
        """Begin a build run with the chunks of a plan."""
    def chunk(self, id: str, status: Literal["active", "completed", "failed", "retrying"]) -> RunShown:
        """Move a chunk of the build run to its next status."""
    def checkpoint(self, *, phase: str | None = None) -> RunShown:
        """Note that the build run got so far."""
    def end(self) -> RunShown:
        """End the build run: cleared where every chunk is completed, else visible as partial."""
    def resume(self, *, choose: Literal["resume", "fresh", "cancel"] | None = None) -> BuildResume:
        """Return what is left of a build run that was cut off, and how to go on; a choice does it."""

class Ledger(Operations):
    """The rows, and the place that they are in."""
    def move(self, to: Literal["ref", "branch"], *, dry_run: bool = False) -> LedgerMoved:
        """Move the rows into a ref of their own, or back into files of the branch."""

class Team(Operations):
    """Memories in a PostgreSQL or Redis server, and who may use a project there."""
    @staticmethod
    def init(url: str, *, sql: bool = False) -> ServerChanged:
        """Make a project in a PostgreSQL database, with the tables, or in a Redis server or cluster; what is there stays."""
    @staticmethod
    def grant(url: str, role: str, *, sql: bool = False, read: bool = False) -> ServerChanged:
        """Let a role of a PostgreSQL server read and write a project, or only read it; of Redis, return what lets it."""
    @staticmethod
    def revoke(url: str, role: str, *, sql: bool = False) -> ServerChanged:
        """Take a role of a PostgreSQL server out of a project: its next statement sees nothing of it."""
    @staticmethod
    def upgrade(url: str, *, sql: bool = False) -> ServerChanged:
        """Bring the tables of memories in a PostgreSQL database up to the version of this program; older ones go on reading."""

class Embed(Operations):
    """The model that makes the vectors."""
    def status(self) -> EmbeddingStatus:
        """Return which model makes the vectors, and how many texts lack one of it."""
    def change(self, model: str, *, endpoint: str = "", user: bool = False) -> ModelChanged:
        """Let another model make the vectors: all are made first, then the settings name it."""

class Campaigns(Operations):
    """Pieces of work that are more than one task."""
    def create(
        self, objective: str, *, name: str | None = None, framework: str | None = None,
        tags: Collection[str] | None = None, sources: Collection[str] | None = None, sections: int | None = None,
        framework_level: int | None = None, failure_cost_k: float | None = None,
    ) -> Changed[Campaign]:
        """Begin a campaign."""
    def ready(self, ref: str) -> Ready:
        """Return the tasks that can start now: pending, every parent complete."""
    def status(self, ref: str) -> CampaignStanding:
        """Return where a campaign is: its tasks, which of them cannot run and why, and what it took so far."""
    def complete(
        self, ref: str, *, outcome: str | None = None, status: Literal["complete", "partial", "failed"] | None = None,
    ) -> CampaignTasks:
        """Finish a campaign, complete or partly, and keep its fingerprint for ``similar``."""
    def add_tasks(self, ref: str, plan: object) -> CampaignTasks:
        """Add the tasks of a plan (a list, or ``{"tasks": […]}``), all or none; cycles are refused with their path."""
    def propagate(self, ref: str) -> CampaignStanding:
        """Mark the tasks that cannot run as unreachable, and those that can again as pending."""
    def replan_input(self, ref: str) -> ReplanInput:
        """Return what a planner needs to plan the unfinished part again."""
    def merge_plan(self, ref: str, plan: object) -> MergedPlan:
        """Put the tasks of a plan in the place of the unfinished part, all or none; what is complete stays as it is."""

class Tasks(Operations):
    """The tasks of campaigns: each is started with what the project knows, and teaches by how it ends."""
    def start(self, ref: str, *, budget: int = 2000, session: str | None = None) -> TaskChanged[Workspace]:
        """Start a task whose parents are complete; the answer's workspace is a prompt to begin with."""
    def complete(
        self, ref: str, *, delivered: str | None = None, used: Collection[str] = (), failed: Collection[str] = (),
        solved_by: Collection[str] = (), spent: float | None = None, session: str | None = None,
    ) -> TaskChanged[None]:
        """Complete a task, report what helped, and link the patterns that solved what it was blocked by."""
    def block(
        self, ref: str, reason: str, *, by: Collection[str] = (), failed: Collection[str] = (),
        session: str | None = None,
    ) -> TaskChanged[None]:
        """Block a task; the answer has the known failures that the reason reports, with what fixes them."""
    def reopen(self, ref: str, *, reason: str | None = None, session: str | None = None) -> TaskChanged[None]:
        """Make a task pending again, from whatever state it is in."""
    def show(self, ref: str, *, budget: int = 2000) -> TaskShown:
        """Return a task with its workspace, what became of what it was handed out, and its moves."""

class Phases(Operations):
    """Where the project, or a campaign, is in its work."""
    def status(self, *, campaign: str | None = None) -> PhaseStatus:
        """Return the current phase, and which may follow."""
    def can(
        self, phase: Literal["none", "explore", "plan", "build", "observe", "complete", "error"], *,
        campaign: str | None = None,
    ) -> PhaseCan:
        """Return whether a phase may follow the current one."""
    def move(
        self, phase: Literal["none", "explore", "plan", "build", "observe", "complete", "error"], *,
        campaign: str | None = None,
    ) -> PhaseMoved:
        """Go on to another phase; one that may not follow is refused with those that may."""
    def reset(self, *, campaign: str | None = None) -> PhaseMoved:
        """Begin again, from whatever phase it is."""
    def duration(self, *, campaign: str | None = None) -> PhaseDurations:
        """Return how long each phase took."""

class Memory(Handle):
    @cached_property
    def store(self) -> Store: ...
    @cached_property
    def failures(self) -> Failures: ...
    @cached_property
    def patterns(self) -> Patterns: ...
    @cached_property
    def entities(self) -> Entities: ...
    @cached_property
    def user(self) -> User: ...
    @cached_property
    def insights(self) -> Insights: ...
    @cached_property
    def relations(self) -> Relations: ...
    @cached_property
    def events(self) -> Events: ...
    @cached_property
    def decisions(self) -> Decisions: ...
    @cached_property
    def constraints(self) -> Constraints: ...
    @cached_property
    def sessions(self) -> Sessions: ...
    @cached_property
    def types(self) -> Types: ...
    @cached_property
    def imports(self) -> Imports: ...
    @cached_property
    def explorations(self) -> Explorations: ...
    @cached_property
    def candidates(self) -> Candidates: ...
    @cached_property
    def inbox(self) -> Inbox: ...
    @cached_property
    def lessons(self) -> Lessons: ...
    @cached_property
    def experiences(self) -> Experiences: ...
    @cached_property
    def runs(self) -> Runs: ...
    @cached_property
    def campaigns(self) -> Campaigns: ...
    @cached_property
    def tasks(self) -> Tasks: ...
    @cached_property
    def phases(self) -> Phases: ...
    def prime(self, *, session: str | None = None, budget: int = 1000, instructions: bool = False) -> Briefing:
        """Return what an agent needs to begin: what is pinned, constraints, decisions, tasks, what helped, how to ask."""
    def status(self) -> StoreStatus:
        """Return where one is: the store, this clone, the current task, active campaigns, and what to do next."""
    def context(
        self, objective: str, *, tags: Collection[str] = (), files: Collection[str] = (), framework: str | None = None,
        tiers: Collection[Literal["critical", "productive", "exploration", "background"]] = (),
        complexity: Literal["trivial", "low", "medium", "high", "very_high"] | None = None, domain: str | None = None,
        archetype: str | None = None,
        task_type: Literal["feature", "bug", "refactor", "investigation", "configuration", "documentation", "test", "deploy"] | None = None,
        session: str | None = None, budget: int = 2000, profile: Literal["classic", "learned"] | None = None,
        strict: bool = False, explain: bool = False,
    ) -> ContextBlock:
        """Return what the project remembers for an objective, as a block for a prompt, cut to a budget of tokens."""
    def stale(self) -> StaleRecords:
        """Return the records that may no longer hold: of changed code, past their day, of another major version."""
    def log(self, ref: str, *, limit: int | None = None) -> History:
        """Return the commits that changed a record, newest first, and what happened to it; git is asked."""
    def diff(self, revisions: str | None = None) -> Difference:
        """Return what changed in the memory."""
    def why(self, ref: str, *, query: str | None = None) -> Why:
        """Return where a record comes from, what was merged into it, how it did, and why a query finds it."""
    def similar(self, text: str, *, threshold: float | None = None, limit: int = 3) -> Similar:
        """Return campaigns that have ended in any way and resemble a campaign or an objective."""
    def ran(
        self, command: Sequence[str], *, status: int, log: Log = (), folder: Path | str | None = None,
        session: str | None = None, task: str | None = None, began: float | None = None, name: str | None = None,
    ) -> Ran:
        """Take the end of a run of a command, such as a test suite: what fails is matched, what passes after it counts."""
    def edit(
        self, ref: str, fields: Mapping[str, object] | None = None, *, tag: Collection[str] = (),
        untag: Collection[str] = (), unset: Collection[str] = (), dry_run: bool = False, **changes: object,
    ) -> Changed:
        """Change fields of a record; lists replace, ``tag`` and ``untag`` change single tags, ``unset`` takes away."""
    def rename(self, ref: str, name: str) -> Changed:
        """Give a record another name; the old one is still found."""
    def forget(self, ref: str, reason: str | None = None) -> Changed:
        """Archive a record: it leaves search and graph, and comes back with ``restore``."""
    def restore(self, ref: str) -> Changed:
        """Bring an archived record back."""
    def pin(self, ref: str) -> Changed:
        """Pin a record: the briefing begins with it, it goes before its equals, and nothing archives it."""
    def unpin(self, ref: str) -> Changed:
        """Take the pin from a record."""
    def add_rows(
        self, lines: Log, *, name: str = "input", dedup: bool = False, skip_invalid: bool = False,
        verbose: bool = False, purges: bool = False,
    ) -> BulkAdded:
        """Add NDJSON rows of any kind, in any order, all or none."""
    def get(self, ref: str) -> Got:
        """Return a record with its edges, by reference or unambiguous name; an archived one too."""
    def list(
        self, kind: str | None = None, *, tags: Collection[str] = (), by: str | None = None, archived: bool = False,
        sort: str | None = None, limit: int | None = None, cursor: str | None = None,
    ) -> Listing:
        """Return records of a kind or entity type with all of ``tags``; ``sort`` is a field, ``-field`` reversed."""
    def supersede(self, old: str, new: str, reason: str | None = None) -> Changed:
        """Archive a record that another one of its kind takes the place of."""
    def undo(self, number: int = 1) -> Writes:
        """Take back the last ``number`` writes of this clone, all or none; return them, the last first."""
    def feedback(
        self, ref: str, *, helped: bool, wrong: bool = False, note: str | None = None, task: str | None = None,
        question: str | None = None, asked: str | None = None,
    ) -> Reported:
        """Report that a memory helped or did not; with a task, reporting again replaces the report."""
    def query(
        self, text: str, *, kinds: Collection[str] | None = None, limit: int | None = None,
        min_similarity: float | None = None, profile: Literal["classic", "learned"] | None = None,
        strict: bool = False, candidates: bool = False,
    ) -> Found:
        """Return the records that a text is about, best first; the answer's ``asked`` names the question in reports."""
    def match(self, lines: Log, *, strict: bool = False, explain: bool = False, all: bool = False) -> MatchedLog:
        """Return the known failures that a log reports, with the lines and what fixes them."""
    def solutions(self, ref: str, *, limit: int | None = None, strict: bool = False) -> Solutions:
        """Return the fixes of a failure, the patterns that solve it, then those that solve a variant or a cause of it."""
    def related(
        self, ref: str, *, max_hops: int = 2, types: Collection[str] | None = None,
        kinds: Collection[str] | None = None, direction: Literal["out", "in", "both"] = "both",
        min_strength: float | None = None, limit: int | None = None,
    ) -> Related:
        """Return what a record is related to, strongest path first, each path edge by edge."""
    def path(
        self, source: str, target: str, *, max_hops: int = 6, types: Collection[str] | None = None,
        direction: Literal["out", "in", "both"] = "both",
    ) -> Connection:
        """Return the strongest chain of edges between two records, however weak; strength 0 without one."""
    def stats(self, *, objective: str | None = None) -> Stats:
        """Return counts, capacity, worth, connectivity, and estimates; with an objective also the tiers for it."""
    def impact(self) -> Impact:
        """Return what the hooks put into sessions of agents here, what of it was used, and what answers cost."""
    def verify_loop(self, *, last: int = 10) -> Loop:
        """Report whether learning happens, over the last so many campaigns and runs, and where the loop is broken."""
    def cypher(
        self, query: str, parameters: Mapping[str, object] | None = None, *, timeout_s: float | None = None,
        limit: int | None = None,
    ) -> CypherRows:
        """Run a Cypher query, read-only and bounded in time, memory and rows."""
    def dump(
        self,
        format: Literal["ndjson", "csv", "markdown", "mcp-memory", "beads", "okf", "graphml", "dot", "mermaid", "jsonld", "html", "rules"] = "ndjson",
        *, kinds: Collection[str] = (), budget: int | None = None,
    ) -> Dump:
        """Return all rows, or those of kinds and types, one JSON object a line, or in the form of another program."""
    @staticmethod
    def init(folder: Path | str, *, nested: bool = False, ref: bool = False) -> Initialised:
        """Prepare a project: make ``.graphmem`` in ``folder``, or complete it; run again it changes nothing."""
    def check(self, *, base: str | None = None) -> BranchChecked:
        """Return what a branch does to the memory since it left another one, and what speaks against merging it."""
    def observe(self, ref: str | None = None, *, run_verify: bool = False, yes: bool = False) -> Observed:
        """Turn the finished and blocked tasks of a campaign into failures, patterns, edges and reports."""
