-- compatible: yes
-- transaction: no
-- earlier: 3883109d6800ee4da6c974c257a03700ca4347071d37a609fdad6852a787d2f4
-- Indexes of tables of 0.1.0 that may be large: edges look tokens up while these are built.
-- Finds a token by the secret before its rotation.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS tokens_previous_digest_key ON tokens (previous_digest);
-- Serves the pages in which edges read the usable tokens, those first that were used last (readUsableTokens).
CREATE INDEX CONCURRENTLY IF NOT EXISTS tokens_used_last ON tokens (coalesce(last_used_at, '-infinity'::timestamptz) DESC, id DESC) WHERE disabled_at IS NULL;
-- Lists of the console and of the interface for administration.
CREATE INDEX CONCURRENTLY IF NOT EXISTS tokens_by_name ON tokens (lower(name), id) WHERE NOT preview;
CREATE INDEX CONCURRENTLY IF NOT EXISTS deliveries_by_status ON deliveries (kind, status, created_at DESC, id DESC);
CREATE INDEX CONCURRENTLY IF NOT EXISTS deliveries_by_target ON deliveries (target_code, created_at DESC, id DESC);
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_by_subject ON audit (subject, id DESC);
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_by_action ON audit (action, id DESC);
