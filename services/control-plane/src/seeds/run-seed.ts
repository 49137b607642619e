import { setTimeout as sleep } from 'node:timers/promises'
import { coded, textOf } from '@gateway/contracts/messages.js'
import { isOffered, readBasemap } from '@gateway/store/basemaps.js'
import { returnJob } from '@gateway/store/jobs.js'
import { type ClaimedSeed, finishSeed, noteSeeded, type SeedEnd } from '@gateway/store/seeds.js'
import { TileNotMade } from '@gateway/tilesets/kept/tile-not-made.js'
import type { Source, TilePlace } from '@gateway/tilesets/source.js'
import type { UpstreamSpec } from '@gateway/tilesets/upstream/upstream-sources.js'
import { recordEnd } from '../jobs/leases.js'
import type { RunningJob } from '../jobs/running-job.js'
import type { ControlContext } from '../platform/context.js'
import { keptTrace, traced } from '../platform/trace.js'
import { openServices } from './open-services.js'
import { placesFrom } from './places.js'

/** Interval of storing how far a seed is, and of looking whether its version is still offered. A crash repeats as much. */
const NOTE_EVERY_MS = 1000
/** Number of tiles that fail one after the other, after which the service is taken to be down. */
const MAX_FAILED_IN_ROW = 50
/** Attempts for a tile while the service is not asked, because it has failed or is full. Each waits as long as the service's limits say. */
const MAX_ATTEMPTS = 3

/** Runs a claimed seed and records its outcome. If the lease is lost or this process stops, nothing is recorded, and the next runner continues. */
export async function runSeed(ctx: ControlContext, claimed: ClaimedSeed, running: RunningJob<SeedEnd>): Promise<void> {
  const { id, trace, basemapCode } = claimed.seed
  const { parent, fields } = keptTrace(trace)
  const attributes = { 'gateway.seed': id, 'gateway.basemap': basemapCode }
  const span = { kind: 'consumer', parent, attributes, fields: { ...fields, seed: id } } as const
  const failure = (end: SeedEnd | null) => (end instanceof Object ? textOf(end.failed) : null)
  await traced(ctx, 'seed', span, () => runInTrace(ctx, claimed, running), failure)
}

/** Returns the outcome; null: the next runner has it. */
async function runInTrace(
  ctx: ControlContext,
  { seed, lease }: ClaimedSeed,
  running: RunningJob<SeedEnd>,
): Promise<SeedEnd | null> {
  const { sql, log } = ctx
  const { held, signal } = running
  const fields = { basemap: seed.basemapCode, tiles: seed.total }
  log.info(fields, 'a seed runs')
  let end: SeedEnd
  try {
    end = await fetchAll(ctx, { seed, lease }, running)
  } catch (error) {
    if (held.aborted) {
      if (held.reason === 'stopped') await returnJob(sql, lease)
      return null
    }
    if (signal.reason !== 'cancelled') throw error
    end = 'cancelled'
  }
  await recordEnd(log, held, () => sql.begin((tx) => finishSeed(tx, lease, end)))
  log.info({ ...fields, end: end instanceof Object ? textOf(end.failed) : end }, 'a seed has ended')
  return end
}

async function fetchAll(
  ctx: ControlContext,
  { seed, lease }: ClaimedSeed,
  running: RunningJob<SeedEnd>,
): Promise<SeedEnd> {
  const { sql } = ctx
  const { signal } = running
  const version = await readVersion(ctx, seed)
  if (version === null) return { failed: coded('delivery_version_unavailable') }
  const { services, cache } = openServices(ctx, pacer(seed.rate, signal))
  const source = services.open({ ...version, id: 0, root: '', isRemote: true })
  const stop = () => source.close()
  signal.addEventListener('abort', stop)
  let { done, failed } = seed
  let failedInRow = 0
  let notedAtMs = performance.now()
  const note = async () => {
    await noteSeeded(sql, lease, { done, failed })
    running.progress = { progress: (100 * (done + failed)) / seed.total, phase: 'fetching' }
    notedAtMs = performance.now()
  }
  const places = placesFrom({ ...seed, grid: version }, done + failed)
  // Tiles end in their order, so that a sum tells which have ended.
  const fetching: Promise<boolean>[] = []
  // A request that waits for its turn keeps others from its tile; so few do, and for a second at most.
  const lanes = Math.min(version.upstream.maxConcurrent, seed.rate)
  const next = () => {
    const place = places.next()
    if (!place.done) fetching.push(fetchTile(source, place.value, signal))
  }
  try {
    for (let i = 0; i < lanes; i++) next()
    for (let first = fetching.shift(); first !== undefined; first = fetching.shift()) {
      const isKept = await first
      signal.throwIfAborted()
      if (isKept) done++
      else failed++
      failedInRow = isKept ? 0 : failedInRow + 1
      if (cache.counts.failing === 1) return { failed: coded('seed_disk') }
      if (failedInRow === MAX_FAILED_IN_ROW) {
        const words = services.states.get(version.upstream.source)?.message ?? ''
        return { failed: coded('seed_service_fails', { tiles: failedInRow, words }) }
      }
      if (performance.now() - notedAtMs > NOTE_EVERY_MS) {
        await note()
        if ((await readVersion(ctx, seed)) === null) return { failed: coded('delivery_version_withdrawn') }
      }
      next()
    }
    return 'succeeded'
  } finally {
    signal.removeEventListener('abort', stop)
    source.close()
    await Promise.allSettled(fetching)
    await services.close()
    cache.close()
    // A store that is out of reach makes the next runner repeat some tiles.
    await note().catch(() => {})
  }
}

/** Returns the version of a seed; null if it is not offered any more, or is of no service. */
async function readVersion({ sql }: ControlContext, seed: ClaimedSeed['seed']) {
  const basemap = await readBasemap(sql, seed.basemapCode)
  const version = basemap?.versions.find((one) => one.version === seed.version)
  if (!basemap || !isOffered(basemap) || !version?.available || version.withdrawn || !version.upstream) return null
  const { upstream, tileMatrices = null } = version
  return { ...version, upstream, tileMatrices } satisfies Omit<UpstreamSpec, 'id' | 'root' | 'isRemote'>
}

/** Returns false if a tile could not be fetched. Rejects if the signal aborts. */
async function fetchTile(source: Source, place: TilePlace, signal: AbortSignal): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      const tile = await source.tile(place, { caller: 'seed', isWanted: () => !signal.aborted })
      if (tile === null || tile === 'busy') return tile === null
      if (!(tile.body instanceof Uint8Array)) tile.body.release()
      return tile.isStale !== true
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof TileNotMade)) throw error
      if (error.status !== 503 || attempt === MAX_ATTEMPTS) return false
      await sleep(error.retryAfterSeconds * 1000, undefined, { signal })
    }
  }
}

/** Returns a function whose promises resolve at most so many times a second, evenly. They reject if the signal aborts. */
function pacer(rate: number, signal: AbortSignal): () => Promise<void> {
  let nextMs = performance.now()
  return async () => {
    const now = performance.now()
    const atMs = Math.max(now, nextMs)
    nextMs = atMs + 1000 / rate
    if (atMs > now) await sleep(atMs - now, undefined, { signal })
  }
}
