-- compatible: yes
-- Further kinds of vectors that GDAL reads. For a version that does not know `other_format`, such a file is one that is sent as it is.
ALTER TABLE vectors DROP CONSTRAINT vectors_other_format_check;
ALTER TABLE vectors ADD CONSTRAINT vectors_other_format_check CHECK (
  other_format IN ('geojson_sequence', 'zipped_shapefile', 'kml', 'kmz', 'gml', 'csv', 'gpx', 'dxf', 'zipped_geodatabase', 'postgis', 'postgis-function'));
