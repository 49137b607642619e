-- compatible: yes
-- found_at: the time at which a scan, an import or a job first brought the item. Earlier items have the time of this migration.
ALTER TABLE basemap_versions ADD COLUMN found_at timestamptz NOT NULL DEFAULT now();
ALTER TABLE vectors ADD COLUMN found_at timestamptz NOT NULL DEFAULT now();
