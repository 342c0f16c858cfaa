"""
One attempt at what a use case does, and others where what it had read is no longer so.

Git replaced a file meanwhile, or the catalog is damaged. Nothing was changed in either case, so running the use case
again is the same as calling it a moment later.
"""

from collections.abc import Callable
from typing import TypeVar

from graphmem.errors import DamagedCatalog, FileReplaced
from graphmem.kernel.answer import Answer
from graphmem.kernel.catalog.database import catalog_errors
from graphmem.kernel.store.runtime import Client

T = TypeVar("T")
MOST_RUNS = 3  # of one call: a checkout replaces a file once, and a second in a row is already rare


def attempt(client: Client, use_case: Callable[[], T], *, may_repeat: bool = True) -> T:
    """
    Run a use case, again where a file was replaced or the catalog was damaged, which is then made again from the files.

    Args:
        may_repeat: it can run again; False for one whose input is gone by then.
    """
    client.refresh_settings()
    with catalog_errors(), client.calling():
        return repeat(client, use_case, may_repeat=may_repeat)


def repeat(client: Client, use_case: Callable[[], T], *, may_repeat: bool) -> T:
    """Run a use case up to three times; the errors of the catalog are SQLite's."""
    is_renewed, writes = False, client.ledger.writes
    for runs_left in reversed(range(MOST_RUNS)):
        client.has_looked = False
        try:
            return _with_notices(client, use_case())
        except FileReplaced:
            if not runs_left or not may_repeat or client.ledger.writes > writes:
                raise
        except Exception as error:
            if is_renewed or not client.is_catalog_damaged(error):
                raise
            is_renewed = True
            client.renew_catalog()
            if client.ledger.writes > writes:
                raise DamagedCatalog(
                    "what was asked for is written; the catalog was damaged, and is made again"
                ) from error
            if not runs_left or not may_repeat:
                raise DamagedCatalog(
                    "the catalog was damaged; it is made again from the files", hint="run the command again"
                ) from error
    raise AssertionError("the last run returns or raises")


def _with_notices(client: Client, answer: T) -> T:
    """Return an answer with what was reported on the way to it."""
    if isinstance(answer, Answer) and (notices := client.answered_notices()):
        return answer.model_copy(update={"notices": notices})
    return answer
