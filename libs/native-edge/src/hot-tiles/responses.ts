export type ResponseHeaders = readonly (readonly [name: string, value: string])[]

/** Reasons for which the table itself refuses a request, in the order of the addon's numbers. */
export const REFUSED_FOR = [
  'no token',
  'a malformed token',
  'an unknown token',
  'no such tile',
  'no such tile, as an image',
  'not granted',
] as const
export type RefusedFor = (typeof REFUSED_FOR)[number]

/** A complete response without Content-Length and Date. */
export interface FixedAnswer {
  readonly status: string
  readonly headers: ResponseHeaders
  readonly body: Uint8Array
}

/** A range of an open file, whose descriptor the table duplicates. The file must be local, because sendfile(2) reads it. */
export interface FileRange {
  readonly fd: number
  readonly offset: number
  /** Greater than 0. */
  readonly length: number
}

/** Grids of sets, in the order of the addon's numbers (native/hot_tiles/token_area.h). The addon leaves tiles of others to the handler if a token has an area. */
export const GRIDS = ['other', 'mercator', 'geographic'] as const
export type Grid = (typeof GRIDS)[number]

/** Returns the tiles of a zoom that touch an area, at most two parts: minimum and maximum of the column, and of the row. */
export type TouchedTiles = (
  grid: Exclude<Grid, 'other'>,
  zoom: number,
) => readonly (readonly [minColumn: number, maxColumn: number, minRow: number, maxRow: number])[]

export interface TileResponse {
  /** The path exactly as clients send it, without a query. */
  readonly target: string
  /** All fields of a 200 response except Content-Length and Date. They must be the same for all callers, CORS fields included. */
  readonly headers: ResponseHeaders
  /**
   * The strong entity tag and the time of Last-Modified in milliseconds since 1970, both also in `headers`, and all fields of a 304 response except
   * Date. Without a validator, conditional requests reach the handler.
   */
  readonly validator?: { readonly etag: string; readonly modifiedMs: number; readonly headers: ResponseHeaders }
  readonly body: Uint8Array | FileRange
  /** The basemap that a token must be granted. `dropTiles` drops the tile by this code. */
  readonly code: string
  /** True if the body is gzip, as the headers say. Clients that do not accept gzip get the response of the handler. */
  readonly gzip?: boolean
  /** Name under which responses with this tile are counted, in addition to the token; see `takeUsage`. Default: they are not counted. */
  readonly usage?: string
  /** Grid of its set. Default: other */
  readonly grid?: Grid
}

/** A response that may be sent again for the same request with the same token. */
export interface DocumentResponse {
  /** Head of the request, as returned by `requestHead`. */
  readonly request: string
  /** Token of the request, which must be in the table. */
  readonly token: string
  /** True if the document counts among the responses of the catalog, false if among those of tiles. */
  readonly isOfCatalog: boolean
  /** Name of the described version or basemap for `takeUsage`; empty if it is not counted. */
  readonly usage: string
  /** All fields except Content-Length and Date. One is an ETag with a strong digest of the body, by which equal responses are stored only once. */
  readonly headers: ResponseHeaders
  readonly body: Uint8Array | FileRange
}

/** Returns the head of a response except its Date and its end. */
export function headOf(status: string, headers: ResponseHeaders): string {
  return `HTTP/1.1 ${status}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}`
}

export function headOfFixed({ status, headers, body }: FixedAnswer): string {
  return headOf(status, [...headers, ['Content-Length', String(body.length)]])
}
