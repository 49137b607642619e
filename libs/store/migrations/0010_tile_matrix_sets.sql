-- compatible: yes
-- In which grid the tiles of a version lie, and what its metadata says beyond what the store knows by name: TileJSON passes that on.
ALTER TABLE basemap_versions
  ADD COLUMN tile_matrix_set text NOT NULL DEFAULT 'WebMercatorQuad'
    CHECK (tile_matrix_set IN ('WebMercatorQuad', 'WorldCRS84Quad', 'CGCS2000Quad')),
  ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}';
