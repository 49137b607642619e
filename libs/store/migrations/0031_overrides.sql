-- compatible: yes
-- Values of a version that an operator has set in place of the scan's. Scans write the other columns only, so overrides outlive them.
-- name: how the tile set calls itself. rows_from_north: rows of an MBTiles archive, whose specification counts from the south.
-- bounds_derived: the bounds were computed from the tiles, so another grid or order of rows moves them.
ALTER TABLE basemap_versions
  ADD COLUMN name text,
  ADD COLUMN rows_from_north boolean NOT NULL DEFAULT false,
  ADD COLUMN bounds_derived boolean NOT NULL DEFAULT false,
  ADD COLUMN overrides jsonb NOT NULL DEFAULT '{}';

DROP TRIGGER version_revision_grows ON basemap_versions;
CREATE TRIGGER version_revision_grows BEFORE UPDATE ON basemap_versions FOR EACH ROW
  WHEN ((OLD.fingerprint, OLD.path, OLD.storage, OLD.format, OLD.extension, OLD.tile_matrix_set, OLD.rows_from_north, OLD.overrides)
        IS DISTINCT FROM
        (NEW.fingerprint, NEW.path, NEW.storage, NEW.format, NEW.extension, NEW.tile_matrix_set, NEW.rows_from_north, NEW.overrides))
  EXECUTE FUNCTION grow_version_revision();

-- What operators write about a basemap. set_name replaces the name that scans find.
ALTER TABLE basemaps
  ADD COLUMN set_name text,
  ADD COLUMN description text,
  ADD COLUMN tags text[] NOT NULL DEFAULT '{}',
  ADD COLUMN owner text;
