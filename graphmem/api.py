"""
The Python API: ``Memory``, one method a use case, grouped by noun.

Every front end calls this and nothing below. A method builds its request and returns the answer of the use case, both
models of ``graphmem.contract``; what a parameter means and which values it takes is in docs/reference/requests.md.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from graphmem import constants, contract
from graphmem.embed.shared import Models
from graphmem.model.blackboard import TaskStage
from graphmem.model.experience import Confidence, ExperienceType, Outcome
from graphmem.model.exploration import ExplorationMode
from graphmem.model.insight import Category
from graphmem.model.lesson import LessonType, Severity
from graphmem.model.vocabulary import EntityType, RelationType
from graphmem.retry import repeated
from graphmem.rules.score import Complexity
from graphmem.runtime import (
    Client,
    MessageHandler,
    Progress,
    Runtime,
    find_store,
    fresh_id,
    no_progress,
    system_clock,
)
from graphmem.usecase import hooks, vocabulary
from graphmem.usecase.learning import effectiveness, experiences, lessons, sessions, test_runs
from graphmem.usecase.records import bulk_add, change, doubts, feedback, prune, purge, read, relations, undo
from graphmem.usecase.retrieval import context, cypher, match, prime, query, traversal
from graphmem.usecase.store import conflicts, doctor, export, git_setup, history, init, rebuild, stats, trust, validate
from graphmem.usecase.work import campaigns, event_log, explorations, inbox, observation, phases, plans, runs, tasks

if TYPE_CHECKING:
    from graphmem.contract.campaigns import (
        CampaignStanding,
        CampaignTasks,
        FinalStatus,
        MergedPlan,
        Ready,
        ReplanInput,
        Similar,
    )
    from graphmem.contract.context import ContextBlock
    from graphmem.contract.cypher import CypherRows, QueryList
    from graphmem.contract.effectiveness import Loop
    from graphmem.contract.events import EventList, Happened
    from graphmem.contract.experiences import Promoted, Recalled
    from graphmem.contract.explorations import ExplorationReported, ExplorationStarted, ExplorationWaited
    from graphmem.contract.feedback import BulkReported, Reported
    from graphmem.contract.findings import Checked, Doctored
    from graphmem.contract.history import Difference, History
    from graphmem.contract.hooks import ClientName, HookAnswer
    from graphmem.contract.inbox import ItemChanged, ItemList, ItemType
    from graphmem.contract.lessons import Injected, Learned
    from graphmem.contract.match import MatchedLog
    from graphmem.contract.observation import Observed
    from graphmem.contract.phases import Phase, PhaseCan, PhaseDurations, PhaseMoved, PhaseStatus
    from graphmem.contract.prime import Briefing, StoreStatus
    from graphmem.contract.query import Found, Profile, Tier
    from graphmem.contract.records import (
        BulkAdded,
        Changed,
        Got,
        Listing,
        Pruned,
        Purged,
        StaleRecords,
        VersionSource,
        Writes,
    )
    from graphmem.contract.relations import Connection, Direction, Linked, Related, Solutions
    from graphmem.contract.runs import BuildResume, ChunkMove, Required, ResumeAction, RunShown
    from graphmem.contract.sessions import SessionContext
    from graphmem.contract.stats import Stats
    from graphmem.contract.store import Exported, Initialised, Rebuilt, Resolved, Trust
    from graphmem.contract.tasks import TaskChanged, TaskShown
    from graphmem.contract.test_runs import Ran
    from graphmem.contract.vocabulary import TypeList

Log = Iterable[bytes | str] | bytes | str


def lines_of(log: Log) -> Iterator[bytes]:
    """Yield the lines of a log as bytes, whether it is one text or lines."""
    given = [log] if isinstance(log, bytes | str) else log
    for part in given:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        yield from data.splitlines(keepends=True) if isinstance(log, bytes | str) else (data,)


Texts = Collection[str] | None


class Noun:
    """Use cases of one noun."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime

    @property
    def client(self) -> Client:
        """The client of this thread."""
        return self.runtime.client()


@repeated
class Failures(Noun):
    """What went wrong, and what fixes it."""

    def add(
        self, trigger: str, *, fix: str | None = None, name: str | None = None, match: str | None = None,
        cost: float | None = None, tags: Texts = None, sources: Texts = None, files: Texts = None, cites: Texts = None,
        versions: Mapping[str, str] | None = None, versions_from: VersionSource = "lock",
        check_after: str | None = None, flaky: bool | None = None, dedup: bool = True, dry_run: bool = False,
        replace: bool = False, supersedes: str | None = None,
    ) -> Changed:  # fmt: skip
        """
        Add a failure; one that repeats another is merged into it.

        Args:
            trigger: the error. fix: what resolves it. name: a slug; made from the trigger if not given.
            match: a regular expression that finds the failure in a log. cost: thousands of tokens that it took.
            tags: words. sources: where it came from. files: paths from the project's root.
            cites: code, as ``path``, ``path:symbol`` or ``path:symbol@commit``. flaky: whether it comes and goes.
            dedup: look for a failure to merge into. dry_run: return what would change, and change nothing.
            replace: in a merge, and under a taken name, the new texts become the current ones.
            versions: of packages, by name. versions_from: where those come from that the texts name.
            check_after: day such as ``2027-01-31``. supersedes: the record that is archived for this one.
        """
        request = contract.failures.AddFailureRequest(
            trigger=trigger, fix=fix, name=name, match=match, cost=cost, tags=tags, sources=sources, files=files,
            cites=cites, versions=versions, versions_from=versions_from, check_after=check_after, flaky=flaky,
            dedup=dedup, dry_run=dry_run, replace=replace, supersedes=supersedes,
        )  # fmt: skip
        return change.add_record(self.client, request)


