-- compatible: yes
-- Versions of basemaps, or parts of them, that are written as PMTiles archives: one at a time in the whole cluster, in the order in which
-- they were requested. The lease says which process is at it, and the fence grows with every claim.
CREATE TABLE exports (
  id           uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  submission   bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  basemap_code text NOT NULL,
  version      text NOT NULL,
  -- null: the whole of it
  bounds       float8[] CHECK (cardinality(bounds) = 4),
  zoom_min     integer NOT NULL,
  zoom_max     integer NOT NULL,
  -- the target that it is pushed to once it is written; null: none
  target_code  text,
  status       text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'succeeded', 'failed')),
  message      text NOT NULL DEFAULT '',
  progress     real NOT NULL DEFAULT 0,
  tiles        bigint,
  bytes        bigint,
  requested_by text NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  started_at   timestamptz,
  finished_at  timestamptz,
  lease_owner  uuid,
  lease_until  timestamptz,
  fence        bigint NOT NULL DEFAULT 0,
  CHECK ((status = 'running') = (lease_owner IS NOT NULL))
);
CREATE INDEX exports_open ON exports (submission) WHERE status IN ('pending', 'running');
CREATE INDEX exports_newest_first ON exports (created_at DESC, id DESC);

-- The archive that a push carries instead of the version's own files. No foreign key: a push whose export was removed must fail, and not
-- send the whole version.
ALTER TABLE deliveries ADD COLUMN export_id uuid;
CREATE INDEX deliveries_of_exports ON deliveries (export_id) WHERE export_id IS NOT NULL;

-- Buckets of object storage take deliveries, too.
ALTER TABLE targets
  DROP CONSTRAINT targets_kind_check, DROP CONSTRAINT targets_check, DROP CONSTRAINT targets_check1,
  ADD CONSTRAINT targets_kind_check CHECK (kind IN ('http', 'directory', 'bucket')),
  ADD CONSTRAINT targets_check CHECK ((kind <> 'directory') = (url IS NOT NULL)),
  ADD CONSTRAINT targets_check1 CHECK ((kind = 'directory') = (path IS NOT NULL));
