-- compatible: yes
-- Usage by the month: one table for each month, so that an old month is dropped and packed as a whole, and indexes of the current one stay in memory.
-- The tables so far become the first months, up to the end of the next one. The version before writes, reads and prunes them by their own names; it
-- cannot write later months.
CREATE TABLE usage_by_month (LIKE usage_hours INCLUDING CONSTRAINTS, PRIMARY KEY (kind, id, at)) PARTITION BY RANGE (at);
CREATE INDEX usage_by_month_by_time ON usage_by_month (kind, at);
CREATE TABLE usage_rest PARTITION OF usage_by_month DEFAULT;

CREATE TABLE usage_pairs_by_month (LIKE usage_pairs INCLUDING CONSTRAINTS, PRIMARY KEY (kind, token, code, at)) PARTITION BY RANGE (at);
CREATE INDEX usage_pairs_by_month_by_code ON usage_pairs_by_month (kind, code, at);
CREATE INDEX usage_pairs_by_month_by_time ON usage_pairs_by_month (kind, at);
CREATE TABLE usage_pairs_rest PARTITION OF usage_pairs_by_month DEFAULT;

-- The tables of months that were rewritten after their hours had become days.
CREATE TABLE usage_packed (
  name text PRIMARY KEY
);

DO $$
DECLARE
  until timestamptz := date_trunc('month', now(), 'UTC') + interval '1488 hours';
BEGIN
  until := date_trunc('month', until, 'UTC');
  -- Times that a wrong clock has set.
  WITH later AS (DELETE FROM usage_hours WHERE at >= until RETURNING *) INSERT INTO usage_rest SELECT * FROM later;
  WITH later AS (DELETE FROM usage_pairs WHERE at >= until RETURNING *) INSERT INTO usage_pairs_rest SELECT * FROM later;
  EXECUTE format('ALTER TABLE usage_by_month ATTACH PARTITION usage_hours FOR VALUES FROM (MINVALUE) TO (%L)', until);
  EXECUTE format('ALTER TABLE usage_pairs_by_month ATTACH PARTITION usage_pairs FOR VALUES FROM (MINVALUE) TO (%L)', until);
END $$;
