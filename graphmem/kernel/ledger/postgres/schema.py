"""The tables of a place in PostgreSQL: only what Citus, YugabyteDB and managed services have too; projects first."""

import secrets
from typing import Any

import psycopg

SCHEMA_VERSION = 1
TABLES = """
CREATE SCHEMA IF NOT EXISTS graphmem;
CREATE TABLE IF NOT EXISTS graphmem.version (version integer NOT NULL);
CREATE TABLE IF NOT EXISTS graphmem.project (
  name text PRIMARY KEY,
  epoch text NOT NULL,              -- another one after a restore or a promotion: nothing read before counts
  seq bigint NOT NULL DEFAULT 0,    -- of the last commit
  commit bigint NOT NULL DEFAULT 0  -- the random number of the last commit
);
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
"""


def make_schema(owner: psycopg.Connection[Any]) -> None:
    """Make the tables, as their owner; those that are there stay. Two who do so at once make one."""
    with owner.transaction():
        owner.execute(TABLES)
        owner.execute(
            "INSERT INTO graphmem.version SELECT %s WHERE NOT EXISTS (SELECT 1 FROM graphmem.version)", [SCHEMA_VERSION]
        )


def make_project(owner: psycopg.Connection[Any], name: str) -> None:
    """Make a project, unless it is there."""
    with owner.transaction():
        sql = "INSERT INTO graphmem.project (name, epoch) VALUES (%s, %s) ON CONFLICT DO NOTHING"
        owner.execute(sql, [name, secrets.token_hex(8)])
        owner.execute("INSERT INTO graphmem.writer VALUES (%s) ON CONFLICT DO NOTHING", [name])
