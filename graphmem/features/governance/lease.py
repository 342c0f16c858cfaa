"""The stage that is active in this clone: it holds the working tree until it ends or expires."""

from datetime import UTC, datetime

import orjson
from pydantic import BaseModel, ConfigDict

from graphmem.errors import Refused
from graphmem.features.governance.states import StageKind
from graphmem.kernel.machine.state import KeptState, State
from graphmem.kernel.model.field import Time, format_time
from graphmem.kernel.store.runtime import Client


class Lease(BaseModel):
    """
    A stage that began and did not end.

    Args:
        work: reference by key.
        nonce: of its token; one is made where a person began it.
        exp: seconds since 1970 at which it counts as crashed.
        tree: everything in the working tree when it began, as an object of git; ``head`` the commit.
        globs, model: of its definition when it began, whatever it does to that.
        content: hash of the files of the branch when it began.
        owes_run: it has commands, which did not run yet.
        noted: numbers of rows that a person wrote while it was active.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    work: str
    cycle: str
    stage: str
    kind: StageKind
    iteration: int
    nonce: str
    exp: float
    begun_at: Time
    branch: str
    tree: str
    head: str
    is_by_person: bool = False
    globs: tuple[str, ...] = ()
    model: str | None = None
    content: str | None = None
    owes_run: bool = False
    noted: tuple[int, ...] = ()

    @property
    def until(self) -> datetime:
        """When it counts as crashed."""
        return datetime.fromtimestamp(self.exp, UTC)


KEY = ""


def lease_of(state: State | KeptState) -> Lease | None:
    """Return the stage that was begun last and did not end; it may have expired."""
    return state.read("stage", KEY, Lease.model_validate_json)


def active(client: Client) -> Lease | None:
    """Return the stage that is active now."""
    found = lease_of(client.state)
    return found if found is not None and found.exp > client.now().timestamp() else None


def still_active(lease: Lease) -> Refused:
    """Return the error where another stage is active."""
    return Refused(
        f"stage {lease.stage} of {lease.work} is active in this clone until {format_time(lease.until)}",
        hint="graphmem stage end; after that time graphmem stage retry takes it over",
        details={"stage": lease.stage, "work": lease.work},
    )


def keep(kept: KeptState, lease: Lease) -> None:
    """Keep a stage as the one that is active."""
    kept.put("stage", KEY, orjson.dumps(lease.model_dump(mode="json")))


def drop(client: Client) -> None:
    """Let no stage be active."""
    with client.state.changing() as kept:
        kept.drop("stage", [KEY])


def use(kept: KeptState, nonce: str, exp: float, now: float) -> bool:
    """Note that a nonce is used; return False where it was before. Those that have expired go."""
    known = kept.read_all("nonce", float)
    kept.drop("nonce", [name for name, until in known.items() if until <= now])
    if nonce in known:
        return False
    kept.put("nonce", nonce, str(exp).encode())
    return True


def is_used(state: State, nonce: str) -> bool:
    """Return whether a nonce was used."""
    return state.read("nonce", nonce, float) is not None
