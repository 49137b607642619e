-- compatible: yes
-- While a rotation's grace lasts, a token is known by two secrets. Edges of the version before this one do not know the previous one: with
-- them it ends at once.
ALTER TABLE tokens
  ADD COLUMN previous_digest     bytea UNIQUE CHECK (octet_length(previous_digest) = 32),
  ADD COLUMN previous_prefix     text,
  ADD COLUMN previous_expires_at timestamptz,
  ADD CHECK ((previous_digest IS NULL) = (previous_expires_at IS NULL) AND (previous_digest IS NULL) = (previous_prefix IS NULL));

-- From where a token may be used; empty: from everywhere. Edges of the version before this one do not hold tokens to it.
ALTER TABLE tokens
  ADD COLUMN allowed_origins  text[] NOT NULL DEFAULT '{}',
  ADD COLUMN allowed_networks text[] NOT NULL DEFAULT '{}';
