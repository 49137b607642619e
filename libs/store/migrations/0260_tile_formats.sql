-- compatible: yes
-- MapLibre Tiles are a format of their own, and folders of {z}/{y}/{x} a storage. formats: all formats of a set of several image formats, the most frequent one first. A process of the
-- version before serves such a set by its first format, and knows neither of the others: update all of them before the first such set is scanned.
ALTER TABLE basemap_versions
  ADD COLUMN formats text[],
  DROP CONSTRAINT basemap_versions_format_check,
  ADD CONSTRAINT basemap_versions_format_check CHECK (format IN ('png', 'jpg', 'webp', 'avif', 'pbf', 'mlt')),
  DROP CONSTRAINT basemap_versions_storage_check,
  ADD CONSTRAINT basemap_versions_storage_check CHECK (storage IN (
    'xyz', 'tms', 'mbtiles', 'pmtiles', 'esri_compact', 'esri_exploded', 'tpkx', 'vtpk', 'mapproxy_tc', 'mapproxy_mp', 'mapproxy_arcgis', 'quadkey',
    'zyx', 'geopackage', 'cog'));
