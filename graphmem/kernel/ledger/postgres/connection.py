"""A connection to a server, and what its errors mean."""

import contextlib
from collections.abc import Iterator
from typing import Any

import psycopg
from psycopg import errors as failures

from graphmem.errors import Unavailable
from graphmem.kernel.ledger.port import PlaceAway

CONNECT_S = 5  # seconds to reach a server


def connect(address: str) -> psycopg.Connection[tuple[Any, ...]]:
    """
    Return a connection; each statement outside of a transaction is one of its own.

    Args:
        address: of the database, as libpq takes it. Password and certificates are where libpq looks for them.

    Raises:
        PlaceAway: the server does not answer.
    """
    with answering():
        return psycopg.connect(
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
    except (failures.UndefinedTable, failures.InvalidSchemaName) as error:
        raise Unavailable(
            "the database has no tables of graphmem", hint="their owner makes them with: graphmem team init URL"
        ) from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        said = " ".join(str(error).split())
        raise PlaceAway(f"the server of the memory does not answer: {said}", hint="see: graphmem doctor") from error
    except psycopg.Error as error:
        raise Unavailable(f"the server of the memory refuses: {' '.join(str(error).split())}") from error
