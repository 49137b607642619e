-- compatible: yes
-- A switch may reach a share of the tokens first: percent and minutes are null where it does not. status 'canary': it does so now, since started_at. Of
-- the two versions it has what edges answered meanwhile. A control plane of the version before this one would switch for all at once: plan such
-- switches when every process is of this version.
ALTER TABLE default_switches DROP CONSTRAINT default_switches_status_check;
ALTER TABLE default_switches
  ADD CHECK (status IN ('pending', 'canary', 'done', 'failed', 'cancelled', 'rolled_back')),
  ADD COLUMN percent        smallint CHECK (percent BETWEEN 1 AND 99),
  ADD COLUMN minutes        double precision CHECK (minutes > 0),
  ADD COLUMN started_at     timestamptz,
  ADD COLUMN ended_at       timestamptz,
  ADD COLUMN before_version text,
  ADD COLUMN before_requests bigint NOT NULL DEFAULT 0,
  ADD COLUMN before_missing  bigint NOT NULL DEFAULT 0,
  ADD COLUMN before_failed   bigint NOT NULL DEFAULT 0,
  ADD COLUMN after_requests  bigint NOT NULL DEFAULT 0,
  ADD COLUMN after_missing   bigint NOT NULL DEFAULT 0,
  ADD COLUMN after_failed    bigint NOT NULL DEFAULT 0,
  ADD CHECK ((percent IS NULL) = (minutes IS NULL)),
  ADD CHECK (status <> 'canary' OR num_nonnulls(percent, started_at, before_version) = 3);
-- A basemap has one switch at most that has not ended.
DROP INDEX default_switches_pending;
CREATE UNIQUE INDEX default_switches_pending ON default_switches (basemap_code) WHERE status IN ('pending', 'canary');
CREATE INDEX default_switches_canary ON default_switches (basemap_code) WHERE status = 'canary';
CREATE INDEX default_switches_ended ON default_switches (basemap_code, created_at);

-- Which version was the default when. until null: it is now. version null: there was none.
CREATE TABLE basemap_defaults (
  basemap_code text NOT NULL REFERENCES basemaps (code) ON DELETE CASCADE,
  version      text,
  since        timestamptz NOT NULL,
  until        timestamptz,
  PRIMARY KEY (basemap_code, since)
);
CREATE INDEX basemap_defaults_versions ON basemap_defaults (basemap_code, version);
CREATE UNIQUE INDEX basemap_defaults_now ON basemap_defaults (basemap_code) WHERE until IS NULL;
