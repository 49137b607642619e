-- compatible: yes
-- Lists are filtered and sorted by the store. What grows without bound (records, the audit) has an index for what is filtered by most;
-- tokens and basemaps are tens of thousands at most, which are read whole in milliseconds.
CREATE INDEX deliveries_by_status ON deliveries (kind, status, created_at DESC, id DESC);
CREATE INDEX deliveries_by_target ON deliveries (target_code, created_at DESC, id DESC);
CREATE INDEX audit_by_subject ON audit (subject, id DESC);
CREATE INDEX audit_by_action ON audit (action, id DESC);
CREATE INDEX tokens_by_name ON tokens (lower(name), id) WHERE NOT preview;
CREATE INDEX basemap_versions_unavailable ON basemap_versions (basemap_code) WHERE NOT available;
