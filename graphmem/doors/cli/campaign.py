"""``campaign …`` and ``similar``."""

from typing import Annotated

import typer

from graphmem.core.plans.campaign_contract import CampaignTasks, FinalStatus
from graphmem.core.records import wording
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import CAMPAIGN, Call, group_of, passes
from graphmem.errors import Usage

app = group_of("campaign", "Plan tasks, see what can start and what cannot, finish.")


@app.command(epilog='Example: graphmem campaign complete sso --outcome "login works with two providers"')
@passes("campaigns.complete", ref=CAMPAIGN)
def complete(
    invocation: Invocation,
    call: Call,
    status: FinalStatus | None,
    partial: Annotated[bool, typer.Option("--partial", help="The same as --status partial.")] = False,
) -> None:
    """Finish a campaign and keep its fingerprint for similar; with open tasks it needs --partial."""
    if partial and status not in (None, "partial"):
        raise Usage(f"--partial contradicts --status {status}", hint="give one of them")
    answer: CampaignTasks = call(status="partial" if partial else status)
    invocation.answer(answer, wording.fields(answer.record))
