import { setTimeout as sleep } from 'node:timers/promises'
import { type CodedMessage, coded, textOf } from '@gateway/contracts/messages.js'
import { MAX_NAMED_FAILURES } from '@gateway/contracts/seed.js'
import { FairLanes } from '@gateway/core/lanes/fair-lanes.js'
import { readBasemap } from '@gateway/store/basemaps.js'
import { returnJob } from '@gateway/store/jobs.js'
import { type ClaimedSeed, finishSeed, noteSeeded, type SeedEnd } from '@gateway/store/seeds.js'
import { TileNotMade } from '@gateway/tilesets/kept/tile-not-made.js'
import type { Source, TilePlace } from '@gateway/tilesets/source.js'
import type { UpstreamSpec } from '@gateway/tilesets/upstream/upstream-sources.js'
import { recordEnd } from '../jobs/leases.js'
import type { RunningJob } from '../jobs/running-job.js'
import type { ControlContext } from '../platform/context.js'
import { openServices } from '../platform/open-services.js'
import { keptTrace, traced } from '../platform/trace.js'
import { BatchFetcher, type Fetched, MAX_FAILED_IN_ROW } from './fetch-batch.js'
import { placesFrom } from './places.js'

/** Interval of storing how far a seed is, and of looking whether its version is still offered. */
const NOTE_EVERY_MS = 1000
/** Tiles between two looks at the state of the job; a crash looks at so many again. */
const BATCH_TILES = 32

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
    if (!signal.aborted) throw error
    end = signal.reason as SeedEnd
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
  if ('code' in version) return { failed: version }
  const { services, cache } = openServices(ctx, { pace: pacer(seed.rate, signal) })
  // An old tile is no success of a seed.
  const upstream = { ...version.upstream, staleDays: 0 }
  const source = services.open({ ...version, upstream, id: 0, root: '', isRemote: true })
  const stop = () => source.close()
  signal.addEventListener('abort', stop)
  let { done, failed, failures } = seed
  let notedAtMs = performance.now()
  const note = async (said: CodedMessage | null = null) => {
    await noteSeeded(sql, lease, { done, failed, failures }, said)
    running.progress = { progress: (100 * (done + failed)) / seed.total, phase: 'fetching' }
    notedAtMs = performance.now()
    const now = await readVersion(ctx, seed)
    if ('code' in now) running.abort({ failed: now })
  }
  const batches = new BatchFetcher({
    lanes: lanesOf(upstream, seed.rate),
    fetch: (place) => fetchTile(source, place, signal),
    async pause(seconds, words) {
      await note(coded('seed_paused', { words }))
      signal.throwIfAborted()
      await sleep(seconds * 1000, undefined, { signal })
    },
  })
  const places = placesFrom({ ...seed, grid: version }, done + failed)
  try {
    for (let some = take(places); some.length > 0; some = take(places)) {
      const { kept, failed: given, down } = await batches.run(some)
      // The next runner continues behind these tiles, so they must be on the disk.
      await source.written()
      signal.throwIfAborted()
      if (cache.counts.failing === 1) return { failed: coded('seed_disk') }
      done += kept
      failed += given.length
      const named = given.map(({ place: { z, x, y }, words }) => ({ z, x, y, message: words }))
      failures = [...failures, ...named].slice(0, MAX_NAMED_FAILURES)
      if (down !== null) return { failed: coded('seed_service_fails', { tiles: MAX_FAILED_IN_ROW, words: down }) }
      if (performance.now() - notedAtMs > NOTE_EVERY_MS) await note()
    }
    return 'succeeded'
  } finally {
    signal.removeEventListener('abort', stop)
    source.close()
    await services.close()
    cache.close()
    // A store that is out of reach makes the next runner look at some tiles again.
    await note().catch(() => {})
  }
}

/**
 * Returns the number of tiles that are fetched at once. A caller has a share of the lanes of a service, and requests that wait for a lane would
 * fail. A request that waits for its turn keeps others from its tile, so at the rate it waits for a second at most.
 */
function lanesOf({ maxConcurrent, request, metaTiles }: UpstreamSpec['upstream'], rate: number): number {
  const requests = Math.min(FairLanes.shareOf(maxConcurrent), rate)
  return request.kind === 'tiles' ? requests : requests * metaTiles
}

function take(places: Iterator<TilePlace>): TilePlace[] {
  const some: TilePlace[] = []
  while (some.length < BATCH_TILES) {
    const next = places.next()
    if (next.done) break
    some.push(next.value)
  }
  return some
}

/** Returns the version of a seed, or why it cannot be fetched any more. */
async function readVersion({ sql }: ControlContext, seed: ClaimedSeed['seed']) {
  const basemap = await readBasemap(sql, seed.basemapCode)
  const version = basemap?.versions.find((one) => one.version === seed.version)
  if (!basemap || !version?.available || !version.upstream) return coded('delivery_version_unavailable')
  if (!basemap.sourceEnabled) return coded('seed_source_disabled')
  if (basemap.withdrawn || version.withdrawn) return coded('delivery_version_withdrawn')
  const { upstream, tileMatrices = null } = version
  return { ...version, upstream, tileMatrices } satisfies Omit<UpstreamSpec, 'id' | 'root' | 'isRemote'>
}

/** Rejects if the signal aborts. */
async function fetchTile(source: Source, place: TilePlace, signal: AbortSignal): Promise<Fetched> {
  try {
    signal.throwIfAborted()
    const tile = await source.tile(place, { caller: 'seed', isWanted: () => !signal.aborted })
    if (tile instanceof Object && !(tile.body instanceof Uint8Array)) tile.body.release()
    return { kind: 'kept' }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof TileNotMade)) throw error
    const { message: words, wasTried, retryAfterSeconds: afterSeconds } = error
    return !wasTried ? { kind: 'refused', words, afterSeconds } : { kind: 'failed', words }
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
