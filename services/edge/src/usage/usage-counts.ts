import { USAGE_AMOUNTS, type UsageAmounts, type UsageRow } from '@gateway/contracts/usage.js'
import type { TakenUsage } from '@gateway/native-edge/hot-tiles/response-table.js'

/** What an answer was. `refused`: 401, 403 or 429. `other`: anything else that is no tile. */
export type Answered = 'tile' | 'tile_404' | 'refused' | 'other'

/** What was asked for, by kind and id: a version (which counts for its basemap too), or a basemap or vector. Also its name in the native table. */
export type UsageName = `${'version' | 'basemap' | 'vector'}:${string}`

const VERSION = 'version:'
export const versionUsage = (code: string, version: string): UsageName => `${VERSION}${code}/${version}`

const TOKEN = 'token:'
export const tokenUsage = (id: string): string => TOKEN + id

const HOUR_MS = 3_600_000

/** Counts where on the map tiles were asked for. */
export interface TileNotes {
  note(asked: UsageName, path: string, missing: boolean): void
}

/**
 * Usage on its way to the supervisor: without an object for each row, since tens of thousands of tokens would hold up the event loop for a tenth of
 * a second. A name may stand in it twice.
 */
export interface UsageBatch extends TakenUsage {
  /** milliseconds since 1970, a whole hour in UTC; of cells of the map a whole day */
  readonly at: number
}

/**
 * What requests with tokens that the store knows, or with good signatures, were answered by this process, for each token and for what was asked for: since it was last
 * taken. Of other requests nothing is counted here, so that strangers cannot fill the memory; neither is what is handed on to the control plane.
 */
export class UsageCounts {
  /** of tokens and of what was asked for, by the names of the native table */
  #amounts = new Map<string, UsageAmounts>()
  readonly #tiles: TileNotes

  constructor(tiles: TileNotes) {
    this.#tiles = tiles
  }

  /**
   * `token`: its id; '': a signed address let in without one. `asked`: null where nothing of the catalog was. `bytes`: of the body, as far as they are known
   * to be sent. `path`: of the tile, in the form of `/tiles/...`, where it is one.
   */
  count(token: string, asked: UsageName | null, answered: Answered, bytes: number, path: string): void {
    if (token !== '') add(amountsOf(this.#amounts, tokenUsage(token)), answered, bytes)
    if (asked === null) return
    add(amountsOf(this.#amounts, asked), answered, bytes)
    if (answered === 'tile' || answered === 'tile_404') this.#tiles.note(asked, path, answered === 'tile_404')
  }

  /** Further bytes of an answer that was counted. */
  addBytes(token: string, asked: UsageName | null, bytes: number): void {
    if (bytes === 0) return
    if (token !== '') amountsOf(this.#amounts, tokenUsage(token)).bytes += bytes
    if (asked !== null) amountsOf(this.#amounts, asked).bytes += bytes
  }

  /**
   * All that was counted, which begins anew, with what was answered natively, by the names that were given for it; null: nothing. It counts for the
   * hour of now: to be taken every few seconds. `nowMs`: since 1970.
   */
  take(native: TakenUsage | null, nowMs: number): UsageBatch | null {
    const counted = this.#amounts
    this.#amounts = new Map()
    return batchOf(Math.floor(nowMs / HOUR_MS) * HOUR_MS, counted, native)
  }
}

/** Amounts by name, behind those that were counted natively; null: nothing. */
export function batchOf(
  at: number,
  counted: ReadonlyMap<string, UsageAmounts>,
  native: TakenUsage | null = null,
): UsageBatch | null {
  const { names, amounts } = native ?? { names: '', amounts: new Float64Array() }
  if (names === '' && counted.size === 0) return null
  const all = new Float64Array(amounts.length + counted.size * USAGE_AMOUNTS.length)
  all.set(amounts)
  all.set(
    [...counted.values()].flatMap((one) => USAGE_AMOUNTS.map((amount) => one[amount])),
    amounts.length,
  )
  return { at, names: names + [...counted.keys()].map((name) => `${name}\0`).join(''), amounts: all }
}

/** The rows of a batch, those of basemaps added: the sums of their versions and of what was asked of them beside. */
export function usageRows({ at, names, amounts }: UsageBatch): UsageRow[] {
  const sums = new Map<string, UsageAmounts>()
  for (const [i, name] of names.split('\0').slice(0, -1).entries()) {
    const [requests = 0, tiles = 0, tile_404 = 0, refused = 0, bytes = 0] = amounts.subarray(5 * i, 5 * i + 5)
    const more = { requests, tiles, tile_404, refused, bytes }
    addTo(amountsOf(sums, name), more)
    // A code has no slash: it is the name of a directory.
    if (name.startsWith(VERSION))
      addTo(amountsOf(sums, `basemap:${name.slice(VERSION.length, name.indexOf('/'))}`), more)
  }
  return [...sums].map(([name, sum]) => {
    const colon = name.indexOf(':')
    return { kind: name.slice(0, colon) as UsageRow['kind'], id: name.slice(colon + 1), at, ...sum }
  })
}

export function amountsOf(all: Map<string, UsageAmounts>, name: string): UsageAmounts {
  let amounts = all.get(name)
  if (amounts === undefined) {
    amounts = { requests: 0, tiles: 0, tile_404: 0, refused: 0, bytes: 0 }
    all.set(name, amounts)
  }
  return amounts
}

function add(amounts: UsageAmounts, answered: Answered, bytes: number): void {
  amounts.requests++
  if (answered === 'tile') amounts.tiles++
  else if (answered === 'tile_404') amounts.tile_404++
  else if (answered === 'refused') amounts.refused++
  amounts.bytes += bytes
}

export function addTo(sum: UsageAmounts, more: UsageAmounts): void {
  sum.requests += more.requests
  sum.tiles += more.tiles
  sum.tile_404 += more.tile_404
  sum.refused += more.refused
  sum.bytes += more.bytes
}

/** Refused for who asks, from where or how often. */
export function isRefused(status: number): boolean {
  return status === 401 || status === 403 || status === 429
}
