-- compatible: yes
-- How the pixels of the sources become those of the tiles. auto: by the kind of the sources.
ALTER TABLE slice_jobs
  ADD COLUMN resampling text NOT NULL DEFAULT 'auto' CHECK (resampling IN ('auto', 'nearest', 'bilinear', 'cubic'));
