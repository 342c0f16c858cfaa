"""
Explorations: several agents look at a project at the same time, and what they find becomes one record.

What they report is kept on this machine: only ``aggregate`` needs a moment of the store.
"""

from time import monotonic, sleep
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from graphmem.constants import EXPLORE_POLL_S, EXPLORE_QUORUM, EXPLORE_S
from graphmem.core.records.change import add_to
from graphmem.core.records.record_contract import Changed
from graphmem.core.records.screening import screened, screened_fields
from graphmem.errors import BadInput, NotFound, Refused
from graphmem.kernel.answer import Answer
from graphmem.kernel.machine.state import KeptState, State
from graphmem.kernel.model import Exploration
from graphmem.kernel.model.exploration import ExplorationMode
from graphmem.kernel.model.field import TEXT_BYTES, Time
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.request import InputRequest, Request
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Writing

SessionId = Annotated[str, Field(description="Id of the exploration session")]
WaitResult = Literal["all_complete", "quorum_met", "timeout", "quorum_failure"]


class ReportExplorationRequest(InputRequest):
    """What an agent found in one mode."""

    session: SessionId
    mode: ExplorationMode = Field(description="What was looked for")
    text: str = Field(description="What was found")


class WaitExplorationRequest(Request):
    """For which reports to wait, and how long."""

    session: SessionId
    required: int = Field(EXPLORE_QUORUM, ge=1, le=4, description="Number of reports that are enough")
    timeout: float = Field(EXPLORE_S, ge=0, le=3600, description="Seconds to wait at most")
    poll: float = Field(EXPLORE_POLL_S, gt=0, le=60, description="Seconds between two looks")


class AggregateExplorationRequest(InputRequest):
    """Which session to keep as a record, and what it was about."""

    session: SessionId
    objective: str = Field(description="What was explored")


class ExplorationStarted(Answer):
    """A new session, and the modes that it expects reports of."""

    session: str
    modes: list[ExplorationMode]


class ExplorationReported(Answer):
    """A report that was kept; ``late`` if the wait for it had ended."""

    session: str
    mode: ExplorationMode
    late: bool


class ExplorationWaited(Answer):
    """
    How a wait ended.

    ``all_complete``: every mode was reported. ``quorum_met``: enough were, or structure and delta. When the time was
    up, ``quorum_failure``: some were, not enough; ``timeout``: none was.
    """

    session: str
    result: WaitResult
    received: list[ExplorationMode]
    missing: list[ExplorationMode]
    seconds: float


class ModeReport(BaseModel):
    """What was reported for one mode."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    at: Time
    text: str
    late: bool = False


class ExplorationState(BaseModel):
    """When a session began, what was reported, and when its wait ended: what is reported after that is late."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    started_at: Time
    ended_at: Time | None = None
    reports: dict[ExplorationMode, ModeReport] = {}


MODES: tuple[ExplorationMode, ...] = get_args(ExplorationMode)
TELLING = frozenset({"structure", "delta"})  # that are enough together


@operation("explorations.start", writes=True, at_home=True, example="graphmem explore start")
def start(client: Client) -> ExplorationStarted:
    """Begin a session."""
    session = client.new_id()
    with client.state.changing() as kept:
        put(kept, session, ExplorationState(started_at=client.now()))
    return ExplorationStarted(session=session, modes=list(MODES))


def put(kept: KeptState, session: str, found: ExplorationState) -> None:
    """Keep a session."""
    kept.put("exploration", session, found.model_dump_json().encode())


def _session_of(state: State | KeptState, session: str) -> ExplorationState:
    """
    Return a session.

    Raises:
        NotFound: there is none.
    """
    found = state.read("exploration", session, ExplorationState.model_validate_json)
    if found is None:
        raise NotFound(
            f"no exploration session {session[:64]!r} on this machine", hint="begin one: graphmem explore start"
        )
    return found


@operation(
    "explorations.report",
    writes=True,
    at_home=True,
    example="graphmem explore report 3f2a91c0 structure found.md",
    takes={"text": Taken("FILE|-", reads="text")},
)
def report(client: Client, request: ReportExplorationRequest) -> ExplorationReported:
    """Keep what an agent found; after the wait has ended it is kept as late."""
    request = screened(client, request, "exploration")
    if not request.text.strip():
        raise BadInput(f"the report on {request.mode} is empty", hint="say what was found")
    if len(request.text.encode()) > TEXT_BYTES:
        raise BadInput(
            f"the report on {request.mode} has {len(request.text.encode()):,} bytes", hint=f"at most {TEXT_BYTES:,}"
        )
    with client.state.changing() as kept:
        found = _session_of(kept, request.session)
        is_late = found.ended_at is not None
        made = ModeReport(at=client.now(), text=request.text, late=is_late)
        put(kept, request.session, found.model_copy(update={"reports": {**found.reports, request.mode: made}}))
    return ExplorationReported(session=request.session, mode=request.mode, late=is_late)


@operation(
    "explorations.wait",
    writes=True,
    at_home=True,
    not_over_http="holds a worker for minutes; a caller looks at the event stream",
    example="graphmem explore wait 3f2a91c0 --timeout 60",
    takes={"timeout": Taken("SECONDS"), "poll": Taken("SECONDS")},
)
def wait(client: Client, request: WaitExplorationRequest) -> ExplorationWaited:
    """Wait until enough is reported, or structure and delta are, or the time is up."""
    begin = monotonic()
    while True:
        found = _session_of(client.state, request.session).reports
        passed = monotonic() - begin
        is_over = passed >= request.timeout
        if result_of(set(found), request.required, is_over=is_over) is not None:
            with client.state.changing() as kept:  # what was reported meanwhile is not late
                session = _session_of(kept, request.session)
                put(kept, request.session, session.model_copy(update={"ended_at": session.ended_at or client.now()}))
                found = session.reports
            result = result_of(set(found), request.required, is_over=is_over)
            assert result is not None
            return ExplorationWaited(
                session=request.session,
                result=result,
                received=[mode for mode in MODES if mode in found],
                missing=[mode for mode in MODES if mode not in found],
                seconds=round(passed, 2),
            )
        sleep(min(request.poll, max(request.timeout - passed, 0.01)))


def result_of(received: set[ExplorationMode], required: int = EXPLORE_QUORUM, *, is_over: bool) -> WaitResult | None:
    """Return how a wait ends with what was received; None while it goes on."""
    if len(received) == len(MODES):
        return "all_complete"
    if len(received) >= required or received >= TELLING:
        return "quorum_met"
    if not is_over:
        return None
    return "quorum_failure" if received else "timeout"


@operation(
    "explorations.aggregate",
    writes=True,
    at_home=True,
    example='graphmem explore aggregate 3f2a91c0 "add single sign-on"',
)
def aggregate(snapshot: Writing, request: AggregateExplorationRequest) -> Changed[Exploration]:
    """Keep what was found in a session as one record."""
    request = screened(snapshot, request, "exploration")
    found = _session_of(snapshot.client.state, request.session).reports
    if not found:
        raise Refused(f"nothing was reported in exploration session {request.session}", hint="graphmem explore report")
    parts: dict[str, str] = {mode: found[mode].text for mode in MODES if mode in found}
    fields = {"objective": request.objective, "session": request.session, **parts}
    return add_to(snapshot, "exploration", screened_fields(snapshot, "exploration", fields))
