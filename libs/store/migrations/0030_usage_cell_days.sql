-- compatible: yes
-- How many cells of the map a day has, so that a reader who asks for tiles all over the world cannot fill the disk. The version before counts none.
CREATE TABLE usage_cell_days (
  day   date   PRIMARY KEY,
  cells bigint NOT NULL
);
INSERT INTO usage_cell_days SELECT day, count(*) FROM usage_cells GROUP BY day;
