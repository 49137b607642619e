import { existsSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Suffix of the folder of a build that is running. The set-up renames the folder when the build is complete. */
const RUNNING = '.new'

/** Time in ms for which a request waits for a running build. The first start of a checkout serves before the build ends. */
const BUILD_WAIT_MS = 60_000

const POLL_MS = 200

/** Files without a URL: hidden ones, and compressed variants, which are sent instead of the files whose names they extend. */
const UNLISTED = /(^|\/)\.|\.(br|gz)$/

/** The files of a built site. Lists the folder once, when its build is complete, so that a request can only name a listed file. */
export class StaticSite {
  readonly #dist: string
  #names: ReadonlySet<string> | null = null

  /** @param dist folder with a final slash */
  constructor(dist: string) {
    this.#dist = dist
  }

  /** Returns paths relative to the folder; null if the site is not built. Waits up to `BUILD_WAIT_MS` for a build that is running. */
  async names(): Promise<ReadonlySet<string> | null> {
    const giveUpAt = performance.now() + BUILD_WAIT_MS
    while (!this.#isBuilt() && this.#isBeingBuilt() && performance.now() < giveUpAt) await sleep(POLL_MS)
    if (this.#names === null && this.#isBuilt()) {
      const files = readdirSync(this.#dist, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
      const paths = files.map(({ parentPath, name }) => relative(this.#dist, join(parentPath, name)))
      this.#names = new Set(paths.filter((path) => !UNLISTED.test(path)))
    }
    return this.#names
  }

  #isBuilt(): boolean {
    return this.#names !== null || existsSync(`${this.#dist}index.html`)
  }

  #isBeingBuilt(): boolean {
    return existsSync(`${this.#dist.replace(/\/$/, '')}${RUNNING}`)
  }
}
