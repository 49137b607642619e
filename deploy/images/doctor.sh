#!/bin/sh
# Prints one line for each check of this container's settings, store, bus, volumes and other dependencies.
exec node /app/services/tools/dist/doctor/main.js "$@"
