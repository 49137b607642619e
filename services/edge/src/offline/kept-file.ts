import { createHash, createHmac, type Hash, randomUUID, scrypt, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { writeFileAtomically } from '@gateway/core/files/write-atomically.js'
import type { StoreState } from '@gateway/store/change-log.js'
import { z } from 'zod'

/** Facts that are stored with the rows. */
export interface KeptFacts {
  readonly state: StoreState
  /** Identifies the installation on a Redis. */
  readonly instanceId: string
}

export interface KeptRead extends KeptFacts {
  readonly content: Buffer
  /** Time in ms since the content was last known to be the store's newest state. */
  readonly ageMs: number
}

/** Limit: bytes of the file, more than a catalog of a hundred thousand versions needs, so that a foreign file is not read into memory. */
const MOST_BYTES = 2 ** 30
const STAMP = 'stamp'
/** Only for the user of the process, because the file contains digests of tokens. */
const MODE = 0o600

const stampSchema = z.object({
  /** Version of the program that wrote the rows. */
  version: z.string(),
  /** Name of the file of rows, without its extension. */
  file: z.uuid(),
  /** Number of valid bytes; the rest is the torn end of a write that was never stamped. */
  bytes: z.number().int().nonnegative(),
  /** Hex SHA-256 of these bytes. */
  digest: z.string().regex(/^[0-9a-f]{64}$/),
  state: z.object({ revision: z.number(), mark: z.string(), epoch: z.string() }),
  instanceId: z.string(),
  bootId: z.string(),
  hostMs: z.number(),
  wallMs: z.number(),
})
type Stamp = z.infer<typeof stampSchema>

/** Two clocks: the calendar, and one that is never set and starts with the machine. */
export interface Clocks {
  /** Milliseconds of the calendar. */
  wall(): number
  /** Milliseconds since the machine started. */
  host(): number
  /** Identifies the start of the machine; '' if it is not known. */
  bootId(): string
}

export const CLOCKS: Clocks = {
  // biome-ignore lint/plugin: calendar time, because the monotonic clock begins at zero when the machine restarts
  wall: () => Date.now(),
  host: () => Number(process.hrtime.bigint()) / 1e6,
  bootId: () => {
    try {
      return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    } catch {
      return ''
    }
  },
}

/** Limit: the next write is complete once more bytes were appended than this, and than the file had at first. */
const LEAST_COMPACTED_BYTES = 2 ** 20

/** Age in ms after which an untouched file was left by a crash. Another edge with the same folder touches its rows every few seconds. */
const ABANDONED_MS = 3_600_000

/** The file of rows that this process has written, up to its stamped length. */
interface Written {
  readonly file: string
  readonly bytes: number
  readonly hash: Hash
  /** Its bytes when it was written completely. */
  readonly wholeBytes: number
}

/**
 * The folder in which an edge keeps its catalog: `<UUID>.rows`, to which changes are appended, and `stamp`. The stamp contains the name of the file,
 * its length and its SHA-256, and the time when it was last known to be the store's newest state. It is signed with a key derived from DATABASE_URL,
 * so that rows that are damaged, of another store or written by anyone else are not used. The stamp is replaced atomically, after the rows that it
 * covers: a crash at any moment leaves either the old rows or the new ones. Both have mode 0600.
 */
export class KeptFile {
  readonly #folder: string
  readonly #version: string
  readonly #clocks: Clocks
  readonly #key: () => Promise<Buffer>
  #written: Written | null = null

  constructor(folder: string, databaseUrl: string, version: string, clocks: Clocks = CLOCKS) {
    this.#folder = folder
    this.#version = version
    this.#clocks = clocks
    let key: Promise<Buffer> | null = null
    this.#key = () => {
      key ??= promisify(scrypt)(databaseUrl, 'gateway kept catalog', 32) as Promise<Buffer>
      return key
    }
  }

  /** True if `append` may be called. False if nothing was written, or if so much was appended that a complete `write` is worthwhile. */
  get takesAppends(): boolean {
    const written = this.#written
    if (written === null) return false
    return written.bytes - written.wholeBytes <= Math.max(written.wholeBytes, LEAST_COMPACTED_BYTES)
  }

  /**
   * Writes all rows into a new file.
   * @param knownMsAgo time in ms since they were last known to be the newest
   */
  async write(content: readonly Uint8Array[], facts: KeptFacts, knownMsAgo: number): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const file = randomUUID()
    const before = this.#written
    const hash = createHash('sha256')
    await writeFileAtomically(this.#rowsPath(file), hashedParts(content, hash), { mode: MODE })
    const bytes = bytesOf(content)
    await this.#stamp({ file, bytes, hash, wholeBytes: bytes }, facts, knownMsAgo)
    if (before !== null) await rm(this.#rowsPath(before.file), { force: true })
    await this.#removeAbandoned(this.#rowsPath(file))
  }

  /** Appends records to the file that this process wrote last, and stamps it; without records only the stamp is renewed. */
  async append(records: readonly Uint8Array[], facts: KeptFacts, knownMsAgo: number): Promise<void> {
    const before = this.#written
    if (before === null) throw new Error('nothing was written yet')
    await writeAt(this.#rowsPath(before.file), records, before.bytes)
    const after = { bytes: before.bytes + bytesOf(records), hash: hashed(before.hash.copy(), records) }
    await this.#stamp({ ...before, ...after }, facts, knownMsAgo)
  }

  async #stamp(written: Written, facts: KeptFacts, knownMsAgo: number): Promise<void> {
    const { wall, host, bootId } = this.#clocks
    const times = { bootId: bootId(), hostMs: host() - knownMsAgo, wallMs: wall() - knownMsAgo }
    const rows = { file: written.file, bytes: written.bytes, digest: written.hash.copy().digest('hex') }
    const stamp: Stamp = { version: this.#version, ...rows, ...facts, ...times }
    const text = JSON.stringify(stamp)
    await writeFileAtomically(this.#stampPath, `${await this.#signature(text)}\n${text}\n`, { mode: MODE })
    this.#written = written
  }

  /** Removes the stamp, so that nothing is kept until the next `write`. */
  async forget(): Promise<void> {
    await rm(this.#stampPath, { force: true })
  }

  /** Returns the kept state, or null if nothing is kept. Throws, with a clause for the log, if it must not be used. */
  async read(): Promise<KeptRead | null> {
    const found = await this.#readBounded(this.#stampPath)
    if (found === null) return null
    const stamp = await this.#verified(found.toString('utf8'))
    const content = (await this.#readBounded(this.#rowsPath(stamp.file)))?.subarray(0, stamp.bytes)
    if (content === undefined || hashed(createHash('sha256'), [content]).digest('hex') !== stamp.digest)
      throw new Error('its rows are damaged')
    const { state, instanceId } = stamp
    return { state, instanceId, content, ageMs: this.#age(stamp) }
  }

  async #verified(text: string): Promise<Stamp> {
    const [signature = '', json = ''] = text.split('\n')
    const expected = Buffer.from(await this.#signature(json))
    const given = Buffer.from(signature)
    if (given.length !== expected.length || !timingSafeEqual(given, expected))
      throw new Error('it is damaged, or was kept for another DATABASE_URL')
    const stamp = stampSchema.parse(JSON.parse(json))
    if (stamp.version !== this.#version) throw new Error(`version ${stamp.version} kept it`)
    return stamp
  }

  /** Returns the age by the machine's own clock, which is never set, or by the calendar if the machine was restarted meanwhile. */
  #age({ bootId, hostMs, wallMs }: Stamp): number {
    const sameBoot = bootId !== '' && bootId === this.#clocks.bootId()
    const age = sameBoot ? this.#clocks.host() - hostMs : this.#clocks.wall() - wallMs
    if (age < 0) throw new Error('the clock was set back since it was kept')
    return age
  }

  async #removeAbandoned(own: string): Promise<void> {
    const { mtimeMs: now } = await stat(own)
    for (const name of await readdir(this.#folder)) {
      const other = path.join(this.#folder, name)
      const found = name === STAMP ? undefined : await stat(other).catch(() => undefined)
      if (found !== undefined && now - found.mtimeMs > ABANDONED_MS) await rm(other, { force: true })
    }
  }

  async #readBounded(file: string): Promise<Buffer | null> {
    try {
      const { size } = await stat(file)
      if (size > MOST_BYTES) throw new Error('it is larger than any catalog')
      return await readFile(file)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw error
    }
  }

  async #signature(text: string): Promise<string> {
    return createHmac('sha256', await this.#key())
      .update(text)
      .digest('hex')
  }

  get #stampPath(): string {
    return path.join(this.#folder, STAMP)
  }

  #rowsPath(file: string): string {
    return path.join(this.#folder, `${file}.rows`)
  }
}

/**
 * Writes at a position, over anything that a failed write has left there. Touches the file even if there is nothing to write, and throws if it was
 * deleted.
 */
async function writeAt(file: string, parts: readonly Uint8Array[], position: number): Promise<void> {
  const handle = await open(file, 'r+')
  try {
    // biome-ignore lint/plugin: calendar, as of files
    if (parts.length === 0) await handle.utimes(Date.now() / 1000, Date.now() / 1000)
    const data = Buffer.concat(parts)
    for (let done = 0; done < data.length; )
      done += (await handle.write(data, done, data.length - done, position + done)).bytesWritten
  } finally {
    await handle.close()
  }
}

/** Limit: bytes of one write. A write for each of tens of thousands of rows takes longer than reading them from the store. */
const PART_BYTES = 2 ** 20

/** Yields the content in large parts, each when the one before is written, and adds them to a hash. */
function* hashedParts(content: readonly Uint8Array[], hash: Hash): Generator<Uint8Array> {
  let from = 0
  let bytes = 0
  for (const [i, row] of content.entries()) {
    bytes += row.length
    if (bytes < PART_BYTES && i < content.length - 1) continue
    const part = Buffer.concat(content.slice(from, i + 1), bytes)
    hash.update(part)
    yield part
    from = i + 1
    bytes = 0
  }
}

function bytesOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0)
}

function hashed(hash: Hash, parts: readonly Uint8Array[]): Hash {
  for (const part of parts) hash.update(part)
  return hash
}
