-- compatible: yes
-- The version of the same basemap as which the archive of an export is published; null: it is not.
ALTER TABLE exports ADD COLUMN publish_as text;
