-- compatible: yes
-- GeoPackage and FlatGeobuf, and the encoding that an operator has set. The version before knows two kinds and would fail on another: for it
-- such a file is one that is sent as it is, as GeoJSON is, and `format` says what it is in truth.
ALTER TABLE vectors
  ADD COLUMN format text CHECK (format IN ('geopackage', 'flatgeobuf')),
  ADD COLUMN encoding text;
