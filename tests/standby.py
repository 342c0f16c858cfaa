"""A primary of the tests with a synchronous standby: the primary dies, the standby follows it, and gets one itself."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.postgres import START_S, programs

PORT = 5432  # of the sockets; each server has a folder of its own
SETTINGS = {"listen_addresses": "", "fsync": "off", "max_connections": "60"}


class Pair:
    """
    A primary and its synchronous standby, in two places that take turns.

    Attributes:
        address: of both; a client gets the one that can be written.
    """

    def __init__(self, bin_folder: Path, folder: Path) -> None:
        self.bin_folder = bin_folder
        self.folder = folder
        self.user = "postgres" if os.geteuid() == 0 else None
        self.places = [folder / "a", folder / "b"]
        self.running: dict[Path, subprocess.Popen[bytes]] = {}
        hosts = ",".join(str(place) for place in self.places)
        self.address = f"host={hosts} port={PORT} dbname=postgres user=postgres target_session_attrs=read-write"
        self.primary, self.standby = self.places

    def run(self, program: str, *words: str | Path) -> None:
        command = [self.bin_folder / program, *words]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder, user=self.user, group=self.user)

    def start(self, place: Path) -> None:
        """Start the server of a place, and wait until it answers."""
        options = SETTINGS | {"unix_socket_directories": str(place), "port": str(PORT)}
        words = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        with (place / "log").open("ab") as log:
            self.running[place] = subprocess.Popen(
                [self.bin_folder / "postgres", "-D", place / "data", *words],
                cwd=self.folder, stdout=log, stderr=log, user=self.user, group=self.user,
            )  # fmt: skip
        self.until(place, "SELECT true")

    def until(self, place: Path, question: str) -> None:
        """Wait until a server answers a question with true."""
        end = time.monotonic() + START_S
        while True:
            try:
                if self.ask(place, question):
                    return
            except psycopg.OperationalError:
                pass
            assert time.monotonic() < end, f"{place.name}: {question}: {(place / 'log').read_text()[-800:]}"
            time.sleep(0.05)

    def ask(self, place: Path, question: str) -> Any:
        with psycopg.connect(f"host={place} port={PORT} dbname=postgres user=postgres", autocommit=True) as client:
            found = client.execute(question).fetchone()
            return found and found[0]

    def set_up(self, place: Path, name: str, value: str) -> None:
        """Change a setting of a running server."""
        with psycopg.connect(f"host={place} port={PORT} dbname=postgres user=postgres", autocommit=True) as owner:
            owner.execute(f"ALTER SYSTEM SET {name} = '{value}'")
            owner.execute("SELECT pg_reload_conf()")

    def make(self) -> None:
        """Make the first primary."""
        self.primary.mkdir()
        if self.user:
            shutil.chown(self.primary, self.user, self.user)
        self.run("initdb", "-D", self.primary / "data", *"-U postgres -A trust -E UTF8 --locale=C -N".split())
        self.start(self.primary)

    def add_standby(self) -> None:
        """Make a standby in the place that is free, and let the primary wait for it with each commit."""
        shutil.rmtree(self.standby, ignore_errors=True)
        self.standby.mkdir()
        if self.user:
            shutil.chown(self.standby, self.user, self.user)
        source = f"host={self.primary} port={PORT} user=postgres application_name=standby"
        self.run("pg_basebackup", "-R", "-c", "fast", "-N", "-D", self.standby / "data", "-d", source)
        self.start(self.standby)
        self.set_up(self.primary, "synchronous_standby_names", "standby")
        self.until(self.primary, "SELECT bool_or(sync_state = 'sync') FROM pg_stat_replication")

    def kill(self, place: Path) -> None:
        """Kill a server as a power cut would: all its processes, without a word."""
        process = self.running.pop(place)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.kill()
        for child in children:
            try:
                os.kill(int(child), signal.SIGKILL)
            except ProcessLookupError:
                continue
        process.wait()

    def fail_over(self, *, is_answer_lost: bool = False) -> float:
        """
        Kill the primary, and let the standby take its place.

        Args:
            is_answer_lost: at a moment when the standby has a commit whose client has no answer.

        Returns:
            The seconds from the death until the new primary can be written.
        """
        if is_answer_lost:
            self.ask(self.standby, "SELECT pg_wal_replay_pause()::text")
            self.set_up(self.primary, "synchronous_commit", "remote_apply")
            self.until(self.primary, "SELECT bool_or(wait_event = 'SyncRep') FROM pg_stat_activity")
            lsn = self.ask(self.primary, "SELECT pg_current_wal_lsn()")
            self.until(self.standby, f"SELECT pg_last_wal_receive_lsn() >= '{lsn}'")
        died = time.monotonic()
        self.kill(self.primary)
        self.ask(self.standby, "SELECT pg_promote()")
        self.set_up(self.standby, "synchronous_standby_names", "")  # until it has one
        self.until(self.standby, "SELECT NOT pg_is_in_recovery()")
        self.primary, self.standby = self.standby, self.primary
        return time.monotonic() - died


@contextmanager
def pair() -> Iterator[Pair]:
    """Give a primary without a standby, and end what runs afterwards."""
    bin_folder = programs()
    if bin_folder is None:
        pytest.skip("there is no PostgreSQL server here; on Debian: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="gm-pair-"))
    folder.chmod(0o755)
    made = Pair(bin_folder, folder)
    if made.user:
        shutil.chown(folder, made.user, made.user)
    try:
        made.make()
        yield made
    finally:
        for place in list(made.running):
            made.kill(place)
        shutil.rmtree(folder, ignore_errors=True)
