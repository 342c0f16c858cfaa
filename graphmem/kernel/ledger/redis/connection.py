"""A connection to a Redis server or cluster, and what its errors mean."""

import contextlib
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from redis import Redis, RedisCluster
from redis import exceptions as failures
from redis.backoff import NoBackoff
from redis.retry import Retry

from graphmem.errors import Unavailable
from graphmem.kernel.ledger.port import PlaceAway

LOOK_S = 5.0  # seconds to reach a server, and to wait for an answer
LIMITS: dict[str, Any] = {"socket_timeout": LOOK_S, "socket_connect_timeout": LOOK_S, "client_name": "graphmem"}
ELSEWHERE = (failures.AskError, failures.TryAgainError, failures.ClusterDownError)  # also where a slot has moved to
NOT_NOW = (*ELSEWHERE, failures.ReadOnlyError, failures.OutOfMemoryError)


class Cluster(RedisCluster):
    """A client of a cluster whose end closes its sockets too."""

    def close(self) -> None:
        if hasattr(self, "nodes_manager"):  # not where it could not be made
            RedisCluster.disconnect_connection_pools(self)
        super().close()


Client = Redis | RedisCluster


def connect(address: str) -> Client:
    """
    Return a client of a server, or of the cluster that it is a node of.

    Args:
        address: as redis-py takes it; of several hosts, separated by commas, the first is taken that answers.

    Raises:
        PlaceAway: none answers.
    """
    parts = urlsplit(address)
    user, at, hosts = parts.netloc.rpartition("@")
    urls = [urlunsplit(parts._replace(netloc=f"{user}{at}{host}")) for host in hosts.split(",")]
    for url in urls[:-1]:
        with contextlib.suppress(PlaceAway):
            return _connected(url)
    return _connected(urls[-1])


def _connected(url: str) -> Client:
    """Return a client of the server at an address, or of its cluster."""
    with answering():
        server = Redis.from_url(url, retry=Retry(NoBackoff(), 0), **LIMITS)  # what is sent twice could happen twice
        if not server.info("cluster")["cluster_enabled"]:
            return server
        server.close()
        return Cluster.from_url(url, retry=Retry(NoBackoff(), 3), require_full_coverage=False, **LIMITS)


def ask(client: Client, *command: Any) -> Any:
    """Return what a command gives that changes nothing when it is sent twice."""
    execute: Any = client.execute_command
    with answering():
        return execute(*command)


def node_of(client: Client, key: str) -> Redis:
    """Return the client of the server that has a key."""
    if isinstance(client, Redis):
        return client
    return client.get_redis_connection(client.get_node_from_key(key))


def together(client: Client, key: str, *commands: tuple[Any, ...]) -> list[Any]:
    """
    Return what commands give, or the errors of the server, that are sent once on one connection to who has a key.

    While the slot of the key moves, they are sent until the first is taken.
    """
    end = time.monotonic() + LOOK_S
    while True:
        line = node_of(client, key).pipeline(transaction=False)
        for command in commands:
            line.execute_command(*command)
        found = line.execute(raise_on_error=False)
        if isinstance(client, Redis) or not isinstance(found[0], ELSEWHERE) or time.monotonic() > end:
            return found
        time.sleep(0.05)
        client.nodes_manager.initialize()


@contextlib.contextmanager
def answering() -> Iterator[None]:
    """
    Raise errors of the program for those of the server in the block.

    Raises:
        PlaceAway: it is not reached, or takes no write now.
        Unavailable: it refuses.
    """
    try:
        yield
    except failures.NoPermissionError as error:
        raise Unavailable(
            f"this user of the server may not do that: {error}", hint="what lets it: graphmem team grant URL USER"
        ) from error
    except (failures.ResponseError, failures.AuthenticationError, failures.DataError) as error:
        if isinstance(error, NOT_NOW) or str(error).startswith(("NOREPLICAS", "BUSY", "MISCONF")):
            raise PlaceAway(
                f"the server of the memory takes no writes: {error}", hint="see: graphmem doctor"
            ) from error
        raise Unavailable(f"the server of the memory refuses: {error}") from error
    except (failures.RedisError, failures.RedisClusterException, OSError) as error:
        said = " ".join(str(error).split())
        raise PlaceAway(f"the server of the memory does not answer: {said}", hint="see: graphmem doctor") from error
