/** What native/hot_tiles/response_table_addon.cc exports; see there. */
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
  ): void
  hasTile(target: string): boolean
  isWanted(target: string, bytes: number): boolean
  takeUse(target: string): number
  dropTile(target: string): void
  dropCode(code: number): void
  putToken(
    text: string,
    expiresAt: number,
    all: boolean,
    grants: Uint8Array,
    usage: string,
    prefix: string,
    isSigned: boolean,
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
  documentCount(): number
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

export type ResponseHeaders = readonly (readonly [name: string, value: string])[]

/** Since the last call for the tile: it was evicted, not used, or used. By the addon's numbers (native/hot_tiles/response_table.h). */
const USES = ['gone', 'unused', 'used'] as const
export type Use = (typeof USES)[number]

/** Why the table refuses a request by itself, by the addon's numbers. */
const REFUSED_FOR = [
  'no token',
  'a malformed token',
  'an unknown token',
  'no such tile',
  'no such tile, as an image',
  'not granted',
] as const
export type RefusedFor = (typeof REFUSED_FOR)[number]

/** A whole answer, but for Content-Length and Date. */
export interface FixedAnswer {
  readonly status: string
  readonly headers: ResponseHeaders
  readonly body: Uint8Array
}

/** A part of an open file, whose descriptor the table duplicates. Of a file on this machine alone: sendfile(2) reads it. */
export interface FileRange {
  readonly fd: number
  readonly offset: number
  /** above 0 */
  readonly length: number
}

export interface TileResponse {
  /** The path exactly as clients send it, without a query. */
  readonly target: string
  /** Every field of a 200 answer but Content-Length and Date. They must be the same for all callers, CORS fields included. */
  readonly headers: ResponseHeaders
  /**
   * The strong entity tag and the time in Last-Modified, in milliseconds since 1970, which are also in `headers`, and every field of a 304 answer
   * but Date. Without it conditional requests reach the handler.
   */
  readonly validator?: { readonly etag: string; readonly modifiedMs: number; readonly headers: ResponseHeaders }
  readonly body: Uint8Array | FileRange
  /** The basemap that a token must be granted, and by which the tile is dropped. */
  readonly code: string
  /** The body is gzip (and the headers say so): only for clients that accept that. */
  readonly gzip?: boolean
  /** what answers with it are counted for next to the token, by a name of the caller's: see `takeUsage`. Default: nothing */
  readonly usage?: string
}

/** An answer to a request that may be given again to the same request of the same token. */
export interface DocumentResponse {
  /** the head of the request, by `requestHead` */
  readonly request: string
  /** its token, which must be in the table */
  readonly token: string
  /** whether it counts among the answers of the catalog; else among those of tiles */
  readonly isOfCatalog: boolean
  /** what it describes, by its name for `takeUsage`; empty: nothing that is counted */
  readonly usage: string
  /** every field but Content-Length and Date; a strong digest of the body is among them, as the entity tag, by which equal answers are kept once */
  readonly headers: ResponseHeaders
  readonly body: Uint8Array | FileRange
}

/** What was answered for tokens and versions since their usage was last taken. */
export interface TakenUsage {
  /**
   * each with NUL behind it; a name holds none, since a path cannot. Of a pair, that of the token, a space, and that of the version: such requests
   * are in neither name by itself
   */
  readonly names: string
  /**
   * five of each name: requests; of these, those answered with a tile or 304; with that there is no such tile; refused; and the bytes of all bodies,
   * as far as they were sent
   */
  readonly amounts: Float64Array
}

/** Answers for tiles that one of them, which was sampled, stands for. */
export interface SampledTile {
  /** under which the version's usage is counted, as it was given by `TileResponse.usage` */
  readonly name: string
  readonly z: number
  readonly x: number
  readonly y: number
  /** how many */
  readonly weight: number
  /** that there is no such tile */
  readonly missing: boolean
}

export interface ResponseCounts {
  /** Requests answered with a tile or 304 since the start, which the App has not seen. */
  readonly answers: number
  /** Of these: tiles, and their 304, that were read from their folder or archive. */
  readonly cold: number
  /** Of `answers`: 304. */
  readonly notModified: number
  /** Documents, which are in none of the above: those that count among the answers of tiles, and of the catalog. */
  readonly tileDocuments: number
  readonly catalogDocuments: number
  /** And those refused. */
  readonly refusals: Readonly<Record<RefusedFor, number>>
  /** Bytes of all their bodies. */
  readonly bodyBytes: number
  readonly tiles: number
  readonly tileBytes: number
  /** Tiles that had to make room for others. */
  readonly evictions: number
  readonly tokens: number
  /** Bodies that were cut because their file ended early, and because the client took nothing for too long. */
  readonly truncated: number
  readonly stalled: number
}

/** One answer in so many is timed. */
export const TIMED_EVERY = 64

/** Timed answers since the start. */
export interface TimedAnswers {
  /** of all of them */
  readonly seconds: number
  /** by ANSWER_TIME_BOUNDS of the contracts; the last number counts those beyond */
  readonly counts: readonly number[]
}

export interface AnswerTimes {
  readonly memory: TimedAnswers
  readonly pageCache: TimedAnswers
  readonly refused: TimedAnswers
  readonly tileDocuments: TimedAnswers
  readonly catalogDocuments: TimedAnswers
}

const NOTHING = new Uint8Array(0)
const NO_RANGE: FileRange = { fd: -1, offset: 0, length: 0 }

/** The addon reads the monotonic clock as it is; `performance.now()` counts from this process's start. */
export const NATIVE_CLOCK_OFFSET = Number(process.hrtime.bigint()) / 1e6 - performance.now()
/** The most by which its coarse clock is late: a tick of the kernel's timer, 100 a second where that is slowest. */
const NATIVE_CLOCK_LATE_MS = 10

/** Limit: basemap codes, so that a token's grants stay below 512 bytes. Tiles of further ones are not kept here. */
const MAX_CODES = 4096
/** Limit: a larger body gains nothing here and is better sent from its file. */
const MAX_BODY_BYTES = 256 * 1024

/**
 * The native tier's table of answers: tiles, the tokens that may read them, and refusals. Small tiles are in memory; large ones are sent from
 * their open file, of which there are at most 512, and what the kernel does not have in memory of one is left to the handler. It answers a GET
 * or HEAD for exactly the path of a tile, with one token of the table that is granted and not expired, in any of its places (Authorization:
 * Bearer, Basic with the token as password, X-Access-Token, token= or access_token= in the query, whatever else is in it), whether the same
 * stands in one of them or in several. It knows If-None-Match, If-Modified-Since with a date in the form of Last-Modified, Accept-Encoding and
 * `Connection: close`; Range has no meaning for tiles. For any path that has the form of a tile's address (`/tiles/` and four or five parts,
 * nothing encoded) it refuses requests without a token, with a malformed one, and with one that is known to be unknown, once `setRefusal` was
 * called; but not who sent Basic credentials. All other requests reach the route handler: other conditions, different tokens, an encoded name in
 * the query, a packed tile for a client that does not accept gzip.
 *
 * Every call is synchronous: what has been dropped is not sent any more once the call has returned. The caller
 * - puts only what its own checks would allow at that moment: a token with scope `read` and its grants, a tile of a version that is
 *   available; under an address without version, or with `current`, the tile of the default version;
 * - drops the tiles of a basemap whenever its tiles change, its default version included, and a token whenever it does;
 * - bounds the number of tokens;
 * - extends `trustTokensUntil` as long as it receives invalidations. Without that call no token is honoured;
 * - adds `counts` to its metrics, and clears the table when it wants to see every request, as when it drains.
 */
export class ResponseTable {
  readonly #addon: ResponseTableAddon
  readonly #codes = new Map<string, number>()

  /** Limit: memory of all tiles; rarely used ones make room. */
  readonly capacityBytes: number

  constructor(addon: ResponseTableAddon, capacityBytes: number) {
    this.#addon = addon
    this.capacityBytes = capacityBytes
    addon.setCapacity(capacityBytes)
  }

  putTile({ target, headers, validator, body, code, gzip = false, usage = '' }: TileResponse): void {
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
    this.#addon.putTile(target, head, bytes, number, gzip, notModified, etag, fd, offset, length, modified, usage)
  }

  /** Whether the tile is still here, or had to make room, or its file must be looked at again. */
  hasTile(target: string): boolean {
    return this.#addon.hasTile(target)
  }

  /** Whether a tile of so many bytes, which cannot be read natively, is worth a place: there is room, or it is asked for more often than what would make it. */
  isWanted(target: string, bytes: number): boolean {
    return this.#addon.isWanted(target, bytes)
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

  /**
   * `codes`: the basemaps that the token may read. `expiresAt` in milliseconds since 1970; null: never. Answers the token's number: a small one,
   * which may be another's once the token is dropped. `usage`: the name under which its requests are counted, for `takeUsage`; empty: under none.
   */
  putToken(token: string, codes: readonly string[] | 'all', expiresAt: number | null, usage = ''): number {
    return this.#putCredential(token, codes, expiresAt, usage, '', false)
  }

  /**
   * As `putToken`, of a signed address: `exp=...&sig=...`, as it stands in the query, where no token comes with it. It is no token: nothing else
   * that holds the same text counts. `prefix`: of the paths that it may read, as they stand in the request line; empty: all.
   */
  putSignature(text: string, code: string, expiresAt: number, prefix: string, usage = ''): number {
    return this.#putCredential(text, [code], expiresAt, usage, prefix, true)
  }

  #putCredential(
    text: string,
    codes: readonly string[] | 'all',
    expiresAt: number | null,
    usage: string,
    prefix: string,
    isSigned: boolean,
  ): number {
    const numbers = codes === 'all' ? [] : codes.map((code) => this.numberOf(code))
    const words = new BigUint64Array(Math.ceil((Math.max(-1, ...numbers.map((number) => number ?? -1)) + 1) / 64))
    for (const number of numbers) {
      if (number === undefined) continue
      words[number >> 6] = (words[number >> 6] ?? 0n) | (1n << BigInt(number & 63))
    }
    // 0 stands for never; a token that expired in 1970 has expired by any other time before now.
    const time = expiresAt === null ? 0 : Math.max(1, expiresAt)
    return this.#addon.putToken(text, time, codes === 'all', new Uint8Array(words.buffer), usage, prefix, isSigned)
  }

  dropToken(token: string): void {
    this.#addon.dropToken(token, false)
  }

  dropSignature(text: string): void {
    this.#addon.dropToken(text, true)
  }

  /** A well-formed token that the store does not know, until it is dropped. */
  putUnknown(token: string): void {
    this.#addon.putUnknown(token)
  }

  dropUnknown(token: string): void {
    this.#addon.dropUnknown(token)
  }

  /** The answer to such requests. Until this is called they reach the handler. */
  setRefusal(why: RefusedFor, answer: FixedAnswer): void {
    this.#addon.setRefusal(REFUSED_FOR.indexOf(why), headOfFixed(answer), answer.body)
  }

  /**
   * The head of the request that the handler was just called for, as it came; empty: its answer cannot be put as a document. Only before the handler
   * returns.
   */
  get requestHead(): string {
    return this.#addon.requestHead()
  }

  /**
   * Gives this answer to the same request, byte for byte, as long as its token stays in the table: until it is dropped, even if it is put again.
   * Limits: 4,096 requests with heads of at most 2,048 bytes, 64 MiB of different bodies, and 64 of them in files; the oldest leave.
   */
  putDocument({ request, token, isOfCatalog, usage, headers, body }: DocumentResponse): void {
    const head = headOf('200 OK', [...headers, ['Content-Length', String(body.length)]])
    const [bytes, { fd, offset, length }] = body instanceof Uint8Array ? [body, NO_RANGE] : [NOTHING, body]
    this.#addon.putDocument(request, token, isOfCatalog, usage, head, bytes, fd, offset, length)
  }

  /** To be called before anyone sees a state of the catalog in which a document may differ. */
  clearDocuments(): void {
    this.#addon.clearDocuments()
  }

  get documentCount(): number {
    return this.#addon.documentCount()
  }

  /** Forgets all tiles, documents and tokens. */
  clear(): void {
    this.#addon.clear()
  }

  /** Milliseconds of this process's `performance.now()`. */
  trustTokensUntil(time: number): void {
    this.#addon.trustTokensUntil(
      Math.trunc(Math.min(time + NATIVE_CLOCK_OFFSET - NATIVE_CLOCK_LATE_MS, Number.MAX_SAFE_INTEGER)),
    )
  }

  counts(): ResponseCounts {
    const [answers = 0, bodyBytes = 0, tiles = 0, tileBytes = 0, tokens = 0, ...more] = this.#addon.counts()
    const [truncated = 0, stalled = 0, cold = 0, notModified = 0, evictions = 0, ...documents] = more
    const [tileDocuments = 0, catalogDocuments = 0, ...refused] = documents
    const refusals = Object.fromEntries(
      REFUSED_FOR.map((why, i) => [why, refused[i] ?? 0]),
    ) as ResponseCounts['refusals']
    return {
      answers,
      cold,
      notModified,
      tileDocuments,
      catalogDocuments,
      refusals,
      bodyBytes,
      tiles,
      tileBytes,
      evictions,
      tokens,
      truncated,
      stalled,
    }
  }

  /** How long answers took, until their first bytes were handed to the socket: by where the tile was, those with 404 or 401, and documents. */
  answerTimes(): AnswerTimes {
    const numbers = this.#addon.answerTimes()
    const size = numbers.length / 5
    const timed = (from: number): TimedAnswers => {
      const [seconds = 0, ...counts] = numbers.slice(from * size, (from + 1) * size)
      return { seconds, counts }
    }
    return {
      memory: timed(0),
      pageCache: timed(1),
      refused: timed(2),
      tileDocuments: timed(3),
      catalogDocuments: timed(4),
    }
  }

  /**
   * Leaves a request of each token to the handler after so many milliseconds without one, so that it knows where they come from; 0: none. Not more than 50 a
   * second, so that of many thousands it sees each less often.
   */
  seeTokensEvery(ms: number): void {
    this.#addon.seeTokensEvery(ms)
  }

  /** Leaves one request in so many to the handler, whatever the table has; 0: none. So that it can log them. */
  pickEvery(requests: number): void {
    this.#addon.pickEvery(requests)
  }

  /** Whether the request that the handler was just called for is one of those. */
  get picked(): boolean {
    return this.#addon.picked()
  }

  /** The numbers of the tokens that something was answered to since the last call, to note when they were last used. */
  takeUsedTokens(): Uint32Array {
    return this.#addon.takeUsedTokens()
  }

  /**
   * What was counted since the last call, of all names with something to tell; also what was dropped meanwhile, and what went on after that. Names
   * hold no NUL.
   */
  takeUsage(): TakenUsage {
    const [names, amounts] = this.#addon.takeUsage()
    return { names, amounts: new Float64Array(amounts) }
  }

  /**
   * From now on a request is counted for its token and version together, in at most so many pairs at a time; those of further pairs are counted for
   * the token and for the version, each by itself. Default: 0
   */
  limitPairs(most: number): void {
    this.#addon.limitPairs(most)
  }

  /**
   * From now on answers for tiles are kept for `takeTiles`: between two calls of it the first `exact` that have a tile, and the first that have none, all of
   * them; of further ones each with a probability of one in `every` (0: none), for so many.
   */
  sampleTiles({ exact, every, seed }: { exact: number; every: number; seed: number }): void {
    this.#addon.sampleTiles(exact, every, seed)
  }

  /** What was sampled since the last call. */
  takeTiles(): SampledTile[] {
    const [text, numbers] = this.#addon.takeTiles()
    const names = text.split('\0')
    return Array.from({ length: numbers.length / 6 }, (_, i) => {
      const [name = 0, z = 0, x = 0, y = 0, weight = 0, missing = 0] = numbers.subarray(6 * i, 6 * i + 6)
      return { name: names[name] as string, z, x, y, weight, missing: missing === 1 }
    })
  }

  /** Of a basemap; undefined: there are too many. */
  numberOf(code: string): number | undefined {
    const known = this.#codes.get(code)
    if (known !== undefined || this.#codes.size >= MAX_CODES) return known
    const number = this.#codes.size
    this.#codes.set(code, number)
    return number
  }
}

/** All of an answer's head but its date and end. */
export function headOf(status: string, headers: ResponseHeaders): string {
  return `HTTP/1.1 ${status}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}`
}

export function headOfFixed({ status, headers, body }: FixedAnswer): string {
  return headOf(status, [...headers, ['Content-Length', String(body.length)]])
}
