-- compatible: yes
-- The audit as a chain: each entry has its place, the SHA-256 of the entry before it, and its own. docs/operators.md has the form that is
-- hashed. Entries from before this migration stay without: the chain begins with the first entry after it.
ALTER TABLE audit ADD COLUMN chain_position bigint, ADD COLUMN previous_sha256 bytea, ADD COLUMN sha256 bytea;
CREATE UNIQUE INDEX audit_chained ON audit (chain_position) WHERE chain_position > 0;
CREATE INDEX audit_to_chain ON audit (id) WHERE chain_position = 0;

-- head: the last entry. anchor: the last one that retention deleted. before: up to which id entries are older than the chain.
CREATE TABLE audit_chain (
  name     text PRIMARY KEY,
  position bigint NOT NULL,
  sha256   bytea NOT NULL
);
INSERT INTO audit_chain VALUES
  ('head', 0, decode(repeat('00', 32), 'hex')),
  ('anchor', 0, decode(repeat('00', 32), 'hex')),
  ('before', (SELECT coalesce(max(id), 0) FROM audit), '');

CREATE FUNCTION audit_sha256(previous bytea, place bigint, entry audit) RETURNS bytea LANGUAGE sql STABLE AS $$
  SELECT sha256(convert_to(string_agg(octet_length(convert_to(part, 'UTF8')) || ':' || part || ',', '' ORDER BY nr), 'UTF8'))
  FROM unnest(ARRAY[
    encode(previous, 'hex'), place::text, entry.id::text, to_char(entry.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    entry.actor, entry.address, entry.action, entry.subject, entry.detail::text
  ]) WITH ORDINALITY AS parts (part, nr)
$$;

-- Runs at the commit, so that the lock on the head is held for no more than that, and always after the one on the counter of revisions. A program marks
-- what it inserts by the position 0. The version before does not: it is known by its name, so that a rolling upgrade leaves no gap.
CREATE FUNCTION chain_audit() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  head audit_chain;
  entry audit;
  digest bytea;
BEGIN
  IF NEW.chain_position IS NULL AND current_setting('application_name') <> 'gateway-control-plane' THEN RETURN NULL; END IF;
  -- The first call of a transaction chains all of its entries.
  PERFORM FROM audit WHERE id = NEW.id AND previous_sha256 IS NULL;
  IF NOT FOUND THEN RETURN NULL; END IF;
  SELECT * INTO STRICT head FROM audit_chain WHERE name = 'head' FOR UPDATE;
  FOR entry IN SELECT * FROM audit WHERE chain_position = 0 OR id = NEW.id ORDER BY id LOOP
    head.position := head.position + 1;
    digest := audit_sha256(head.sha256, head.position, entry);
    UPDATE audit SET chain_position = head.position, previous_sha256 = head.sha256, sha256 = digest WHERE id = entry.id;
    head.sha256 := digest;
  END LOOP;
  UPDATE audit_chain SET position = head.position, sha256 = head.sha256 WHERE name = 'head';
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER audit_chained AFTER INSERT ON audit DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION chain_audit();
