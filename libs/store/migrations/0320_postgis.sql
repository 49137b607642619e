-- compatible: yes
-- Databases as scan sources: the password, and what of the database is published. A program of the version before this one has no source of this kind.
ALTER TABLE scan_sources ADD COLUMN password text, ADD COLUMN choice jsonb;
DO $$
DECLARE
  known record;
BEGIN
  FOR known IN
    SELECT c.conname, t.name, t.field, t.kinds, pg_get_expr(c.conbin, c.conrelid) AS rule
    FROM (VALUES ('scan_sources', 'kind', '{postgis}'::text[]), ('vectors', 'other_format', '{postgis,postgis-function}')) AS t (name, field, kinds)
    JOIN pg_constraint c ON c.conrelid = t.name::regclass AND c.contype = 'c'
    WHERE pg_get_expr(c.conbin, c.conrelid) ~ ('\m' || t.field || '\M')
  LOOP
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', known.name, known.conname);
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I CHECK (%I = ANY(%L::text[]) OR (%s))', known.name, known.conname, known.field, known.kinds, known.rule);
  END LOOP;
END $$;

-- The database makes the tiles of its tables, so that no build is ever due. The trigger runs after that which counts the revision.
CREATE FUNCTION serve_vector_by_database() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.build_tried := NEW.revision;
  NEW.build_revision := CASE WHEN NEW.build IS NOT NULL THEN NEW.revision END;
  RETURN NEW;
END $$;
CREATE TRIGGER vector_served_by_database BEFORE INSERT OR UPDATE ON vectors FOR EACH ROW
  WHEN (NEW.other_format IN ('postgis', 'postgis-function')) EXECUTE FUNCTION serve_vector_by_database();
