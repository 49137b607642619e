-- compatible: yes
-- What a vector's content says of itself, as answers give it, and of which state of the files (`fingerprint`) that is true.
ALTER TABLE vectors
  ADD COLUMN facts jsonb,
  ADD COLUMN facts_fingerprint text;
