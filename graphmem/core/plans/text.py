"""How answers about plans read on a terminal."""

from graphmem.core.evidence.text import against
from graphmem.core.plans.campaign_contract import Actual, CampaignTasks, Ready, Similar
from graphmem.core.records import wording
from graphmem.core.replies.reply import Reply, View, Word, hit, page
from graphmem.kernel.registry import Printout, reads
from graphmem.kernel.text import count, one_line


@reads(Similar)
def _similar_text(answer: Similar) -> Printout:
    found_lines = []
    for found in answer.results:
        parts = f"objective {found.parts.objective:.2f}, files {found.parts.files:.2f}, size {found.parts.size:.2f}"
        found_lines.append(f"{found.ref}  [{found.similarity:.3f}: {parts}]  {wording.gist(found.record)}")
        found_lines += [f"    outcome: {one_line(found.outcome)}"] if found.outcome else []
        found_lines.append(f"    took: {took(found.took)}")
        found_lines += [f"    blocked by: {', '.join(found.blocked_by)}"] if found.blocked_by else []
        found_lines += [f"    solved by: {', '.join(found.solved_by)}"] if found.solved_by else []
        found_lines += [f"    {ref}: {one}" for ref, doubts in found.doubts.items() for one in against(doubts)]
    return Printout("\n".join(found_lines), "no campaign that has ended is like it" if not found_lines else "")


def took(actual: Actual) -> str:
    """Return what a campaign took."""
    spent = f", {actual.spent:g} of a budget of {actual.budget:g}" if actual.budget or actual.spent else ""
    blocked = f", {actual.blocked} blocked on the way" if actual.blocked else ""
    return f"{actual.finished} of {count(actual.tasks, 'task')}, {actual.minutes:g} minutes{spent}{blocked}"


# --- for a model ----------------------------------------------------------------------------------------------------


@reads(Ready, to="model")
def _ready_reply(answer: Ready, view: View) -> Reply:
    """Return the tasks that can start now: pending, every parent complete."""
    hits, more, notes = page(answer, answer.ready, view)
    return Reply({"campaign": answer.campaign, **more}, [hit(task, view) for task in hits], notes)


@reads(CampaignTasks, to="model")
def _complete_reply(answer: CampaignTasks, view: View) -> Reply:
    """Return a campaign that is finished, with its tasks."""
    tasks, more, notes = page(answer, answer.tasks, view)
    shown = [hit(task, view, status=Word(getattr(task, "status", ""))) for task in tasks]
    status = Word(getattr(answer.record, "status", ""))
    return Reply({"campaign": answer.campaign, "status": status, **more}, shown, notes)
