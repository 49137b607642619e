#!/bin/sh
set -eu
# The same interface as the official image.
if [ -z "${POSTGRES_PASSWORD_FILE:-}" ]; then
  POSTGRES_PASSWORD_FILE=$(mktemp)
  printf %s "$POSTGRES_PASSWORD" > "$POSTGRES_PASSWORD_FILE"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb -D "$PGDATA" -U "$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" --auth-host=scram-sha-256 --auth-local=trust > /dev/null
  echo 'host all all all scram-sha-256' >> "$PGDATA/pg_hba.conf"
  pg_ctl -D "$PGDATA" -o '-c listen_addresses=' -w start > /dev/null
  [ "$POSTGRES_DB" = postgres ] || createdb -U "$POSTGRES_USER" "$POSTGRES_DB"
  pg_ctl -D "$PGDATA" -m fast -w stop > /dev/null
fi
exec "$@" -c listen_addresses='*'
