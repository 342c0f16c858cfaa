"""Who makes a call: an active stage, by its token, or a person, who types at a terminal and gives none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graphmem.errors import Refused
from graphmem.features.governance import tokens
from graphmem.features.governance.lease import Lease, active, is_used
from graphmem.features.governance.states import Mover
from graphmem.kernel.model import ReviewItem
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.system.surroundings import is_typed, variables


@dataclass(frozen=True)
class Actor:
    """Who makes a call; without a stage it is a person."""

    lease: Lease | None
    name: str

    @property
    def run(self) -> str | None:
        """The id of the stage that calls."""
        return None if self.lease is None else self.lease.nonce

    def movers(self, item: ReviewItem) -> Sequence[Mover]:
        """Return what the caller is to an item."""
        if self.lease is None:
            return ["person"]
        if self.lease.kind == "forge":
            return ["forge"]
        return ["raiser"] if item.stage == self.lease.stage else []


def is_person(client: Client) -> bool:
    """Return whether a person calls: who types a command at a terminal, and no agent runs it."""
    return client.runtime.via == "cli" and is_typed()


def without_token() -> Mapping[str, str]:
    """Return the variables of the caller for a command of the project, which gets no token."""
    return {name: value for name, value in variables().items() if name != tokens.VARIABLE}


def given_token(client: Client, token: str | None) -> str | None:
    """Return the token that a call carries; over HTTP the variables are those of the server, and of no caller."""
    return token or (None if client.runtime.via == "http" else variables().get(tokens.VARIABLE)) or None


def actor_of(client: Client, token: str | None, work: str | None = None) -> Actor:
    """
    Return who makes a call.

    Args:
        work: reference by key of the work that it is about; None for the one of the token.

    Raises:
        Refused: the token is not of the active stage, or there is none and no person types.
    """
    given = given_token(client, token)
    if given is not None:
        lease = held(client, given)
        if work is not None and lease.work != work:
            raise tokens.other_stage()
        return Actor(lease, lease.stage)
    if is_person(client):
        return Actor(None, person_name(client))
    raise Refused(
        "this call carries no token of a stage, and no person typed it at a terminal",
        hint=f"a stage gives its token with --token or in {tokens.VARIABLE}; graphmem work next NAME makes one",
    )


def held(client: Client, token: str) -> Lease:
    """Return the active stage, whose token this is, or raise ``Refused``."""
    payload = tokens.payload_of(token, tokens.secret_of(client), client.now().timestamp())
    lease = active(client)
    if lease is None or lease.nonce != payload.nonce:
        raise tokens.used() if is_used(client.state, payload.nonce) else tokens.other_stage()
    return lease


def person_name(client: Client) -> str:
    """Return the name of the person who calls, for the source of an item."""
    author = client.author()
    return "-".join(author[0].lower().split()) if author else "person"
