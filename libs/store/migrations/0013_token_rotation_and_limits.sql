-- compatible: yes
-- earlier: 5333c306ed81504c79d840b53f1f0f87ecc5e9826e9de2890202fc9298935251
-- While a rotation's grace lasts, a token is known by two secrets. Edges of the version before this one do not know the previous one: with
-- them it ends at once. 0036 builds the unique index. The rules need no look at the rows that exist, whose new columns are null.
ALTER TABLE tokens
  ADD COLUMN previous_digest     bytea,
  ADD COLUMN previous_prefix     text,
  ADD COLUMN previous_expires_at timestamptz;
ALTER TABLE tokens
  ADD CHECK (octet_length(previous_digest) = 32) NOT VALID,
  ADD CHECK ((previous_digest IS NULL) = (previous_expires_at IS NULL) AND (previous_digest IS NULL) = (previous_prefix IS NULL)) NOT VALID;

-- From where a token may be used; empty: from everywhere. Edges of the version before this one do not hold tokens to it.
ALTER TABLE tokens
  ADD COLUMN allowed_origins  text[] NOT NULL DEFAULT '{}',
  ADD COLUMN allowed_networks text[] NOT NULL DEFAULT '{}';
