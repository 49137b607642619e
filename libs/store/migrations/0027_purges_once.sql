-- compatible: yes
-- One transaction tells a cache the same once: a layer that was just sliced is inserted, gets a revision and becomes the default, and each of these
-- owes a purge. Nobody sees one of them before all are committed, so the first says it all. Remembered until the transaction ends, as the trace is.
CREATE OR REPLACE FUNCTION owe_cache_purge(basemap text, label text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  owed text := coalesce(current_setting('gateway.purge', true), '');
BEGIN
  -- No code has a slash. With a version's tag goes its basemap's.
  IF owed = basemap || '/' || coalesce(label, '') OR (label IS NULL AND starts_with(owed, basemap || '/')) THEN
    RETURN;
  END IF;
  INSERT INTO deliveries (kind, lane, destination, target_code, basemap_code, version, trace)
    SELECT 'cache_purge', 'message', code, code, basemap, label, nullif(current_setting('gateway.trace', true), '')::jsonb
    FROM targets WHERE kind = 'purge' AND enabled;
  IF FOUND THEN
    PERFORM set_config('gateway.purge', basemap || '/' || coalesce(label, ''), true);
    PERFORM pg_notify('gateway_deliveries', '');
  END IF;
END $$;
