-- compatible: yes
-- What a version's content is named by in addresses (`?v=`). Out of one sequence, so that a version that was deleted and found again
-- never gets a number back under which caches may still keep its old tiles.
CREATE SEQUENCE version_revisions;
ALTER TABLE basemap_versions
  ADD COLUMN revision bigint NOT NULL DEFAULT nextval('version_revisions') CHECK (revision > 0),
  ADD COLUMN withdrawn boolean NOT NULL DEFAULT false;

-- By a trigger, since it must also hold while a program that knows nothing of revisions writes here.
CREATE FUNCTION grow_version_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.revision := nextval('version_revisions');
  RETURN NEW;
END $$;
CREATE TRIGGER version_revision_grows BEFORE UPDATE ON basemap_versions FOR EACH ROW
  WHEN ((OLD.fingerprint, OLD.path, OLD.storage, OLD.format, OLD.extension)
        IS DISTINCT FROM (NEW.fingerprint, NEW.path, NEW.storage, NEW.format, NEW.extension))
  EXECUTE FUNCTION grow_version_revision();

-- What an operator has taken from its readers; scans leave these alone.
ALTER TABLE basemaps ADD COLUMN withdrawn boolean NOT NULL DEFAULT false;
ALTER TABLE vectors ADD COLUMN withdrawn boolean NOT NULL DEFAULT false;
