"""One text takes one thread, also where a program has numpy already; many are divided among the cores."""

import os
import subprocess
import sys
import threading

import pytest

from graphmem.kernel.embed import threads
from graphmem.kernel.embed.threads import VARIABLES, OneThread, side_by_side

ENCODE = """
import os, time
import numpy
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    del os.environ[name]
from threadpoolctl import threadpool_info
from tests.kernel.embed.oracle import model_folder
from graphmem.kernel.embed.encoder import LightEncoder
encoder = LightEncoder(model_folder(), name="light", fingerprint="f")
encoder.encode_query("warm")
all_threads, this_thread = time.process_time(), time.thread_time()
for number in range(10):
    encoder.encode_query(f"database is locked while worker {number} writes")
print((time.process_time() - all_threads) / (time.thread_time() - this_thread))
print(*{found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"})
"""


@pytest.mark.process
def test_a_text_takes_one_thread_where_a_program_has_numpy_with_two() -> None:
    environment = {**os.environ, **dict.fromkeys(VARIABLES, "2")}
    done = subprocess.run([sys.executable, "-c", ENCODE], env=environment, check=True, capture_output=True, text=True)
    ratio, after = done.stdout.split()
    assert float(ratio) < 1.2
    assert after == "2"  # as the program had it


def test_the_limit_lasts_until_the_last_has_left(monkeypatch: pytest.MonkeyPatch) -> None:
    class Libraries:
        now = 2

        def limit(self, *, limits: int) -> "Libraries":
            self.now = limits
            return self

        def restore_original_limits(self) -> None:
            self.now = 2

    monkeypatch.delenv(VARIABLES[1], raising=False)
    block, libraries = OneThread(), Libraries()
    block.libraries = libraries
    entered, leave = threading.Event(), threading.Event()

    def other() -> None:
        with block:
            entered.set()
            leave.wait(30)

    second = threading.Thread(target=other)
    with block:
        second.start()
        assert entered.wait(30)
    assert libraries.now == 1
    leave.set()
    second.join()
    assert libraries.now == 2
    with block:
        assert libraries.now == 1
    assert libraries.now == 2


@pytest.mark.parametrize("cores", [1, 3])
def test_parts_are_worked_on_at_once_and_come_in_order(monkeypatch: pytest.MonkeyPatch, cores: int) -> None:
    monkeypatch.setattr(threads, "cores", lambda: cores)
    together = threading.Barrier(cores)

    def work(part: int) -> int:
        together.wait(30)  # as many as there are cores, or it never ends
        return part * 2

    assert list(side_by_side(work, range(6))) == [0, 2, 4, 6, 8, 10]


def test_what_ends_the_work_cancels_what_has_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "cores", lambda: 2)
    begun, may_end = list[int](), threading.Event()

    def work(part: int) -> None:
        begun.append(part)
        assert part == 0 or may_end.wait(30)  # so that the workers do not end all parts before they are cancelled

    made = side_by_side(work, range(100))
    next(made)
    threading.Timer(0.5, may_end.set).start()
    made.close()
    assert len(begun) < 100
