import { type BigIntStats, fstat } from 'node:fs'
import fs from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { promisify } from 'node:util'
import { isDiskFull } from '@gateway/core/files/disk-space.js'
import { fileIdentity, openBelow } from '@gateway/core/files/open-below.js'
import { temporaryNameBeside } from '@gateway/core/files/write-atomically.js'
import type { Log } from '@gateway/core/logging/log.js'
import { ObjectMissing, ObjectReplaced } from '@gateway/core/object-storage/errors.js'
import type { Piscina } from 'piscina'
import type { DiskGate } from '../files/disk-gate.js'
import type { TextEncoding } from '../sync/catalog.js'
import type { ZipEntry, ZipResult, ZipTask } from './build-zip.js'
import { fetchSidecars, findRemoteSidecars, type RemoteObject } from './remote-sidecars.js'
import { closeAll, openSidecars, type SidecarSet } from './sidecars.js'
import { trimZipFolder } from './zip-cache.js'

/** Time in ms without growth after which a file is considered stalled: its input does not arrive any more. A slow disk delivers bytes sooner. */
const STALLED_MS = 30_000
const LOOK_EVERY_MS = 5_000

/** Waits for work that writes a file, and cancels it by its signal when the file stops growing: `stalled`. Rejects with the error of the work. */
export async function whileGrowing<T>(
  file: string,
  work: (signal: AbortSignal) => Promise<T>,
  stalledMs = STALLED_MS,
  lookEveryMs = LOOK_EVERY_MS,
): Promise<T | 'stalled'> {
  const stalled = new AbortController()
  let [size, grownAt] = [0, performance.now()]
  const timer = setInterval(async () => {
    const now = await fs.stat(file).catch(() => ({ size: 0 }))
    if (now.size !== size) [size, grownAt] = [now.size, performance.now()]
    else if (performance.now() - grownAt >= stalledMs) stalled.abort()
  }, lookEveryMs)
  try {
    return await work(stalled.signal)
  } catch (error) {
    if (stalled.signal.aborted) return 'stalled'
    throw error
  } finally {
    clearInterval(timer)
  }
}

/** The built module, by the package's own name, because a thread cannot run TypeScript, not even in tests. */
const BUILDER = createRequire(import.meta.url).resolve('@gateway/edge/zip/build-zip.js')

/** Limit: bytes of cached zips. Each can be built again from its shapefile. */
const MAX_CACHE_BYTES = 2 * 1024 * 1024 * 1024
/** One zip at a time in each edge process, because packing uses a whole core, and tiles have priority. */
const THREADS = 1
const IDLE_THREAD_MS = 30_000

export type OpenedZip =
  | {
      readonly ok: true
      /** To be closed by the caller. */
      readonly fd: number
      readonly size: number
      readonly identity: string
      readonly modifiedMs: number
    }
  | { readonly ok: false; readonly reason: 'absent' | 'no_space' | 'changing' | 'busy' }

/** `changing`: the files changed while they were read, and the result was discarded. `busy`: their disk does not answer. */
type BuildOutcome = ZipResult | 'changing' | 'busy'

/** Zipped shapefiles: built once for each state of a shapefile, in a separate thread, and cached on disk below a limit. */
export class ZipStore {
  readonly #folder: string
  readonly #log: Log
  readonly #disks: DiskGate
  readonly #building = new Map<string, Promise<BuildOutcome>>()
  #threads: Promise<Piscina<ZipTask, ZipResult>> | null = null

  constructor(folder: string, log: Log, disks: DiskGate) {
    this.#folder = folder
    this.#log = log
    this.#disks = disks
  }

