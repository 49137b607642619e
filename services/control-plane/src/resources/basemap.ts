import type { AdminBasemap, Basemap, BasemapVersion } from '@gateway/contracts/basemap.js'
import type { StoredBasemap, StoredVersion } from '@gateway/store/basemaps.js'
import { currentTileUrlTemplate } from '@gateway/tiles/tilejson.js'

/** The basemap as the catalog answers it. */
export function toBasemap(stored: StoredBasemap): Basemap {
  return { ...head(stored), versions: stored.versions.map(toVersion) }
}

/** The basemap as administrators see it: with the place of each version on disk. */
export function toAdminBasemap(stored: StoredBasemap): AdminBasemap {
  return { ...head(stored), versions: stored.versions.map((v) => ({ ...toVersion(v), path: v.path })) }
}

function head(stored: StoredBasemap): Omit<Basemap, 'versions'> {
  return {
    code: stored.code,
    name: stored.name,
    default_version: stored.defaultVersion,
    url_template: currentTileUrlTemplate(stored.tileBaseUrl, stored.code, extensionOfCurrent(stored)),
    source_code: stored.sourceCode,
    created_at: stored.createdAt.toISOString(),
    updated_at: stored.updatedAt.toISOString(),
  }
}

/** The template names the format that `current` has; where nothing is available now, the newest version's, so that it stays the same. */
function extensionOfCurrent(stored: StoredBasemap): string {
  const current = stored.versions.find((v) => v.version === stored.defaultVersion) ?? stored.versions.at(-1)
  return current?.format ?? 'png'
}

function toVersion(stored: StoredVersion): BasemapVersion {
  return {
    version: stored.version,
    storage: stored.storage,
    format: stored.format,
    tile_size: stored.tileSize,
    min_zoom: stored.minZoom,
    max_zoom: stored.maxZoom,
    bounds: stored.bounds,
    available: stored.available,
    scanned_at: stored.scannedAt.toISOString(),
  }
}
