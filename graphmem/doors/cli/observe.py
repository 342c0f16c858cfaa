"""``observe``."""

from collections.abc import Iterator

from graphmem.doors.cli import text
from graphmem.doors.cli.caller import Invocation, complete_campaign
from graphmem.doors.cli.commands import passes
from graphmem.features.work.observation import Observed, ObserveRequest
from graphmem.kernel.registry import Taken


@passes("observe", ObserveRequest, arguments=1, ref=Taken("CAMPAIGN", complete_campaign))
def observe(invocation: Invocation, answer: Observed) -> None:
    """
    Learn from the finished and blocked tasks of a campaign: failures, patterns, edges, reports.

    Verify commands come with the branch, so they run only with --run-verify, and when they are trusted.

    Example: graphmem observe sso --run-verify
    """
    invocation.answer(answer, "\n".join(shown(answer)))


def shown(answer: Observed) -> Iterator[str]:
    """Yield the steps for people, each with what it did."""
    for number, step in enumerate(answer.steps, 1):
        yield f"{number}. {step.step.replace('_', ' ')}: {step.reason}"
        if step.step == "verify":
            yield from (f"    {one.verdict}  {one.task}  {one.seconds:g} s" for one in answer.verified)
        if step.step == "failures":
            yield from (f"    {one.action}  {one.ref}  {text.gist(one.record)}" for one in answer.failures)
        if step.step == "patterns":
            for one in answer.patterns:
                if one.offered:
                    points = ", ".join(f"{name.replace('_', ' ')} {number}" for name, number in one.criteria.items())
                    yield f"    {one.ref or 'offered'}  {one.task}  {one.score}: {points}"
        if step.step == "link":
            yield from (f"    {one.source} {one.type} {one.target}" for one in answer.links)
