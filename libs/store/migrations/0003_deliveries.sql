CREATE TABLE targets (
  code       text PRIMARY KEY,
  name       text NOT NULL,
  kind       text NOT NULL CHECK (kind IN ('http', 'directory')),
  url        text,
  path       text,
  mode       text NOT NULL CHECK (mode IN ('notify', 'upload')),
  enabled    boolean NOT NULL DEFAULT true,
  -- needed in clear to sign with; read by the runner alone
  secret     text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  CHECK ((kind = 'http') = (url IS NOT NULL)),
  CHECK ((kind = 'directory') = (path IS NOT NULL))
);

-- Whatever the service owes to somebody outside: a row stays open (due_at is set) until it has arrived or been given up.
CREATE TABLE deliveries (
  id           uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  kind         text NOT NULL CHECK (kind IN ('basemap_push', 'vector_push', 'slice_callback')),
  -- messages are sockets that wait, transfers move files: each lane has limits of its own
  lane         text NOT NULL CHECK (lane IN ('message', 'transfer')),
  -- what shares a receiver's fate: the target's code, or the callback's origin; a slow one holds up its own deliveries alone
  destination  text NOT NULL,
  target_code  text REFERENCES targets (code),
  basemap_code text,
  version      text,
  vector_code  text,
  job_id       uuid UNIQUE,
  url          text,
  body         jsonb,
  status       text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'retrying', 'succeeded', 'failed')),
  attempts     integer NOT NULL DEFAULT 0,
  message      text NOT NULL DEFAULT '',
  due_at       timestamptz DEFAULT now(),
  -- who is at it, since and until when; whoever finds it expired may take over. The fence grows with every claim, so that a process
  -- which lost its lease without noticing can no longer settle anything.
  lease_owner  uuid,
  leased_at    timestamptz,
  lease_until  timestamptz,
  fence        bigint NOT NULL DEFAULT 0,
  created_at   timestamptz NOT NULL DEFAULT now(),
  updated_at   timestamptz NOT NULL DEFAULT now(),
  CHECK ((due_at IS NULL) = (status IN ('succeeded', 'failed'))),
  CHECK ((lease_owner IS NULL) = (lease_until IS NULL)),
  CHECK (CASE kind
    WHEN 'basemap_push' THEN num_nonnulls(target_code, basemap_code, version) = 3
    WHEN 'vector_push' THEN num_nonnulls(target_code, vector_code) = 2
    ELSE num_nonnulls(job_id, url, body) = 3
  END)
);
CREATE INDEX deliveries_open ON deliveries (lane, destination, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_next ON deliveries (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX deliveries_newest_first ON deliveries (kind, created_at DESC, id DESC);

CREATE TABLE delivery_attempts (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  delivery_id uuid NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
  started_at  timestamptz NOT NULL,
  duration_ms bigint NOT NULL,
  outcome     text NOT NULL CHECK (outcome IN ('succeeded', 'failed', 'interrupted')),
  -- the HTTP status that came back; null where none did
  http_status integer,
  message     text NOT NULL,
  -- the first part of what was answered
  answer      text NOT NULL DEFAULT ''
);
CREATE INDEX delivery_attempts_by_delivery ON delivery_attempts (delivery_id, id);
