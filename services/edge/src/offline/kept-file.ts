import { createHash, createHmac, type Hash, randomUUID, scrypt, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, open, readdir, readFile, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { writeFileAtomically } from '@gateway/core/files/write-atomically.js'
import type { StoreState } from '@gateway/store/change-log.js'
import { z } from 'zod'

/** What is kept next to the rows. */
export interface KeptFacts {
  readonly state: StoreState
  /** names the installation on a Redis */
  readonly instanceId: string
}

export interface KeptRead extends KeptFacts {
  readonly content: Buffer
  /** for how long it has not been known to be the store's newest state, in milliseconds */
  readonly ageMs: number
}

/** Limit: more than a catalog of a hundred thousand versions takes; a file that somebody else put there is not read into memory. */
const MOST_BYTES = 2 ** 30
const STAMP = 'stamp'
/** Of a store's administrator and nobody else: digests of tokens are in it. */
const MODE = 0o600

const stampSchema = z.object({
  /** the rows are as this version of the program writes them */
  version: z.string(),
  /** the name of the file of rows, without its ending */
  file: z.uuid(),
  /** how much of it counts; what follows is the torn end of a write that was never stamped */
  bytes: z.number().int().nonnegative(),
  /** hex SHA-256 of those bytes */
  digest: z.string().regex(/^[0-9a-f]{64}$/),
  state: z.object({ revision: z.number(), mark: z.string(), epoch: z.string() }),
  instanceId: z.string(),
  bootId: z.string(),
  hostMs: z.number(),
  wallMs: z.number(),
})
type Stamp = z.infer<typeof stampSchema>

/** Two clocks: the calendar, and the one that is never set and starts with the machine. */
export interface Clocks {
  /** milliseconds of the calendar */
  wall(): number
  /** milliseconds since the machine started */
  host(): number
  /** names the start of the machine; '' where it is not known */
  bootId(): string
}

export const CLOCKS: Clocks = {
  // biome-ignore lint/plugin: calendar, where the machine was started again and its own clock says nothing
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

/** Limit: the next write is a whole one once more bytes were appended than this, and than the file had at first. */
const LEAST_COMPACTED_BYTES = 2 ** 20

/** Limit: a crash has left a file behind if nobody has touched it for so long. Another edge with the same folder touches its rows every few seconds. */
const ABANDONED_MS = 3_600_000

/** The file of rows that this process has written, as far as it is stamped. */
interface Written {
  readonly file: string
  readonly bytes: number
  readonly hash: Hash
  /** its bytes when it was written whole */
  readonly wholeBytes: number
}

/**
 * The folder in which an edge keeps its catalog: `<UUID>.rows`, to which changes are appended, and `stamp`. The stamp names the file, its
 * length and its SHA-256, and says when it was last known to be the store's newest state. A stamp is signed with a key that is made of
 * DATABASE_URL, so that rows that are damaged, of another store or written by somebody else are not taken. It is replaced whole, after the rows
 * that it counts: a crash at any moment leaves either the old rows or the new ones. Both have mode 0600.
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

  /** Whether `append` has something to append to. If not, or if so much was appended that it pays, the next write is a `write`. */
  get takesAppends(): boolean {
    const written = this.#written
    if (written === null) return false
    return written.bytes - written.wholeBytes <= Math.max(written.wholeBytes, LEAST_COMPACTED_BYTES)
  }

  /**
   * Writes all rows into a new file.
   * @param knownMsAgo for how long they have not been known to be the newest
   */
  async write(content: readonly Uint8Array[], facts: KeptFacts, knownMsAgo: number): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const file = randomUUID()
    const before = this.#written
    await writeFileAtomically(this.#rowsPath(file), content, { mode: MODE })
    const bytes = bytesOf(content)
    await this.#stamp(
      { file, bytes, hash: hashed(createHash('sha256'), content), wholeBytes: bytes },
      facts,
      knownMsAgo,
    )
    if (before !== null) await rm(this.#rowsPath(before.file), { force: true })
    await this.#removeAbandoned(this.#rowsPath(file))
  }

  /** Adds records to the file that this process wrote last, and stamps it; without records only the stamp is renewed. */
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

  /** Nothing is kept any more, until the next `write`. */
  async forget(): Promise<void> {
    await rm(this.#stampPath, { force: true })
  }

  /** What is kept; null: nothing. Throws, with a clause for the log, where something is there that must not be used. */
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

  /** By the machine's own clock, which nobody sets, unless the machine was started since; then by the calendar. */
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

/** Over whatever a failed write has left there. Touches the file also if there is nothing to write, and throws if it is gone. */
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

function bytesOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0)
}

function hashed(hash: Hash, parts: readonly Uint8Array[]): Hash {
  for (const part of parts) hash.update(part)
  return hash
}
