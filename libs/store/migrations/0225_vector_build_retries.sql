-- compatible: yes
-- build_message_coded: the code and the parameters of build_message. build_crashes: how often the builder of this revision has ended without a
-- result; the next attempt begins at build_retry_at.
ALTER TABLE vectors
  ADD COLUMN build_message_coded jsonb,
  ADD COLUMN build_crashes       integer NOT NULL DEFAULT 0,
  ADD COLUMN build_retry_at      timestamptz;

CREATE OR REPLACE FUNCTION grow_vector_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.revision := OLD.revision + 1;
  NEW.build_owner := NULL;
  NEW.build_until := NULL;
  NEW.build_crashes := 0;
  NEW.build_retry_at := NULL;
  DELETE FROM ONLY jobs WHERE kind = 'vector_build' AND code = OLD.code;
  RETURN NEW;
END $$;
