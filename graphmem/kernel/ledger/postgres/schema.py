"""
The tables of a place in PostgreSQL, and who may use them.

Only what Citus, YugabyteDB and managed services have too: no trigger, no advisory lock, no extension; the project comes
first in every key. Who is a member of a project sees and writes its rows and no others: row-level security, which holds
for the owner of the tables too.
"""

import secrets
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import errors as failures
from psycopg.sql import SQL, Composed, Identifier, Literal

from graphmem.errors import NotFound, Refused
from graphmem.kernel.system.files import shipped

SCHEMA_VERSION = 2
# What two that make the same tables at once get in each other's way with; one of them begins again.
MET = (failures.UniqueViolation, failures.DuplicateTable, failures.DuplicateObject, failures.InternalError_)
TRIES = 5
Owner = psycopg.Connection[Any]


def schema_statements() -> list[Composed]:
    """Return what makes the schema, or brings an older one up to this version; run again it changes nothing."""
    versions = (
        "INSERT INTO graphmem.version SELECT {version} WHERE NOT EXISTS (SELECT 1 FROM graphmem.version)",
        "UPDATE graphmem.version SET version = {version} WHERE version < {version}",
    )
    made = [SQL(text).format(version=Literal(SCHEMA_VERSION)) for text in versions]
    return [_stored("postgres.sql"), _stored("postgres-rights.sql"), *made]


def _stored(name: str) -> Composed:
    """Return the statements of a file."""
    return Composed([SQL(shipped("schema").joinpath(name).read_text(encoding="utf-8"))])


def project_statements(project: str) -> list[Composed]:
    """Return what makes a project, unless it is there, and lets the owner of the tables write it."""
    values = {"project": Literal(project), "epoch": Literal(secrets.token_hex(8))}
    texts = (
        "INSERT INTO graphmem.member VALUES (current_user, {project}, true) ON CONFLICT DO NOTHING",
        "INSERT INTO graphmem.project (project, epoch) VALUES ({project}, {epoch}) ON CONFLICT DO NOTHING",
        "INSERT INTO graphmem.writer VALUES ({project}) ON CONFLICT DO NOTHING",
    )
    return [SQL(text).format(**values) for text in texts]


def grant_statements(role: str, project: str, *, writes: bool) -> list[Composed]:
    """Return what lets a role read a project, or write it too; whichever it could before."""
    member = SQL(
        "INSERT INTO graphmem.member VALUES ({}, {}, {})"
        " ON CONFLICT (role, project) DO UPDATE SET writes = excluded.writes"
    )
    return [member.format(Literal(role), Literal(project), Literal(writes)), _stored("postgres-rights.sql")]


def revoke_statements(role: str, project: str) -> list[Composed]:
    """Return what takes a role out of a project; its next statement sees no row of it."""
    member = SQL("DELETE FROM graphmem.member WHERE role = {} AND project = {}")
    return [member.format(Literal(role), Literal(project))]


def run(owner: Owner, statements: Sequence[Composed]) -> None:
    """Run statements, all or none."""
    for tries in range(TRIES):
        try:
            with owner.transaction():
                for statement in statements:
                    owner.execute(statement)
        except MET:
            if tries == TRIES - 1:
                raise
        else:
            return


def script(statements: Sequence[Composed]) -> list[str]:
    """Return statements as an administrator runs them, all or none."""
    return ["BEGIN;", *(f"{one.as_string(None).strip().rstrip(';')};" for one in statements), "COMMIT;"]


def make_project(owner: Owner, project: str) -> None:
    """
    Make the tables where they are missing or older, and a project in them.

    Raises:
        Refused: the tables are of a newer version.
    """
    refuse_newer(owner)
    run(owner, [*schema_statements(), *project_statements(project)])


def upgrade(owner: Owner) -> int:
    """
    Bring the tables up to this version, and return which one they had.

    Raises:
        NotFound: there are none.
        Refused: they are of a newer version.
    """
    refuse_newer(owner)
    if (found := version_of(owner)) is None:
        raise NotFound("the database has no tables of graphmem", hint="make them with: graphmem team init URL")
    run(owner, schema_statements())
    return found


def grant(owner: Owner, role: str, project: str, *, writes: bool) -> None:
    """
    Let a role of the server read a project, or write it too.

    Raises:
        NotFound: the server has no such role.
    """
    if owner.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone() is None:
        make = SQL("CREATE ROLE {} LOGIN").format(Identifier(role)).as_string(owner)
        raise NotFound(f"the server has no role {role!r}", hint=f"its administrator makes it with: {make}")
    run(owner, grant_statements(role, project, writes=writes))


def version_of(connection: Owner) -> int | None:
    """Return the version of the tables; None where they are missing."""
    if connection.execute("SELECT to_regclass('graphmem.version')").fetchone() == (None,):
        return None
    found = connection.execute("SELECT max(version) FROM graphmem.version").fetchone()
    return found[0] if found else None


def refuse_newer(owner: Owner) -> None:
    """Raise ``Refused`` where the tables are of a newer version than this program knows."""
    if (found := version_of(owner)) is not None and found > SCHEMA_VERSION:
        raise Refused(
            f"the tables in the server have version {found}, and this graphmem writes {SCHEMA_VERSION}",
            hint="upgrade graphmem",
        )
