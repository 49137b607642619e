import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { writeFileAtomically } from '@gateway/core/files/write-atomically.js'
import { LRUCache } from 'lru-cache'

/** Limit: remembered results in memory. */
const MAX_KNOWN = 1000
/** Time in ms before content is tried again that failed for a reason outside of it, such as a disk that does not answer. */
const REST_MS = 10 * 60_000
/** Time in ms before other content is tried again. It would fail again, unless the gateway or the machine has changed. */
const RETRY_MS = 24 * 3_600_000

/** The fonts and sprites that exceeded a limit, by the identity of their content. Edge processes of a host and later ones share files about them. */
export class FailedAssets {
  readonly #folder: string
  /** null: it has no file */
  readonly #known = new LRUCache<string, { readonly reason: string | null }>({ max: MAX_KNOWN, ttl: REST_MS })

  /** @param folder need not exist yet */
  constructor(folder: string) {
    this.#folder = folder
  }

  /** Returns why the content failed a short time ago; null: it did not. */
  async reasonOf(key: string): Promise<string | null> {
    const known = this.#known.get(key)
    if (known !== undefined) return known.reason
    const reason = await this.#read(this.#fileOf(key)).catch(() => null)
    this.#known.set(key, { reason })
    return reason
  }

  /** @param mayPass true if the cause was outside of the content; then only this process remembers it */
  async add(key: string, reason: string, mayPass: boolean): Promise<void> {
    this.#known.set(key, { reason })
    // On a full disk the next process tries it once more.
    if (!mayPass) await writeFileAtomically(this.#fileOf(key), reason).catch(() => {})
  }

  async #read(file: string): Promise<string | null> {
    // biome-ignore lint/plugin: calendar, against the times of files
    return Date.now() - (await stat(file)).mtimeMs < RETRY_MS ? await readFile(file, 'utf8') : null
  }

  #fileOf(key: string): string {
    return path.join(this.#folder, `${key}.failed`)
  }
}
