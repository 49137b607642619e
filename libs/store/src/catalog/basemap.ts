import type {
  AdminBasemap,
  AdminBasemapVersion,
  Basemap,
  BasemapVersion,
  ScannedValues,
} from '@gateway/contracts/basemap.js'
import { offsetOf, rowOrderOf, scannedOffset } from '@gateway/contracts/version-overrides.js'
import { asScanned, type StoredBasemap, type StoredVersion } from '@gateway/store/basemaps.js'
import { matrixSetOf } from '@gateway/tilesets/tile-matrix-sets.js'
import { currentTileUrlTemplate } from '@gateway/tilesets/tilejson.js'

/** Converts a basemap to the form of the catalog, without withdrawn versions. */
export function toBasemap(stored: StoredBasemap): Basemap {
  return { ...head(stored), versions: stored.versions.filter((version) => !version.withdrawn).map(toVersion) }
}

/** Converts a basemap to the form of the admin API: with the path of each version on disk, and with withdrawn versions. */
export function toAdminBasemap(stored: StoredBasemap): AdminBasemap {
  const { withdrawn, sourceEnabled, cachePolicy, sharedMaxAge, scannedName, description, tags, owner } = stored
  return {
    ...head(stored),
    ...(stored.upstreamState != null && { upstream: stored.upstreamState }),
    versions: stored.versions.map(toAdminVersion),
    withdrawn,
    source_enabled: sourceEnabled,
    cache_policy: cachePolicy,
    s_maxage: sharedMaxAge,
    scanned_name: scannedName,
    description,
    tags: [...tags],
    owner,
  }
}

export function toAdminVersion(stored: StoredVersion): AdminBasemapVersion {
  const { path, withdrawn, review, reviewReason, overrides } = stored
  const held = review === 'held'
  const rejected_reason = reviewReason ?? null
  return { ...toVersion(stored), path, withdrawn, held, rejected_reason, overrides, scanned: scannedValues(stored) }
}

function scannedValues(stored: StoredVersion): ScannedValues {
  const scanned = asScanned(stored)
  return {
    storage: rowOrderOf(scanned),
    tile_matrix_set: scanned.tileMatrixSet,
    format: scanned.format,
    bounds: scanned.bounds,
    min_zoom: scanned.minZoom,
    max_zoom: scanned.maxZoom,
    name: scanned.name,
    attribution: scanned.attribution,
    coordinate_offset: scannedOffset(scanned.metadata),
  }
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

/** The template names the format of `current`. If no version is available, it keeps the format of the newest one. */
function extensionOfCurrent(stored: StoredBasemap): string {
  const current = stored.versions.find((v) => v.version === stored.defaultVersion) ?? stored.versions.at(-1)
  return current?.format ?? 'png'
}

function toVersion(stored: StoredVersion): BasemapVersion {
  return {
    version: stored.version,
    storage: stored.storage,
    format: stored.format,
    ...(stored.formats != null && { formats: [...stored.formats] }),
    tile_size: stored.tileSize,
    min_zoom: stored.minZoom,
    max_zoom: stored.maxZoom,
    bounds: stored.bounds,
    tile_matrix_set: stored.tileMatrixSet,
    crs: matrixSetOf(stored).crs,
    coordinate_offset: offsetOf(stored),
    revision: stored.revision,
    available: stored.available,
    scanned_at: stored.scannedAt.toISOString(),
  }
}
