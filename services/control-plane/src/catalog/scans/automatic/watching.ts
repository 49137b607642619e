import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ScanSource, SourceKind } from '@gateway/contracts/scan-source.js'
import type { Sql } from '@gateway/store/connect.js'
import type { ExclusiveJob } from '@gateway/store/jobs.js'
import { noteWatchProblem, queueScan, readWatchedSources } from '@gateway/store/scan-sources.js'
import { geopackagePlace } from '@gateway/tilesets/geopackage/place.js'
import { exclusively } from '../../../jobs/exclusively.js'
import type { BackgroundLoop } from '../../../platform/background.js'
import type { ControlContext } from '../../../platform/context.js'
import { FolderWatch, WATCHED_DEPTH } from './folder-watch.js'
import { SETTLE_MS, Settling } from './settling.js'

/** Level of the columns of tiles, the fourth: `{code}/{version}/{z}/{x}`. */
const COLUMN_LEVEL = 4

/**
 * True if tiles are being written into a version, which is watched only down to its zooms: a column changes with each tile that is made in it. Uses
 * the wall clock, like the times of files.
 */
async function isBeingWritten(root: string, path: string): Promise<boolean> {
  // biome-ignore lint/plugin: calendar
  const now = Date.now()
  return await hasChanged(join(root, path), COLUMN_LEVEL - path.split('/').length, now)
}

/** True if the folder, or one up to `levels` below it, has changed within the settling time. */
async function hasChanged(folder: string, levels: number, now: number): Promise<boolean> {
  const stat = await lstat(folder).catch(() => null)
  if (stat === null) return false
  const age = now - stat.mtimeMs
  // A file server with a fast clock must not delay everything.
  if (age >= 0 && age < SETTLE_MS) return true
  if (levels === 0 || !stat.isDirectory()) return false
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  for (const entry of entries)
    if (entry.isDirectory() && (await hasChanged(join(folder, entry.name), levels - 1, now))) return true
  return false
}

/** One control plane of the cluster watches. */
const WATCH: ExclusiveJob = { kind: 'folder_watch', code: '' }
/** Interval at which the settling of changes is checked. */
const LOOK_EVERY_MS = 250
/** Interval at which sources are read, and at which another control plane tries to take over. */
const READ_EVERY_MS = 2_000
/** Interval of scans of a source that cannot be watched; its watch is then tried again. */
const FALLBACK_MS = 60_000

type Watched = Pick<ScanSource, 'code' | 'kind' | 'path'>

/** One control plane of the cluster watches the local folders of watched sources. Another one takes over when it ends. */
export const watching: BackgroundLoop = {
  name: 'watching of folders',
  async run(ctx) {
    while (!ctx.shutdown.aborted) {
      try {
        if ((await readWatchedSources(ctx.sql)).length > 0) {
          await exclusively(ctx, WATCH, ({ held }) => watchUntil(ctx, held))
        }
      } catch (error) {
        ctx.log.debug({ err: (error as Error).message }, 'folders cannot be watched now')
      }
      await pause(READ_EVERY_MS, ctx.shutdown)
    }
  },
}

/** Watches until no source is to be watched, the lease is lost, or the process ends. */
async function watchUntil(ctx: ControlContext, end: AbortSignal): Promise<void> {
  const sources = new WatchedSources(ctx)
  try {
    for (let readAt = Number.NEGATIVE_INFINITY; !end.aborted; await pause(LOOK_EVERY_MS, end)) {
      if (performance.now() - readAt >= READ_EVERY_MS) {
        const wanted = await readWatchedSources(ctx.sql)
        await sources.follow(wanted)
        if (wanted.length === 0) return
        readAt = performance.now()
      }
      await sources.queueDue()
    }
  } finally {
    sources.close()
  }
}

interface Entry {
  readonly source: Watched
  readonly settling: Settling
  watch: FolderWatch | null
  /** time of the next attempt to watch; null: it is watched */
  retryAt: number | null
}

