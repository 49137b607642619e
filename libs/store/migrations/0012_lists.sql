-- compatible: yes
-- earlier: 26025a50c7452232b46dd9d49423514a4a278d083a0c59d4c301eedcdb1b31bc
-- Lists are filtered and sorted by the store. The indexes of what grows without bound are built by 0036, beside the writes to their tables.
CREATE INDEX basemap_versions_unavailable ON basemap_versions (basemap_code) WHERE NOT available;
