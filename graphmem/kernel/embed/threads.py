"""
One thread for the linear algebra of one text.

The products of one text are small. Of two threads each waits for the other, and spins: on a busy machine of two cores a
text then takes 7 to 26 times the CPU (docs/benchmarks/installation.md, "Embedding"). Many texts are divided instead,
a batch to each core.
"""

import os
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

Part = TypeVar("Part")
Made = TypeVar("Made")
VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")  # read when numpy is imported
MOST_CORES = 4  # more hold more memory: 40 MB for each batch of long texts


def ask_for_one() -> None:
    """Have numpy begin with one thread, where nothing has imported it yet and the user asks for nothing else."""
    if "numpy" not in sys.modules:
        for name in VARIABLES:
            os.environ.setdefault(name, "1")


def cores() -> int:
    """Return for how many batches at once there is a core."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(here or 1, MOST_CORES)


def side_by_side(work: Callable[[Part], Made], parts: Sequence[Part]) -> Generator[Made, None, None]:
    """Yield what ``work`` makes of each part, in order; it works on as many at once as there are cores."""
    if len(parts) < 2 or cores() < 2:
        yield from map(work, parts)
        return
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - 5 ms, and most calls have one text

    with ThreadPoolExecutor(cores()) as pool:
        yield from pool.map(work, parts)  # which cancels what has not begun where it is closed or fails


class OneThread:
    """
    A block in which linear algebra uses one thread; any number of threads may be in it at once.

    The limit is one of the process. The first that enters sets it, and the last that leaves restores what there was.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.inside = 0
        self.libraries: Any = None
        self.limit: Any = None

    def __enter__(self) -> None:
        if os.environ.get(VARIABLES[1]) == "1":  # numpy began with one
            return
        with self.lock:
            if self.libraries is None:
                from threadpoolctl import ThreadpoolController  # noqa: PLC0415 - 8 ms, where numpy was there first

                self.libraries = ThreadpoolController().select(user_api="blas")
            self.limit = self.limit or self.libraries.limit(limits=1)
            self.inside += 1

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.inside = max(0, self.inside - 1)
            if self.limit and not self.inside:
                self.limit.restore_original_limits()
                self.limit = None


ONE_THREAD = OneThread()
