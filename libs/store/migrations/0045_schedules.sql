-- compatible: yes
-- When sources are scanned by themselves. next_scan_at: when the schedule wants the next scan. watch_problem: why the folder is not watched now and is
-- scanned every minute instead.
ALTER TABLE scan_sources
  ADD COLUMN schedule      jsonb,
  ADD COLUMN next_scan_at  timestamptz,
  ADD COLUMN watch         boolean NOT NULL DEFAULT false,
  ADD COLUMN watch_problem text;
-- Why a scan runs, and when the next one was wanted then. Scans of the version before this one count as asked for.
ALTER TABLE scan_queue
  ADD COLUMN reason text NOT NULL DEFAULT 'manual' CHECK (reason IN ('manual', 'schedule', 'watch', 'start'));
ALTER TABLE scans
  ADD COLUMN reason       text NOT NULL DEFAULT 'manual' CHECK (reason IN ('manual', 'schedule', 'watch', 'start')),
  ADD COLUMN next_scan_at timestamptz;
