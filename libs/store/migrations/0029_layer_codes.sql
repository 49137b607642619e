-- compatible: yes
-- The layers that a token with the scope `slice` may slice, as basemap_codes has what it may read. A program of the version before this one does not look at it.
ALTER TABLE tokens ADD COLUMN layer_codes text[] NOT NULL DEFAULT '{*}';
