-- compatible: yes
-- For a version that does not know this kind, such a file is one that is sent as it is.
ALTER TABLE vectors DROP CONSTRAINT vectors_other_format_check;
ALTER TABLE vectors ADD CONSTRAINT vectors_other_format_check CHECK (
  other_format IN ('geojson_sequence', 'zipped_shapefile', 'kml', 'kmz', 'gml', 'csv', 'gpx', 'dxf', 'zipped_geodatabase', 'zipped_mapinfo', 'postgis', 'postgis-function'));
