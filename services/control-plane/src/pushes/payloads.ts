import { toBasemap } from '@gateway/catalog/basemap.js'
import { toVector } from '@gateway/catalog/vector.js'
import { isOffered, readBasemap, type StoredBasemap, type StoredVersion } from '@gateway/store/basemaps.js'
import { readVector } from '@gateway/store/vectors.js'
import { tileUrlTemplate } from '@gateway/tilesets/tilejson.js'
import type { PayloadBuilder } from '../deliveries/payload.js'
import { vectorBundle, versionBundle } from './bundles.js'
import { toPushRecord, toVectorPushRecord } from './record.js'

/** A version as the catalog has it now, which may differ from what it had when the push was created. */
export const basemapPayload: PayloadBuilder = async ({ sql, now }, claimed) => {
  const basemap = await readBasemap(sql, claimed.basemapCode ?? '')
  const version = basemap?.versions.find((one) => one.version === claimed.version)
  if (!basemap || !version?.available) return { ok: false, reason: 'the version is not available' }
  if (version.withdrawn || !isOffered(basemap)) return { ok: false, reason: 'the version is withdrawn' }
  const at = new Date(now())
  const event = {
    event: 'basemap.version.pushed',
    record: toPushRecord({ ...claimed, dueAt: null, updatedAt: at, acknowledgedAt: null }),
    basemap: describePushed(basemap, version),
    delivered: at.toISOString(),
  }
  return { ok: true, event, bundle: versionBundle(basemap.code, basemap.sourcePath, version) }
}

export const vectorPayload: PayloadBuilder = async ({ sql, settings, now }, claimed) => {
  const vector = await readVector(sql, claimed.vectorCode ?? '')
  if (!vector?.available) return { ok: false, reason: 'the vector is not available' }
  if (!isOffered(vector)) return { ok: false, reason: 'the vector is withdrawn' }
  const at = new Date(now())
  const event = {
    event: 'vector.pushed',
    record: toVectorPushRecord({ ...claimed, dueAt: null, updatedAt: at, acknowledgedAt: null }),
    vector: toVector(vector, settings.vectorPublicBaseUrl),
    delivered: at.toISOString(),
  }
  return { ok: true, event, bundle: vectorBundle(vector) }
}

/** The catalog's description with the TileJSON address of the current version, and the addresses of the version that was pushed. */
function describePushed(stored: StoredBasemap, { version, format }: StoredVersion) {
  const basemap = toBasemap(stored)
  const { code, tileBaseUrl } = stored
  const base = `${tileBaseUrl}/tiles/${encodeURIComponent(code)}`
  return {
    ...basemap,
    tilejson_url: `${base}/tilejson.json`,
    pushed_version: {
      ...basemap.versions.find((one) => one.version === version),
      url_template: tileUrlTemplate(tileBaseUrl, code, version, format),
      tilejson_url: `${base}/${encodeURIComponent(version)}/tilejson.json`,
    },
  }
}