@repeated
class Patterns(Noun):
    """What works."""

    def add(
        self, trigger: str, insight: str, *, name: str | None = None, saved: float | None = None,
        framework: str | None = None, tags: Texts = None, sources: Texts = None, files: Texts = None,
        cites: Texts = None, versions: Mapping[str, str] | None = None, versions_from: VersionSource = "lock",
        check_after: str | None = None, dedup: bool = True, dry_run: bool = False, replace: bool = False,
        supersedes: str | None = None,
    ) -> Changed:  # fmt: skip
        """
        Add a pattern; one that repeats another is merged into it.

        Args:
            trigger: when it applies. insight: what to do then. name: a slug; made from the trigger if not given.
            saved: thousands of tokens that it saves. framework: what it is for.
            tags, sources, files, cites, dedup, dry_run, replace: as for a failure.
            versions, versions_from, check_after, supersedes: as for a failure.
        """
        request = contract.patterns.AddPatternRequest(
            trigger=trigger, insight=insight, name=name, saved=saved, framework=framework, tags=tags, sources=sources,
            files=files, cites=cites, versions=versions, versions_from=versions_from, check_after=check_after,
            dedup=dedup, dry_run=dry_run, replace=replace, supersedes=supersedes,
        )  # fmt: skip
        return change.add_record(self.client, request)


@repeated
class Entities(Noun):
    """Things of the project."""

    def add(
        self, type_name: str, name: str, *, value: str | None = None, sources: Texts = None, dry_run: bool = False
    ) -> Changed:
        """Add an entity of a declared type, or change its value."""
        request = contract.entities.AddEntityRequest(
            type_name=type_name, name=name, value=value, sources=sources, dry_run=dry_run
        )
        return change.add_record(self.client, request)


@repeated
class Lessons(Noun):
    """What runs taught: seen again, fading, and injected into prompts."""

    def add(
        self, description: str, *, type: LessonType | None = None, name: str | None = None,  # noqa: A002
        domain: str | None = None, severity: Severity | None = None, archetype: str | None = None,
        source: str | None = None, tags: Texts = None, sources: Texts = None, files: Texts = None, cites: Texts = None,
        dedup: bool = True, dry_run: bool = False, replace: bool = False, supersedes: str | None = None,
    ) -> Changed:  # fmt: skip
        """
        Add a lesson by hand; a ``preference`` is injected at once, any other type after two runs saw it.

        Args:
            description: what to know. domain: where it applies. severity: how bad it is to ignore it.
            archetype: of an ``archetype_hint``. source: who raised it.
            name, tags, sources, files, cites, dedup, dry_run, replace, supersedes: as for a failure.
        """
        request = contract.lessons.AddLessonRequest(
            description=description, type=type, name=name, domain=domain, severity=severity, archetype=archetype,
            source=source, tags=tags, sources=sources, files=files, cites=cites, dedup=dedup, dry_run=dry_run,
            replace=replace, supersedes=supersedes,
        )  # fmt: skip
        return change.add_record(self.client, request)

    def learn(self, events: Iterable[bytes], *, name: str = "<events>", run: str | None = None,
              semantic: bool = False) -> Learned:  # fmt: skip
        """
        Take from the events of a finished run which lessons it saw, and new ones; the same events change nothing.

        Args:
            events: NDJSON; the findings of each ``review.verdict`` count.
            run: what identifies the run; None for what the events or the name of the input say.
            semantic: a finding that means the same as a lesson counts too.
        """
        request = contract.lessons.LearnRequest(name=name, run=run, semantic=semantic)
        return lessons.learn(self.client, events, request)

    def decay(self, run: str) -> Learned:
        """Record a run that saw no lesson, and report which lessons it moved."""
        return lessons.decay(self.client, contract.lessons.DecayRequest(run=run))

    def inject(self, *, domain: str | None = None, archetype: str | None = None) -> Injected:
        """Return the lessons that belong into a prompt, at most ten, ready to be put there."""
        return lessons.inject(self.client, contract.lessons.InjectRequest(domain=domain, archetype=archetype))


@repeated
class Experiences(Noun):
    """What finished tasks taught."""

    def add(
        self, task_type: ExperienceType, description: str, *, approach: str, outcome: Outcome, lessons: Collection[str],
        name: str | None = None, time_taken: float | None = None, complexity_estimated: Complexity | None = None,
        complexity_actual: Complexity | None = None, capabilities_used: Texts = None,
        confidence: Confidence | None = None, tags: Texts = None, sources: Texts = None, dry_run: bool = False,
        supersedes: str | None = None,
    ) -> Changed:  # fmt: skip
        """
        Add what a finished task taught; above 200 experiences, the oldest of low confidence is archived.

        Args:
            description: what the task was. approach: how it was done. lessons: what to know the next time.
            time_taken: minutes. capabilities_used: what it was done with.
        """
        request = contract.experiences.AddExperienceRequest(
            task_type=task_type, description=description, approach=approach, outcome=outcome, lessons=lessons,
            name=name, time_taken=time_taken, complexity_estimated=complexity_estimated,
            complexity_actual=complexity_actual, capabilities_used=capabilities_used, confidence=confidence, tags=tags,
            sources=sources, dry_run=dry_run, supersedes=supersedes,
        )  # fmt: skip
        return change.add_record(self.client, request)

    def recall(self, *, task_type: ExperienceType | None = None, tags: Collection[str] = ()) -> Recalled:
        """Return the newest experiences with this type of task or one of these tags, and their lessons."""
        return experiences.recall(self.client, contract.experiences.RecallRequest(task_type=task_type, tags=tags))

    def promote(self, *, category: Category | None = None, yes: bool = False) -> Promoted:
        """Find what experiences of different days and tasks agree on; ``yes`` writes it as insights."""
        return experiences.promote(self.client, contract.experiences.PromoteRequest(category=category, yes=yes))


