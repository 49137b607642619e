-- compatible: yes
-- The area that a token may read, as west, south, east, north in degrees; null: everywhere. A program of the version before this one does not look at
-- it: issue such tokens when every edge and control plane is of this version.
ALTER TABLE tokens ADD COLUMN bounds double precision[] CHECK (array_length(bounds, 1) = 4);
