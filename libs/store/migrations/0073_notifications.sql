-- compatible: yes
-- Who is told about what needs attention: an address of mail, or a target.
CREATE TABLE notification_rules (
  id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  email       text,
  target_code text REFERENCES targets (code) ON DELETE CASCADE,
  kinds       text[] NOT NULL,
  enabled     boolean NOT NULL DEFAULT true,
  created_at  timestamptz NOT NULL DEFAULT now(),
  CHECK (num_nonnulls(email, target_code) = 1)
);

-- What has been told, so that each item is told once. An item that no longer needs attention is forgotten.
CREATE TABLE notified (
  kind text NOT NULL,
  item text NOT NULL,
  at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (kind, item)
);

-- Notifications are deliveries too: to a target, or to a `mailto:` URL.
DO $$
DECLARE
  known record;
BEGIN
  FOR known IN
    SELECT c.conname, pg_get_expr(c.conbin, c.conrelid) AS rule FROM pg_constraint c
    WHERE c.conrelid = 'deliveries'::regclass AND c.contype = 'c' AND pg_get_expr(c.conbin, c.conrelid) ~ '\mkind\M'
  LOOP
    EXECUTE format('ALTER TABLE deliveries DROP CONSTRAINT %I', known.conname);
    EXECUTE format('ALTER TABLE deliveries ADD CONSTRAINT %I CHECK (kind = ''notification'' OR (%s))', known.conname, known.rule);
  END LOOP;
END $$;
ALTER TABLE deliveries ADD CHECK (kind <> 'notification' OR (num_nonnulls(target_code, url) = 1 AND body IS NOT NULL));
