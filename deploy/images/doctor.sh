#!/bin/sh
# Says in one line each what is right and what is wrong with this container's settings, store, bus, volumes and the rest.
exec node /app/services/tools/dist/doctor/main.js "$@"
