-- compatible: yes
-- What a source finds for the first time is published at once, or waits for an approval. Such a version is withdrawn until then, so that every
-- program that knows nothing of approvals withholds it too. review_reason says why somebody rejected it.
ALTER TABLE scan_sources ADD COLUMN publish text NOT NULL DEFAULT 'automatic' CHECK (publish IN ('automatic', 'approval'));
ALTER TABLE basemap_versions
  ADD COLUMN review text CHECK (review IN ('held', 'rejected')),
  ADD COLUMN review_reason text,
  ADD CHECK (review IS NULL OR withdrawn);

-- By a trigger, since it must also hold for what the version before this one finds. Of a version that is known, only the values that ON CONFLICT
-- names are taken, and these two are not among them.
CREATE FUNCTION hold_new_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM basemaps b JOIN scan_sources s ON s.code = b.source_code
             WHERE b.code = NEW.basemap_code AND s.publish = 'approval') THEN
    NEW.withdrawn := true;
    NEW.review := 'held';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER version_held BEFORE INSERT ON basemap_versions FOR EACH ROW EXECUTE FUNCTION hold_new_version();

-- Events are deliveries too: a message to each HTTP target.
DO $$
DECLARE
  known record;
BEGIN
  FOR known IN
    SELECT c.conname, pg_get_expr(c.conbin, c.conrelid) AS rule FROM pg_constraint c
    WHERE c.conrelid = 'deliveries'::regclass AND c.contype = 'c' AND pg_get_expr(c.conbin, c.conrelid) ~ '\mkind\M'
  LOOP
    EXECUTE format('ALTER TABLE deliveries DROP CONSTRAINT %I', known.conname);
    EXECUTE format('ALTER TABLE deliveries ADD CONSTRAINT %I CHECK (kind = ''event'' OR (%s))', known.conname, known.rule);
  END LOOP;
END $$;
ALTER TABLE deliveries ADD CHECK (kind <> 'event' OR num_nonnulls(target_code, body) = 2);
