-- compatible: yes
-- One table of jobs with one fenced lease. The tables of slice jobs and exports inherit it: a statement that claims, renews, returns or ends a job
-- names `jobs`, and what only one kind has stays in its own table, which the version before reads and writes as it always did.
-- A job without a table of its own (kind and code name it: a scan, the build of a vector) is a row here for as long as it runs.
CREATE TABLE jobs (
  id            uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  kind          text NOT NULL,
  -- no two jobs of a kind have the same code: the caller's idempotency key, or what is worked on; null: none was given
  code          text,
  status        text NOT NULL DEFAULT 'running',
  message       text NOT NULL DEFAULT '',
  message_coded jsonb,
  progress      real NOT NULL DEFAULT 0,
  phase         text NOT NULL DEFAULT '',
  cancel_asked  boolean NOT NULL DEFAULT false,
  trace         jsonb,
  created_at    timestamptz NOT NULL DEFAULT now(),
  started_at    timestamptz,
  finished_at   timestamptz,
  -- which process runs the job, and until when nobody else may; the fence grows with every claim
  lease_owner   uuid,
  lease_until   timestamptz,
  fence         bigint NOT NULL DEFAULT 0,
  UNIQUE (kind, code)
);

ALTER TABLE slice_jobs ADD COLUMN kind text NOT NULL DEFAULT 'slice';
ALTER TABLE exports
  ADD COLUMN kind         text NOT NULL DEFAULT 'export',
  ADD COLUMN code         text,
  ADD COLUMN phase        text NOT NULL DEFAULT '',
  ADD COLUMN cancel_asked boolean NOT NULL DEFAULT false;
ALTER TABLE slice_jobs INHERIT jobs;
ALTER TABLE exports INHERIT jobs;

-- A vector with a new content needs another build: who builds the one before loses the lease. The columns build_owner and build_until are those of
-- the version before, whose builds this one does not see: while both run, a vector may be built twice, and the first build of a content counts.
CREATE OR REPLACE FUNCTION grow_vector_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.revision := OLD.revision + 1;
  NEW.build_owner := NULL;
  NEW.build_until := NULL;
  DELETE FROM ONLY jobs WHERE kind = 'vector_build' AND code = OLD.code;
  RETURN NEW;
END $$;

CREATE FUNCTION end_vector_build() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM ONLY jobs WHERE kind = 'vector_build' AND code = OLD.code;
  RETURN NULL;
END $$;
CREATE TRIGGER vector_build_ends AFTER DELETE ON vectors FOR EACH ROW EXECUTE FUNCTION end_vector_build();
