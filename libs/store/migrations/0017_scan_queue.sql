-- compatible: yes
-- Scans that wait for their turn; a source waits once. A control plane of the version before this one takes none of them.
CREATE TABLE scan_queue (
  source_code text PRIMARY KEY REFERENCES scan_sources (code) ON DELETE CASCADE,
  queued_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- How far a scan is, what it left out, and whether an operator ended it (its status is 'failed' then).
ALTER TABLE scans
  ADD COLUMN steps         integer NOT NULL DEFAULT 0,
  ADD COLUMN warnings      text[] NOT NULL DEFAULT '{}',
  ADD COLUMN warning_count integer NOT NULL DEFAULT 0,
  ADD COLUMN cancelled_by  text;