@repeated
class Insights(Noun):
    """What several experiences agree on."""

    def add(
        self, category: Category, statement: str, *, derived_from: Collection[str], name: str | None = None,
        tags: Texts = None, sources: Texts = None, dry_run: bool = False, supersedes: str | None = None,
    ) -> Changed:  # fmt: skip
        """Add an insight by hand; it needs two experiences of different days and tasks."""
        request = contract.insights.AddInsightRequest(
            category=category, statement=statement, derived_from=derived_from, name=name, tags=tags, sources=sources,
            dry_run=dry_run, supersedes=supersedes,
        )  # fmt: skip
        return change.add_record(self.client, request)


@repeated
class Sessions(Noun):
    """What is current, what was decided, and what has to be kept to; ``name`` is of a session, None the project's."""

    def show(self, name: str | None = None) -> SessionContext:
        """Return what is current; the empty answer where nothing is."""
        return sessions.show(self.client, contract.sessions.SessionRequest(name=name))

    def start(self, name: str | None = None, *, conversation: str | None = None,
              task: str | None = None) -> SessionContext:  # fmt: skip
        """Begin a new session; the preferences of the user stay."""
        request = contract.sessions.StartSessionRequest(name=name, conversation=conversation, task=task)
        return sessions.start(self.client, request)

    def work_on(self, description: str | None = None, name: str | None = None, *, id: str | None = None,  # noqa: A002
                type: str | None = None, status: TaskStage | None = None) -> SessionContext:  # noqa: A002  # fmt: skip
        """Set what is being worked on, or its state; a new description begins a new task."""
        request = contract.sessions.WorkOnRequest(description=description, name=name, id=id, type=type, status=status)
        return sessions.work_on(self.client, request)

    def decide(self, decision: str, name: str | None = None, *, reasoning: str | None = None, task: str | None = None,
               key: str | None = None) -> Changed:  # fmt: skip
        """Record a decision; ``key`` is its name, made from the text if not given."""
        request = contract.sessions.DecideRequest(decision=decision, name=name, reasoning=reasoning, task=task, key=key)
        return sessions.decide(self.client, request)

    def constrain(self, constraint: str, name: str | None = None, *, source: str | None = None,
                  expires_at: str | None = None, key: str | None = None) -> Changed:  # fmt: skip
        """Record a constraint, for everybody or for a named session, until a time if one is given."""
        request = contract.sessions.ConstrainRequest(
            constraint=constraint, name=name, source=source, expires_at=expires_at, key=key
        )
        return sessions.constrain(self.client, request)

    def prefer(
        self, name: str | None = None, *, communication_style: str | None = None, approval_gates: str | None = None,
        default_model_profile: str | None = None,
    ) -> SessionContext:  # fmt: skip
        """Note how the user wants to work."""
        request = contract.sessions.PreferRequest(
            name=name, communication_style=communication_style, approval_gates=approval_gates,
            default_model_profile=default_model_profile,
        )  # fmt: skip
        return sessions.prefer(self.client, request)

    def note(self, name: str | None = None, *, messages: int | None = None, conversation: str | None = None,
             skills: Collection[str] = (), used: Collection[str] = ()) -> SessionContext:  # fmt: skip
        """Note how far the session has come, the skills it invoked and the records it used."""
        request = contract.sessions.NoteRequest(
            name=name, messages=messages, conversation=conversation, skills=skills, used=used
        )
        return sessions.note(self.client, request)

    def end(self, name: str | None = None) -> Changed:
        """End the session: what it was and used becomes a record."""
        return sessions.end(self.client, contract.sessions.EndSessionRequest(name=name))


@repeated
class Relations(Noun):
    """Typed, weighted edges."""

    def link(self, source: str, kind: str, target: str, *, weight: float | None = None, note: str | None = None,
             sources: Collection[str] = ()) -> Linked:  # fmt: skip
        """Add an edge, or change its weight and note; without a weight it has that of its type."""
        request = contract.relations.LinkRequest(
            source=source, kind=kind, target=target, weight=weight, note=note, sources=sources
        )
        return relations.link(self.client, request)

    def unlink(self, source: str, kind: str, target: str) -> Linked:
        """Take an edge out."""
        return relations.unlink(self.client, contract.relations.UnlinkRequest(source=source, kind=kind, target=target))


@repeated
class Campaigns(Noun):
    """Pieces of work that are more than one task."""

    def create(
        self, objective: str, *, name: str | None = None, framework: str | None = None, tags: Texts = None,
        sources: Texts = None, sections: int | None = None, framework_level: int | None = None,
        failure_cost_k: float | None = None,
    ) -> Changed:  # fmt: skip
        """
        Begin a campaign.

        Args:
            sections: of the specification; with them the campaign has an estimate of its size.
            framework_level: how unknown the framework is. failure_cost_k: thousands of tokens that known failures cost.
        """
        request = contract.campaigns.CreateCampaignRequest(
            objective=objective, name=name, framework=framework, tags=tags, sources=sources, sections=sections,
            framework_level=framework_level, failure_cost_k=failure_cost_k,
        )  # fmt: skip
        return campaigns.create(self.client, request)

    def add_tasks(self, ref: str, plan: object) -> CampaignTasks:
        """Add the tasks of a plan (a list, or ``{"tasks": […]}``), all or none; cycles are refused with their path."""
        return plans.add_tasks(self.client, contract.campaigns.AddTasksRequest(ref=ref, plan=plan))

    def ready(self, ref: str) -> Ready:
        """Return the tasks that can start now."""
        return campaigns.ready(self.client, contract.campaigns.ReadyRequest(ref=ref))

    def status(self, ref: str) -> CampaignStanding:
        """Return where a campaign is: its tasks, which of them cannot run and why, and what it took so far."""
        return campaigns.status(self.client, contract.campaigns.CampaignRequest(ref=ref))

    def propagate(self, ref: str) -> CampaignStanding:
        """Mark the tasks that cannot run as unreachable, and those that can again as pending."""
        return plans.propagate(self.client, contract.campaigns.CampaignRequest(ref=ref))

    def replan_input(self, ref: str) -> ReplanInput:
        """Return what a planner needs to plan the unfinished part again."""
        return plans.replan_input(self.client, contract.campaigns.CampaignRequest(ref=ref))

    def merge_plan(self, ref: str, plan: object) -> MergedPlan:
        """Put the tasks of a plan in the place of the unfinished part, all or none; what is complete stays as it is."""
        return plans.merge_plan(self.client, contract.campaigns.MergePlanRequest(ref=ref, plan=plan))

    def complete(self, ref: str, *, outcome: str | None = None, status: FinalStatus | None = None) -> CampaignTasks:
        """Finish a campaign, complete or partly, and keep its fingerprint for ``similar``."""
        request = contract.campaigns.CompleteCampaignRequest(ref=ref, outcome=outcome, status=status)
        return campaigns.complete(self.client, request)


