#!/bin/sh
# Starts the whole gateway: creates missing secrets, starts compose.yaml and, if the catalog is empty, adds the demo of `npm start`.
# COMPOSE is the command (docker compose), SITE_ADDRESS the URL for browsers (https://localhost:8443).
set -eu
cd "$(dirname "$0")"
COMPOSE=${COMPOSE:-docker compose}

# Only the owner can enter the directory; inside containers another user reads the files.
[ -d secrets ] || mkdir -m 700 secrets
new_secret() { [ -s "secrets/$1" ] || (od -An -N24 -tx1 /dev/urandom | tr -d ' \n' > "secrets/$1"); }
new_secret postgres-password
new_secret admin-password
new_secret admin-token
[ -s secrets/database-url ] ||
  printf 'postgres://gateway:%s@postgres:5432/gateway' "$(cat secrets/postgres-password)" > secrets/database-url
chmod 644 secrets/*
# The user of the containers reads them, whatever the umask is.
(umask 022 && mkdir -p "${MAPS_DIR:-maps}/basemaps" "${MAPS_DIR:-maps}/vectors")

$COMPOSE up -d
# The command waits for the control plane.
$COMPOSE exec -T control-plane node services/tools/dist/launcher/demo-only.js
echo "User admin, password in $(pwd)/secrets/admin-password" >&2
