import {
  type AnswerTimes,
  answerTimes,
  type ResponseCounts,
  responseCounts,
  type SampledTile,
  type TakenUsage,
} from './response-counts.js'
import {
  type DocumentResponse,
  type FileRange,
  type FixedAnswer,
  GRIDS,
  type Grid,
  headOf,
  headOfFixed,
  REFUSED_FOR,
  type RefusedFor,
  type TileResponse,
  type TouchedTiles,
} from './responses.js'

/** Exports of native/hot_tiles/response_table_addon.cc, which documents them. */
export interface ResponseTableAddon {
  setCapacity(bytes: number): void
  putTile(
    target: string,
    head: string,
    body: Uint8Array,
    code: number,
    needsGzip: boolean,
    notModified: string,
    etag: string,
    file: number,
    offset: number,
    length: number,
    modified: number,
    usage: string,
    grid: number,
  ): void
  hasTile(target: string): boolean
  isWanted(target: string, bytes: number): boolean
  takeUse(target: string): number
  dropTile(target: string): void
  dropCode(code: number): void
  putToken(
    text: string,
    expiresAt: number,
    all: number,
    grants: Uint8Array,
    usage: string,
    prefix: string,
    isSigned: boolean,
    area: Uint8Array,
  ): number
  dropToken(text: string, isSigned: boolean): void
  putUnknown(text: string): void
  dropUnknown(text: string): void
  setRefusal(why: number, head: string, body: Uint8Array): void
  clear(): void
  putDocument(
    request: string,
    token: string,
    isOfCatalog: boolean,
    usage: string,
    head: string,
    body: Uint8Array,
    file: number,
    offset: number,
    length: number,
  ): void
  requestHead(): string
  clearDocuments(): void
  trustTokensUntil(time: number): void
  seeTokensEvery(ms: number): void
  counts(): number[]
  answerTimes(): number[]
  pickEvery(requests: number): void
  picked(): boolean
  takeUsage(): [names: string, amounts: ArrayBuffer]
  limitPairs(most: number): void
  sampleTiles(exact: number, every: number, seed: number): void
  takeTiles(): [names: string, numbers: Uint32Array]
  takeUsedTokens(): Uint32Array
}

/**
 * State of a tile since the last call for it: evicted, not used, or used. The order is that of the addon's numbers
 * (native/hot_tiles/response_table.h).
 */
const USES = ['gone', 'unused', 'used'] as const
export type Use = (typeof USES)[number]

const NOTHING = new Uint8Array(0)
const NO_RANGE: FileRange = { fd: -1, offset: 0, length: 0 }

/** Offset in ms of the addon's monotonic clock, which it reads directly. `performance.now()` counts from the start of this process. */
export const NATIVE_CLOCK_OFFSET = Number(process.hrtime.bigint()) / 1e6 - performance.now()
/** Maximum delay in ms of the addon's coarse clock: one tick of the kernel's timer, which ticks at least 100 times a second. */
const NATIVE_CLOCK_LATE_MS = 10

/** Limit: number of basemaps and of vectors, so that a token's grants stay within 1 KiB. Tiles of further ones are not kept here. */
const MAX_CODES = 4096
/** Beginning of a code that means a vector; other codes are those of basemaps. Each kind has its own grants. */
export const VECTOR_CODES = '/vectors/'
/** Limit: bytes of a body in memory. A larger body gains nothing here and is better sent from its file. */
const MAX_BODY_BYTES = 256 * 1024

type Codes = readonly string[] | 'all'

