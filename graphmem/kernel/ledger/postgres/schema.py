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

SCHEMA_VERSION = 2
HISTORY_DAYS = 365  # that changes and deletions are kept
TABLES = """
CREATE SCHEMA IF NOT EXISTS graphmem;
CREATE TABLE IF NOT EXISTS graphmem.version (version integer NOT NULL);
CREATE TABLE IF NOT EXISTS graphmem.project (
  project text PRIMARY KEY,
  epoch text NOT NULL,              -- another one after a restore or a promotion: nothing read before counts
  seq bigint NOT NULL DEFAULT 0,    -- of the last commit
  commit bigint NOT NULL DEFAULT 0  -- the random number of the last commit
);
ALTER TABLE graphmem.project
  ADD COLUMN IF NOT EXISTS history_from bigint NOT NULL DEFAULT 0,     -- the last commit that is no longer kept
  ADD COLUMN IF NOT EXISTS history_days integer NOT NULL DEFAULT {days};
CREATE TABLE IF NOT EXISTS graphmem.writer (project text PRIMARY KEY);  -- who writes holds the lock of this row
CREATE TABLE IF NOT EXISTS graphmem.rows (
  project text NOT NULL,
  id bigint NOT NULL,               -- the first 63 bits of the SHA-256 of the key
  key text NOT NULL,
  kind text NOT NULL,
  type text,                        -- of an entity or an edge
  from_type text,                   -- of the ends of an edge
  to_type text,
  row text,                         -- the canonical line, or the text of a file; NULL where it was deleted
  seq bigint NOT NULL,              -- of the commit that wrote it
  deleted_at timestamptz,
  PRIMARY KEY (project, id)
);
CREATE INDEX IF NOT EXISTS rows_seq ON graphmem.rows (project, seq);
CREATE TABLE IF NOT EXISTS graphmem.changes (
  project text NOT NULL,
  seq bigint NOT NULL,
  id bigint NOT NULL,
  commit bigint NOT NULL,
  old text,
  new text,
  at timestamptz NOT NULL,
  PRIMARY KEY (project, seq, id)
);
ALTER TABLE graphmem.changes ADD COLUMN IF NOT EXISTS by text NOT NULL DEFAULT current_user;
CREATE INDEX IF NOT EXISTS changes_id ON graphmem.changes (project, id, seq);
CREATE TABLE IF NOT EXISTS graphmem.member (
  role text NOT NULL,
  project text NOT NULL,
  writes boolean NOT NULL,
  PRIMARY KEY (role, project)
);
ALTER TABLE graphmem.member ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own ON graphmem.member;
CREATE POLICY own ON graphmem.member FOR SELECT USING (role = current_user);
"""
SECURED = {  # what writers may do beside reading; who did it is not theirs to say
    "project": "UPDATE (seq, commit, history_from)",
    "writer": "UPDATE",
    "rows": "INSERT, UPDATE, DELETE",
    "changes": "INSERT (project, seq, id, commit, old, new, at), UPDATE (old, new), DELETE",
}
POLICIES = """
ALTER TABLE graphmem.{table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE graphmem.{table} FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS reading ON graphmem.{table};
DROP POLICY IF EXISTS writing ON graphmem.{table};
CREATE POLICY reading ON graphmem.{table} FOR SELECT USING (EXISTS (
  SELECT 1 FROM graphmem.member m WHERE m.role = current_user AND m.project = {table}.project));
CREATE POLICY writing ON graphmem.{table} USING (EXISTS (
  SELECT 1 FROM graphmem.member m WHERE m.role = current_user AND m.project = {table}.project AND m.writes));
"""
GRANTS = ["USAGE ON SCHEMA graphmem", "SELECT ON ALL TABLES IN SCHEMA graphmem"]
WRITERS = [f"{rights} ON graphmem.{table}" for table, rights in SECURED.items()]
# Gives each member its rights on the tables; which rows it reaches is decided by the policies.
RIGHTS = f"""
DO $$
DECLARE
  one record;
  rights text;
BEGIN
  FOR one IN SELECT role, bool_or(writes) AS writes FROM graphmem.member JOIN pg_roles ON rolname = role
             WHERE role <> current_user GROUP BY role LOOP
    FOREACH rights IN ARRAY ARRAY{GRANTS} || CASE WHEN one.writes THEN ARRAY{WRITERS} END LOOP
      EXECUTE format('GRANT %s TO %I', rights, one.role);
    END LOOP;
  END LOOP;
END $$;
"""  # noqa: S608 - constants
# What two that make the same tables at once get in each other's way with; one of them begins again.
MET = (failures.UniqueViolation, failures.DuplicateTable, failures.DuplicateObject, failures.InternalError_)
TRIES = 5
Owner = psycopg.Connection[Any]


def schema_statements() -> list[Composed]:
    """Return what makes the schema, or brings an older one up to this version; run again it changes nothing."""
    policies = [SQL(POLICIES).format(table=Identifier(table)) for table in SECURED]
    versions = (
        "INSERT INTO graphmem.version SELECT {version} WHERE NOT EXISTS (SELECT 1 FROM graphmem.version)",
        "UPDATE graphmem.version SET version = {version} WHERE version < {version}",
    )
    tables = SQL(TABLES).format(days=Literal(HISTORY_DAYS))
    return [
        tables,
        *policies,
        Composed([SQL(RIGHTS)]),
        *(SQL(text).format(version=Literal(SCHEMA_VERSION)) for text in versions),
    ]


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
    return [member.format(Literal(role), Literal(project), Literal(writes)), Composed([SQL(RIGHTS)])]


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
