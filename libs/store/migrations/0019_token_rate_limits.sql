-- compatible: yes
-- How often a token may be used, over the whole cluster; null: as often as wanted. A program of the version before this one does not look at it.
ALTER TABLE tokens ADD COLUMN rate_limit jsonb;

-- What is left of each limit where no Redis keeps count. Worth nothing after a crash: a full bucket is what a restart begins with anyway.
CREATE UNLOGGED TABLE rate_buckets (
  token_id   uuid PRIMARY KEY REFERENCES tokens (id) ON DELETE CASCADE,
  per_second double precision NOT NULL,
  burst      double precision NOT NULL,
  level      double precision NOT NULL,
  granted    double precision NOT NULL,
  filled_at  timestamptz NOT NULL
) WITH (fillfactor = 50);