@repeated
class Tasks(Noun):
    """The tasks of campaigns: each is started with what the project knows, and teaches by how it ends."""

    def start(self, ref: str, *, budget: int = constants.CONTEXT_BUDGET, session: str | None = None) -> TaskChanged:
        """
        Start a task whose parents are complete; the answer's workspace is a prompt to begin with.

        Args:
            budget: largest size of the workspace, in tokens. session: whose current task it becomes.
        """
        request = contract.tasks.StartTaskRequest(ref=ref, budget=budget, session=session)
        return tasks.start(self.client, request)

    def complete(self, ref: str, *, delivered: str | None = None, used: Collection[str] = (),
                 failed: Collection[str] = (), solved_by: Collection[str] = (), spent: float | None = None,
                 session: str | None = None) -> TaskChanged:  # fmt: skip
        """
        Complete a task, report what helped, and link the patterns that solved what it was blocked by.

        Args:
            used: memories that helped. failed: memories that did not. solved_by: patterns.
        """
        request = contract.tasks.CompleteTaskRequest(
            ref=ref, delivered=delivered, used=used, failed=failed, solved_by=solved_by, spent=spent, session=session
        )
        return tasks.complete(self.client, request)

    def block(self, ref: str, reason: str, *, by: Collection[str] = (), failed: Collection[str] = (),
              session: str | None = None) -> TaskChanged:  # fmt: skip
        """Block a task; the answer has the known failures that the reason reports, with what fixes them."""
        request = contract.tasks.BlockTaskRequest(ref=ref, reason=reason, by=by, failed=failed, session=session)
        return tasks.block(self.client, request)

    def reopen(self, ref: str, *, reason: str | None = None, session: str | None = None) -> TaskChanged:
        """Make a task pending again, from whatever state it is in."""
        request = contract.tasks.ReopenTaskRequest(ref=ref, reason=reason, session=session)
        return tasks.reopen(self.client, request)

    def show(self, ref: str, *, budget: int = constants.CONTEXT_BUDGET) -> TaskShown:
        """Return a task with its workspace, what became of what it was handed out, and its moves."""
        return tasks.show(self.client, contract.tasks.ShowTaskRequest(ref=ref, budget=budget))


@repeated
class Explorations(Noun):
    """Several agents look at a project at the same time; what they find becomes one record."""

    def start(self) -> ExplorationStarted:
        """Begin a session."""
        return explorations.start(self.client)

    def report(self, session: str, mode: ExplorationMode, text: str) -> ExplorationReported:
        """Keep what an agent found; after the wait has ended it is kept as late."""
        request = contract.explorations.ReportExplorationRequest(session=session, mode=mode, text=text)
        return explorations.report(self.client, request)

    def wait(self, session: str, *, required: int = constants.EXPLORE_QUORUM, timeout: float = constants.EXPLORE_S,
             poll: float = constants.EXPLORE_POLL_S) -> ExplorationWaited:  # fmt: skip
        """Wait until enough is reported, or structure and delta are, or the time is up."""
        request = contract.explorations.WaitExplorationRequest(
            session=session, required=required, timeout=timeout, poll=poll
        )
        return explorations.wait(self.client, request)

    def aggregate(self, session: str, objective: str) -> Changed:
        """Keep what was found in a session as one record."""
        request = contract.explorations.AggregateExplorationRequest(session=session, objective=objective)
        return explorations.aggregate(self.client, request)


@repeated
class Runs(Noun):
    """What is going on now on this machine, and the build run; it outlives the process that writes it."""

    def show(self) -> RunShown:
        """Return the run state."""
        return runs.show(self.client)

    def set(self, fields: Mapping[str, object]) -> RunShown:
        """Change fields of the run state: objects are merged, ``None`` clears, all other fields stay."""
        return runs.set_fields(self.client, contract.runs.SetRunRequest(fields=fields))

    def done(self, step: str) -> RunShown:
        """Note that a step of the workflow is complete."""
        return runs.done(self.client, contract.runs.StepRequest(step=step))

    def require(self, step: str, *, workflow: str | None = None, skip: bool = False) -> Required:
        """Return whether what a step needs is complete; ``skip`` goes on without, which is recorded."""
        return runs.require(self.client, contract.runs.RequireStepRequest(step=step, workflow=workflow, skip=skip))

    def begin(self, plan: Mapping[str, object]) -> RunShown:
        """Begin a build run with the chunks of a plan."""
        return runs.begin(self.client, contract.runs.BeginBuildRequest(plan=plan))

    def chunk(self, id: str, status: ChunkMove) -> RunShown:  # noqa: A002
        """Move a chunk of the build run to its next status."""
        return runs.move_chunk(self.client, contract.runs.MoveChunkRequest(id=id, status=status))

    def checkpoint(self, *, phase: str | None = None) -> RunShown:
        """Note that the build run got so far."""
        return runs.checkpoint(self.client, contract.runs.CheckpointRequest(phase=phase))

    def end(self) -> RunShown:
        """End the build run: cleared where every chunk is completed, else visible as partial."""
        return runs.end(self.client)

    def resume(self, *, choose: ResumeAction | None = None) -> BuildResume:
        """Return what is left of a build run that was cut off, and how to go on; a choice does it."""
        return runs.resume(self.client, contract.runs.ResumeBuildRequest(choose=choose))


