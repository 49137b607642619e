-- compatible: yes
-- Switches of a default version at a time. A basemap has one that is pending at most.
CREATE TABLE default_switches (
  id           uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  basemap_code text NOT NULL REFERENCES basemaps (code) ON DELETE CASCADE,
  version      text NOT NULL,
  at           timestamptz NOT NULL,
  -- who asked for it, for the audit entry of the switch
  actor        text NOT NULL,
  address      text NOT NULL,
  status       text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'done', 'failed', 'cancelled')),
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE UNIQUE INDEX default_switches_pending ON default_switches (basemap_code) WHERE status = 'pending';
CREATE INDEX default_switches_due ON default_switches (at) WHERE status = 'pending';
