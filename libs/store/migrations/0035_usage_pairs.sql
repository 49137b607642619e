-- compatible: yes
-- Who asked for which map, by the hour: sums over all edges for a token and a basemap, or vector, together. By name, as in usage_hours. `token` is the
-- id of a token, or 'signed' or 'other'. The version before writes and deletes no such rows.
CREATE TABLE usage_pairs (
  token    text        NOT NULL,
  kind     text        NOT NULL CHECK (kind IN ('basemap', 'vector')),
  code     text        NOT NULL,
  at       timestamptz NOT NULL,
  requests bigint      NOT NULL,
  tiles    bigint      NOT NULL,
  tile_404 bigint      NOT NULL,
  refused  bigint      NOT NULL,
  bytes    bigint      NOT NULL,
  refused_by_origin bigint, refused_by_network bigint, refused_by_grant bigint, refused_by_scope bigint, refused_by_expired bigint,
  refused_by_disabled bigint, refused_by_rate bigint,
  PRIMARY KEY (kind, token, code, at)
);
CREATE INDEX usage_pairs_by_code ON usage_pairs (kind, code, at);
CREATE INDEX usage_pairs_by_time ON usage_pairs (kind, at);

-- Of `refused`, by reason; null, which takes no room: none, or written by the version before. Adding them rewrites no row.
ALTER TABLE usage_hours
  ADD COLUMN refused_by_origin bigint, ADD COLUMN refused_by_network bigint, ADD COLUMN refused_by_grant bigint, ADD COLUMN refused_by_scope bigint,
  ADD COLUMN refused_by_expired bigint, ADD COLUMN refused_by_disabled bigint, ADD COLUMN refused_by_rate bigint;

-- Requests with a token that edges have refused, ever since this is counted.
CREATE TABLE token_refusals (
  token_id uuid        NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
  reason   text        NOT NULL,
  requests bigint      NOT NULL,
  last_at  timestamptz NOT NULL,
  PRIMARY KEY (token_id, reason)
);
