-- compatible: yes
-- Serves the pages in which edges read the usable tokens, those first that were used last (readUsableTokens).
CREATE INDEX tokens_used_last ON tokens (coalesce(last_used_at, '-infinity'::timestamptz) DESC, id DESC) WHERE disabled_at IS NULL;