/** The folders that this process watches. */
export class WatchedSources {
  readonly #ctx: Pick<ControlContext, 'log'> & { readonly sql: Sql }
  readonly #now: () => number
  readonly #entries = new Map<string, Entry>()

  constructor(ctx: Pick<ControlContext, 'log'> & { readonly sql: Sql }, now: () => number = () => performance.now()) {
    this.#ctx = ctx
    this.#now = now
  }

  /** Watches exactly these sources. Changes before the start of a watch are unknown, so a scan of the source is due. */
  async follow(wanted: readonly Watched[]): Promise<void> {
    for (const [code, { source, watch }] of this.#entries) {
      const same = wanted.find((one) => one.code === code && one.path === source.path && one.kind === source.kind)
      if (same !== undefined) continue
      watch?.close()
      this.#entries.delete(code)
    }
    for (const source of wanted) {
      if (this.#entries.has(source.code)) continue
      const entry: Entry = { source, settling: new Settling(), watch: null, retryAt: this.#now() }
      this.#entries.set(source.code, entry)
    }
    for (const entry of this.#entries.values())
      if (entry.retryAt !== null && this.#now() >= entry.retryAt) await this.#begin(entry)
  }

  async queueDue(): Promise<void> {
    for (const { source, settling } of this.#entries.values()) {
      const now = this.#now()
      const settled = settling.due(now)
      if (settled === null) continue
      const looked = settled === 'everything' ? settling.changed : settled
      const finished = await this.#finished(source, settling, looked, now)
      if (finished.length === 0 && looked.length > 0) continue
      // A scan of everything has to wait for tiles that are still being written.
      const due = settled === 'everything' && finished.length === looked.length ? settled : finished
      if (due.length === 0) continue
      settling.taken(due, now)
      await queueScan(this.#ctx.sql, source.code, 'watch', due === 'everything' ? null : due)
    }
  }

  /** Returns the settled paths that are no longer being written below the watched folders. */
  async #finished(source: Watched, settling: Settling, settled: readonly string[], now: number): Promise<string[]> {
    if (source.kind !== 'basemap') return [...settled]
    const finished: string[] = []
    for (const path of settled) {
      if (await isBeingWritten(source.path, path)) settling.noteChange(path, now)
      else finished.push(path)
    }
    return finished
  }

  close(): void {
    for (const { watch } of this.#entries.values()) watch?.close()
    this.#entries.clear()
  }

  async #begin(entry: Entry): Promise<void> {
    const { source, settling } = entry
    let problem: string | null = null
    const onProblem = (text: string) => {
      problem = text
      entry.retryAt = this.#now()
    }
    entry.watch?.close()
    entry.retryAt = null
    const onChange = (changed: string | null) =>
      settling.noteChange(changed === null ? null : settlesAs(source.kind, changed), this.#now())
    entry.watch = new FolderWatch(
      { onChange, onProblem },
      WATCHED_DEPTH[source.kind === 'postgis' || source.kind === 'service' ? 'vector' : source.kind],
    )
    await entry.watch.open(source.path)
    // Set again at the next attempt, whatever happens to the watch.
    await noteWatchProblem(this.#ctx.sql, source.code, problem)
    if (problem === null) return settling.begin()
    entry.retryAt = this.#now() + FALLBACK_MS
    this.#ctx.log.warn({ source: source.code, problem }, 'a folder cannot be watched and is scanned every minute')
    await queueScan(this.#ctx.sql, source.code, 'schedule')
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {})
}

/**
 * Returns the path that settles and is then scanned after a change below a watched folder; null for everything. In a tile tree it is the folder of
 * the version, so that no version is served while its zooms are still being written.
 */
function settlesAs(kind: SourceKind, changed: string): string | null {
  if (kind === 'vector') return changed
  // The styles of a source are few, and share fonts. The tables of a GeoPackage are basemaps, whose codes are known only from its content.
  if (kind === 'style' || geopackagePlace(changed) !== null) return null
  const [code, version] = changed.split('/') as [string, ...string[]]
  // The changed path is a zoom of the only version.
  return version === undefined || /^\d{1,2}$/.test(version) ? code : `${code}/${version}`
}
