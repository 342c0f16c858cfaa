-- Gives each member its rights on the tables; which rows it reaches is decided by the policies. Who did something is not
-- a writer's to say.
DO $$
DECLARE
  one record;
  rights text;
BEGIN
  FOR one IN SELECT role, bool_or(writes) AS writes FROM graphmem.member JOIN pg_roles ON rolname = role
             WHERE role <> current_user GROUP BY role LOOP
    FOREACH rights IN ARRAY ARRAY['USAGE ON SCHEMA graphmem', 'SELECT ON ALL TABLES IN SCHEMA graphmem'] ||
      CASE WHEN one.writes THEN ARRAY[
        'UPDATE (seq, commit, history_from) ON graphmem.project',
        'UPDATE ON graphmem.writer',
        'INSERT, UPDATE, DELETE ON graphmem.rows',
        'INSERT (project, seq, id, commit, old, new, at), UPDATE (old, new), DELETE ON graphmem.changes'
      ] END LOOP
      EXECUTE format('GRANT %s TO %I', rights, one.role);
    END LOOP;
  END LOOP;
END $$;
