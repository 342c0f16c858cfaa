"""
The pytest plugin: the known fix below each failure, and what passes after it as a report (docs/guides/pytest.md).

Every run of pytest in an environment with graphmem imports this module, so it imports next to nothing until the plugin
is switched on. In a worker of pytest-xdist it does nothing: the controller has the reports of all workers.
"""

import os

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--graphmem``."""
    parser.getgroup("graphmem").addoption(
        "--graphmem",
        action="store_true",
        help="show the known fix below each failure; also GRAPHMEM_PYTEST=1, and GRAPHMEM_PYTEST=0 switches it off",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Have the memory asked at the end of the session, where that is switched on."""
    switch = os.environ.get("GRAPHMEM_PYTEST") or ("1" if config.getoption("--graphmem") else "0")
    if switch != "0" and not hasattr(config, "workerinput"):
        from graphmem.doors.pytest_plugin.outcomes import Outcomes  # noqa: PLC0415 - only where it is switched on

        config.pluginmanager.register(Outcomes(config), "graphmem-outcomes")
