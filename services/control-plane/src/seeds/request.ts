import fs from 'node:fs/promises'
import path from 'node:path'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { type CodedMessage, coded } from '@gateway/contracts/messages.js'
import { MAX_SEEDED_TILES, type SeedBody, type SeedEstimate } from '@gateway/contracts/seed.js'
import { insertAudit } from '@gateway/store/audit.js'
import { isOffered, readBasemap, type StoredBasemap, type StoredVersion } from '@gateway/store/basemaps.js'
import type { Queryable, Transaction } from '@gateway/store/connect.js'
import { insertSeed, MAX_OPEN_SEEDS, type StoredSeed } from '@gateway/store/seeds.js'
import { sharedBounds } from '@gateway/tilesets/export/area.js'
import { keptFolder, squareTilesOf, type Upstream } from '@gateway/tilesets/upstream/upstream-sources.js'
import type { ControlContext } from '../platform/context.js'
import type { AdminIdentity } from '../platform/http/app-type.js'
import { traceToKeep } from '../platform/trace.js'
import { countPlaces } from './places.js'

interface Judged {
  readonly ok: true
  readonly basemap: StoredBasemap
  readonly version: StoredVersion
  readonly area: Pick<StoredSeed, 'bounds' | 'minZoom' | 'maxZoom' | 'total'>
}

/** Returns what a request would fetch. Unknown resources return 404, and existing ones that cannot be seeded return 400. */
async function judge(
  { settings }: Pick<ControlContext, 'settings'>,
  sql: Queryable,
  body: SeedBody,
): Promise<Judged | Refusal> {
  const not = (why: CodedMessage) => refuse('invalid_parameters', why)
  const basemap = await readBasemap(sql, body.basemap_code)
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
  return { ok: true, basemap, version, area: { bounds, minZoom, maxZoom, total } }
}

/** Estimates a seed, without queueing it. */
export async function estimateSeed(
  ctx: Pick<ControlContext, 'settings' | 'sql'>,
  body: SeedBody,
): Promise<{ readonly ok: true; readonly estimate: SeedEstimate } | Refusal> {
  const judged = await judge(ctx, ctx.sql, body)
  if (!judged.ok) return judged
  const { upstream, tileMatrices = null, ...version } = judged.version
  const tiles = judged.area.total
  const side = squareTilesOf(upstream as Upstream, version.tileSize)
  const requests = Math.ceil(tiles / side ** 2)
  const kept = keptFolder(ctx.settings.tileCacheDir, { ...version, upstream: upstream as Upstream, tileMatrices })
  const bytes = await meanBytes(kept)
  const seconds = Math.ceil(requests / body.rate)
  return { ok: true, estimate: { tiles, requests, bytes_estimate: bytes && Math.round(bytes * tiles), seconds } }
}

/** Limit: kept tiles whose sizes are read. */
const MAX_SAMPLE = 200

/** Returns the mean size of some tiles of a folder; null: it has none. */
async function meanBytes(folder: string): Promise<number | null> {
  let [count, bytes] = [0, 0]
  const entries = await fs.opendir(folder, { recursive: true }).catch(() => [])
  for await (const { name, parentPath } of entries) {
    const found = name.startsWith('.') ? null : await fs.stat(path.join(parentPath, name)).catch(() => null)
    // Files without bytes are those of missing tiles.
    if (!found?.isFile() || found.size === 0) continue
    bytes += found.size
    if (++count === MAX_SAMPLE) break
  }
  return count === 0 ? null : bytes / count
}

/** Queues a seed. See `judge` for the refusals. */
export async function requestSeed(
  ctx: Pick<ControlContext, 'settings'>,
  tx: Transaction,
  body: SeedBody,
  admin: AdminIdentity,
): Promise<{ readonly ok: true; readonly seed: StoredSeed } | Refusal> {
  const judged = await judge(ctx, tx, body)
  if (!judged.ok) return judged
  const { basemap, version } = judged
  const { rate } = body
  const area = { ...judged.area, rate }
  const requestedBy = admin.actor
  const names = { basemapCode: basemap.code, version: version.version, requestedBy, trace: traceToKeep() }
  const seed = await insertSeed(tx, { ...names, ...area })
  if (seed === null) return refuse('too_many_requests', coded('seeds_full', { limit: MAX_OPEN_SEEDS }))
  const detail = { name: basemap.name, basemap: basemap.code, version: version.version, tiles: area.total, rate }
  await insertAudit(tx, { ...admin, action: 'seed.create', subject: seed.id, detail })
  return { ok: true, seed }
}
