-- compatible: yes
-- The attributes that the tiles of a vector have; null: all. Others make another content of its tiles.
ALTER TABLE vectors ADD COLUMN tile_fields text[];

DROP TRIGGER vector_revision_grows ON vectors;
CREATE TRIGGER vector_revision_grows BEFORE UPDATE ON vectors FOR EACH ROW
  WHEN ((OLD.fingerprint, OLD.path, OLD.encoding, OLD.tiles_wanted, OLD.tile_min_zoom, OLD.tile_max_zoom, OLD.tile_fields)
        IS DISTINCT FROM
        (NEW.fingerprint, NEW.path, NEW.encoding, NEW.tiles_wanted, NEW.tile_min_zoom, NEW.tile_max_zoom, NEW.tile_fields))
  EXECUTE FUNCTION grow_vector_revision();

DROP TRIGGER vector_builds_announced ON vectors;
CREATE TRIGGER vector_builds_announced AFTER INSERT
  OR UPDATE OF fingerprint, path, encoding, tiles_wanted, tile_min_zoom, tile_max_zoom, tile_fields, build_tried ON vectors
  FOR EACH STATEMENT EXECUTE FUNCTION announce_vector_builds();
