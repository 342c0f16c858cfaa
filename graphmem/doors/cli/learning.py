"""``learn``, ``inject``, ``decay``, ``experience``, ``promote``, ``adopt``, ``prune``."""

from typing import Annotated, Literal

import typer

from graphmem.core.records import wording
from graphmem.core.records.record_contract import Changed
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, passes
from graphmem.doors.cli.completion import complete_ref
from graphmem.doors.cli.inputs import lines_of
from graphmem.errors import Usage
from graphmem.features.learning.experiences import Promoted, PromoteRequest, Promotion, Recalled, RecallRequest
from graphmem.features.learning.lessons import Learned, LearnRequest
from graphmem.features.learning.text import learned
from graphmem.kernel.answer import address
from graphmem.kernel.registry import Taken
from graphmem.kernel.text import count, one_line


@passes("lessons.learn", LearnRequest, without=("name",))
def learn(
    invocation: Invocation,
    call: Call,
    events: Annotated[str, typer.Argument(metavar="RUN_EVENTS|-", help="NDJSON, an event a line.")],
) -> None:
    """
    Take from the events of a finished run which lessons it saw, and new ones.

    The findings of every review.verdict count. Half of a finding's keywords in a lesson make it that lesson; a bug or
    warning that matches no lesson becomes a new one. The same events again change nothing.

    Example: graphmem learn events.ndjson --run 2026-11-22-1
    """
    with lines_of(events) as lines:
        answer: Learned = call(lines, name="<stdin>" if events == "-" else events)
    invocation.answer(answer, learned(answer))


@passes("experiences.recall", RecallRequest, task_type=Taken(flag="--type"))
def experience(invocation: Invocation, call: Call, task_type: str | None, tags: list[str] | None) -> None:
    """
    Show the newest experiences with tasks of this type or with one of these tags, then their lessons.

    Example: graphmem experience --type bug --tag auth
    """
    if task_type is None and not tags:
        raise Usage("say what the task is", hint="graphmem experience --type bug, or --tag auth")
    answer: Recalled = call()
    invocation.answer(answer, _recalled(answer))


def _recalled(answer: Recalled) -> str:
    """Return experiences and what they teach."""
    lines = [wording.line(found.record) for found in answer.experiences]
    lines += [f"- {one_line(lesson.text, wording.ADVICE)}  ({lesson.ref})" for lesson in answer.lessons]
    return "\n".join(lines)


@passes("experiences.promote", PromoteRequest)
def promote(
    invocation: Invocation,
    call: Call,
    ref: Annotated[
        str | None, typer.Argument(metavar="REF", autocompletion=complete_ref, help="A record to copy instead.")
    ] = None,
    to: Annotated[
        Literal["user"] | None, typer.Option("--to", help="Where to copy the record: into your own store.")
    ] = None,
    yes: bool = False,
) -> None:
    """
    Find what experiences of different days and tasks agree on, and write it as insights.

    With a record and --to user, copy that record into your own store.

    Example: graphmem promote --yes
    graphmem promote pattern/pin-build-tools --to user
    """
    if (ref is None) != (to is None):
        raise Usage("a record is copied to the user's own store", hint="graphmem promote REF --to user")
    if ref is not None:
        copied: Changed = invocation.memory.store.call("user.promote", ref=ref)
        invocation.answer(copied, wording.changed(copied.model_copy(update={"ref": address(copied.ref, "user")})))
        return
    answer: Promoted = call()
    invocation.answer(answer, "\n".join(_promotion(found, is_done=answer.done) for found in answer.promotions))
    if not answer.promotions:
        invocation.say("nothing to promote")
    elif not yes:
        invocation.say("nothing was changed; do it with --yes")


def _promotion(found: Promotion, *, is_done: bool) -> str:
    """Return an insight and the experiences behind it."""
    would = "" if is_done else "would be "
    counted = count(found.occurrences, "experience")
    lines = [
        f"{would}{found.action} {found.ref}  ({found.category}, {counted}, confidence {found.confidence})",
        f"    {one_line(found.statement)}",
    ]
    return "\n".join([*lines, *(f"    from {ref}" for ref in found.experiences)])
