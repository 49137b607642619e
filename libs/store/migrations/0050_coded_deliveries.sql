-- compatible: yes
-- The codes and parameters of the messages of deliveries, their attempts, exports, scans and cancelled slice jobs, beside the English texts that
-- the version before reads and writes. Null: the message has no code.
ALTER TABLE deliveries ADD COLUMN message_coded jsonb;
ALTER TABLE delivery_attempts ADD COLUMN message_coded jsonb;
ALTER TABLE exports ADD COLUMN message_coded jsonb;
ALTER TABLE scans ADD COLUMN message_coded jsonb;
ALTER TABLE slice_jobs ADD COLUMN cancel_coded jsonb;

-- The version before writes a message without its code. A code must not outlive the message that it belongs to.
CREATE FUNCTION forget_message_code() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.message_coded := NULL;
  RETURN NEW;
END $$;
CREATE TRIGGER forget_message_code BEFORE UPDATE ON deliveries FOR EACH ROW
  WHEN (NEW.message IS DISTINCT FROM OLD.message AND NEW.message_coded IS NOT DISTINCT FROM OLD.message_coded) EXECUTE FUNCTION forget_message_code();
CREATE TRIGGER forget_message_code BEFORE UPDATE ON exports FOR EACH ROW
  WHEN (NEW.message IS DISTINCT FROM OLD.message AND NEW.message_coded IS NOT DISTINCT FROM OLD.message_coded) EXECUTE FUNCTION forget_message_code();
CREATE TRIGGER forget_message_code BEFORE UPDATE ON scans FOR EACH ROW
  WHEN (NEW.message IS DISTINCT FROM OLD.message AND NEW.message_coded IS NOT DISTINCT FROM OLD.message_coded) EXECUTE FUNCTION forget_message_code();
CREATE TRIGGER forget_message_code BEFORE UPDATE ON slice_jobs FOR EACH ROW
  WHEN (NEW.message IS DISTINCT FROM OLD.message AND NEW.message_coded IS NOT DISTINCT FROM OLD.message_coded) EXECUTE FUNCTION forget_message_code();
