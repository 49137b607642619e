-- compatible: yes
-- Operators who are signed in. By a digest: whoever reads the table cannot use a session. The version before this one knows no sessions.
CREATE TABLE operator_sessions (
  digest     bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
  name       text NOT NULL,
  actor      text NOT NULL,
  role       text NOT NULL CHECK (role IN ('viewer', 'operator', 'admin')),
  begun_by   text NOT NULL CHECK (begun_by IN ('oidc', 'password')),
  created_at timestamptz NOT NULL DEFAULT now(),
  used_at    timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
CREATE INDEX operator_sessions_by_expiry ON operator_sessions (expires_at);

-- null also for tokens that were used before this was noted, or through an edge of the version before this one.
ALTER TABLE tokens ADD COLUMN first_used_at timestamptz;
