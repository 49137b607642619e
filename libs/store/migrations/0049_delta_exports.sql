-- compatible: yes
-- The older version of which an export has the differences; null: it has the whole version. A program of the version before this one would write the
-- whole version: request such exports when every control plane is of this version.
ALTER TABLE exports ADD COLUMN from_version text;
