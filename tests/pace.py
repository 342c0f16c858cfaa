"""How fast this machine is now: no test compares a time with a number of seconds alone."""

import time
from collections.abc import Callable

from hypothesis import settings

USUAL_EXAMPLES = 100  # of hypothesis, where nothing is said
USUAL_S = 0.03  # of `work`, on the machine that the limits in the tests were chosen on


def work() -> None:
    """Do a fixed piece of work, as the tests do: small objects, texts, a table."""
    for _ in range(20):
        found = {f"n{number}": [number] for number in range(5_000)}
        sorted(found, key=len)


def patience(clock: Callable[[], float] = time.monotonic) -> float:
    """
    Return how many times longer than usual the machine takes for its work right now; at least 1.

    Args:
        clock: the one that the test uses: a time that others' work prolongs, or that of this process alone.
    """
    began = clock()
    work()
    return max(1.0, (clock() - began) / USUAL_S)


def within(seconds: float, limit_s: float, clock: Callable[[], float] = time.monotonic) -> bool:
    """Return whether a time is within a limit, for the machine as it is now; that is measured only where it matters."""
    return seconds < limit_s or seconds < limit_s * patience(clock)


def examples(most: int) -> int:
    """Return how many examples a test of a rule tries: few in a fast run, whose profile of hypothesis has few."""
    usual = settings().max_examples
    return min(most, usual) if usual < USUAL_EXAMPLES else most
