-- compatible: yes
-- What a slice job makes of a version. A process of the version before makes a folder whatever is wanted.
ALTER TABLE slice_jobs ADD COLUMN output text NOT NULL DEFAULT 'folder' CHECK (output IN ('folder', 'pmtiles'));
