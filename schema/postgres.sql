-- The tables of memories in a PostgreSQL server, and which rows a member reaches: those of its projects, as row-level
-- security decides, for the owner of the tables too. Run again it changes nothing; on older tables it adds what they lack.
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
  ADD COLUMN IF NOT EXISTS history_days integer NOT NULL DEFAULT 365;
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
-- Who is a member of a project reads its rows, and writes them where it may.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['project', 'writer', 'rows', 'changes'] LOOP
    EXECUTE format('ALTER TABLE graphmem.%1$I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE graphmem.%1$I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('DROP POLICY IF EXISTS reading ON graphmem.%1$I', name);
    EXECUTE format('DROP POLICY IF EXISTS writing ON graphmem.%1$I', name);
    EXECUTE format('CREATE POLICY reading ON graphmem.%1$I FOR SELECT USING (EXISTS (
      SELECT 1 FROM graphmem.member m WHERE m.role = current_user AND m.project = %1$I.project))', name);
    EXECUTE format('CREATE POLICY writing ON graphmem.%1$I USING (EXISTS (
      SELECT 1 FROM graphmem.member m WHERE m.role = current_user AND m.project = %1$I.project AND m.writes))', name);
  END LOOP;
END $$;
