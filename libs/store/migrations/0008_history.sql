-- compatible: yes
-- A revision alone does not name a state: a store that was restored, or a replica that lagged and was promoted, gives numbers anew that
-- another history has given before. So every transaction that takes revisions also takes a random mark, and each entry of the log says
-- which mark came before it: a reader goes on only from the very state that it knows. Triggers and defaults, so that a program of the
-- version before this one leaves marks as well.
ALTER TABLE revision_counter
  ADD COLUMN mark          uuid NOT NULL DEFAULT gen_random_uuid(),
  ADD COLUMN previous_mark uuid NOT NULL DEFAULT gen_random_uuid();

CREATE FUNCTION renew_revision_mark() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.previous_mark := OLD.mark;
  NEW.mark := gen_random_uuid();
  RETURN NEW;
END $$;
CREATE TRIGGER renew_mark BEFORE UPDATE ON revision_counter FOR EACH ROW EXECUTE FUNCTION renew_revision_mark();

CREATE FUNCTION revision_mark() RETURNS uuid LANGUAGE sql STABLE AS 'SELECT mark FROM revision_counter';
CREATE FUNCTION previous_revision_mark() RETURNS uuid LANGUAGE sql STABLE AS 'SELECT previous_mark FROM revision_counter';
ALTER TABLE change_log
  ADD COLUMN mark          uuid NOT NULL DEFAULT revision_mark(),
  ADD COLUMN previous_mark uuid NOT NULL DEFAULT previous_revision_mark();

-- Names the database itself: another text after a promotion or a recovery to a point in time (another timeline), in another cluster, and
-- after a dump was restored (other oids). Tokens are issued without an entry in the log: marks alone would not tell that one is gone.
-- Where a managed service withholds the control data, the oids alone count.
CREATE FUNCTION store_epoch() RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
  cluster text := '';
BEGIN
  BEGIN
    SELECT concat_ws('.', system_identifier,
             -- The control data name a new timeline only after the first checkpoint on it, which may take a minute.
             CASE WHEN pg_is_in_recovery() THEN NULL ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END)
    INTO cluster FROM pg_control_system();
  EXCEPTION WHEN insufficient_privilege OR undefined_function OR feature_not_supported THEN
    NULL;
  END;
  RETURN concat_ws('.', cluster, (SELECT oid FROM pg_database WHERE datname = current_database()), 'revision_counter'::regclass::oid);
END $$;

-- With the mark, "applied" means this history's revision; null from a process of the version before this one.
ALTER TABLE edge_presence ADD COLUMN applied_mark uuid;
