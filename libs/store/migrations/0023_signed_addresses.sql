-- compatible: yes
-- Kinds that come beside those that the checks know by now, whichever these are.
DO $$
DECLARE
  known record;
BEGIN
  FOR known IN
    SELECT c.conname, t.name, t.kind, pg_get_expr(c.conbin, c.conrelid) AS rule
    FROM (VALUES ('change_log', 'signing_key'), ('targets', 'purge'), ('deliveries', 'cache_purge')) AS t (name, kind)
    JOIN pg_constraint c ON c.conrelid = t.name::regclass AND c.contype = 'c'
    WHERE pg_get_expr(c.conbin, c.conrelid) ~ '\mkind\M'
  LOOP
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', known.name, known.conname);
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I CHECK (kind = %L OR (%s))', known.name, known.conname, known.kind, known.rule);
  END LOOP;
END $$;
ALTER TABLE targets ADD CHECK (kind <> 'purge' OR (url IS NOT NULL AND path IS NULL AND mode = 'notify'));
ALTER TABLE deliveries ADD CHECK (kind <> 'cache_purge' OR num_nonnulls(target_code, basemap_code) = 2);

-- What addresses are signed with (HMAC-SHA-256). The newest whose time has come signs; each is good until it expires (null: until it is
-- replaced). A new one waits, so that every edge knows it before the first address is signed with it.
CREATE TABLE signing_keys (
  id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  secret     bytea NOT NULL CHECK (octet_length(secret) = 32),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  signs_from timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz
);
INSERT INTO signing_keys (secret)
  VALUES (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));

-- How caches may keep the tiles of a basemap. Edges of the version before this one know the interface's way alone.
ALTER TABLE basemaps
  ADD COLUMN cache_policy text NOT NULL DEFAULT 'interface' CHECK (cache_policy IN ('interface', 'private', 'shared')),
  ADD COLUMN s_maxage integer CHECK (s_maxage >= 0),
  ADD CHECK ((cache_policy = 'shared') = (s_maxage IS NOT NULL));

-- Caches in front are told what to forget in the transaction that changes it, whoever makes that. Never fewer messages than changes: one that
-- waits already may be on its way before this transaction commits.
CREATE FUNCTION owe_cache_purge(basemap text, label text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO deliveries (kind, lane, destination, target_code, basemap_code, version)
    SELECT 'cache_purge', 'message', code, code, basemap, label FROM targets WHERE kind = 'purge' AND enabled;
  IF FOUND THEN
    PERFORM pg_notify('gateway_deliveries', '');
  END IF;
END $$;

CREATE FUNCTION purge_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM owe_cache_purge(coalesce(NEW.basemap_code, OLD.basemap_code), coalesce(NEW.version, OLD.version));
  RETURN NULL;
END $$;
-- A new one too: it may be the default from now on, and a cache may have kept that it was not there.
CREATE TRIGGER version_found AFTER INSERT OR DELETE ON basemap_versions FOR EACH ROW EXECUTE FUNCTION purge_version();
CREATE TRIGGER version_changed AFTER UPDATE ON basemap_versions FOR EACH ROW
  WHEN ((OLD.revision, OLD.available, OLD.withdrawn, OLD.tile_matrix_set)
        IS DISTINCT FROM (NEW.revision, NEW.available, NEW.withdrawn, NEW.tile_matrix_set))
  EXECUTE FUNCTION purge_version();

CREATE FUNCTION purge_basemap() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM owe_cache_purge(NEW.code, NULL);
  RETURN NULL;
END $$;
CREATE TRIGGER basemap_changed AFTER UPDATE ON basemaps FOR EACH ROW
  WHEN ((OLD.withdrawn, OLD.default_version, OLD.cache_policy, OLD.s_maxage)
        IS DISTINCT FROM (NEW.withdrawn, NEW.default_version, NEW.cache_policy, NEW.s_maxage))
  EXECUTE FUNCTION purge_basemap();

CREATE FUNCTION purge_source() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM owe_cache_purge(code, NULL) FROM basemaps WHERE source_code = NEW.code;
  RETURN NULL;
END $$;
CREATE TRIGGER source_switched AFTER UPDATE ON scan_sources FOR EACH ROW
  WHEN (OLD.enabled IS DISTINCT FROM NEW.enabled) EXECUTE FUNCTION purge_source();
