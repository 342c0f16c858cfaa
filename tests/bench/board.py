"""The scoreboard: what was measured, when and where."""

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from graphmem.kernel.answer import Part
from tests.bench.quality import Quality
from tests.bench.simulation import Simulated
from tests.bench.speed import Timing


class Scoreboard(Part):
    """Everything that one run measured; what was not asked for is empty."""

    date: str
    machine: str
    speed: list[Timing]
    quality: Quality | None
    simulation: list[Simulated]


def board(speed: Sequence[Timing], quality: Quality | None, simulation: Sequence[Simulated]) -> Scoreboard:
    """Return what was measured, with the day and the machine."""
    return Scoreboard(date=f"{datetime.now(UTC):%Y-%m-%d}", machine=machine(), speed=list(speed), quality=quality,
                      simulation=list(simulation))  # fmt: skip


def machine() -> str:
    """Return in a line what the figures depend on."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):  # no Linux, or a processor that does not say
        model = platform.processor() or platform.machine()
    return f"{os.cpu_count()} x {model}, {platform.system()}, Python {platform.python_version()}"
