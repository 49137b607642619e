import { coded } from '@gateway/contracts/messages.js'
import type { PushRecord, VectorPushRecord } from '@gateway/contracts/push.js'
import { isRemote } from '@gateway/core/object-storage/location.js'
import { isOffered, readBasemap, type StoredBasemap, type StoredVersion } from '@gateway/store/basemaps.js'
import { toBasemap } from '@gateway/store/catalog/basemap.js'
import { toVector } from '@gateway/store/catalog/vector.js'
import { currentState } from '@gateway/store/change-log.js'
import type { Sql } from '@gateway/store/connect.js'
import { listDeliveries } from '@gateway/store/deliveries.js'
import { bytesOfExports, readExport, type StoredExport } from '@gateway/store/exports.js'
import { readVector } from '@gateway/store/vectors.js'
import { cacheTagHeaders, cacheTags } from '@gateway/tilesets/cache-tags.js'
import { tileUrlTemplate } from '@gateway/tilesets/tilejson.js'
import type { PayloadBuilder } from '../deliveries/payload.js'
import { edgesFollow } from '../platform/edges/commit.js'
import { exportDirectory } from '../platform/files/export-files.js'
import { exportBundle, vectorBundle, versionBundle } from './bundles.js'
import { purgedTiles } from './purged-tiles.js'
import { toPurgeRecord, toPushRecord, toVectorPushRecord } from './record.js'

const GONE = { ok: false, reason: coded('delivery_export_removed') } as const

const SCATTERED = { ok: false, reason: coded('delivery_tiles_scattered') } as const

/** Describes a version by its current catalog entry, which may differ from that at the creation of the push. */
export const basemapPayload: PayloadBuilder = async ({ sql, settings, now }, claimed) => {
  const basemap = await readBasemap(sql, claimed.basemapCode ?? '')
  const version = basemap?.versions.find((one) => one.version === claimed.version)
  if (!basemap || !version?.available) return { ok: false, reason: coded('delivery_version_unavailable') }
  if (version.withdrawn || !isOffered(basemap)) return { ok: false, reason: coded('delivery_version_withdrawn') }
  if (claimed.exportId === null && version.storage === 'upstream')
    return { ok: false, reason: coded('delivery_of_service') }
  if (
    claimed.exportId === null &&
    isRemote(version.path) &&
    version.storage !== 'pmtiles' &&
    version.storage !== 'mbtiles'
  )
    return SCATTERED
  const at = new Date(now())
  const exported = claimed.exportId === null ? undefined : await readExport(sql, claimed.exportId)
  if (exported === null) return GONE
  const event = {
    event: 'basemap.version.pushed',
    record: toPushRecord({ ...claimed, export: partOf(exported), dueAt: null, updatedAt: at, acknowledgedAt: null }),
    basemap: describePushed(basemap, version),
    ...(exported !== undefined && {
      export: { id: exported.id, ...partOf(exported), tiles: exported.tiles, bytes: exported.bytes },
    }),
    delivered: at.toISOString(),
  }
  const room = settings.exportMaxBytes - (await bytesOfExports(sql))
  const bundle =
    exported === undefined
      ? versionBundle(basemap, version, settings, room)
      : exportBundle(exported, exportDirectory(settings.dataDir))
  return { ok: true, event, bundle }
}

export const vectorPayload: PayloadBuilder = async ({ sql, settings, now }, claimed) => {
  const vector = await readVector(sql, claimed.vectorCode ?? '')
  if (!vector?.available) return { ok: false, reason: coded('delivery_vector_unavailable') }
  if (!isOffered(vector)) return { ok: false, reason: coded('delivery_vector_withdrawn') }
  const at = new Date(now())
  const event = {
    event: 'vector.pushed',
    record: toVectorPushRecord({ ...claimed, export: null, dueAt: null, updatedAt: at, acknowledgedAt: null }),
    vector: toVector(vector, settings.vectorPublicBaseUrl),
    delivered: at.toISOString(),
  }
  return {
    ok: true,
    event,
    bundle: vectorBundle(vector, settings, settings.exportMaxBytes - (await bytesOfExports(sql))),
  }
}

/** Returns the part of the version in the archive. */
function partOf(exported: StoredExport | undefined): PushRecord['export'] {
  if (exported === undefined) return null
  const { bounds, zoomMin, zoomMax } = exported
  return { bounds, zoom_min: zoomMin, zoom_max: zoomMax }
}

/** Returns the catalog's description with the TileJSON URL of the current version, and the URLs of the pushed version. */
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

/**
 * Builds the message that purges a cache in front. Waits until the edges serve the new content: a cache that requests at once would otherwise
 * store the old content again. If the default has changed and few enough tiles differ, the message names them.
 */
export const purgePayload: PayloadBuilder = async (ctx, claimed) => {
  await edgesFollow(ctx, await currentState(ctx.sql))
  const changed = await purgedTiles(ctx, claimed)
  const at = new Date(ctx.now())
  const tags = cacheTags(claimed.basemapCode ?? '', claimed.version)
  const event = {
    event: 'cache.purge',
    tags,
    ...changed,
    record: toPurgeRecord({ ...claimed, dueAt: null, export: null, updatedAt: at, acknowledgedAt: null }),
    delivered: at.toISOString(),
  }
  return { ok: true, event, bundle: null, headers: Object.fromEntries(cacheTagHeaders(tags)) }
}

const RECENT = { limit: 20, before: null }

/** Returns the pushes section of the dashboard. */
export async function recentPushes(
  sql: Sql,
): Promise<{ basemap_records: PushRecord[]; vector_records: VectorPushRecord[] }> {
  const [basemaps, vectors] = await Promise.all([
    listDeliveries(sql, 'basemap_push', RECENT),
    listDeliveries(sql, 'vector_push', RECENT),
  ])
  return { basemap_records: basemaps.items.map(toPushRecord), vector_records: vectors.items.map(toVectorPushRecord) }
}

/** Builds the payload of an event as it was when it happened. */
export const eventPayload: PayloadBuilder = async ({ now }, { body }) => ({
  ok: true,
  event: { ...body, delivered: new Date(now()).toISOString() },
  bundle: null,
})
