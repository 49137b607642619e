import { FairLanes, type Release } from '@gateway/core/lanes/fair-lanes.js'
import type { HelperPool } from '@gateway/core/processes/helper-pool.js'
import { type MapAnswer, type MapTask, mapPool } from '@gateway/tilesets/maps/map-pool.js'
import { LRUCache } from 'lru-cache'

/** Processes of each edge process that draw pictures: one for a token, and one for all others. Tiles come first. */
const PROCESSES = 2
/** Limit: pictures whose tiles are read or that are drawn at the same time in each edge process; a token has half of them. Each holds its tiles in memory. */
const UNDER_WAY = 8
/** Limit: pictures that wait; a token has half of the places. */
const WAITING = 256
/** Milliseconds that a picture waits for its turn. */
const WAIT_MS = 5_000
/** Bytes of drawn pictures that each edge process keeps: clients whose pictures lie in a grid ask for the same ones. */
const KEPT_BYTES = 16 * 1024 * 1024

/** Draws pictures of maps, in processes that may be killed, under limits in all and for each token. */
export class MapDrawer {
  readonly #pool: HelperPool<MapTask, MapAnswer> = mapPool(PROCESSES)
  readonly #lanes: FairLanes
  readonly #waitMs: number
  readonly #kept = new LRUCache<string, MapAnswer>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ bytes }, key) => bytes.length + key.length,
  })

  constructor({ underWay = UNDER_WAY, waiting = WAITING, waitMs = WAIT_MS } = {}) {
    this.#lanes = new FairLanes(underWay, waiting)
    this.#waitMs = waitMs
  }

  /** Resolves when a picture of a caller may be made; null: too many are, for longer than a request waits. The caller must call `Release`. */
  async enter(caller: string): Promise<Release | null> {
    const entered = this.#lanes.enter(caller)
    if (entered === null) return null
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(resolve, this.#waitMs, null)
    })
    const first = await Promise.race([entered, late]).finally(() => clearTimeout(timer))
    // A turn that comes too late is left at once.
    if (first === null) void entered.then((release) => release())
    return first
  }

  /**
   * Draws a picture, once for all concurrent requests with the same key, which must identify the content of its tiles. Rejects with the errors of
   * `HelperPool.run`.
   */
  async draw(key: string, task: MapTask, caller: string): Promise<MapAnswer> {
    const known = this.#kept.get(key)
    if (known !== undefined) return known
    const made = await this.#pool.run(key, task, caller)
    // Faults are told of each time.
    if (made.faults.length === 0) this.#kept.set(key, made)
    return made
  }

  close(): void {
    this.#pool.close()
  }
}
