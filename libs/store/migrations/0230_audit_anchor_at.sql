-- compatible: yes
-- When the entry at the anchor was made: an anchor that is younger than the retention allows was moved by somebody else. What earlier versions have
-- deleted was older than the retention, so the anchor gets its end.
ALTER TABLE audit_chain ADD COLUMN at timestamptz;
UPDATE audit_chain SET at = now() - interval '400 days' WHERE name = 'anchor' AND position > 0;
