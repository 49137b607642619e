-- compatible: yes
-- The paths that changed in a watched folder, below the source: the scan looks at these and at nothing else. null: at everything.
-- A control plane of the version before scans everything.
ALTER TABLE scan_queue ADD COLUMN changed text[];
ALTER TABLE scans ADD COLUMN changed text[];
