import { createHash, createHmac, scrypt, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { writeFileAtomically } from '@gateway/files/write-atomically.js'
import type { StoreState } from '@gateway/store/change-log.js'
import { z } from 'zod'

/** What is kept beside the rows. */
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
  content: z.string().regex(/^[0-9a-f]{64}$/),
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

/**
 * The folder in which an edge keeps its catalog: `<SHA-256>.rows`, and `stamp`, which names it and says when it was last known to be the
 * store's newest state. The stamp is signed with a key that is made of DATABASE_URL, so that what is damaged, of another store or written by
 * somebody else is not taken. Both are replaced whole, mode 0600.
 */
export class KeptFile {
  readonly #folder: string
  readonly #version: string
  readonly #clocks: Clocks
  readonly #key: () => Promise<Buffer>
  #written: string | null = null

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

  /**
   * @param content null: the rows that were written last are still right
   * @param knownMsAgo for how long they have not been known to be the newest
   */
  async write(content: readonly Uint8Array[] | null, facts: KeptFacts, knownMsAgo: number): Promise<void> {
    const { wall, host, bootId } = this.#clocks
    const times = { bootId: bootId(), hostMs: host() - knownMsAgo, wallMs: wall() - knownMsAgo }
    const before = this.#written
    if (content !== null || before === null) await this.#writeContent(content ?? [])
    const stamp: Stamp = { version: this.#version, content: this.#written as string, ...facts, ...times }
    const text = JSON.stringify(stamp)
    await writeFileAtomically(this.#stampPath, `${await this.#signature(text)}\n${text}\n`, { mode: MODE })
    if (before !== this.#written) await this.#removeOthers()
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
    const content = await this.#readBounded(this.#contentPath(stamp.content))
    if (content === null || digestOf([content]) !== stamp.content) throw new Error('its rows are damaged')
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

  async #writeContent(content: readonly Uint8Array[]): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const digest = digestOf(content)
    await writeFileAtomically(this.#contentPath(digest), content, { mode: MODE })
    this.#written = digest
  }

  async #removeOthers(): Promise<void> {
    const kept = [STAMP, path.basename(this.#contentPath(this.#written as string))]
    for (const name of await readdir(this.#folder))
      if (!kept.includes(name)) await rm(path.join(this.#folder, name), { force: true })
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

  #contentPath(digest: string): string {
    return path.join(this.#folder, `${digest}.rows`)
  }
}

function digestOf(parts: readonly Uint8Array[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}
