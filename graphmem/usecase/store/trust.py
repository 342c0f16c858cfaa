"""Trust the settings of a project in this clone."""

from graphmem.config import needs_trust, untrusted
from graphmem.config import trust as trust_settings
from graphmem.contract.store import Trust, TrustRequest
from graphmem.runtime import Client


def trust(client: Client, request: TrustRequest) -> Trust:
    """Return the project's settings that need trust; with ``yes`` trust them in this clone."""
    config = client.layout.config
    asked = needs_trust(config)
    if asked and request.yes:
        trust_settings(config, asked)
    reason = untrusted(config, asked) if asked else None
    return Trust(settings=dict(asked), trusted=reason is None, reason=reason)
