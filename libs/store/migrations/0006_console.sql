-- What the console's map previews use: short-lived, scoped to one basemap or vector, never listed among the tokens that operators issue.
ALTER TABLE tokens ADD COLUMN preview boolean NOT NULL DEFAULT false;
CREATE INDEX tokens_of_previews ON tokens (expires_at) WHERE preview;

-- What each edge process has counted; null from one that does not tell.
ALTER TABLE edge_presence ADD COLUMN traffic jsonb;

-- Open consoles ask every moment whether any delivery has moved.
CREATE INDEX deliveries_touched ON deliveries (updated_at);
