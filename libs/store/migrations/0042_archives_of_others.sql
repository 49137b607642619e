-- compatible: yes
-- Archives of other makers. Processes of the version before respond with 500 to tiles of such a version, and serve all others.
ALTER TABLE basemap_versions DROP CONSTRAINT basemap_versions_storage_check;
ALTER TABLE basemap_versions ADD CONSTRAINT basemap_versions_storage_check CHECK (storage IN (
  'xyz', 'tms', 'mbtiles', 'pmtiles', 'esri_compact', 'esri_exploded', 'tpkx', 'vtpk', 'mapproxy_tc', 'mapproxy_mp', 'mapproxy_arcgis', 'quadkey',
  'geopackage', 'cog'
)) NOT VALID;
ALTER TABLE basemap_versions VALIDATE CONSTRAINT basemap_versions_storage_check;
