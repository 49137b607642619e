-- compatible: yes
-- Sets in zones of CGCS2000 / 3-degree Gauss-Kruger lie in grids of their own, whose numbers are kept with the version. A process of the version before
-- does not know such a set: update all of them before the first one is scanned.
ALTER TABLE basemap_versions
  ADD COLUMN tile_matrices jsonb,
  DROP CONSTRAINT basemap_versions_tile_matrix_set_check,
  ADD CONSTRAINT basemap_versions_tile_matrix_set_check
    CHECK (tile_matrix_set IN ('WebMercatorQuad', 'WorldCRS84Quad', 'CGCS2000Quad') OR tile_matrices IS NOT NULL);