  /**
   * Rejects with the error of the disk, unless it is full.
   * @param encoding of the shapefile's table, if it is known: the zip has a .cpg that contains it, either added or that of the shapefile
   */
  async open(root: string, shapefile: string, encoding: TextEncoding | null): Promise<OpenedZip> {
    const answer = await this.#disks.run(root, {
      read: () => openSidecars(root, shapefile, encoding),
      discard: (late) => closeAll(late?.files ?? []),
    })
    if (!answer.ok) return { ok: false, reason: 'busy' }
    const sidecars = answer.value
    if (sidecars === null) return { ok: false, reason: 'absent' }
    try {
      return await this.#openOrBuild(sidecars, (file) =>
        this.#build(file, sidecars, () => this.#isUnchanged(root, sidecars)),
      )
    } finally {
      closeAll(sidecars.files)
    }
  }

  /**
   * Like `open` for a shapefile in object storage, whose parts are fetched if the zip must be built. Also rejects with the error of the store;
   * returns `changing` if a part is replaced meanwhile.
   */
  async openRemote(object: RemoteObject, encoding: TextEncoding | null): Promise<OpenedZip> {
    const found = await findRemoteSidecars(object, encoding)
    if (found === null) return { ok: false, reason: 'absent' }
    return this.#openOrBuild(found, async (file) => {
      if (found.size > MAX_CACHE_BYTES) return this.#noSpace()
      try {
        await fs.mkdir(this.#folder, { recursive: true })
        const sidecars = await fetchSidecars(object, found, temporaryNameBeside(file))
        return await this.#build(file, sidecars, async () => true).finally(() => closeAll(sidecars.files))
      } catch (error) {
        if (error instanceof ObjectReplaced || error instanceof ObjectMissing) return 'changing'
        if (isDiskFull(error)) return this.#noSpace()
        throw error
      }
    })
  }

  async #openOrBuild(
    { fingerprint, modifiedMs }: Pick<SidecarSet, 'fingerprint' | 'modifiedMs'>,
    build: (file: string) => Promise<BuildOutcome>,
  ): Promise<OpenedZip> {
    const file = path.join(this.#folder, `${fingerprint}.zip`)
    let opened = await openBelow(this.#folder, file)
    if (!opened.ok) {
      const outcome = await this.#buildOnce(file, build)
      if (outcome !== 'built') return { ok: false, reason: outcome }
      opened = await openBelow(this.#folder, file)
    }
    if (!opened.ok) throw new Error(`the zip that was just built is ${opened.reason}`)
    return { ok: true, fd: opened.fd, size: opened.size, identity: fingerprint, modifiedMs }
  }

  async close(): Promise<void> {
    await (await this.#threads)?.destroy()
  }

  /** Lets concurrent requests for one zip share its build. */
  #buildOnce(file: string, build: (file: string) => Promise<BuildOutcome>): Promise<BuildOutcome> {
    const running = this.#building.get(file)
    if (running !== undefined) return running
    const building = build(file).finally(() => void this.#building.delete(file))
    this.#building.set(file, building)
    return building
  }

  /** Resolves with null if the disk does not answer. */
  async #isUnchanged(root: string, sidecars: SidecarSet): Promise<boolean | null> {
    const answer = await this.#disks.run(root, { read: () => isUnchanged(sidecars) })
    return answer.ok ? answer.value : null
  }

  async #build(file: string, sidecars: SidecarSet, isStillSo: () => Promise<boolean | null>): Promise<BuildOutcome> {
    const temporary = temporaryNameBeside(file)
    try {
      await fs.mkdir(this.#folder, { recursive: true })
      const entries = entriesOf(sidecars)
      const pool = await this.#pool()
      const packed = await whileGrowing(temporary, (signal) => pool.run({ target: temporary, entries }, { signal }))
      if (packed === 'no_space') return this.#noSpace()
      if (packed === 'stalled') return 'busy'
      const unchanged = await isStillSo()
      if (unchanged !== true) return unchanged === null ? 'busy' : 'changing'
      await fs.rename(temporary, file)
    } catch (error) {
      if (!isDiskFull(error)) throw error
      return this.#noSpace()
    } finally {
      await fs.rm(temporary, { force: true })
    }
    // biome-ignore lint/plugin: calendar, against the times of files
    await trimZipFolder(this.#folder, MAX_CACHE_BYTES, file, Date.now())
    return 'built'
  }

  #noSpace(): BuildOutcome {
    this.#log.warn({ folder: this.#folder }, 'no space left to build a zip')
    return 'no_space'
  }

  #pool(): Promise<Piscina<ZipTask, ZipResult>> {
    this.#threads ??= import('piscina').then(
      ({ Piscina }) =>
        new Piscina<ZipTask, ZipResult>({
          filename: BUILDER,
          minThreads: 0,
          maxThreads: THREADS,
          idleTimeout: IDLE_THREAD_MS,
        }),
    )
    return this.#threads
  }
}

function entriesOf({ files, cpg, modifiedMs }: SidecarSet): ZipEntry[] {
  const entries: ZipEntry[] = files.map(({ name, file: { fd, size, mtimeMs } }) => ({ name, fd, size, mtimeMs }))
  if (cpg !== null) entries.push({ ...cpg, mtimeMs: modifiedMs })
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function isUnchanged(sidecars: SidecarSet): Promise<boolean> {
  for (const { file } of sidecars.files) {
    const now = await statOpen(file.fd)
    if (fileIdentity(now) !== file.identity) return false
  }
  return true
}

const statOpen = promisify((fd: number, done: (error: Error | null, stat: BigIntStats) => void) =>
  fstat(fd, { bigint: true }, done),
)
