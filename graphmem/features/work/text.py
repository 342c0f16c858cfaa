"""How campaigns, tasks and phases read on a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from graphmem.core.plans.campaign_contract import (
    CampaignStanding,
    CampaignTasks,
    FinalStatus,
    MergedPlan,
    Ready,
    ReplanInput,
)
from graphmem.core.plans.text import took
from graphmem.core.records import wording
from graphmem.core.replies.hints import in_tools
from graphmem.core.replies.reply import Reply, View, Word, escaped
from graphmem.core.search.text import match_lines, of_log
from graphmem.errors import Usage
from graphmem.features.work.observation import Observed
from graphmem.features.work.phases import PhaseCan, PhaseDurations, PhaseMoved, PhaseStatus
from graphmem.features.work.task_contract import TaskChanged, TaskShown, Workspace
from graphmem.kernel.model import Record
from graphmem.kernel.registry import Printout, Taken, asks, reads
from graphmem.kernel.system import shell
from graphmem.kernel.text import count, one_line


@reads(CampaignTasks)
def _campaign_add_tasks_text(answer: CampaignTasks) -> str:
    return lines(answer.tasks)


@reads(Ready)
def _campaign_ready_text(answer: Ready) -> Printout:
    return Printout(lines(answer.ready), "nothing can start" if not answer.ready else "")


@asks("campaigns.complete")
def _ask_complete(
    status: FinalStatus | None,
    partial: Annotated[bool, Taken(flag="--partial", meaning="The same as --status partial")] = False,
) -> Mapping[str, object]:
    if partial and status not in (None, "partial"):
        raise Usage(f"--partial contradicts --status {status}", hint="give one of them")
    return {"status": "partial"} if partial else {}


@reads("campaigns.complete")
def _campaign_complete_text(answer: CampaignTasks) -> str:
    return wording.fields(answer.record)


@reads("campaigns.status")
def _campaign_status_text(answer: CampaignStanding) -> str:
    return "\n".join(shown(answer))


@reads("campaigns.propagate")
def _campaign_propagate_text(answer: CampaignStanding) -> Printout:
    return Printout(
        "\n".join(shown(answer)), f"changed: {', '.join(answer.changed)}" if answer.changed else "nothing changed"
    )


@reads(ReplanInput)
def _campaign_replan_input_text(answer: ReplanInput) -> str:
    found = [f"{answer.campaign}  {one_line(answer.objective)}"]
    found += [f"complete  {one.ref}  {one_line(one.delivered)}".rstrip() for one in answer.completed]
    found += [f"blocked  {one.ref}  {one_line(one.reason)}".rstrip() for one in answer.blocked]
    found += [f"remaining  {task.ref}  {wording.gist(task)}" for task in answer.remaining]
    return "\n".join(found)


@reads(MergedPlan)
def _campaign_merge_plan_text(answer: MergedPlan) -> str:
    found = [
        f"{word}: {', '.join(refs)}"
        for word, refs in (
            ("kept", answer.kept), ("added", answer.added), ("changed", answer.changed), ("removed", answer.removed)
        )
        if refs
    ]  # fmt: skip
    return "\n".join(found)


@reads(Observed)
def _observe_text(answer: Observed) -> str:
    return "\n".join(_steps_lines(answer))


@reads(PhaseStatus)
def _phase_status_text(answer: PhaseStatus) -> str:
    since = f" since {answer.since}" if answer.since else ""
    return f"{answer.phase}{since}\nmay follow: {', '.join(answer.legal)}"


@reads(PhaseCan)
def _phase_can_text(answer: PhaseCan) -> str:
    return f"{answer.before} to {answer.after}: {('possible' if answer.legal else 'not possible')}"


@reads(PhaseMoved)
def _phase_to_text(answer: PhaseMoved) -> str:
    return f"{answer.before} to {answer.after}"


@reads(PhaseDurations)
def _phase_duration_text(answer: PhaseDurations) -> str:
    return "\n".join(f"{one.phase}  {one.begin}  {one.seconds:.0f} s" for one in answer.phases)


@reads("tasks.start")
def _task_start_text(answer: TaskChanged[Workspace]) -> Printout:
    return Printout(answer.workspace.text, *_task_changed(answer).splitlines())


@reads(TaskShown)
def _task_show_text(answer: TaskShown) -> str:
    return "\n".join(_task_lines(answer))


def lines(tasks: Sequence[Record]) -> str:
    """Return tasks, a line each."""
    return "\n".join(f"{task.ref}  {wording.gist(task)}" for task in tasks)


def shown(answer: CampaignStanding) -> Iterator[str]:
    """Yield the lines of a campaign for people."""
    counts = ", ".join(f"{number} {status}" for status, number in answer.counts.items())
    yield f"{answer.campaign}  [{answer.state.replace('_', ' ')}]  {counts or 'no tasks yet'}"
    causes = {one.ref: one.blocked_by for one in answer.unreachable}
    ready = set(answer.ready)
    for task in answer.tasks:
        yield f"{task.ref}  {wording.gist(task)}{'  (ready)' if task.ref in ready else ''}"
        if task.ref in causes:
            yield f"    cannot run: {', '.join(causes[task.ref])}"
        elif getattr(task, "status", "") == "blocked":
            yield f"    reason: {one_line(getattr(task, 'blocked_reason', None))}"
    for one in answer.disagreements:
        yield f"{one.ref}: {one.text}"
    if answer.duplicates:
        yield f"two tasks have the number {', '.join(answer.duplicates)}"
    if answer.estimate is not None:
        usual = f", campaigns that have ended took {answer.estimate.usual:.2g} times" if answer.estimate.usual else ""
        planned = count(answer.estimate.tasks, "task")
        yield f"estimated: complexity {answer.estimate.complexity:g}, {planned}{usual}"
    yield f"actual: {took(answer.actual)}"
    if answer.replan_suggested:
        yield f"another plan is worth making: {shell.command('graphmem', 'campaign', 'replan-input', answer.campaign)}"


def _steps_lines(answer: Observed) -> Iterator[str]:
    """Yield the steps for people, each with what it did."""
    for number, step in enumerate(answer.steps, 1):
        yield f"{number}. {step.step.replace('_', ' ')}: {step.reason}"
        if step.step == "verify":
            yield from (f"    {one.verdict}  {one.task}  {one.seconds:g} s" for one in answer.verified)
        if step.step == "failures":
            yield from (f"    {one.action}  {one.ref}  {wording.gist(one.record)}" for one in answer.failures)
        if step.step == "patterns":
            for one in answer.patterns:
                if one.offered:
                    points = ", ".join(f"{name.replace('_', ' ')} {number}" for name, number in one.criteria.items())
                    yield f"    {one.ref or 'offered'}  {one.task}  score {one.score}: {points}"
        if step.step == "link":
            yield from (f"    {one.source} {one.type} {one.target}" for one in answer.links)


def done(answer: TaskChanged) -> str:
    """Return in a line what happened to a task; where nothing did, since when it is so, and which session did that."""
    if answer.action not in ("updated", "unchanged"):
        return f"{answer.action} {answer.ref}"
    said = f"{answer.ref} is {getattr(answer.record, 'status', '')} already"
    said += f", since {answer.since}" if answer.since else ""
    said += f", by session {answer.by}" if answer.by else ""
    return said if answer.action == "unchanged" else f"{said}; what was not reported yet is added"


@reads("tasks.complete", "tasks.block", "tasks.reopen")
def _task_changed(answer: TaskChanged) -> str:
    """Return what happened to a task, and what follows from it."""
    lines = [done(answer)]
    lines += [f"can run again: {', '.join(answer.released)}"] if answer.released else []
    lines += [f"solved: {', '.join(answer.solved)}"] if answer.solved else []
    return "\n".join([*lines, *(match_lines(hit, is_placed=False) for hit in answer.known)])


def _task_lines(answer: TaskShown) -> Iterator[str]:
    """Yield the lines of a task for people."""
    yield wording.fields(answer.record)
    for word, refs in (
        ("helped", answer.handed_out.helped),
        ("failed", answer.handed_out.failed),
        ("handed out and not reported on", answer.handed_out.unused),
    ):
        if refs:
            yield f"  {word}: {', '.join(refs)}"
    for move in answer.moves:
        by = f"  by session {move.session}" if move.session else ""
        because = f"  {one_line(move.reason)}" if move.reason else ""
        yield f"  {move.at}  {move.before} to {move.after}{by}{because}"
    if answer.disagreement:
        yield f"  {answer.disagreement}"


# --- for a model ----------------------------------------------------------------------------------------------------


@reads(TaskChanged, to="model")
def _task_reply(answer: TaskChanged, view: View) -> Reply:
    """Return what happened to a task: its workspace when it starts, what is known of the error when it is blocked."""
    head: dict[str, Any] = {"ref": answer.ref, "action": Word(answer.action)}
    head |= {name: Word(value) for name in ("since", "by") if (value := getattr(answer, name))}
    head |= {"released": answer.released} if answer.released else {}
    head |= {"solved": answer.solved} if answer.solved else {}
    found = answer.workspace
    if found is not None:
        head |= {"asked": Word(found.asked)} if found.asked else {}
        head["workspace"] = escaped(in_tools(found.text))
    return Reply(head, [of_log(one, view) for one in answer.known], list(answer.notices))
