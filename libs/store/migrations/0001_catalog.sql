-- What belongs to this installation as a whole: its identity on a shared Redis, and the key by which edges prove to the control plane
-- that a forwarded peer address is theirs to state.
CREATE TABLE instance_keys (
  name  text PRIMARY KEY,
  value text NOT NULL
);
INSERT INTO instance_keys (name, value) VALUES
  ('instance_id', gen_random_uuid()::text),
  ('edge_link', replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''));

-- One locked row numbers the change log: a sequence would let a later number commit before an earlier one.
CREATE TABLE revision_counter (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  revision bigint NOT NULL
);
INSERT INTO revision_counter (revision) VALUES (0);

CREATE TABLE change_log (
  revision   bigint PRIMARY KEY,
  kind       text NOT NULL CHECK (kind IN ('token', 'basemap', 'vector', 'all')),
  key        text NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE scan_sources (
  code       text PRIMARY KEY,
  name       text NOT NULL,
  kind       text NOT NULL CHECK (kind IN ('basemap', 'vector')),
  path       text NOT NULL,
  enabled    boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE scans (
  id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  source_code text NOT NULL REFERENCES scan_sources (code) ON DELETE CASCADE,
  status      text NOT NULL CHECK (status IN ('running', 'succeeded', 'failed')),
  started_at  timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz,
  added       integer NOT NULL DEFAULT 0,
  updated     integer NOT NULL DEFAULT 0,
  missing     integer NOT NULL DEFAULT 0,
  message     text NOT NULL DEFAULT ''
);
CREATE INDEX scans_by_source ON scans (source_code, started_at DESC);

CREATE TABLE basemaps (
  code            text PRIMARY KEY,
  name            text NOT NULL,
  -- set by an operator alone; where it is null the highest available version is the default
  default_version text,
  -- the public tile address at the time of the last scan, from which url_template is built
  tile_base_url   text NOT NULL,
  source_code     text NOT NULL REFERENCES scan_sources (code),
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE basemap_versions (
  basemap_code  text NOT NULL REFERENCES basemaps (code) ON DELETE CASCADE,
  version       text NOT NULL CHECK (version <> 'current'),
  storage       text NOT NULL CHECK (storage IN ('xyz', 'tms', 'mbtiles', 'pmtiles')),
  format        text NOT NULL CHECK (format IN ('png', 'jpg', 'webp', 'avif', 'pbf')),
  -- the file extension on disk, which may differ from the format's own (jpeg, mvt)
  extension     text NOT NULL,
  tile_size     integer NOT NULL,
  min_zoom      integer NOT NULL,
  max_zoom      integer NOT NULL,
  bounds        double precision[] CHECK (array_length(bounds, 1) = 4),
  attribution   text,
  description   text,
  vector_layers jsonb,
  path          text NOT NULL,
  -- changes when the content may have changed: edges drop what they hold of the version
  fingerprint   text NOT NULL,
  available     boolean NOT NULL DEFAULT true,
  scanned_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (basemap_code, version)
);

CREATE TABLE vectors (
  code          text PRIMARY KEY,
  name          text NOT NULL,
  kind          text NOT NULL CHECK (kind IN ('geojson', 'shapefile')),
  relative_path text NOT NULL,
  file_name     text NOT NULL,
  path          text NOT NULL,
  size          bigint NOT NULL,
  modified_at   timestamptz NOT NULL,
  fingerprint   text NOT NULL,
  available     boolean NOT NULL DEFAULT true,
  source_code   text NOT NULL REFERENCES scan_sources (code),
  created_at    timestamptz NOT NULL DEFAULT now(),
  updated_at    timestamptz NOT NULL DEFAULT now(),
  UNIQUE (source_code, relative_path)
);

CREATE TABLE tokens (
  id            uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name          text NOT NULL,
  prefix        text NOT NULL,
  digest        bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
  basemap_codes text[] NOT NULL,
  vector_codes  text[] NOT NULL,
  scopes        text[] NOT NULL,
  expires_at    timestamptz,
  disabled_at   timestamptz,
  created_at    timestamptz NOT NULL DEFAULT now(),
  last_used_at  timestamptz
);
CREATE INDEX tokens_newest_first ON tokens (created_at DESC, id);

CREATE TABLE audit (
  id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at      timestamptz NOT NULL DEFAULT now(),
  actor   text NOT NULL,
  address text NOT NULL,
  action  text NOT NULL,
  subject text NOT NULL,
  detail  jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_newest_first ON audit (at DESC, id DESC);

-- Edge presence where no Redis is configured. A row counts while its process renews it; the database's clock alone decides.
CREATE TABLE edge_presence (
  id               uuid PRIMARY KEY,
  host             text NOT NULL,
  pid              integer NOT NULL,
  version          text NOT NULL,
  started_at       timestamptz NOT NULL,
  seen_at          timestamptz NOT NULL DEFAULT now(),
  applied_revision bigint NOT NULL
);
