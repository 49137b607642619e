-- compatible: yes
-- Services of others as scan sources, whose layers are basemaps with one version. upstream: how its tiles are asked for, without credentials.
-- refreshed: times before which what is kept of it is old, each with bounds and zooms. A program of the version before answers tiles of such a
-- version with 500, and serves all others.
ALTER TABLE basemap_versions
  ADD COLUMN upstream  jsonb,
  ADD COLUMN refreshed jsonb NOT NULL DEFAULT '[]',
  DROP CONSTRAINT basemap_versions_storage_check,
  ADD CONSTRAINT basemap_versions_storage_check CHECK (storage IN (
    'xyz', 'tms', 'mbtiles', 'pmtiles', 'esri_compact', 'esri_exploded', 'tpkx', 'vtpk', 'mapproxy_tc', 'mapproxy_mp', 'mapproxy_arcgis', 'quadkey',
    'zyx', 'geopackage', 'cog', 'upstream'));
ALTER TABLE scan_sources
  DROP CONSTRAINT scan_sources_kind_check,
  ADD CONSTRAINT scan_sources_kind_check CHECK (kind IN ('basemap', 'vector', 'style', 'service'));

-- What the requests of edges to a service have met. message is in the words of the service, without addresses.
CREATE TABLE upstream_states (
  source_code text PRIMARY KEY REFERENCES scan_sources (code) ON DELETE CASCADE,
  state       text NOT NULL CHECK (state IN ('open', 'closed')),
  failures    integer NOT NULL,
  message     text NOT NULL,
  changed_at  timestamptz NOT NULL DEFAULT now()
);
