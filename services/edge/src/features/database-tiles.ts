import { createHash } from 'node:crypto'
import type { DatabaseRelation } from '@gateway/contracts/postgis.js'
import type { Source, Tile, TilePlace } from '@gateway/tilesets/source.js'
import { type Databases, DatabaseTrouble } from '@gateway/vectors/postgis/databases.js'
import { QueriesBusy, QueryTimeout } from '@gateway/vectors/query/query-processes.js'
import { LRUCache } from 'lru-cache'

type Box = readonly [number, number, number, number]

/** Limits of tiles that are kept in memory: bytes of all, and the time in ms for which one is sent if its database does not respond. */
const MAX_KEPT_BYTES = 64 * 2 ** 20
const MAX_STALE_MS = 24 * 3_600_000
/** Bytes that a tile occupies in addition to its content. */
const OVERHEAD_BYTES = 500
/** Interval in ms at which a tile that is being made is given up if nobody wants it. */
const LOOK_AGAIN_MS = 200

interface Kept {
  readonly relation: string
  readonly place: TilePlace
  readonly tile: Tile | null
  goodUntilMs: number
  readonly oldAtMs: number
}

export interface TileOf {
  readonly relation: DatabaseRelation
  /** code of the vector, which its layer is named after */
  readonly code: string
  /** identifies the content, so that tiles of another one are not sent */
  readonly content: string
  readonly fields: readonly string[] | null
}

/** What the tiles of a request depend on, apart from their place. */
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

/** The tiles that databases make, each kept for the time of its table. */
export class DatabaseTiles {
  readonly #databases: Databases
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: ({ tile }) => OVERHEAD_BYTES + (tile?.body instanceof Uint8Array ? tile.body.length : 0),
  })

  constructor(databases: Databases) {
    this.#databases = databases
  }

  /** Makes the kept tiles of a table stale, in a box of degrees or (null) all. */
  changed(source: string, table: string, box: Box | null): void {
    for (const kept of this.#kept.values())
      if (kept.relation === `${source} ${table}` && (box === null || touches(kept.place, box))) kept.goodUntilMs = 0
  }

  source(of: TileOf): Source {
    return {
      tile: (place, isWanted) => this.#tile(of, place, isWanted),
      tileIfCached: (place) => this.#known(of, place),
      close: () => {},
    }
  }

  #known(of: TileOf, place: TilePlace): Tile | null | undefined {
    const kept = this.#kept.get(keyOf(of, place))
    return kept !== undefined && performance.now() < kept.goodUntilMs ? kept.tile : undefined
  }

  async #tile(of: TileOf, place: TilePlace, isWanted: () => boolean = () => true): Promise<Tile | null> {
    const known = this.#known(of, place)
    if (known !== undefined) return known
    const { relation, code, fields } = of
    const { token, query } = JSON.parse(place.variant ?? '{"token":"","query":"{}"}') as Variant
    const gone = new AbortController()
    const timer = setInterval(() => !isWanted() && gone.abort(), LOOK_AGAIN_MS)
    const begunMs = performance.now()
    try {
      const { z, x, y } = place
      const asked = { relation, wish: { z, x, y, layer: code, fields }, query }
      const { bytes, leftOut } = await this.#databases.tile(asked, token, gone.signal)
      const tile = bytes === null ? null : madeTile(bytes, leftOut)
      this.#keep(of, place, tile, begunMs)
      return tile
    } catch (error) {
      const stale = this.#stale(of, place, error)
      if (stale === undefined) throw error
      return stale
    } finally {
      clearInterval(timer)
    }
  }

  #keep(of: TileOf, place: TilePlace, tile: Tile | null, begunMs: number): void {
    const { relation } = of
    if (relation.isPersonal) return
    const name = relation.what === 'table' ? relation.table : relation.function
    this.#kept.set(keyOf(of, place), {
      ...{ relation: `${relation.source} ${name}`, place, tile, oldAtMs: begunMs + MAX_STALE_MS },
      goodUntilMs: begunMs + relation.ttlSeconds * 1000,
    })
  }

  /** Returns the last tile if its database cannot make it now. */
  #stale(of: TileOf, place: TilePlace, error: unknown): Tile | null | undefined {
    const isAway = error instanceof DatabaseTrouble && error.failure === 'away'
    if (!isAway && !(error instanceof QueryTimeout) && !(error instanceof QueriesBusy)) return undefined
    const kept = this.#kept.get(keyOf(of, place))
    if (kept === undefined || performance.now() > kept.oldAtMs) return undefined
    return kept.tile && { ...kept.tile, made: { isStale: true, leftOut: kept.tile.made?.leftOut ?? 0 } }
  }
}

function madeTile(body: Uint8Array, leftOut: number): Tile {
  const identity = createHash('sha1').update(body).digest('hex')
  // biome-ignore lint/plugin: calendar, for clients
  const modifiedMs = Date.now()
  return { body, format: 'pbf', encoding: 'gzip', identity, modifiedMs, file: null, made: { isStale: false, leftOut } }
}

function keyOf({ content }: TileOf, { z, x, y, variant = '' }: TilePlace): string {
  return `${content} ${z}/${x}/${y} ${variant}`
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
