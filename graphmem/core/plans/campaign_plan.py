"""What the plan of a campaign is now: its tasks, which can start, and which cannot run and why."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from graphmem.core.plans.campaign_contract import Actual, CampaignSizes, CampaignStage
from graphmem.core.plans.cascade import state_of, unreachable
from graphmem.core.plans.estimate import complexity, planned_task_count, usual_ratio
from graphmem.core.plans.plan import ready_tasks
from graphmem.kernel.model import Campaign, Task
from graphmem.kernel.store.snapshot import Snapshot
from graphmem.names import split_ref


def tasks_of(snapshot: Snapshot, campaign: int) -> list[Task]:
    """Return the live tasks of a campaign in the order of the plan, as answers show them."""
    return list(plan_of(snapshot, campaign).tasks.values())


@dataclass(frozen=True)
class Plan:
    """
    A campaign with its live tasks, as answers show them, in the order of the plan.

    Attributes:
        tasks: by number.
        settled: what they need outside of the plan that counts as complete: archived tasks that were.
    """

    campaign: Campaign
    tasks: Mapping[int, Task]
    settled: frozenset[str]

    @property
    def is_open(self) -> bool:
        """Whether the campaign has not ended."""
        return self.campaign.status == "active"

    @cached_property
    def stopped(self) -> dict[str, list[str]]:
        """The tasks that cannot run as things are, each with what stops it; none of a campaign that has ended."""
        return unreachable(self.tasks.values(), self.settled) if self.is_open else {}

    @property
    def ready(self) -> list[Task]:
        """The tasks that can start now; none of a campaign that has ended."""
        return ready_tasks(list(self.tasks.values()), self.settled) if self.is_open else []

    @property
    def state(self) -> CampaignStage:
        """Where the campaign is; one that has ended is as it ended."""
        ended = self.campaign.status
        return ended if ended != "active" else state_of(list(self.tasks.values()), self.stopped)

    @property
    def unmarked(self) -> dict[int, list[str]]:
        """What stops each task, by key, of those whose rows do not say so: nothing where one can run again."""
        found = {number: self.stopped.get(task.ref, []) for number, task in self.tasks.items()}
        return {
            number: [self.keys.get(ref, ref) for ref in causes]
            for number, causes in found.items()
            if (causes or self.tasks[number].status == "unreachable") and not _is_marked(self.tasks[number], causes)
        }

    @cached_property
    def keys(self) -> dict[str, str]:
        """The references by key, by shown reference."""
        return {task.ref: task.key_ref for task in self.tasks.values()}

    def moved(self, number: int, status: str) -> "Plan":
        """Return the plan with a task in another state."""
        moved = self.tasks[number].model_copy(update={"status": status})
        return Plan(self.campaign, {**self.tasks, number: moved}, self.settled)


def _is_marked(task: Task, causes: Sequence[str]) -> bool:
    """Return whether a task is unreachable already, and for these causes; all by shown name."""
    marked = [ref for ref in task.blocked_by if split_ref(ref)[0] == "task"]
    return task.status == "unreachable" and bool(causes) and marked == list(causes)


def framework_of(snapshot: Snapshot, task: Task) -> str | None:
    """Return what a task is built with: its own framework, or that of its campaign."""
    found = (snapshot.catalog.stored(number) for number in snapshot.catalog.known({task.campaign}).values())
    return task.framework or next((one.framework for one in found if isinstance(one, Campaign)), None)


def plan_of(snapshot: Snapshot, number: int) -> Plan:
    """Return the plan of a campaign."""
    campaign = snapshot.catalog.records([number])[number]
    assert isinstance(campaign, Campaign)
    steps = snapshot.catalog.steps([number], ["part_of"], "in")
    records = snapshot.catalog.records([step.far for step in steps])
    tasks = {one: record for one, record in records.items() if isinstance(record, Task)}
    ordered = dict(sorted(tasks.items(), key=lambda item: (item[1].seq, item[1].name)))
    needed = {need for task in tasks.values() for need in task.depends}.difference(task.ref for task in tasks.values())
    known = snapshot.catalog.known(needed)
    outside = snapshot.catalog.records(set(known.values()))
    settled = {ref for ref, one in known.items() if getattr(outside.get(one), "status", None) == "complete"}
    return Plan(campaign, ordered, frozenset(settled))


def actual_of(tasks: Sequence[Task]) -> Actual:
    """Return what tasks took."""
    finished = [task for task in tasks if task.status == "complete"]
    times = [task.completed_at - task.started_at for task in finished if task.completed_at and task.started_at]
    return Actual(
        tasks=len(tasks),
        finished=len(finished),
        minutes=round(sum(max(0.0, time.total_seconds()) for time in times) / 60, 2),
        budget=sum(task.budget or 0.0 for task in tasks),
        spent=sum(task.spent or 0.0 for task in tasks),
        blocked=sum(task.blocked_at is not None for task in tasks),
    )


def points_of(campaign: Campaign) -> float:
    """Return the complexity of a campaign that has an estimate."""
    return complexity(campaign.sections or 0, campaign.failure_cost_k or 0.0, campaign.framework_level or 0)


def usual_ratio_of(snapshot: Snapshot) -> float | None:
    """Return how many tasks the campaigns that have ended took for each that was estimated."""
    campaigns = snapshot.catalog.of_kind(Campaign).values()
    return usual_ratio(
        (planned_task_count(points_of(one)), one.fingerprint.tasks)
        for one in campaigns
        if one.has_ended and one.sections is not None and one.fingerprint is not None
    )


def campaign_sizes(snapshot: Snapshot) -> CampaignSizes | None:
    """Return what campaigns took that have ended, on the mean; None where none has."""
    ended = {number: one for number, one in snapshot.catalog.of_kind(Campaign).items() if one.has_ended}
    if not ended:
        return None
    took = [actual_of(tasks_of(snapshot, number)) for number in ended]
    return CampaignSizes(
        finished=len(ended),
        ended=dict(sorted(Counter(one.status for one in ended.values()).items())),
        tasks=fmean(one.tasks for one in took),
        minutes=fmean(one.minutes for one in took),
        estimated=sum(one.sections is not None for one in ended.values()),
        usual=usual_ratio_of(snapshot),
    )
