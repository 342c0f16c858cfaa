"""The garbage collector, put aside for work that makes very many objects and no garbage."""

import contextlib
import gc
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Pauses:
    """The blocks of all threads that hold the collector off."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    number: int = 0
    was_on: bool = True


PAUSES = Pauses()


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """
    Leave the garbage collector off: it would walk all rows again and again, and none of them is garbage yet.

    What was made meanwhile counts as old afterwards, for the first collection would walk all of it once more.
    """
    with PAUSES.lock:
        PAUSES.was_on = PAUSES.was_on if PAUSES.number else gc.isenabled()
        PAUSES.number += 1
        gc.disable()
    try:
        yield
    finally:
        with PAUSES.lock:
            PAUSES.number -= 1
            if PAUSES.number == 0 and PAUSES.was_on:
                if gc.get_freeze_count() == 0:  # no other code has put objects aside, which thawing would bring back
                    gc.freeze()
                    gc.unfreeze()
                gc.enable()
