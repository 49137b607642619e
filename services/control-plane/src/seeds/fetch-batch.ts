import type { TilePlace } from '@gateway/tilesets/source.js'

/** Requests for one tile that may fail before the tile is given up. */
const MAX_TRIES = 3
/** Tiles that fail one after the other, after which the service is taken to be down for long. While it is not asked, that takes minutes. */
export const MAX_FAILED_IN_ROW = 50

/** `kept`: it is on the disk, or the service has no such tile. `refused`: the service was not asked, because it has failed or is full. */
export type Fetched =
  | { readonly kind: 'kept' }
  | { readonly kind: 'failed'; readonly words: string }
  | { readonly kind: 'refused'; readonly words: string; readonly afterSeconds: number }

export interface FailedPlace {
  readonly place: TilePlace
  /** of the service */
  readonly words: string
}

export interface FetchedBatch {
  readonly kept: number
  /** tiles that were given up */
  readonly failed: readonly FailedPlace[]
  /** the words of a service that answers nothing, so that tiles are left over; null: none is */
  readonly down: string | null
}

export interface BatchOptions {
  /** tiles that are fetched at the same time */
  readonly lanes: number
  /** rejects if the work is aborted */
  readonly fetch: (place: TilePlace) => Promise<Fetched>
  /** resolves when the service may be asked again; rejects if the work is aborted */
  readonly pause: (seconds: number, words: string) => Promise<void>
}

/**
 * Fetches tiles, and those again that failed, until each is kept or given up. While the service is not asked, this waits: the outage of a service costs
 * time and no tile.
 */
export class BatchFetcher {
  readonly #options: BatchOptions
  #failedInRow = 0

  constructor(options: BatchOptions) {
    this.#options = options
  }

  /** Rejects with the first rejection of the options. */
  async run(places: readonly TilePlace[]): Promise<FetchedBatch> {
    const { lanes, fetch, pause } = this.#options
    let kept = 0
    const failed: FailedPlace[] = []
    let down = null as string | null
    let left = places.map((place) => ({ place, tries: 0 }))
    while (left.length > 0 && down === null) {
      const again: typeof left = []
      let refused = null as Extract<Fetched, { kind: 'refused' }> | null
      await inLanes(left, lanes, async ({ place, tries }) => {
        if (down !== null) return
        const result = refused ?? (await fetch(place))
        if (result.kind === 'kept') {
          this.#failedInRow = 0
          kept++
        } else if (result.kind === 'refused') {
          refused = result
          again.push({ place, tries })
        } else {
          if (++this.#failedInRow >= MAX_FAILED_IN_ROW) down = result.words
          if (tries + 1 < MAX_TRIES) again.push({ place, tries: tries + 1 })
          else failed.push({ place, words: result.words })
        }
      })
      if (refused !== null && down === null) await pause(refused.afterSeconds, refused.words)
      // Another tile asks first after a pause, since one may fail for ever.
      left = again.sort((a, b) => a.tries - b.tries)
    }
    return { kept, failed, down }
  }
}

/** Does work for each item, so many at a time. Ends when all work has ended; then it rejects with the first rejection. */
async function inLanes<T>(items: readonly T[], lanes: number, work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values()
  const lane = async () => {
    for (let next = queue.next(); !next.done; next = queue.next()) await work(next.value)
  }
  const ends = await Promise.allSettled(Array.from({ length: lanes }, lane))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}
