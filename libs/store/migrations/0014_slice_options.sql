-- compatible: yes
-- In which grid a job makes its tiles, what they hold (pictures, or heights), and whether its sources decide the deepest zoom.
ALTER TABLE slice_jobs
  ADD COLUMN tile_matrix_set text NOT NULL DEFAULT 'WebMercatorQuad'
    CHECK (tile_matrix_set IN ('WebMercatorQuad', 'WorldCRS84Quad', 'CGCS2000Quad')),
  ADD COLUMN encoding text NOT NULL DEFAULT 'rgb' CHECK (encoding IN ('rgb', 'terrarium', 'mapbox')),
  ADD COLUMN zoom_max_native boolean NOT NULL DEFAULT false;
