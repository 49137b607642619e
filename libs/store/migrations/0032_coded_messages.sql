-- compatible: yes
-- What messages are made from, beside the English texts that the version before reads and writes: of the warnings of a scan an array of
-- {code, params} or null, in their order; of a slice job the message's own, and the warnings about what was submitted and planned.
ALTER TABLE scans ADD COLUMN warning_codes jsonb NOT NULL DEFAULT '[]';
ALTER TABLE slice_jobs
  ADD COLUMN message_coded jsonb,
  ADD COLUMN warnings jsonb NOT NULL DEFAULT '[]';
-- Kinds of vectors beyond those that the version before knows: for it such a file is one that is sent as it is (see the migration 0015).
ALTER TABLE vectors
  ADD COLUMN other_format text CHECK (other_format IN ('geojson_sequence', 'zipped_shapefile', 'kml', 'kmz', 'gml', 'csv'));
