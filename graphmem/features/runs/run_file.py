"""The run state of a project on this machine: one file in ``state/``, changed under a lock, replaced whole."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from graphmem.constants import RUN_STATE_BYTES
from graphmem.errors import BadInput
from graphmem.kernel.machine.state_file import read_state
from graphmem.kernel.machine.traces import Traces
from graphmem.kernel.model.run_state import RunState
from graphmem.kernel.store.purging import PurgedStore
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.lock import locked


@dataclass
class HeldRun:
    """The run state while its lock is held; a block sets another one to have it written."""

    state: RunState


def read(path: Path, on_message: Callable[[str], None]) -> RunState:
    """Return the run state; an empty one if the file is missing, or damaged, which is reported."""
    return read_state(path, RunState.model_validate_json, on_message, RUN_STATE_BYTES) or RunState()


@contextlib.contextmanager
def changing(path: Path, lock: Path, timeout_s: float, on_message: Callable[[str], None]) -> Iterator[HeldRun]:
    """
    Yield the run state, alone with it; another one that the block sets is written at its end, all or nothing.

    Raises:
        Locked: another process is at it all the time.
        BadInput: it is too large.
        OSError: it cannot be written.
    """
    with locked(lock, timeout_s=timeout_s):
        held = HeldRun(read(path, on_message))
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
        safe_files.put(path, data, is_flushed=True)


def clear_purged(store: PurgedStore, traces: Traces) -> None:
    """Take purged records out of the run state."""
    with changing(store.layout.run_state, store.local / "run.lock", store.lock_timeout_s, lambda text: None) as held:
        held.state = traces.cleared(held.state)
