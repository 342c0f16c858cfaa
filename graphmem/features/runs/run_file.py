"""The run state of a project on this machine."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import orjson

from graphmem.constants import RUN_STATE_BYTES
from graphmem.errors import BadInput
from graphmem.kernel.machine.state import State
from graphmem.kernel.machine.traces import Traces
from graphmem.kernel.model.run_state import RunState


@dataclass
class HeldRun:
    """The run state while its lock is held; a block sets another one to have it written."""

    state: RunState


def read(state: State) -> RunState:
    """Return the run state; an empty one where it is absent, or damaged, which is reported."""
    return state.read("run", "", RunState.model_validate_json) or RunState()


@contextlib.contextmanager
def changing(state: State) -> Iterator[HeldRun]:
    """
    Yield the run state, alone with it; another one that the block sets is written at its end, all or nothing.

    Raises:
        Unavailable: it cannot be written.
        BadInput: it is too large.
    """
    with state.changing() as kept:
        held = HeldRun(kept.read("run", "", RunState.model_validate_json) or RunState())
        before = held.state
        yield held
        if held.state == before:
            return
        data = orjson.dumps(held.state.model_dump(mode="json", exclude_none=True), option=orjson.OPT_SORT_KEYS)
        if len(data) > RUN_STATE_BYTES:
            raise BadInput(
                f"the run state would have {len(data):,} bytes",
                hint=f"at most {RUN_STATE_BYTES:,}; null clears a field",
            )
        kept.put("run", "", data)


def clear_purged(state: State, traces: Traces) -> None:
    """Take purged records out of the run state."""
    with changing(state) as held:
        held.state = traces.cleared(held.state)
