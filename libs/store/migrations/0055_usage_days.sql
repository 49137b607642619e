-- compatible: yes
-- Up to which moment hours of usage have become days. The version before reads and prunes days as it does hours.
CREATE TABLE usage_rolled_up (
  until timestamptz NOT NULL
);