@repeated
class Phases(Noun):
    """Where the project, or a campaign, is in its work."""

    def status(self, *, campaign: str | None = None) -> PhaseStatus:
        """Return the current phase, and which may follow."""
        return phases.status(self.client, contract.phases.PhaseRequest(campaign=campaign))

    def can(self, phase: Phase, *, campaign: str | None = None) -> PhaseCan:
        """Return whether a phase may follow the current one."""
        return phases.can(self.client, contract.phases.MovePhaseRequest(phase=phase, campaign=campaign))

    def move(self, phase: Phase, *, campaign: str | None = None) -> PhaseMoved:
        """Go on to another phase; one that may not follow is refused with those that may."""
        return phases.move(self.client, contract.phases.MovePhaseRequest(phase=phase, campaign=campaign))

    def reset(self, *, campaign: str | None = None) -> PhaseMoved:
        """Begin again, from whatever phase it is."""
        return phases.reset(self.client, contract.phases.PhaseRequest(campaign=campaign))

    def duration(self, *, campaign: str | None = None) -> PhaseDurations:
        """Return how long each phase took."""
        return phases.duration(self.client, contract.phases.PhaseRequest(campaign=campaign))


@repeated
class Inbox(Noun):
    """What is to be looked at later; it is committed, and several writers lose nothing."""

    def add(self, content: str, *, type: ItemType = "feature") -> ItemChanged:  # noqa: A002
        """Add an item."""
        return inbox.add(self.client, contract.inbox.AddItemRequest(content=content, type=type))

    def items(self, *, everything: bool = False) -> ItemList:
        """Return the items that are not processed, or all, the oldest first."""
        return inbox.listed(self.client, contract.inbox.ListItemsRequest(everything=everything))

    def take(self, id: str | None = None) -> ItemChanged:  # noqa: A002
        """Begin to work on an item, by its id; the oldest that is pending if not given."""
        return inbox.take(self.client, contract.inbox.TakeItemRequest(id=id))

    def dismiss(self, id: str) -> ItemChanged:  # noqa: A002
        """Set an item aside without working on it."""
        return inbox.dismiss(self.client, contract.inbox.DismissItemRequest(id=id))

    def finish(self, id: str, *, error: str | None = None) -> ItemChanged:  # noqa: A002
        """Note that an item was worked on, or what went wrong."""
        return inbox.finish(self.client, contract.inbox.FinishItemRequest(id=id, error=error))


@repeated
class Events(Noun):
    """What happened: moves of tasks and phases, verdicts, and whatever a caller records."""

    def add(self, type: str, *, subject: str | None = None,  # noqa: A002
            data: Mapping[str, object] | None = None) -> Happened:  # fmt: skip
        """Record something that happened; types that begin with ``context-`` stay on this machine."""
        request = contract.events.AddEventRequest(type=type, subject=subject, data=data)
        return event_log.add(self.client, request)

    def list(self, *, types: Collection[str] = (), subject: str | None = None, cursor: str | None = None,
             limit: int = 100) -> EventList:  # fmt: skip
        """Return events in the order of time: the last ones, or the next after a cursor."""
        request = contract.events.ListEventsRequest(types=types, subject=subject, cursor=cursor, limit=limit)
        return event_log.events(self.client, request)


@repeated
class Types(Noun):
    """The vocabulary of the project."""

    def list(self) -> TypeList:
        """Return the project's types, and graphmem's own relations."""
        return vocabulary.type_list(self.client)

    def show(self, name: str) -> EntityType | RelationType:
        """Return one type."""
        return vocabulary.type_show(self.client, contract.vocabulary.ShowTypeRequest(name=name))

    def add_entity(self, name: str, *, description: str = "", search: bool = True) -> EntityType:
        """Declare an entity type."""
        request = contract.vocabulary.AddEntityTypeRequest(name=name, description=description, search=search)
        return vocabulary.add_entity_type(self.client, request)

    def add_relation(self, name: str, *, sources: Collection[str], targets: Collection[str], weight: float = 1.0,
                     symmetric: bool = False, description: str = "") -> RelationType:  # fmt: skip
        """Declare a relation type, and the kinds that it may connect."""
        request = contract.vocabulary.AddRelationTypeRequest(
            name=name, sources=sources, targets=targets, weight=weight, symmetric=symmetric, description=description
        )
        return vocabulary.add_relation_type(self.client, request)


