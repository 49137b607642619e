-- compatible: yes
-- Where on the map tiles were asked for: sums over all edges by the day (UTC). A cell is a tile of the version's grid; by name, as in usage_hours.
CREATE TABLE usage_cells (
  basemap_code text     NOT NULL,
  version      text     NOT NULL,
  day          date     NOT NULL,
  z            smallint NOT NULL,
  x            integer  NOT NULL,
  y            integer  NOT NULL,
  requests     bigint   NOT NULL,
  tile_404     bigint   NOT NULL,
  PRIMARY KEY (basemap_code, version, day, z, x, y)
);
CREATE INDEX usage_cells_by_day ON usage_cells (day);

-- Where the last use of a token came from, as far as proxies are trusted; null: not recorded.
ALTER TABLE tokens ADD COLUMN last_used_from text;
