/** What native/hot_table_addon.cc exports; its comments say more. */
export interface HotTableAddon {
  setCapacity(bytes: number): void
  putTile(
    target: string,
    head: string,
    body: Uint8Array,
    code: number,
    needsGzip: boolean,
    notModified: string,
    etag: string,
  ): void
  hasTile(target: string): boolean
  takeUse(target: string): number
  dropTile(target: string): void
  dropCode(code: number): void
  putToken(text: string, expiresAt: number, all: boolean, grants: Uint8Array): void
  dropToken(text: string): void
  putUnknown(text: string): void
  dropUnknown(text: string): void
  setRefusal(why: number, head: string, body: Uint8Array): void
  clear(): void
  trustTokensUntil(time: number): void
  counts(): number[]
  takeUsedTokens(): string[]
}

type Headers = readonly (readonly [name: string, value: string])[]

/** What became of a tile since it was last asked about: the table had to make room, nobody wanted it, or somebody did. */
export type Use = 'gone' | 'unused' | 'used'
/** By the addon's numbers (native/hot_table.h). */
const USES: readonly Use[] = ['gone', 'unused', 'used']

/** Why the table refuses a request by itself. */
export type RefusedFor = 'no token' | 'a malformed token' | 'an unknown token'
/** By the addon's numbers (native/hot_table.h). */
const REFUSED_FOR: readonly RefusedFor[] = ['no token', 'a malformed token', 'an unknown token']

/** A whole answer, but for Content-Length and Date. */
export interface FixedAnswer {
  readonly status: string
  readonly headers: Headers
  readonly body: Uint8Array
}

export interface HotTile {
  /** The path exactly as clients send it, without a query. */
  readonly target: string
  /** Every field of a 200 answer but Content-Length and Date. They must be the same for all callers, CORS fields included. */
  readonly headers: Headers
  /** The strong entity tag, which is also in `headers`, and every field of a 304 answer but Date. Without it conditional requests reach the handler. */
  readonly validator?: { readonly etag: string; readonly headers: Headers }
  readonly body: Uint8Array
  /** The basemap that a token must be granted, and by which the tile is dropped. */
  readonly code: string
  /** The body is gzip (and the headers say so): only for clients that accept that. */
  readonly gzip?: boolean
}

export interface HotCounts {
  /** Requests answered with a tile or 304 since the start: neither the App nor the caller has seen them. */
  readonly answers: number
  /** And those refused. */
  readonly refusals: Readonly<Record<RefusedFor, number>>
  /** Bytes of all their bodies. */
  readonly bodyBytes: number
  readonly tiles: number
  readonly tileBytes: number
  readonly tokens: number
}

/** Limit: basemap codes that are told apart, so that a token's grants stay below 512 bytes. What comes later is not kept here. */
const MAX_CODES = 4096
/** Limit: a larger body gains nothing here and is better sent from its file. */
const MAX_BODY_BYTES = 256 * 1024

/**
 * Tiles in memory that the native tier answers by itself, without calling JavaScript. It answers a GET for exactly the path of a tile,
 * with a token that is in the table, granted and not expired, and that comes in exactly one of the four ways (Authorization: Bearer,
 * X-Access-Token, ?token=, ?access_token=), and an If-None-Match of one entity tag. For whatever has the form of a tile's address
 * (`/tiles/` and four or five parts, nothing encoded) it refuses, once it has been told how, requests without a token, with one whose form or checksum is wrong, and with one that is known to be nobody's. Everything else reaches the route handler as if
 * there were no table: other conditions, ranges, HEAD, several tokens, a query of any other form, `Connection: close`.
 *
 * Every call is synchronous: what has been dropped is not answered from here once the call has returned. The caller
 * - puts only what its own checks would allow at that moment: a token with scope `read` and its grants, a tile of a version that is
 *   available; under an address without version, or with `current`, the tile of the default version;
 * - drops the tiles of a basemap whenever anything about it changes, its default version included, and a token whenever it does;
 * - extends `trustTokensUntil` as long as it hears of changes. Without that call no token is honoured;
 * - adds `counts` to its metrics, and clears the table when it wants to see every request, as when it drains.
 */