@repeated
class Memory:
    """
    The memory of one project; any number of threads may use it.

    Each thread gets its own connection when it first calls a method. A change of the settings, of what is trusted and
    of the types by another process counts from the next call on.

    Args:
        folder: the folder that holds ``.graphmem``; None looks at ``GRAPHMEM_DIR``, then from here upwards.
        lock_timeout_s: seconds to wait for another writer; None for what the settings say.
        now: the clock.
        new_id: makes the ids of reports.
        on_message: takes a line for people, such as a bad line of a file; each reported once.
        progress: shows long work.
        at: a commit, or a date that means the last commit before it: the memory as it was then, only to be read.
        command: what ``undo --list`` is to call the writes.
        models: those of another memory, ``other.runtime.models``: each is loaded once for both.

    Raises:
        Unavailable: there is no store; make one with ``Memory.init``.
        NotFound: ``at`` names no commit with a store.
    """

    def __init__(
        self,
        folder: Path | str | None = None,
        *,
        lock_timeout_s: float | None = None,
        now: Callable[[], datetime] = system_clock,
        new_id: Callable[[], str] = fresh_id,
        on_message: MessageHandler = lambda text: None,
        progress: Progress = no_progress,
        at: str | None = None,
        command: str = "python",
        models: Models | None = None,
    ) -> None:
        is_fresh = not find_store(folder).local.exists()
        options = {} if lock_timeout_s is None else {"store": {"lock_timeout": lock_timeout_s}}
        self.runtime = Runtime(
            folder, at, now, new_id, on_message, progress, command, options, models=models or Models()
        )
        client = self.client  # opened now, so that what is wrong with it is raised here
        if is_fresh and git_setup.unregistered(client.layout):
            client.notify_once(
                "git does not know yet how to merge this memory's files; run once in this clone: graphmem init"
            )
        self.failures = Failures(self.runtime)
        self.patterns = Patterns(self.runtime)
        self.lessons = Lessons(self.runtime)
        self.experiences = Experiences(self.runtime)
        self.insights = Insights(self.runtime)
        self.entities = Entities(self.runtime)
        self.relations = Relations(self.runtime)
        self.campaigns = Campaigns(self.runtime)
        self.tasks = Tasks(self.runtime)
        self.phases = Phases(self.runtime)
        self.explorations = Explorations(self.runtime)
        self.runs = Runs(self.runtime)
        self.inbox = Inbox(self.runtime)
        self.events = Events(self.runtime)
        self.sessions = Sessions(self.runtime)
        self.types = Types(self.runtime)

    @property
    def client(self) -> Client:
        """The client of this thread."""
        return self.runtime.client()

    @staticmethod
    def init(folder: Path | str, *, nested: bool = False) -> Initialised:
        """
        Prepare a project: make ``.graphmem`` in ``folder``, or complete it; run again it changes nothing.

        Args:
            nested: make one also where a folder above has a memory, which is then not used here.
        """
        return init.init(contract.store.InitRequest(folder=folder, nested=nested))

    def close(self) -> None:
        """Let go of the store's files."""
        self.runtime.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- any record ---------------------------------------------------------------------------------------------

    def add_rows(self, lines: Log, *, name: str = "input", dedup: bool = False, skip_invalid: bool = False,
                 verbose: bool = False) -> BulkAdded:  # fmt: skip
        """
        Add NDJSON rows of any kind, in any order, all or none.

        Raises:
            BadInput: rows that do not check out; ``details["findings"]`` names each, nothing was changed.
        """
        request = contract.records.AddRowsRequest(name=name, dedup=dedup, skip_invalid=skip_invalid, verbose=verbose)
        return bulk_add.bulk_add(self.client, lines_of(lines), request)

    def get(self, ref: str) -> Got:
        """Return a record with its edges, by reference or unambiguous name; an archived one too."""
        return read.get(self.client, contract.records.GetRequest(ref=ref))

    def list(self, kind: str | None = None, *, tags: Collection[str] = (), archived: bool = False,
             sort: str | None = None, limit: int | None = None, cursor: str | None = None) -> Listing:  # fmt: skip
        """
        Return records of a kind or entity type with all of ``tags``; ``sort`` is a field, ``-field`` reversed.

        Args:
            cursor: of the answer before, to go on after it; what is added meanwhile repeats and hides nothing.
        """
        request = contract.records.ListRequest(
            kind=kind, tags=tags, archived=archived, sort=sort, limit=limit, cursor=cursor
        )
        return read.listing(self.client, request)

    def edit(self, ref: str, fields: Mapping[str, object] | None = None, *, tag: Collection[str] = (),
             untag: Collection[str] = (), unset: Collection[str] = (),
             dry_run: bool = False) -> Changed:  # fmt: skip
        """Change fields of a record; lists replace, ``tag`` and ``untag`` change single tags, ``unset`` takes away."""
        request = contract.records.EditRequest(
            ref=ref, fields=fields, tag=tag, untag=untag, unset=unset, dry_run=dry_run
        )
        return change.edit(self.client, request)

    def rename(self, ref: str, name: str) -> Changed:
        """Give a record another name; the old one is still found."""
        return change.rename(self.client, contract.records.RenameRequest(ref=ref, name=name))

    def forget(self, ref: str, reason: str | None = None) -> Changed:
        """Archive a record: it leaves search and graph, and comes back with ``restore``."""
        return change.forget(self.client, contract.records.ForgetRequest(ref=ref, reason=reason))

    def restore(self, ref: str) -> Changed:
        """Bring an archived record back."""
        return change.restore(self.client, contract.records.RestoreRequest(ref=ref))

    def supersede(self, old: str, new: str, reason: str | None = None) -> Changed:
        """Archive a record that another one of its kind takes the place of."""
        return undo.supersede(self.client, contract.records.SupersedeRequest(old=old, new=new, reason=reason))

    def purge(self, refs: Collection[str] = (), *, archived: bool = False, yes: bool = False,
              history_script: Path | None = None) -> Purged:  # fmt: skip
        """
        Destroy records with every row that names them; without ``yes`` only report what would go.

        Args:
            refs: what to destroy; the tasks of a campaign go with it.
            archived: every archived record as well.
            yes: do it; no ``undo`` brings anything back.
            history_script: a file to write, which removes the rows from git's history; without ``refs`` the rows of
                all purges so far.
        """
        request = contract.records.PurgeRequest(refs=refs, archived=archived, yes=yes, history_script=history_script)
        return purge.purge(self.client, request)

    def undo(self, number: int = 1) -> Writes:
        """Take back the last ``number`` writes of this clone, all or none; return them, the last first."""
        return undo.undo(self.client, contract.records.UndoRequest(number=number))

    def undoable(self) -> Writes:
        """Return the writes of this clone that can be taken back, the last first."""
        return undo.undoable(self.client)

    def prune(self, *, max_failures: int = constants.PRUNE_FAILURES, max_patterns: int = constants.PRUNE_PATTERNS,
              min_importance: float = constants.PRUNE_IMPORTANCE, yes: bool = False) -> Pruned:  # fmt: skip
        """Archive the least important memories over a cap, and old ones worth next to nothing; preview without yes."""
        request = contract.records.PruneRequest(
            max_failures=max_failures, max_patterns=max_patterns, min_importance=min_importance, yes=yes
        )
        return prune.prune(self.client, request)

    def feedback(self, ref: str, *, helped: bool, wrong: bool = False, note: str | None = None,
                 task: str | None = None, question: str | None = None, asked: str | None = None
                 ) -> Reported:  # fmt: skip
        """
        Report that a memory helped or did not; with a task, reporting again replaces the report.

        Args:
            wrong: what it says is not true: every answer that shows it says so, until it is edited.
            question: what was asked when it was found; later, the report counts for questions like that one.
            asked: the id that the answer had, instead of the question.

        Raises:
            NotFound: there is no such memory, or nothing with this id was asked here in the last 30 days.
        """
        request = contract.feedback.FeedbackRequest(
            ref=ref, helped=helped, wrong=wrong, note=note, task=task, question=question, asked=asked
        )  # fmt: skip
        return feedback.feedback(self.client, request)

    def feedback_rows(self, lines: Log, *, name: str = "input") -> BulkReported:
        """Store a batch of reports, NDJSON lines ``{ref, helped, task?, question?, asked?, at?, id?}``, all or none."""
        request = contract.feedback.FeedbackRowsRequest(name=name)
        return feedback.feedback_batch(self.client, lines_of(lines), request)

    # --- search and graph ---------------------------------------------------------------------------------------

    def query(self, text: str, *, kinds: Collection[str] | None = None, limit: int = constants.QUERY_LIMIT,
              min_similarity: float | None = None, profile: Profile | None = None,
              strict: bool = False) -> Found:  # fmt: skip
        """Return the records that a text is about, best first; the answer's ``asked`` names the question in reports."""
        request = contract.query.QueryRequest(
            text=text, kinds=kinds, limit=limit, min_similarity=min_similarity, profile=profile, strict=strict
        )
        return query.query(self.client, request)

    def context(self, objective: str, *, tags: Collection[str] = (), files: Collection[str] = (),
                tiers: Collection[Tier] = (), complexity: Complexity | None = None, domain: str | None = None,
                archetype: str | None = None, task_type: ExperienceType | None = None, session: str | None = None,
                budget: int = constants.CONTEXT_BUDGET, profile: Profile | None = None, strict: bool = False,
                explain: bool = False) -> ContextBlock:  # fmt: skip
        """Return what the project remembers for an objective, as a block for a prompt, cut to a budget of tokens."""
        request = contract.context.ContextRequest(
            objective=objective, tags=tags, files=files, tiers=tiers, complexity=complexity, domain=domain,
            archetype=archetype, task_type=task_type, session=session, budget=budget, profile=profile,
            strict=strict, explain=explain,
        )  # fmt: skip
        return context.context(self.client, request)

    def stale(self) -> StaleRecords:
        """Return the records that may no longer hold: of changed code, past their day, of another major version."""
        return doubts.stale(self.client)

    def match(self, lines: Log, *, strict: bool = False) -> MatchedLog:
        """
        Return the known failures that a log reports, with the lines and what fixes them.

        Args:
            lines: of any number and length, as a file opened in binary gives them, read once; or the log as one text.
        """
        return match.match(self.client, lines_of(lines), contract.match.MatchRequest(strict=strict))

    def ran(self, command: Sequence[str], *, status: int, log: Log = (), folder: Path | None = None,
            session: str | None = None, task: str | None = None, name: str | None = None) -> Ran:  # fmt: skip
        """
        Take the end of a run of a command, such as a test suite: what fails is matched, what passes after it counts.

        Args:
            command: its words.
            status: its exit status.
            log: the lines of its output, or all of it as one text; read only of a run that failed.
            folder: where it was run; None for the current one.
            session: a session by name; a pass settles the failures of its own session only.
            task: that it was run for: the reports are about this task then.
            name: of the command; runs with the same one settle each other, whatever their words.
        """
        request = contract.test_runs.RanRequest(
            command=command, status=status, folder=folder, session=session, task=task, name=name
        )
        return test_runs.ran(self.client, lines_of(log), request)

    def related(self, ref: str, *, max_hops: int = constants.DEFAULT_HOPS, types: Collection[str] | None = None,
                kinds: Collection[str] | None = None, direction: Direction = "both",
                min_strength: float | None = None, limit: int | None = None) -> Related:  # fmt: skip
        """Return what a record is related to, strongest path first, each path edge by edge."""
        request = contract.relations.RelatedRequest(
            ref=ref, max_hops=max_hops, types=types, kinds=kinds, direction=direction, min_strength=min_strength,
            limit=limit,
        )  # fmt: skip
        return traversal.related(self.client, request)

    def path(self, source: str, target: str, *, max_hops: int = constants.MAX_HOPS,
             types: Collection[str] | None = None, direction: Direction = "both") -> Connection:  # fmt: skip
        """Return the strongest chain of edges between two records, however weak; strength 0 where there is none."""
        request = contract.relations.PathRequest(
            source=source, target=target, max_hops=max_hops, types=types, direction=direction
        )
        return traversal.path(self.client, request)

    def solutions(self, ref: str, *, limit: int | None = None, strict: bool = False) -> Solutions:
        """Return the patterns that solve a failure, then those that solve a variant or a cause of it."""
        request = contract.relations.SolutionsRequest(ref=ref, limit=limit, strict=strict)
        return traversal.solutions(self.client, request)

    def similar(self, text: str, *, threshold: float | None = None, limit: int = constants.SIMILAR_MAX) -> Similar:
        """Return finished campaigns that resemble a campaign or an objective."""
        request = contract.campaigns.SimilarRequest(text=text, threshold=threshold, limit=limit)
        return campaigns.similar(self.client, request)

    def observe(self, ref: str | None = None, *, run_verify: bool = False, yes: bool = False) -> Observed:
        """
        Turn the finished and blocked tasks of a campaign into failures, patterns, edges and reports.

        Args:
            ref: the campaign; the only active one if not given.
            run_verify: run the verify commands of blocked tasks, if they are trusted. yes: write what is offered.
        """
        request = contract.observation.ObserveRequest(ref=ref, run_verify=run_verify, yes=yes)
        return observation.observe(self.client, request)

    def cypher(self, query: str, parameters: Mapping[str, object] | None = None, *, timeout_s: float | None = None,
               limit: int | None = None) -> CypherRows:  # fmt: skip
        """
        Run a Cypher query, read-only and bounded in time, memory and rows.

        Raises:
            Refused: a statement that is not allowed; the hint names the command that does it.
            Usage: a parameter that is missing or that the query does not have.
            BadInput: the engine does not understand it.
            Unavailable: it ran out of time or memory.
        """
        request = contract.cypher.CypherRequest(query=query, parameters=parameters, timeout_s=timeout_s, limit=limit)
        return cypher.cypher(self.client, request)

    def cypher_named(self, name: str, parameters: Mapping[str, object] | None = None, *, timeout_s: float | None = None,
                     limit: int | None = None) -> CypherRows:  # fmt: skip
        """Run a stored query by its name, such as ``failure/solutions``."""
        request = contract.cypher.CypherNamedRequest(name=name, parameters=parameters, timeout_s=timeout_s, limit=limit)
        return cypher.cypher_named(self.client, request)

    @staticmethod
    def queries() -> QueryList:
        """Return the stored queries that read, with their parameters and columns."""
        return cypher.query_list()

    # --- history ------------------------------------------------------------------------------------------------

    def log(self, ref: str, *, limit: int | None = None) -> History:
        """Return the commits that changed a record, newest first, under whatever name it had; git is asked."""
        return history.log(self.client, contract.history.LogRequest(ref=ref, limit=limit))

    def diff(self, revisions: str | None = None) -> Difference:
        """
        Return what changed in the memory.

        Args:
            revisions: ``A..B`` for two commits, ``A...B`` for what B changed since it left A, ``A`` against the files
                as they are now; None for the last commit against those. A date represents the last commit before it.
        """
        return history.diff(self.client, contract.history.DiffRequest(revisions=revisions))

    # --- the store ----------------------------------------------------------------------------------------------

    def export(self, *, to: Path | None = None) -> Exported:
        """Bring every file into canonical form, or write a canonical copy to another folder."""
        return export.export(self.client, contract.store.ExportRequest(to=to))

    def export_check(self) -> Checked:
        """Report where a file is not canonical or does not check out; nothing is written."""
        return export.export_check(self.client)

    def rebuild(self, *, embed: bool = True) -> Rebuilt:
        """Rebuild everything derived from the files; ``embed=False`` makes no vectors."""
        return rebuild.rebuild(self.client, contract.store.RebuildRequest(embed=embed))

    def resolve(self) -> Resolved:
        """Merge what is between git's conflict markers, row by row, in every data file that has them."""
        return conflicts.resolve(self.client)

    def validate(self) -> Checked:
        """Check files, vocabulary, graph and search index against each other."""
        return validate.validate(self.client)

    def doctor(self, *, fix: bool = False) -> Doctored:
        """Check all that ``validate`` does, the clone, and what is derived; ``fix`` repairs what a program can."""
        return doctor.doctor(self.client, contract.store.DoctorRequest(fix=fix))

    def trust(self, *, yes: str | None = None) -> Trust:
        """Return what of the project needs trust; ``yes``, the digest of that answer, lets it count in this clone."""
        return trust.trust(self.client, contract.store.TrustRequest(yes=yes))

    def prime(
        self, *, session: str | None = None, budget: int = constants.BRIEFING_BUDGET, instructions: bool = False
    ) -> Briefing:
        """
        Return what an agent needs to begin: constraints, decisions, what was last worked on, how to ask.

        Args:
            session: whose decisions and constraints. budget: tokens. instructions: the lines for AGENTS.md instead.
        """
        request = contract.prime.PrimeRequest(session=session, budget=budget, instructions=instructions)
        return prime.prime(self.client, request)

    def hook(self, client: ClientName, event: str, *, until: float | None = None) -> HookAnswer:
        """
        Answer an event of a coding agent, and keep what its session was shown.

        Args:
            client: which agent it is. event: what it sends, a JSON object.
            until: second since 1970 after which it waits no longer: then nothing counts as shown.
        """
        return hooks.hook(self.client, contract.hooks.HookRequest(client=client, event=event, until=until))

    def status(self) -> StoreStatus:
        """Return where one is: the store, this clone, the current task, active campaigns, and what to do next."""
        return prime.status(self.client)

    def stats(self, *, objective: str | None = None) -> Stats:
        """Return counts, capacity, worth, connectivity, and estimates; with an objective also the tiers for it."""
        return stats.stats(self.client, contract.stats.StatsRequest(objective=objective))

    def verify_loop(self, *, last: int = constants.LOOP_PIECES) -> Loop:
        """Report whether learning happens, over the last so many campaigns and runs, and where the loop is broken."""
        return effectiveness.verify(self.client, contract.effectiveness.VerifyLoopRequest(last=last))

    def names(self, prefix: str = "", limit: int = 50) -> Sequence[str]:
        """Return references that begin with ``prefix``, in name order: what a shell completes."""
        request = contract.records.NamesRequest(prefix=prefix, limit=limit)
        with self.client.reading() as snapshot:
            return snapshot.catalog.completions(request.prefix, request.limit)
