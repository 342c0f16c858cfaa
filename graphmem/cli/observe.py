"""``observe``."""

from collections.abc import Iterator

import typer

from graphmem.cli import text
from graphmem.cli.caller import complete_campaign, invocation_of
from graphmem.cli.options import argument, option
from graphmem.contract.observation import Observed, ObserveRequest


def observe(
    ctx: typer.Context,
    campaign: str | None = argument(ObserveRequest, "ref", metavar="[CAMPAIGN]", autocompletion=complete_campaign),
    run_verify: bool = option(ObserveRequest, "run_verify"),
    yes: bool = option(ObserveRequest, "yes"),
) -> None:
    """
    Learn from the finished and blocked tasks of a campaign: failures, patterns, edges, reports.

    Verify commands come with the branch, so they run only with --run-verify, and when they are trusted.

    Example: graphmem observe sso --run-verify
    """
    invocation = invocation_of(ctx)
    answer = invocation.memory.observe(campaign, run_verify=run_verify, yes=yes)
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
