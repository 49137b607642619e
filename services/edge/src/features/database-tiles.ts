import { createHash } from 'node:crypto'
import type { DatabaseRelation } from '@gateway/contracts/postgis.js'
import { KeptTiles, type MadeTile } from '@gateway/tilesets/kept/kept-tiles.js'
import { TileNotMade } from '@gateway/tilesets/kept/tile-not-made.js'
import type { StorageReaders } from '@gateway/tilesets/open-source.js'
import type { Asking, Source, Tile, TilePlace } from '@gateway/tilesets/source.js'
import { type Databases, DatabaseTrouble } from '@gateway/vectors/postgis/databases.js'
import { UNUSED_MS } from '@gateway/vectors/postgis/messages.js'
import { QueryError } from '@gateway/vectors/query/cql2/expression.js'
import { QueriesBusy, QueryTimeout } from '@gateway/vectors/query/query-processes.js'
import { LRUCache } from 'lru-cache'

type Box = readonly [number, number, number, number]

/** Age in ms up to which a tile is sent if its database does not respond. */
const MAX_STALE_MS = 24 * 3_600_000
/** Interval in ms at which a tile that is being made is given up if nobody wants it. */
const LOOK_AGAIN_MS = 200
/** Limit: tiles of which it is known how many features they leave out. */
const MAX_THINNED = 10_000
const RETRY_SECONDS = 5
/** Interval in ms at which a table whose tiles are requested is listened to again: its process stops after `UNUSED_MS`. */
const LISTEN_AGAIN_MS = 60_000
/** Limit: changes of one table that are remembered one by one. More of them make all its tiles old. */
const MAX_CHANGES = 100

export interface TilesOf {
  readonly relation: DatabaseRelation
  /** code of the vector, which its layer is named after */
  readonly code: string
  /** identifies the content over restarts, so that tiles of another one are not sent */
  readonly content: string
  /** columns that become attributes; null: all */
  readonly fields: readonly string[] | null
}

/** The data on which a tile depends, apart from its place. */
interface Variant {
  readonly token: string
  readonly query: string
}

/** Returns the variant of a tile that differs by token or by parameters; undefined: it is the same for all. */
export function variantOf(relation: DatabaseRelation, token: string, query: string): string | undefined {
  const parameters = relation.what === 'function' && relation.query !== null ? functionQuery(query) : '{}'
  if (!relation.isPersonal && parameters === '{}') return undefined
  return JSON.stringify({ token: relation.isPersonal ? token : '', query: parameters } satisfies Variant)
}

/** Parameters that are not meant for a function. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set(['token', 'access_token', 'v', 'exp', 'sig', 'bounds'])

function functionQuery(query: string): string {
  const entries = [...new URLSearchParams(query)].filter(([name]) => !OWN_PARAMETERS.has(name))
  return JSON.stringify(Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))))
}

interface Change {
  readonly box: Box | null
  /** milliseconds since 1970 */
  readonly atMs: number
}

/** The tiles that databases make. Those that are the same for all tokens are kept for the time of their table. */
export class DatabaseTiles {
  readonly #databases: Databases
  /** by source and table */
  readonly #changes = new Map<string, Change[]>()
  /** by source and table: the time of this process at which it was last listened to */
  readonly #listened = new Map<string, number>()
  readonly #leftOut = new LRUCache<string, number>({ max: MAX_THINNED })

  constructor(databases: Databases) {
    this.#databases = databases
  }

