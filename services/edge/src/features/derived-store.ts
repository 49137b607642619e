import fs from 'node:fs/promises'
import path from 'node:path'
import { isDiskFull } from '@gateway/core/files/disk-space.js'
import { takeHostLock } from '@gateway/core/files/host-lock.js'
import { temporaryNameBeside } from '@gateway/core/files/write-atomically.js'
import { fairPlace } from '@gateway/core/lanes/fair-lanes.js'
import type { ConversionOutcome } from '@gateway/vectors/query/conversion.js'
import { LRUCache } from 'lru-cache'

/** Limit: files that wait to be made. One caller has half of the places. */
const MAX_WAITING = 100
/**
 * Limit: conversions at a time, each of which uses a whole core. Tiles have priority, so the next one starts next to another only if that one has
 * taken this long, in ms, and converts another source: one that hangs holds up nobody else until it meets its limits.
 */
const MAX_RUNNING = 3
const PATIENCE_MS = 3_000
/** Limit: remembered faults, so that no failing conversion runs twice. */
const MAX_FAULTS = 1_000
const LOOK_AGAIN_MS = 200
/** Age in ms after which a temporary name was certainly left by a killed process. */
const ABANDONED_MS = 24 * 3_600_000

export type Derived =
  | { readonly made: true; readonly path: string }
  | Omit<Extract<ConversionOutcome, { made: false }>, 'said'>
  | { readonly made: false; readonly why: 'busy'; readonly message: string }

/**
 * Files that are derived from vectors, in one folder for all edge processes of a host. Each name is made once. The folder is kept below a number
 * of bytes by removing the least recently used files, which can all be made again.
 */
export class DerivedStore {
  readonly #folder: string
  readonly #maxBytes: number
  readonly #making = new Map<string, Promise<Derived>>()
  readonly #faults = new LRUCache<string, Derived>({ max: MAX_FAULTS })
  readonly #running = new Set<{ readonly source: string; isLong: boolean }>()
  readonly #waiting: { readonly source: string; readonly caller: string; readonly start: () => void }[] = []
  readonly #patienceMs: number

  /** @param patienceMs see PATIENCE_MS */
  constructor(folder: string, maxBytes: number, patienceMs = PATIENCE_MS) {
    this.#folder = folder
    this.#maxBytes = maxBytes
    this.#patienceMs = patienceMs
  }

  /**
   * Returns the file or folder of a name, and makes it if it is missing. `make` writes it to another path, which does not exist. Rejects with the
   * error of the disk, unless it is full.
   * @param source identifies what it is made from
   * @param caller who waits for it, for example the id of a token; callers take turns
   */
  async get(
    name: string,
    source: string,
    make: (target: string) => Promise<ConversionOutcome>,
    caller = '',
  ): Promise<Derived> {
    const file = path.join(this.#folder, name)
    if (await this.#touch(file)) return { made: true, path: file }
    const fault = this.#faults.get(name)
    if (fault !== undefined) return fault
    const running = this.#making.get(name)
    if (running !== undefined) return running
    const own = this.#waiting.filter((one) => one.caller === caller).length
    if (this.#making.size >= MAX_WAITING || own >= MAX_WAITING / 2) {
      return { made: false, why: 'busy', message: 'too many conversions wait' }
    }
    const turn = { source, caller }
    const making = this.#inTurn(turn, () => this.#make(file, make)).finally(() => void this.#making.delete(name))
    this.#making.set(name, making)
    const derived = await making
    if (!derived.made && derived.why === 'fault') this.#faults.set(name, derived)
    return derived
  }

  async #inTurn<T>(asked: { readonly source: string; readonly caller: string }, work: () => Promise<T>): Promise<T> {
    const turn = { source: asked.source, isLong: false }
    await new Promise<void>((start) => {
      const entry = { ...asked, start: () => start(void this.#running.add(turn)) }
      this.#waiting.splice(fairPlace(this.#waiting, asked.caller), 0, entry)
      this.#startNext()
    })
    const timer = setTimeout(() => {
      turn.isLong = true
      this.#startNext()
    }, this.#patienceMs)
    try {
      return await work()
    } finally {
      clearTimeout(timer)
      this.#running.delete(turn)
      this.#startNext()
    }
  }

  #startNext(): void {
    const running = [...this.#running.values()]
    if (running.length >= MAX_RUNNING || running.some(({ isLong }) => !isLong)) return
    const next = this.#waiting.findIndex(({ source }) => running.every((one) => one.source !== source))
    for (const { start } of next < 0 ? [] : this.#waiting.splice(next, 1)) start()
  }

  async #touch(file: string): Promise<boolean> {
    // biome-ignore lint/plugin: calendar, of files
    const now = Date.now() / 1000
    return fs.utimes(file, now, now).then(
      () => true,
      () => false,
    )
  }

  async #make(file: string, make: (target: string) => Promise<ConversionOutcome>): Promise<Derived> {
    let release: (() => Promise<void>) | null
    try {
      await fs.mkdir(this.#folder, { recursive: true })
      release = await takeHostLock(`${file}.lock`, () => this.#touch(file), LOOK_AGAIN_MS)
      // Another process of this host has made the same file.
      if (release === null) return { made: true, path: file }
    } catch (error) {
      return noSpaceOr(error)
    }
    const target = temporaryNameBeside(file)
    try {
      if (await this.#touch(file)) return { made: true, path: file }
      const outcome = await make(target)
      if (!outcome.made) return outcome
      await fs.rename(target, file).catch(async (error) => {
        // Two processes that find the lock of a killed one may both take it, and make the same.
        if (!(await this.#touch(file))) throw error
      })
      await this.#trim(file)
      return { made: true, path: file }
    } catch (error) {
      return noSpaceOr(error)
    } finally {
      await fs.rm(target, { recursive: true, force: true })
      await release()
    }
  }

  /** Removes the least recently used files until the rest fits, and files that killed processes have left. */
  async #trim(spared: string): Promise<void> {
    const kept: { file: string; bytes: number; usedMs: number }[] = []
    // biome-ignore lint/plugin: calendar, against the times of files
    const now = Date.now()
    for (const name of await fs.readdir(this.#folder)) {
      const file = path.join(this.#folder, name)
      const stat = await fs.stat(file).catch(() => null)
      if (stat === null || name.endsWith('.lock')) continue
      if (name.startsWith('.')) {
        if (now - stat.mtimeMs > ABANDONED_MS) await fs.rm(file, { recursive: true, force: true })
      } else kept.push({ file, bytes: await sizeOf(file, stat.isDirectory(), stat.size), usedMs: stat.mtimeMs })
    }
    let total = kept.reduce((sum, { bytes }) => sum + bytes, 0)
    kept.sort((a, b) => a.usedMs - b.usedMs)
    for (const { file, bytes } of kept) {
      if (total <= this.#maxBytes) return
      if (file === spared) continue
      await fs.rm(file, { recursive: true, force: true })
      total -= bytes
    }
  }
}

async function sizeOf(file: string, isFolder: boolean, size: number): Promise<number> {
  if (!isFolder) return size
  let total = 0
  for (const name of await fs.readdir(file))
    total += (await fs.stat(path.join(file, name)).catch(() => ({ size: 0 }))).size
  return total
}

function noSpaceOr(error: unknown): Derived {
  if (isDiskFull(error)) return { made: false, why: 'no_space', message: (error as Error).message }
  throw error
}
