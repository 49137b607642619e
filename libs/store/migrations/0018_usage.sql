-- compatible: yes
-- What was asked for, by the hour: sums over all edges, for each token, basemap, version (`code/version`) and vector. By name, not by reference: a
-- token that is deleted keeps its usage, and so does a basemap that comes back.
CREATE TABLE usage_hours (
  kind     text        NOT NULL CHECK (kind IN ('token', 'basemap', 'version', 'vector')),
  id       text        NOT NULL,
  at       timestamptz NOT NULL,
  requests bigint      NOT NULL,
  tiles    bigint      NOT NULL,
  tile_404 bigint      NOT NULL,
  refused  bigint      NOT NULL,
  bytes    bigint      NOT NULL,
  PRIMARY KEY (kind, id, at)
);
CREATE INDEX usage_hours_by_time ON usage_hours (kind, at);

-- The last batch of each edge that is in the sums: one whose answer was lost is sent again, and must not count twice.
CREATE TABLE usage_writers (
  id         uuid        PRIMARY KEY,
  last_batch bigint      NOT NULL,
  at         timestamptz NOT NULL DEFAULT now()
);
