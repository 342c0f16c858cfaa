"""The garbage collector, put aside for work that makes very many objects and no garbage."""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """
    Leave the garbage collector off: it would walk all rows again and again, and none of them is garbage yet.

    What was made meanwhile counts as old afterwards, for the first collection would walk all of it once more.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if gc.get_freeze_count() == 0:  # nobody else has put objects aside, whom thawing would bring back
                gc.freeze()
                gc.unfreeze()
            gc.enable()
