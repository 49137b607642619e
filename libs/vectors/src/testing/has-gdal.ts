import { spawnSync } from 'node:child_process'

/** False on a machine without GDAL, as `npm test -- --without-gdal` makes one: tests that need its programs are skipped there. */
export const HAS_GDAL = spawnSync('ogr2ogr', ['--version']).status === 0
