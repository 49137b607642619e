-- compatible: yes
-- What was sent in an attempt, as operators may see it: without secrets, and the first part of the body. Null: nothing was.
ALTER TABLE delivery_attempts ADD COLUMN request jsonb;

-- A failure needs attention until somebody says that they have seen it, also when something later succeeded. What failed long ago was seen.
ALTER TABLE deliveries ADD COLUMN acknowledged_at timestamptz;
ALTER TABLE slice_jobs ADD COLUMN acknowledged_at timestamptz;
UPDATE deliveries SET acknowledged_at = now() WHERE status = 'failed' AND updated_at < now() - interval '7 days';
UPDATE slice_jobs SET acknowledged_at = now() WHERE status = 'failed' AND (cancelled OR finished_at < now() - interval '7 days');
CREATE INDEX deliveries_not_acknowledged ON deliveries (kind) WHERE status = 'failed' AND acknowledged_at IS NULL;
CREATE INDEX slice_jobs_not_acknowledged ON slice_jobs (finished_at) WHERE status = 'failed' AND acknowledged_at IS NULL;

-- A link to a map for people without an account holds a token of its own, which lists of tokens leave out unless they are asked for it.
ALTER TABLE tokens ADD COLUMN kind text NOT NULL DEFAULT 'service' CHECK (kind IN ('service', 'preview'));
