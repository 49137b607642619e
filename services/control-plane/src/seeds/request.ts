import type { Bounds } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import { MAX_SEEDED_TILES, type SeedBody } from '@gateway/contracts/seed.js'
import { insertAudit } from '@gateway/store/audit.js'
import { isOffered, readBasemap } from '@gateway/store/basemaps.js'
import type { Transaction } from '@gateway/store/connect.js'
import { insertSeed, MAX_OPEN_SEEDS, type StoredSeed } from '@gateway/store/seeds.js'
import { sharedBounds } from '@gateway/tilesets/export/area.js'
import type { ControlContext } from '../platform/context.js'
import type { AdminIdentity } from '../platform/http/app-type.js'
import { traceToKeep } from '../platform/trace.js'
import { countPlaces } from './places.js'

/** Queues a seed. Unknown resources return 404, and existing ones that cannot be seeded return 400. */
export async function requestSeed(
  { settings }: Pick<ControlContext, 'settings'>,
  tx: Transaction,
  body: SeedBody,
  admin: AdminIdentity,
): Promise<{ readonly ok: true; readonly seed: StoredSeed } | Refusal> {
  const not = (why: CodedMessage) => refuse('invalid_parameters', why)
  const basemap = await readBasemap(tx, body.basemap_code)
  if (basemap === null) return refuse('not_found', coded('basemap_not_found_for_this'))
  const version = basemap.versions.find((one) => one.version === body.version)
  if (version === undefined) return refuse('not_found', coded('version_not_of_the_basemap'))
  if (version.storage !== 'upstream')
    return not(coded('not_of_service', { name: basemap.code, version: version.version }))
  if (!version.available) return not(coded('version_unavailable'))
  if (version.review) return not(coded('version_held'))
  if (version.withdrawn || !isOffered(basemap)) return not(coded('version_withdrawn'))
  if (settings.tileCacheBytes === 0) return not(coded('seed_no_cache'))
  const minZoom = Math.max(body.min_zoom, version.minZoom)
  const maxZoom = Math.min(body.max_zoom, version.maxZoom)
  if (minZoom > maxZoom) return not(coded('seed_zooms', { min_zoom: version.minZoom, max_zoom: version.maxZoom }))
  const bounds = sharedBounds(body.bounds, version.bounds) as Bounds
  const total = countPlaces({ grid: version, bounds, minZoom, maxZoom })
  if (total === 0) return not(coded('seed_outside'))
  if (total > MAX_SEEDED_TILES) return not(coded('seed_too_many_tiles', { tiles: total, limit: MAX_SEEDED_TILES }))
  const { rate } = body
  const area = { bounds, minZoom, maxZoom, rate, total }
  const requestedBy = admin.actor
  const names = { basemapCode: basemap.code, version: version.version, requestedBy, trace: traceToKeep() }
  const seed = await insertSeed(tx, { ...names, ...area })
  if (seed === null) return refuse('too_many_requests', coded('seeds_full', { limit: MAX_OPEN_SEEDS }))
  const detail = { name: basemap.name, basemap: basemap.code, version: version.version, tiles: total, rate }
  await insertAudit(tx, { ...admin, action: 'seed.create', subject: seed.id, detail })
  return { ok: true, seed }
}
