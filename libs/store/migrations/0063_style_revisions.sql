-- compatible: yes

-- The documents that a style had, for comparisons; the newest are kept.
CREATE TABLE style_revisions (
  style_code text NOT NULL REFERENCES styles (code) ON DELETE CASCADE,
  revision integer NOT NULL,
  document text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (style_code, revision)
);

INSERT INTO style_revisions (style_code, revision, document, created_at) SELECT code, revision, document, updated_at FROM styles;
