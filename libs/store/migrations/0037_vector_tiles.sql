-- compatible: yes
-- Vector tiles, and the index that they are made of: one build for each content of a vector.
-- revision: grows whenever what is built may change. build: what edges serve, null: nothing; build_revision is its revision, so that the one before is
-- served until the next is ready. build_tried: the revision whose build has ended, with build_message if it failed. build_skipped: none was
-- made, since VECTOR_TILES was false. The lease says which process builds, and the fence grows with every claim.
ALTER TABLE vectors
  ADD COLUMN revision       bigint  NOT NULL DEFAULT 1,
  ADD COLUMN tiles_wanted   boolean NOT NULL DEFAULT true,
  ADD COLUMN tile_min_zoom  integer,
  ADD COLUMN tile_max_zoom  integer,
  ADD COLUMN build          jsonb,
  ADD COLUMN build_revision bigint,
  ADD COLUMN build_tried    bigint  NOT NULL DEFAULT 0,
  ADD COLUMN build_message  text    NOT NULL DEFAULT '',
  ADD COLUMN build_skipped  boolean NOT NULL DEFAULT false,
  ADD COLUMN build_owner    uuid,
  ADD COLUMN build_until    timestamptz,
  ADD COLUMN build_fence    bigint  NOT NULL DEFAULT 0;
CREATE INDEX vectors_to_build ON vectors (size) WHERE build_tried < revision;

-- A new content takes the lease from whoever builds the one before.
CREATE FUNCTION grow_vector_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.revision := OLD.revision + 1;
  NEW.build_owner := NULL;
  NEW.build_until := NULL;
  RETURN NEW;
END $$;
CREATE TRIGGER vector_revision_grows BEFORE UPDATE ON vectors FOR EACH ROW
  WHEN ((OLD.fingerprint, OLD.path, OLD.encoding, OLD.tiles_wanted, OLD.tile_min_zoom, OLD.tile_max_zoom)
        IS DISTINCT FROM
        (NEW.fingerprint, NEW.path, NEW.encoding, NEW.tiles_wanted, NEW.tile_min_zoom, NEW.tile_max_zoom))
  EXECUTE FUNCTION grow_vector_revision();

-- Whoever writes vectors need not know of builds.
CREATE FUNCTION announce_vector_builds() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('gateway_vector_builds', '');
  RETURN NULL;
END $$;
CREATE TRIGGER vector_builds_announced AFTER INSERT OR UPDATE OF fingerprint, path, encoding, tiles_wanted, tile_min_zoom, tile_max_zoom, build_tried ON vectors
  FOR EACH STATEMENT EXECUTE FUNCTION announce_vector_builds();
