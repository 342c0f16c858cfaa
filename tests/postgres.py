"""
A PostgreSQL server of the tests and a pooler before it, of the machine's packages, ended with the tests.

``GRAPHMEM_TEST_POSTGRES`` names a folder with the programs of another server, which every user of the machine may read.
"""

import atexit
import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

PLACES = ("/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt/postgresql")
START_S = 30.0
NUMBERS = count(1)


@dataclass(frozen=True)
class Server:
    """A running server; ``folder`` has its socket."""

    folder: Path
    process: subprocess.Popen[bytes]

    @property
    def address(self) -> str:
        return f"host={self.folder} dbname=postgres user=postgres"

    def new_project(self, role: str) -> str:
        """Make a database, and a role where it is missing; return the address of a project that is not there yet."""
        name = f"t{next(NUMBERS)}"
        with psycopg.connect(self.address, autocommit=True) as admin:
            if admin.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone() is None:
                admin.execute(SQL("CREATE ROLE {} LOGIN").format(Identifier(role)))
            admin.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
        return f"postgresql:///{name}?host={self.folder}&user=postgres&project=shop"


def programs() -> Path | None:
    """Return the folder with the server's programs, that of the newest unless one is named; None without a server."""
    if named := os.environ.get("GRAPHMEM_TEST_POSTGRES"):
        return Path(named)
    found = [path for place in PLACES for path in Path(place).glob("*/bin/postgres")]
    return max(found).parent if found else None


@cache
def postgres(fsync: str = "off") -> Server:
    """Return the server of this process, started when a test first asks for it."""
    bin_folder = programs()
    if bin_folder is None:
        pytest.skip("there is no PostgreSQL server here; on Debian: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="gm-pg-"))
    user = "postgres" if os.geteuid() == 0 else None  # it does not run as root
    if user:
        shutil.chown(folder, "postgres", "postgres")
    data = folder / "data"
    command: list[str | Path] = [
        bin_folder / "initdb",
        "-D",
        data,
        "-U",
        "postgres",
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--locale=C",
        "-N",
    ]
    subprocess.run(command, check=True, capture_output=True, cwd=folder, user=user, group=user)
    options = ("listen_addresses=", f"unix_socket_directories={folder}", f"fsync={fsync}", "max_connections=50")
    process = subprocess.Popen(
        [bin_folder / "postgres", "-D", data, *(word for option in options for word in ("-c", option))],
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, user=user, group=user,
    )  # fmt: skip
    server = Server(folder, process)
    atexit.register(end, server)
    wait_until_it_answers(server)
    return server


@cache
def pooler() -> Server:
    """Return a PgBouncer before the server, which gives each transaction any of two connections."""
    program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        pytest.skip("there is no PgBouncer here; on Debian: apt-get install pgbouncer")
    behind, folder = postgres(), Path(tempfile.mkdtemp(prefix="gm-pool-"))
    (folder / "users.txt").write_text('"postgres" ""\n')
    lines = (
        "[databases]", f"postgres = host={behind.folder}",
        "[pgbouncer]", f"unix_socket_dir = {folder}", "listen_addr =", "listen_port = 5432", "auth_type = trust",
        f"auth_file = {folder}/users.txt", "pool_mode = transaction", "default_pool_size = 8", "min_pool_size = 2",
        "server_round_robin = 1", "server_reset_query =", "max_client_conn = 100",
    )  # fmt: skip
    (folder / "pgbouncer.ini").write_text("\n".join(lines))
    user = "postgres" if os.geteuid() == 0 else None
    if user:
        shutil.chown(folder, user, user)
    process = subprocess.Popen(
        [program, folder / "pgbouncer.ini"],
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, user=user, group=user,
    )  # fmt: skip
    server = Server(folder, process)
    atexit.register(end, server)
    wait_until_it_answers(server)
    return server


def wait_until_it_answers(server: Server) -> None:
    until = time.monotonic() + START_S
    while True:
        try:
            psycopg.connect(server.address).close()
            return
        except psycopg.OperationalError:
            assert time.monotonic() < until and server.process.poll() is None, "the server does not start"
            time.sleep(0.05)


def end(server: Server) -> None:
    """End the server, and remove what it had."""
    server.process.kill()
    server.process.wait()
    shutil.rmtree(server.folder, ignore_errors=True)
