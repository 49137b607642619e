import type { UsageAmounts, UsageKind, UsageRow } from '@gateway/contracts/usage.js'
import type { TakenUsage } from '@gateway/native-edge/hot-tiles/response-table.js'

/** What an answer was. `refused`: 401, 403 or 429. `other`: anything else that is no tile. */
export type Answered = 'tile' | 'tile_404' | 'refused' | 'other'

/** What was asked for, by kind and id: a version (which counts for its basemap too), or a basemap or vector. Also its name in the native table. */
export type UsageName = `${'version' | 'basemap' | 'vector'}:${string}`

export const versionUsage = (code: string, version: string): UsageName => `version:${code}/${version}`

const TOKEN = 'token:'
export const tokenUsage = (id: string): string => TOKEN + id

const HOUR_MS = 3_600_000

/** Counts where on the map tiles were asked for. */
export interface TileNotes {
  note(asked: UsageName, path: string, missing: boolean): void
}

/**
 * What requests with tokens that the store knows, or with good signatures, were answered by this process, for each token and for what was asked for: since it was last
 * taken. Of other requests nothing is counted here, so that strangers cannot fill the memory; neither is what is handed on to the control plane.
 */
export class UsageCounts {
  #tokens = new Map<string, UsageAmounts>()
  #asked = new Map<string, UsageAmounts>()
  readonly #tiles: TileNotes

  constructor(tiles: TileNotes) {
    this.#tiles = tiles
  }

  /**
   * `token`: its id; '': a signed address let in without one. `asked`: null where nothing of the catalog was. `bytes`: of the body, as far as they are known
   * to be sent. `path`: of the tile, in the form of `/tiles/...`, where it is one.
   */
  count(token: string, asked: UsageName | null, answered: Answered, bytes: number, path: string): void {
    if (token !== '') add(amountsOf(this.#tokens, token), answered, bytes)
    if (asked === null) return
    add(amountsOf(this.#asked, asked), answered, bytes)
    if (answered === 'tile' || answered === 'tile_404') this.#tiles.note(asked, path, answered === 'tile_404')
  }

  /** Further bytes of an answer that was counted. */
  addBytes(token: string, asked: UsageName | null, bytes: number): void {
    if (bytes === 0) return
    if (token !== '') amountsOf(this.#tokens, token).bytes += bytes
    if (asked !== null) amountsOf(this.#asked, asked).bytes += bytes
  }

  /**
   * All that was counted, which begins anew, with what was answered natively, by the names that were given for it. It counts for the hour of now:
   * to be taken every few seconds. `nowMs`: since 1970.
   */
  take(native: readonly TakenUsage[], nowMs: number): UsageRow[] {
    for (const { name, requests, tiles, missing, bytes } of native) {
      const known = name.startsWith(TOKEN)
        ? amountsOf(this.#tokens, name.slice(TOKEN.length))
        : amountsOf(this.#asked, name)
      addTo(known, { requests, tiles, tile_404: missing, refused: 0, bytes })
    }
    const at = Math.floor(nowMs / HOUR_MS) * HOUR_MS
    const rows: UsageRow[] = [...this.#tokens].map(([id, amounts]) => ({ kind: 'token', id, at, ...amounts }))
    const basemaps = new Map<string, UsageAmounts>()
    for (const [name, amounts] of this.#asked) {
      const colon = name.indexOf(':')
      const kind = name.slice(0, colon) as UsageKind
      const id = name.slice(colon + 1)
      if (kind !== 'basemap') rows.push({ kind, id, at, ...amounts })
      // A code has no slash: it is the name of a directory.
      if (kind !== 'vector') addTo(amountsOf(basemaps, kind === 'version' ? id.slice(0, id.indexOf('/')) : id), amounts)
    }
    for (const [id, amounts] of basemaps) rows.push({ kind: 'basemap', id, at, ...amounts })
    this.#tokens = new Map()
    this.#asked = new Map()
    return rows
  }
}

function amountsOf(all: Map<string, UsageAmounts>, name: string): UsageAmounts {
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
