-- One row for each slice job. The oldest row that is not finished is the only one that may run, which makes it one job at a time in
-- submission order; the lease says which process runs it, and the fence grows with every claim.
CREATE TABLE slice_jobs (
  id            uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  submission    bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  -- the caller's idempotency key; null: none was given
  code          text UNIQUE,
  name          text NOT NULL,
  source_paths  text[] NOT NULL CHECK (cardinality(source_paths) > 0),
  target_code   text NOT NULL,
  -- the layer's version; chosen when the job first runs and kept over its reruns
  version       text,
  zoom_min      integer NOT NULL,
  zoom_max      integer NOT NULL,
  tile_size     integer NOT NULL,
  tile_format   text NOT NULL,
  status        text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'succeeded', 'failed')),
  message       text NOT NULL DEFAULT '',
  progress      real NOT NULL DEFAULT 0,
  phase         text NOT NULL DEFAULT '',
  log_path      text NOT NULL DEFAULT '',
  callback_url  text NOT NULL DEFAULT '',
  requested_by  text NOT NULL DEFAULT '',
  cancel_asked  boolean NOT NULL DEFAULT false,
  created_at    timestamptz NOT NULL DEFAULT now(),
  started_at    timestamptz,
  finished_at   timestamptz,
  lease_owner   uuid,
  lease_until   timestamptz,
  fence         bigint NOT NULL DEFAULT 0,
  CHECK ((status = 'running') = (lease_owner IS NOT NULL))
);
CREATE INDEX slice_jobs_open ON slice_jobs (submission) WHERE status IN ('pending', 'running');

-- Which images make up a version of a layer, in the order in which they were laid.
CREATE TABLE layer_sources (
  target_code text NOT NULL,
  version     text NOT NULL,
  position    bigint GENERATED ALWAYS AS IDENTITY,
  path        text NOT NULL,
  job_id      uuid NOT NULL REFERENCES slice_jobs (id),
  PRIMARY KEY (target_code, version, path)
);
