"""Trust the settings of a project in this clone."""

from graphmem.config import are_trusted, needs_trust, trust_commands, untrusted
from graphmem.config import trust as trust_settings
from graphmem.contract.store import Trust, TrustRequest
from graphmem.model import Task
from graphmem.runtime import Client


def trust(client: Client, request: TrustRequest) -> Trust:
    """Return the settings and the verify commands that need trust; with ``yes`` trust them in this clone."""
    config = client.layout.config
    asked = needs_trust(config)
    if asked and request.yes:
        trust_settings(config, asked)
    commands = verify_commands(client)
    if commands and request.yes:
        trust_commands(config, commands)
    reason = untrusted(config, asked) if asked else None
    if reason is None and not are_trusted(config, commands):
        reason = "look at the commands, and allow them with: graphmem trust --yes"
    return Trust(settings=dict(asked), commands=commands, trusted=reason is None, reason=reason)


def verify_commands(client: Client) -> list[str]:
    """Return the verify commands of the blocked tasks, which `observe --run-verify` runs."""
    with client.reading() as snapshot:
        tasks = snapshot.catalog.of_kind(Task).values()
        return sorted({task.verify for task in tasks if task.verify and task.status == "blocked"})
