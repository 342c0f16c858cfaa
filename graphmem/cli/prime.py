"""``prime`` and ``status``."""

from collections.abc import Iterator
from pathlib import Path

import typer

from graphmem.cli import text
from graphmem.cli.caller import invocation_of
from graphmem.cli.options import option
from graphmem.contract.prime import PrimeRequest, StoreStatus
from graphmem.errors import Unavailable
from graphmem.service import manage


def prime(
    ctx: typer.Context,
    instructions: bool = option(PrimeRequest, "instructions"),
    budget: int = option(PrimeRequest, "budget", metavar="TOKENS"),
    named: str | None = option(PrimeRequest, "session", metavar="NAME"),
) -> None:
    """
    Print what an agent needs to begin: constraints, decisions, what was last worked on, how to ask.

    Example: graphmem prime
    """
    invocation = invocation_of(ctx)
    answer = invocation.memory.prime(session=named, budget=budget, instructions=instructions)
    invocation.answer(answer, answer.text)


def status(ctx: typer.Context) -> None:
    """
    Show where you are: the store, this clone, the current task, active campaigns, the service, and what to do next.

    Example: graphmem status
    """
    invocation = invocation_of(ctx)
    found = invocation.memory.status()
    try:
        service = manage.status(Path(found.store))
    except Unavailable as error:
        invocation.say(error.message)
        service = None
    answer = found.model_copy(update={"service": service})
    invocation.answer(answer, "\n".join(shown(answer)))


def shown(answer: StoreStatus) -> Iterator[str]:
    """Yield the lines for people."""
    yield f"store: {answer.store}, {text.count(answer.records, 'record')}, {text.count(answer.relations, 'relation')}"
    if answer.findings:
        yield f"files: {text.count(answer.findings, 'finding')}"
    if answer.without_vector:
        lacking = text.count(answer.without_vector, "record")
        yield f"search: {lacking} of {answer.records:,} without a vector yet, found by words alone"
    if answer.unregistered:
        yield f"clone: git does not know how to merge and show the memory ({', '.join(answer.unregistered)})"
    yield f"task: {text.one_line(answer.task) if answer.task else 'none'}"
    for campaign in answer.campaigns:
        ready = f"ready: {', '.join(campaign.ready)}" if campaign.ready else "no task is ready"
        yield f"campaign: {campaign.ref}, {ready}"
    if answer.service is not None:
        yield f"service: {f'runs as process {answer.service.pid}' if answer.service.ok else 'does not run'}"
    yield "next:"
    yield from (f"    {step}" for step in answer.next)
