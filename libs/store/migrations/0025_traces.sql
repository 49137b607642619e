-- compatible: yes
-- The trace of the request that caused it: {"traceparent": "00-...", "request_id": "..."}, the latter where the caller sent one; null: none.
ALTER TABLE slice_jobs ADD COLUMN trace jsonb;
ALTER TABLE exports ADD COLUMN trace jsonb;
ALTER TABLE deliveries ADD COLUMN trace jsonb;

-- Purges are owed by triggers: these learn it from the transaction.
CREATE OR REPLACE FUNCTION owe_cache_purge(basemap text, label text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO deliveries (kind, lane, destination, target_code, basemap_code, version, trace)
    SELECT 'cache_purge', 'message', code, code, basemap, label, nullif(current_setting('gateway.trace', true), '')::jsonb
    FROM targets WHERE kind = 'purge' AND enabled;
  IF FOUND THEN
    PERFORM pg_notify('gateway_deliveries', '');
  END IF;
END $$;
