-- compatible: yes
-- The format of an export's archive. A process of the version before writes PMTiles whatever is wanted.
ALTER TABLE exports ADD COLUMN format text NOT NULL DEFAULT 'pmtiles' CHECK (format IN ('pmtiles', 'mbtiles', 'gpkg', 'tpkx'));