export class HotTable {
  readonly #addon: HotTableAddon
  readonly #codes = new Map<string, number>()

  /** `capacityBytes` bounds the memory of all tiles; rarely used ones make room. */
  constructor(addon: HotTableAddon, capacityBytes: number) {
    this.#addon = addon
    addon.setCapacity(capacityBytes)
  }

  putTile({ target, headers, validator, body, code, gzip = false }: HotTile): void {
    const number = this.#numberOf(code)
    if (number === undefined || body.length > MAX_BODY_BYTES) {
      this.#addon.dropTile(target)
      return
    }
    const head = headOf('200 OK', [...headers, ['Content-Length', String(body.length)]])
    const notModified = validator === undefined ? '' : headOf('304 Not Modified', validator.headers)
    this.#addon.putTile(target, head, body, number, gzip, notModified, validator?.etag ?? '')
  }

  /** Whether the tile is still here, or had to make room. */
  hasTile(target: string): boolean {
    return this.#addon.hasTile(target)
  }

  /** Whether the tile is still here, and was answered since the last call for it. */
  takeUse(target: string): Use {
    return USES[this.#addon.takeUse(target)] as Use
  }

  dropTile(target: string): void {
    this.#addon.dropTile(target)
  }

  /** Drops all tiles of a basemap. */
  dropTiles(code: string): void {
    const number = this.#codes.get(code)
    if (number !== undefined) this.#addon.dropCode(number)
  }

  /** `codes`: the basemaps that the token may read. `expiresAt` in milliseconds since 1970; null: never. */
  putToken(token: string, codes: readonly string[] | 'all', expiresAt: number | null): void {
    const numbers = codes === 'all' ? [] : codes.map((code) => this.#numberOf(code))
    const words = new BigUint64Array(Math.ceil((Math.max(-1, ...numbers.map((number) => number ?? -1)) + 1) / 64))
    for (const number of numbers) {
      if (number === undefined) continue
      words[number >> 6] = (words[number >> 6] ?? 0n) | (1n << BigInt(number & 63))
    }
    // 0 stands for never; a token that expired in 1970 has expired by any other time before now.
    const time = expiresAt === null ? 0 : Math.max(1, expiresAt)
    this.#addon.putToken(token, time, codes === 'all', new Uint8Array(words.buffer))
  }

  dropToken(token: string): void {
    this.#addon.dropToken(token)
  }

  /** A token in the right form that is nobody's, until it is dropped. */
  putUnknown(token: string): void {
    this.#addon.putUnknown(token)
  }

  dropUnknown(token: string): void {
    this.#addon.dropUnknown(token)
  }

  /** What to answer then. To be called once; until then such requests reach the handler. */
  setRefusal(why: RefusedFor, { status, headers, body }: FixedAnswer): void {
    const head = headOf(status, [...headers, ['Content-Length', String(body.length)]])
    this.#addon.setRefusal(REFUSED_FOR.indexOf(why), head, body)
  }

  /** Forgets all tiles and tokens. */
  clear(): void {
    this.#addon.clear()
  }

  /** Milliseconds since 1970. */
  trustTokensUntil(time: number): void {
    this.#addon.trustTokensUntil(time)
  }

  counts(): HotCounts {
    const [answers = 0, bodyBytes = 0, tiles = 0, tileBytes = 0, tokens = 0, ...refused] = this.#addon.counts()
    const refusals = Object.fromEntries(REFUSED_FOR.map((why, i) => [why, refused[i] ?? 0])) as HotCounts['refusals']
    return { answers, refusals, bodyBytes, tiles, tileBytes, tokens }
  }

  /** The tokens that something was answered to since the last call, to note when they were last used. */
  takeUsedTokens(): string[] {
    return this.#addon.takeUsedTokens()
  }

  #numberOf(code: string): number | undefined {
    const known = this.#codes.get(code)
    if (known !== undefined || this.#codes.size >= MAX_CODES) return known
    const number = this.#codes.size
    this.#codes.set(code, number)
    return number
  }
}

/** All of an answer's head but its date and end. */
function headOf(status: string, headers: Headers): string {
  return `HTTP/1.1 ${status}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}`
}
