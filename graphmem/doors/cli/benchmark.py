"""``graphmem benchmark``: where the benchmark is."""

from graphmem.errors import Unavailable


def benchmark() -> None:
    """
    Say how to measure relevance and speed; the benchmark comes with the source, not with the package.

    Example: graphmem benchmark
    """
    raise Unavailable(
        "the benchmark comes with the source of graphmem, not with the installed package",
        hint="in a checkout: .bin/setup test, then .venv/bin/python -m tests.bench --help",
    )