/**
 * The native tier's table of responses: tiles, the tokens that may read them, and refusals. Small tiles are in memory. Large tiles are sent from
 * their open files, of which there are at most 16,384 and at most a quarter of the process's descriptors. If the kernel does not have such a file in
 * memory, the handler sends the tile.
 *
 * The table answers a GET or HEAD for exactly the path of a tile with one token of the table that is granted and not expired. The token may be in any
 * of its places (Authorization: Bearer, Basic with the token as password, X-Access-Token, token= or access_token= in the query with any other
 * parameters), or in several if they agree. The table handles If-None-Match, If-Modified-Since with a date in the form of Last-Modified,
 * Accept-Encoding and `Connection: close`; Range has no meaning for tiles.
 *
 * After `setRefusal` was called, the table refuses requests for any path in the form of a tile's address (`/tiles/` and four or five parts, nothing
 * encoded) without a token, with a malformed one, or with one that is known to be unknown. It does not refuse requests with Basic credentials. All
 * other requests reach the route handler: other conditions, different tokens, an encoded name in the query, a gzip tile for a client that does not
 * accept gzip.
 *
 * Every call is synchronous: a dropped entry is not sent any more once the call has returned. The caller
 * - puts only entries that its own checks would allow at that moment: a token with scope `read` and its grants, a tile of a version that is
 *   available, and the tile of the default version under an address without version or with `current`;
 * - drops the tiles of a basemap whenever its tiles or its default version change, and a token whenever it changes;
 * - bounds the number of tokens;
 * - extends `trustTokensUntil` as long as it receives invalidations. Without that call no token is honoured;
 * - adds `counts` to its metrics, and clears the table when it needs to see every request, for example to drain.
 */
export class ResponseTable {
  readonly #addon: ResponseTableAddon
  readonly #codes = new Map<string, number>()
  /** Number of codes, of basemaps and of vectors. */
  readonly #amounts: [basemaps: number, vectors: number] = [0, 0]

  /** Limit: bytes of all tiles; rarely used tiles are evicted. */
  readonly capacityBytes: number

  constructor(addon: ResponseTableAddon, capacityBytes: number) {
    this.#addon = addon
    this.capacityBytes = capacityBytes
    addon.setCapacity(capacityBytes)
  }

  putTile({ target, headers, validator, body, code, gzip = false, usage = '', grid = 'other' }: TileResponse): void {
    const number = this.numberOf(code)
    const inMemory = body instanceof Uint8Array
    if (number === undefined || (inMemory && body.length > MAX_BODY_BYTES)) {
      this.#addon.dropTile(target)
      return
    }
    const head = headOf('200 OK', [...headers, ['Content-Length', String(body.length)]])
    const notModified = validator === undefined ? '' : headOf('304 Not Modified', validator.headers)
    const bytes = inMemory ? body : NOTHING
    const { fd, offset, length } = inMemory ? NO_RANGE : body
    const { etag = '', modifiedMs = 0 } = validator ?? {}
    const modified = Math.floor(modifiedMs / 1000)
    const [file, gridNumber] = [[fd, offset, length] as const, GRIDS.indexOf(grid)]
    this.#addon.putTile(target, head, bytes, number, gzip, notModified, etag, ...file, modified, usage, gridNumber)
  }

  /** False if the tile was evicted, or if its file must be checked again. */
  hasTile(target: string): boolean {
    return this.#addon.hasTile(target)
  }

  /**
   * True if a tile of this size, which cannot be read natively, should be put: there is room, or it is requested more often than the tile it would
   * evict.
   */
  isWanted(target: string, bytes: number): boolean {
    return this.#addon.isWanted(target, bytes)
  }

  /** Returns whether the tile is still here, and whether it was sent since the last call for it. */
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

  /**
   * `basemaps` and `vectors` are the codes of those that the token may read; those of vectors begin with `VECTOR_CODES`. `expiresAt` is in milliseconds since 1970; null means never. `usage` is the name under which
   * its requests are counted for `takeUsage`; empty means not counted. `area` limits the tiles to those that touch it; null means everywhere. Returns
   * the token's number, a small one that is reused after the token is dropped.
   */
  putToken(
    token: string,
    { basemaps, vectors }: { readonly basemaps: Codes; readonly vectors: Codes },
    expiresAt: number | null,
    usage = '',
    area: TouchedTiles | null = null,
  ): number {
    const codes = [basemaps, vectors]
    return this.#putCredential(token, codes, expiresAt, usage, '', false, area === null ? NOTHING : limitsOf(area))
  }

