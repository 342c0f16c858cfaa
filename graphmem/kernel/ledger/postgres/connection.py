"""A connection to a server, and what its errors mean."""

import contextlib
import select
import time
from collections.abc import Generator, Iterator
from typing import Any

import psycopg
from psycopg import errors as failures

from graphmem.errors import Unavailable
from graphmem.kernel.ledger.port import PlaceAway

CONNECT_S = 5  # seconds to reach a server
LOOK_S = 5.0  # seconds to wait for what a server has at hand


class LimitedConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that waits for an answer for a limited time: a server that hangs does not end a connection."""

    limit_s = LOOK_S

    def wait(self, gen: Generator[Any, Any, Any], *arguments: Any, **named: Any) -> Any:
        return super().wait(_limited(gen, self.limit_s), *arguments, **named)


def connect(address: str) -> LimitedConnection:
    """
    Return a connection; each statement outside of a transaction is one of its own.

    Args:
        address: of the database, as libpq takes it. Password and certificates are where libpq looks for them.

    Raises:
        PlaceAway: the server does not answer.
    """
    with answering():
        return LimitedConnection.connect(
            address,
            autocommit=True,
            prepare_threshold=None,  # a pooler gives the next transaction another connection
            connect_timeout=CONNECT_S,
            application_name="graphmem",
        )


@contextlib.contextmanager
def answering() -> Iterator[None]:
    """
    Raise errors of the program for those of the server in the block.

    Raises:
        PlaceAway: the server ended the connection, or is not reached.
        Unavailable: it refuses.
    """
    try:
        yield
    except (failures.UndefinedTable, failures.InvalidSchemaName, failures.UndefinedColumn) as error:
        raise Unavailable(
            "the database has no tables of graphmem, or older ones",
            hint="their owner makes them with: graphmem team init URL",
        ) from error
    except failures.InsufficientPrivilege as error:
        raise Unavailable(
            f"this role may not do that: {_first_line(error)}",
            hint="the owner of the project lets it with: graphmem team grant URL ROLE",
        ) from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        said = " ".join(str(error).split())
        raise PlaceAway(f"the server of the memory does not answer: {said}", hint="see: graphmem doctor") from error
    except psycopg.Error as error:
        raise Unavailable(f"the server of the memory refuses: {_first_line(error)}") from error


def _first_line(error: psycopg.Error) -> str:
    """Return what a server said, without where in the statement that was."""
    return str(error).partition("\n")[0]


def _limited(answer: Generator[Any, Any, Any], limit_s: float) -> Generator[Any, Any, Any]:
    """Yield what a wait for an answer yields, and raise ``OperationalError`` once it took too long."""
    end, sent = time.monotonic() + limit_s, None
    try:
        while True:
            sent = yield answer.send(sent)
            if not sent and time.monotonic() > end:
                raise psycopg.OperationalError(f"nothing came within {limit_s:g} seconds")
    except StopIteration as done:
        return done.value


def was_ended(connection: psycopg.Connection[Any]) -> bool:
    """Return whether the server ended the connection: then something came that was not asked for."""
    try:
        return bool(select.select([connection.fileno()], [], [], 0)[0])
    except (OSError, ValueError, psycopg.Error):
        return True
