-- compatible: yes
-- Jobs that fetch tiles of a service before they are asked for. done and failed count the tiles of the job that have ended, in the order in which they
-- are fetched, so their sum is the place where the next runner continues. A process of the version before does not run them.
CREATE TABLE seeds (
  id           uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  submission   bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  kind         text NOT NULL DEFAULT 'seed',
  status       text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'running', 'succeeded', 'failed')),
  basemap_code text NOT NULL,
  version      text NOT NULL,
  bounds       float8[] NOT NULL,
  min_zoom     integer NOT NULL,
  max_zoom     integer NOT NULL,
  rate         integer NOT NULL,
  total        bigint NOT NULL,
  done         bigint NOT NULL DEFAULT 0,
  failed       bigint NOT NULL DEFAULT 0,
  -- the first tiles that failed
  failures     jsonb NOT NULL DEFAULT '[]',
  cancelled    boolean NOT NULL DEFAULT false,
  -- who cancelled it; null: nobody
  cancel_coded jsonb,
  requested_by text NOT NULL
) INHERITS (jobs);
CREATE INDEX seeds_by_status ON seeds (status, submission);
