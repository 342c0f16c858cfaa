"""
What the pytest plugin costs a suite that passes: ``python -m tests.bench.pytest_plugin``.

Runs of a suite of trivial tests, in turns without and with the plugin, each a process; the fastest of each is compared,
in seconds of processor time. What a suite that waits for nothing pays is the second row; the third has failures of
other tests waiting, whose names are compared with those of the tests that passed.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from graphmem import Memory
from tests.bench.board import machine
from tests.sample import state_of

TESTS, FILES, TURNS = 2_000, 20, 15
VARIANTS = ("without", "switched on", "with failures that wait")


def make(folder: Path) -> None:
    """Make a suite, and a store."""
    Memory.init(folder)
    (folder / "tests").mkdir()
    for number in range(FILES):
        tests = [f"def test_{place}():\n    assert {place} + 1 > {place}\n" for place in range(TESTS // FILES)]
        (folder / f"tests/test_{number}.py").write_text("\n\n".join(tests), encoding="utf-8")


def seconds(folder: Path, variant: str) -> float:
    """Return the processor time of one run."""
    switch = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "GRAPHMEM_PYTEST": "0" if variant == VARIANTS[0] else "1"}
    given = [] if variant == VARIANTS[0] else ["-p", "graphmem.doors.pytest_plugin"]
    with state_of(folder).changing() as kept:
        kept.drop("ran", ["0" * 64])
        if variant == VARIANTS[2]:
            kept.put("ran", "0" * 64, b'{"id": "a", "at": "2026-11-01T09:30:00.000Z"}')
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *given],
        cwd=folder,
        env=os.environ | switch,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure, and print a table."""
    with tempfile.TemporaryDirectory() as made:
        make(Path(made))
        times = {variant: list[float]() for variant in VARIANTS}
        for _ in range(TURNS):
            for variant in VARIANTS:
                times[variant].append(seconds(Path(made), variant))
    least = {variant: min(found) for variant, found in times.items()}
    print(f"{machine()}, {TESTS:,} tests, the fastest of {TURNS} runs\n")
    print("| the plugin | s of CPU | more |\n| --- | --- | --- |")
    for variant, found in least.items():
        print(f"| {variant} | {found:.3f} | {100 * (found / least[VARIANTS[0]] - 1):+.1f} % |")


if __name__ == "__main__":
    main()