  /**
   * Like `putToken`, for a signed URL. `text` is `exp=...&sig=...` as in the query, which counts only if the request has no token. The same text
   * anywhere else is not accepted as a token. `prefix` is the prefix of the paths that it may read, as in the request line; empty means all.
   */
  putSignature(text: string, code: string, expiresAt: number, prefix: string, usage = ''): number {
    return this.#putCredential(text, [[code]], expiresAt, usage, prefix, true, NOTHING)
  }

  #putCredential(
    text: string,
    codes: readonly Codes[],
    expiresAt: number | null,
    usage: string,
    prefix: string,
    isSigned: boolean,
    area: Uint8Array,
  ): number {
    const numbers = codes.flatMap((some) => (some === 'all' ? [] : some.map((code) => this.numberOf(code))))
    const all = codes.reduce((bits, some, kind) => bits | (some === 'all' ? 1 << kind : 0), 0)
    const words = new BigUint64Array(Math.ceil((Math.max(-1, ...numbers.map((number) => number ?? -1)) + 1) / 64))
    for (const number of numbers) {
      if (number === undefined) continue
      words[number >> 6] = (words[number >> 6] ?? 0n) | (1n << BigInt(number & 63))
    }
    // The table reads 0 as "never expires", so a token that expired at 0 gets another time in the past.
    const time = expiresAt === null ? 0 : Math.max(1, expiresAt)
    return this.#addon.putToken(text, time, all, new Uint8Array(words.buffer), usage, prefix, isSigned, area)
  }

  dropToken(token: string): void {
    this.#addon.dropToken(token, false)
  }

  dropSignature(text: string): void {
    this.#addon.dropToken(text, true)
  }

  /** Puts a well-formed token that the store does not know. It stays until it is dropped. */
  putUnknown(token: string): void {
    this.#addon.putUnknown(token)
  }

  dropUnknown(token: string): void {
    this.#addon.dropUnknown(token)
  }

  /** Sets the response to requests that are refused for this reason. Until this is called they reach the handler. */
  setRefusal(why: RefusedFor, answer: FixedAnswer): void {
    this.#addon.setRefusal(REFUSED_FOR.indexOf(why), headOfFixed(answer), answer.body)
  }

  /**
   * Raw head of the request for which the handler was called; empty if its response cannot be put as a document. Valid only until the handler
   * returns.
   */
  get requestHead(): string {
    return this.#addon.requestHead()
  }

  /**
   * Sends this response to the same request, byte for byte, until its token is dropped, even if the token is put again. Limits: 4,096 requests with
   * heads of at most 2,048 bytes, 64 MiB of different bodies, and 64 bodies in files; the oldest are evicted.
   */
  putDocument({ request, token, isOfCatalog, usage, headers, body }: DocumentResponse): void {
    const head = headOf('200 OK', [...headers, ['Content-Length', String(body.length)]])
    const [bytes, { fd, offset, length }] = body instanceof Uint8Array ? [body, NO_RANGE] : [NOTHING, body]
    this.#addon.putDocument(request, token, isOfCatalog, usage, head, bytes, fd, offset, length)
  }

  /** Must be called before any caller can see a new state of the catalog, in which a document may differ. */
  clearDocuments(): void {
    this.#addon.clearDocuments()
  }

  /** Drops all tiles, documents and tokens. */
  clear(): void {
    this.#addon.clear()
  }

  /** `time` is in milliseconds of this process's `performance.now()`. */
  trustTokensUntil(time: number): void {
    this.#addon.trustTokensUntil(
      Math.trunc(Math.min(time + NATIVE_CLOCK_OFFSET - NATIVE_CLOCK_LATE_MS, Number.MAX_SAFE_INTEGER)),
    )
  }

  counts(): ResponseCounts {
    return responseCounts(this.#addon.counts())
  }

  /** Returns the times until the first bytes of a response were handed to the socket, by the tile's storage, for refusals, and for documents. */
  answerTimes(): AnswerTimes {
    return answerTimes(this.#addon.answerTimes())
  }

  /**
   * Leaves a request of each token to the handler when `ms` milliseconds have passed since the handler last saw one, so that it learns the callers'
   * addresses. 0 disables this. At most 50 a second, so with many thousands of tokens each is seen less often.
   */
  seeTokensEvery(ms: number): void {
    this.#addon.seeTokensEvery(ms)
  }

  /** Leaves one request in this many to the handler, even if the table could answer it, so that the handler can log it. 0 disables this. */
  pickEvery(requests: number): void {
    this.#addon.pickEvery(requests)
  }

  /** True if the request for which the handler was called was left to it by `pickEvery`. */
  get picked(): boolean {
    return this.#addon.picked()
  }

  /** Returns the numbers of the tokens that got a response since the last call, so that the caller can record when they were last used. */
  takeUsedTokens(): Uint32Array {
    return this.#addon.takeUsedTokens()
  }

  /**
   * Returns the counts since the last call, of all names that counted something, including dropped entries and responses still being sent after the
   * drop. Names contain no NUL.
   */
  takeUsage(): TakenUsage {
    const [names, amounts] = this.#addon.takeUsage()
    return { names, amounts: new Float64Array(amounts) }
  }

  /**
   * Counts each later request for its token and version together, in at most `most` pairs at a time. Requests of further pairs are counted separately
   * for the token and for the version. Default: 0
   */
  limitPairs(most: number): void {
    this.#addon.limitPairs(most)
  }

  /**
   * Keeps later responses for tiles for `takeTiles`. Between two calls of `takeTiles` these are all of the first `exact` responses with a tile and of
   * the first `exact` without one. Each further response is kept with a probability of one in `every` and represents that many; 0 keeps none.
   */
  sampleTiles({ exact, every, seed }: { exact: number; every: number; seed: number }): void {
    this.#addon.sampleTiles(exact, every, seed)
  }

  /** Returns the responses that were sampled since the last call. */
  takeTiles(): SampledTile[] {
    const [text, numbers] = this.#addon.takeTiles()
    const names = text.split('\0')
    return Array.from({ length: numbers.length / 6 }, (_, i) => {
      const [name = 0, z = 0, x = 0, y = 0, weight = 0, missing = 0] = numbers.subarray(6 * i, 6 * i + 6)
      return { name: names[name] as string, z, x, y, weight, missing: missing === 1 }
    })
  }

  /** Returns the number of a basemap or vector, or undefined if there are too many. The lowest bit tells the kind (`kind_of` of the addon). */
  numberOf(code: string): number | undefined {
    const known = this.#codes.get(code)
    const kind = code.startsWith(VECTOR_CODES) ? 1 : 0
    if (known !== undefined || this.#amounts[kind] >= MAX_CODES) return known
    const number = 2 * this.#amounts[kind]++ + kind
    this.#codes.set(code, number)
    return number
  }
}

/** Zooms of a quadtree, as in native/cold_tiles/tile_address.h. */
const ZOOMS = 31
const PARTS = 2
/** Limits that no tile has. */
const NO_TILES = [1, 0, 1, 0] as const

/** Returns the limits of an area in the form that native/hot_tiles/token_area.h describes. */
function limitsOf(touched: TouchedTiles): Uint8Array {
  const numbers: number[] = []
  for (const grid of GRIDS.slice(1) as Exclude<Grid, 'other'>[])
    for (let zoom = 0; zoom < ZOOMS; zoom++) {
      const parts = touched(grid, zoom)
      for (let part = 0; part < PARTS; part++) numbers.push(...(parts[part] ?? NO_TILES))
    }
  return new Uint8Array(Uint32Array.from(numbers).buffer)
}