  /** Makes what is kept of a table old, in a box of degrees or (null) everywhere. */
  changed(source: string, table: string, box: Box | null): void {
    const key = `${source} ${table}`
    const known = box === null ? [] : (this.#changes.get(key) ?? [])
    // biome-ignore lint/plugin: calendar, against the times of files
    const change = { box: known.length < MAX_CHANGES ? box : null, atMs: Date.now() }
    this.#changes.set(key, change.box === null ? [change] : [...known, change])
  }

  /** Nothing is heard any more. */
  deafened(): void {
    this.#listened.clear()
  }

  /** Hears of changes of a relation. Tiles that were kept while nobody listened may be old. */
  #listen(relation: DatabaseRelation): void {
    const name = nameIn(relation)
    const key = `${relation.source} ${name}`
    const now = performance.now()
    const forMs = now - (this.#listened.get(key) ?? Number.NEGATIVE_INFINITY)
    if (forMs < LISTEN_AGAIN_MS) return
    if (forMs > UNUSED_MS - LISTEN_AGAIN_MS) this.changed(relation.source, name, null)
    this.#listened.set(key, now)
    this.#databases.listen(relation).catch(() => this.#listened.delete(key))
  }

  open(of: TilesOf, { remote, cached }: StorageReaders): Source {
    const { relation } = of
    const make = (place: TilePlace, asking: Asking) => this.#make(of, place, asking)
    /** why a tile that is still kept must not be sent any more */
    const changed = new Map<string, TileNotMade>()
    const oldBeforeMs = (place: TilePlace) => this.#oldBeforeMs(relation, place)
    const kept =
      remote === undefined
        ? null
        : new KeptTiles({
            ...{ key: `postgis ${of.content}`, format: 'pbf', extension: 'mvt', cache: remote.cache, cached },
            ...{ ttlMs: relation.ttlSeconds * 1000, absentMs: relation.ttlSeconds * 1000, staleMs: MAX_STALE_MS },
            ...{ keepsTags: false, oldBeforeMs },
            make: async (place, asking) => {
              try {
                const made = await make(place, asking)
                return made === null ? 'absent' : [made]
              } catch (error) {
                if (error instanceof TileNotMade && error.status === 502) changed.set(nameOf(place), error)
                throw error
              }
            },
          })
    return {
      tile: async (place, asking = NOBODY) => {
        this.#listen(relation)
        if (kept === null || place.variant !== undefined) {
          const made = await make(place, asking)
          return made && this.#told(of, place, tileOf(made))
        }
        const tile = await kept.tile(place, asking)
        const why = changed.get(nameOf(place))
        changed.delete(nameOf(place))
        if (why !== undefined && tile?.isStale === true) {
          if (!(tile.body instanceof Uint8Array)) tile.body.release()
          throw why
        }
        return tile && this.#told(of, place, tile)
      },
      tileIfCached: (place) => {
        this.#listen(relation)
        if (kept === null || place.variant !== undefined || oldBeforeMs(place) > 0) return undefined
        const tile = kept.tileIfCached(place)
        return tile && this.#told(of, place, tile)
      },
      close: () => kept?.close(),
    }
  }

  /** Returns the time of the last change at a place while tiles from before it may still be current; 0: nothing has changed. */
  #oldBeforeMs(relation: DatabaseRelation, place: TilePlace): number {
    const changes = this.#changes.get(`${relation.source} ${nameIn(relation)}`) ?? []
    // biome-ignore lint/plugin: calendar, against the times of files
    const first = Date.now() - relation.ttlSeconds * 1000
    return changes.reduce(
      (last, { box, atMs }) => (atMs > Math.max(first, last) && (box === null || touches(place, box)) ? atMs : last),
      0,
    )
  }

  #told({ content }: TilesOf, place: TilePlace, tile: Tile): Tile {
    const leftOut = this.#leftOut.get(`${content} ${nameOf(place)}`)
    return leftOut === undefined ? tile : { ...tile, leftOut }
  }

  /** Throws `TileNotMade`. */
  async #make(
    { relation, code, content, fields }: TilesOf,
    place: TilePlace,
    asking: Asking,
  ): Promise<MadeTile | null> {
    const { z, x, y, variant } = place
    const { token, query } = JSON.parse(variant ?? '{"token":"","query":"{}"}') as Variant
    const gone = new AbortController()
    const timer = setInterval(() => !asking.isWanted() && gone.abort(), LOOK_AGAIN_MS)
    const asked = { relation, wish: { z, x, y, layer: code, fields }, query }
    try {
      const made = await this.#databases.tile(asked, { caller: asking.caller, token }, gone.signal)
      const key = `${content} ${nameOf(place)}`
      if (made.leftOut > 0) this.#leftOut.set(key, made.leftOut)
      else this.#leftOut.delete(key)
      return made.bytes && { place, bytes: made.bytes }
    } catch (error) {
      throw reasonOf(error, query)
    } finally {
      clearInterval(timer)
    }
  }
}

export const nameIn = (relation: DatabaseRelation): string =>
  relation.what === 'table' ? relation.table : relation.function

const NOBODY: Asking = { caller: '', isWanted: () => true }

const nameOf = ({ z, x, y, variant = '' }: TilePlace): string => `${z}/${x}/${y} ${variant}`

/** A database whose table is not that of the scan, or that fails, is wrong; every other one is late or busy. A value of the request is the client's. */
function reasonOf(error: unknown, query: string): unknown {
  if (error instanceof QueryError && query === '{}')
    return new TileNotMade(502, error.said, { retryAfterSeconds: RETRY_SECONDS })
  const isKnown = error instanceof DatabaseTrouble || error instanceof QueryTimeout || error instanceof QueriesBusy
  if (!isKnown) return error
  const isWrong = error instanceof DatabaseTrouble && (error.failure === 'changed' || error.failure === 'failed')
  return new TileNotMade(isWrong ? 502 : 503, error.said, { retryAfterSeconds: RETRY_SECONDS })
}

function tileOf({ bytes: body }: MadeTile): Tile {
  const identity = createHash('sha1').update(body).digest('hex')
  // biome-ignore lint/plugin: calendar, for clients
  return { body, format: 'pbf', encoding: 'gzip', identity, modifiedMs: Date.now(), file: null }
}

/** True if a tile with its margin touches a box of degrees. */
function touches({ z, x, y }: TilePlace, [west, south, east, north]: Box): boolean {
  const side = 2 ** z
  const row = (latitude: number) => {
    const sine = Math.sin((Math.max(-85.0511, Math.min(85.0511, latitude)) * Math.PI) / 180)
    return (0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)) * side
  }
  const column = (longitude: number) => ((longitude + 180) / 360) * side
  const margin = 1 / 32
  const inColumns = x + 1 + margin >= column(west) && x - margin <= column(east)
  return inColumns && y + 1 + margin >= row(north) && y - margin <= row(south)
}
