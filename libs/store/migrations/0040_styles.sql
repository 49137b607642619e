-- compatible: yes
-- Styles of maps, and the fonts that lie next to them. A program of the version before this one looks at neither, and has no source of this kind.
CREATE TABLE styles (
  code          text PRIMARY KEY,
  name          text NOT NULL,
  source_code   text NOT NULL REFERENCES scan_sources (code),
  -- of the document
  path          text NOT NULL,
  -- as it was read; it is valid
  document      text NOT NULL,
  -- what the document needs in order to be drawn
  dependencies  jsonb NOT NULL,
  -- sprites and data files of its folder that edges serve
  assets        jsonb NOT NULL,
  -- of the document and its assets
  fingerprint   text NOT NULL,
  revision      bigint NOT NULL DEFAULT 1 CHECK (revision > 0),
  available     boolean NOT NULL DEFAULT true,
  withdrawn     boolean NOT NULL DEFAULT false,
  created_at    timestamptz NOT NULL DEFAULT now(),
  updated_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX styles_of_source ON styles (source_code);

CREATE TABLE style_fonts (
  source_code   text NOT NULL REFERENCES scan_sources (code) ON DELETE CASCADE,
  name          text NOT NULL,
  -- `ranges`: a folder of ready ranges; `outlines`: a font file
  kind          text NOT NULL CHECK (kind IN ('ranges', 'outlines')),
  path          text NOT NULL,
  -- of a collection: the PostScript name of the font
  face          text,
  fingerprint   text NOT NULL,
  PRIMARY KEY (source_code, name)
);

-- Kinds that come beside those that the checks know by now, whichever these are.
DO $$
DECLARE
  known record;
BEGIN
  FOR known IN
    SELECT c.conname, t.name, t.kinds, pg_get_expr(c.conbin, c.conrelid) AS rule
    FROM (VALUES ('change_log', '{style,font}'::text[]), ('scan_sources', '{style}')) AS t (name, kinds)
    JOIN pg_constraint c ON c.conrelid = t.name::regclass AND c.contype = 'c'
    WHERE pg_get_expr(c.conbin, c.conrelid) ~ '\mkind\M'
  LOOP
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', known.name, known.conname);
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT %I CHECK (kind = ANY(%L::text[]) OR (%s))', known.name, known.conname, known.kinds, known.rule);
  END LOOP;
END $$;
