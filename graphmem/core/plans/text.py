"""How answers about plans read on a terminal."""

from graphmem.core.evidence.text import against
from graphmem.core.plans.campaign_contract import Actual, Similar
from graphmem.core.records import wording
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
