import path from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Bounds } from '@gateway/contracts/basemap.js'
import { type Refusal, refuse } from '@gateway/contracts/errors.js'
import { coded, type MessageCode } from '@gateway/contracts/messages.js'
import { isGranted } from '@gateway/core/access/decide.js'
import type { HttpRequest, HttpResponse } from '@gateway/native-edge/uws/uws.js'
import { DatabaseTrouble } from '@gateway/vectors/postgis/databases.js'
import { GEOMETRY_NAME } from '@gateway/vectors/query/cql2/compile.js'
import type { Expression } from '@gateway/vectors/query/cql2/expression.js'
import { GZIP_HEAD, GZIP_LEVEL, GzipParts, NO_TEXT } from '@gateway/vectors/query/gzip-parts.js'
import type { Chunk, ItemsQuery, TextSum } from '@gateway/vectors/query/items-query.js'
import {
  checkDocumentParameters,
  cursorOf,
  ITEM_TYPES,
  parseItemQuery,
  parseItemsQuery,
  type QueriedIndex,
  QueryError,
  ReplacedError,
} from '@gateway/vectors/query/parameters.js'
import { IndexMissing, QueriesBusy, QueryTimeout } from '@gateway/vectors/query/query-processes.js'
import { CORS, type Header, headerBlock } from '../answers/header-block.js'
import { areaTag } from '../catalog/grant-key.js'
import type { Edge } from '../edge.js'
import type { FoundIndex, NotMade } from '../features/vector-features.js'
import { acceptsGzip } from '../files/accepts-gzip.js'
import { NotSpooled, SpooledBody } from '../files/spooled-body.js'
import {
  featureSchema,
  featuresPath,
  functionQueryables,
  queryables,
  vectorWithin,
} from '../standards/features-documents.js'
import { type Addresses, addressFormsOf } from '../standards/layer.js'
import { type CatalogVector, relationOf } from '../sync/catalog.js'
import { isStorageTrouble } from '../tiles/read-troubles.js'
import { answerCondition } from './answer-condition.js'
import { type Ask, admit } from './authorize.js'
import { OUTSIDE_AREA } from './authorize-signed.js'
import { answerDocument } from './document.js'
import { noVector, shownName } from './missing-reasons.js'
import { answerRefusal, INTERNAL, NOT_FOUND, STORAGE_DOWN } from './refusals.js'
import { guarded, RequestContext } from './request-context.js'
import { mayGoOn } from './send-download.js'
import { wantedVector } from './tile-answer.js'
import { tokenQuery } from './tilejson.js'

const IN_GZIP: Header = ['Content-Encoding', 'gzip']
const gzipInThread = promisify(gzip)
/** Minimum size in bytes of a feature that is compressed: a smaller one fits into a packet. */
const MIN_GZIP_BYTES = 1_024
const SCHEMA_TYPE = 'application/schema+json'
/** Limit: time in ms that a request waits for an index or a download that is being made. */
const WAIT_MS = 8_000
const RETRY_SECONDS = 5

/** Addresses that may follow a collection of features. */
const ROOMS: ReadonlySet<string> = new Set(['items', 'queryables', 'schema'])

export function isOfFeatures([room, , ...more]: readonly string[]): boolean {
  return room !== undefined && ROOMS.has(room) && (room === 'items' ? more.length === 0 : true)
}

/**
 * Handles GET and HEAD of `/ogc/collections/{code}/items[/{id}]`, `/queryables` and `/schema`. `rest` is the decoded part after
 * the code.
 */
export function onFeatures(edge: Edge, res: HttpResponse, req: HttpRequest, code: string, rest: readonly string[]) {
  const exchange = new RequestContext(edge, 'catalog', res, req)
  const vector = edge.freshness.catalog.vectors.get(code)
  const granted = (fromQuery: boolean) => {
    if (!vector?.served) return answerRefusal(exchange, noVector(code))
    if (vectorWithin(vector, exchange.area) === null) return answerRefusal(exchange, OUTSIDE_AREA)
    const [room = '', id] = rest
    if (room !== 'items' && id !== undefined) return answerRefusal(exchange, NOT_FOUND)
    const { plain, withToken } = addressFormsOf(edge.settings.tilePublicBaseUrl)
    const inserted = fromQuery ? tokenQuery(exchange.query) : ''
    const addresses = fromQuery ? withToken : plain
    const answerSchema = (make: () => object) => {
      checkDocumentParameters(exchange.query)
      const text = () => JSON.stringify(make())
      answerDocument(exchange, { of: vector, key: room, grows: false, contentType: SCHEMA_TYPE, inserted, text })
    }
    const relation = relationOf(vector)
    if (room === 'queryables' && relation?.what === 'function' && relation.query !== null) {
      try {
        return answerSchema(() => functionQueryables(vector, relation, addresses))
      } catch (error) {
        return answerRefusal(exchange, refusalOf(edge, exchange, error))
      }
    }
    const answer = (index: QueriedIndex) => {
      if (id !== undefined && index.table?.key.length === 0)
        return answerRefusal(exchange, refuse('not_found', coded('database_no_id', { name: shownName(code) })))
      if (room !== 'items') {
        const make = room === 'schema' ? featureSchema : queryables
        answerSchema(() => make(vector, index.description, addresses))
      } else void answerItems(exchange, vector, index, id ?? null, { base: plain.base, token: inserted })
    }
    withIndex(exchange, vector, answer)
  }
  admit(exchange, askFeatures(edge, code), granted)
}

/** The features are cut to the bounds of a token, which must touch the vector. */
export function askFeatures(edge: Edge, code: string): Ask {
  const vector = edge.freshness.catalog.vectors.get(code)
  const touches = (area: Bounds) => !vector?.served || vectorWithin(vector, area) !== null
  return { wanted: wantedVector(edge, code), signable: null, reach: touches }
}

/** Calls `then` with the index of a vector, or sends the reason why it is missing. */
export function withIndex(exchange: RequestContext, vector: CatalogVector, then: (index: QueriedIndex) => void): void {
  const { edge } = exchange
  const found = soon(edge.features.index(vector, exchange.token ?? '')).then(
    (index) => index ?? edge.features.before(vector),
  )
  found.then(
    (found) => {
      if (exchange.aborted) return
      if (found === null) return answerRefusal(exchange, building(vector))
      if (!found.made) return answerRefusal(exchange, notMade(vector, found))
      try {
        then(found.index)
      } catch (error) {
        answerRefusal(exchange, refusalOf(edge, exchange, error))
      }
    },
    (error) => guarded(edge, () => answerRefusal(exchange, refusalOf(edge, exchange, error))),
  )
}

/** Resolves with null if it takes longer than a request waits. */
export function soon<T>(made: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, WAIT_MS, null)
  })
  return Promise.race([made, late]).finally(() => clearTimeout(timer))
}

export function building({ stored }: CatalogVector): Refusal {
  const refusal = refuse('dependency_down', coded('features_indexing', { name: shownName(stored.code) }))
  return { ...refusal, retryAfterSeconds: RETRY_SECONDS }
}

export function notMade(
  { stored }: CatalogVector,
  { why, message }: Exclude<FoundIndex, { made: true }> | NotMade,
): Refusal {
  const said = { name: shownName(stored.code), reason: message }
  return refuse(why === 'fault' ? 'not_found' : 'dependency_down', coded(CODE_OF_FAILURE[why], said))
}

const CODE_OF_FAILURE = {
  fault: 'features_none',
  no_space: 'features_no_space',
  replaced: 'features_not_indexed',
  busy: 'features_busy',
  failed: 'features_failed',
  ended: 'features_failed',
  stopped: 'features_failed',
} as const satisfies Record<NotMade['why'], MessageCode>

/** Returns the refusal if a query cannot be answered now; null: it is another error. */
function databaseRefusal(error: unknown): Refusal | null {
  const isKnown =
    error instanceof DatabaseTrouble ||
    error instanceof QueryTimeout ||
    error instanceof QueriesBusy ||
    error instanceof NotSpooled
  return isKnown ? { ...refuse('dependency_down', error.said), retryAfterSeconds: RETRY_SECONDS } : null
}

export function refusalOf(edge: Edge, exchange: RequestContext, error: unknown): Refusal {
  if (error instanceof QueryError) return refuse('invalid_parameters', error.said)
  if (error instanceof ReplacedError) return refuse('gone', error.said)
  const trouble = databaseRefusal(error)
  if (trouble !== null) return trouble
  if (error instanceof IndexMissing)
    return { ...refuse('dependency_down', coded('features_replaced')), retryAfterSeconds: 1 }
  if (isStorageTrouble(error)) return STORAGE_DOWN
  edge.log.error({ err: error, path: exchange.path }, 'features cannot be read')
  return INTERNAL
}

async function answerItems(
  exchange: RequestContext,
  vector: CatalogVector,
  index: QueriedIndex,
  id: string | null,
  addresses: Addresses,
): Promise<void> {
  const { edge } = exchange
  try {
    const parsed =
      id === null
        ? parseItemsQuery(exchange.query, exchange.header('accept'), index)
        : parseItemQuery(id, exchange.query, index)
    const query = withinArea(parsed, exchange.area)
    const page = new Page(exchange, vector, index, query, addresses)
    if (id === null && page.answeredByTag()) return
    if (id !== null) await page.answerOne(id)
    else if (query.format === 'geojson') await page.stream()
    else await page.answerWhole()
  } catch (error) {
    guarded(edge, () => {
      if (!exchange.aborted) answerRefusal(exchange, refusalOf(edge, exchange, error))
    })
  }
}

/** Restricts a query to the features that intersect the area of a token. */
export function withinArea(query: ItemsQuery, area: Bounds | null): ItemsQuery {
  if (area === null) return query
  const inArea: Expression = { op: 's_intersects', args: [{ property: GEOMETRY_NAME }, { bbox: area }] }
  return { ...query, filter: query.filter === null ? inArea : { op: 'and', args: [query.filter, inArea] } }
}

/** A response with features. */
class Page {
  readonly #exchange: RequestContext
  readonly #code: string
  readonly #index: QueriedIndex
  readonly #query: ItemsQuery
  readonly #addresses: Addresses
  /** true if the response is text, and the client accepts it in gzip */
  readonly #inGzip: boolean
  #returned = 0
  #last: Chunk['last'] = null
  #hasMore = false
  /** The text so far if the body is compressed: the process of the query compresses each part, which is shorter on its way here then. */
  #sum: TextSum | undefined

  constructor(
    exchange: RequestContext,
    vector: CatalogVector,
    index: QueriedIndex,
    query: ItemsQuery,
    addresses: Addresses,
  ) {
    this.#exchange = exchange
    this.#code = vector.stored.code
    this.#index = index
    this.#query = query
    this.#addresses = addresses
    this.#inGzip = query.format !== 'fgb' && acceptsGzip(exchange.header('accept-encoding'))
  }

  /** Answers without a query if the client already has this page or requires other content. Returns true if it has answered. */
  answeredByTag(): boolean {
    // A table may have changed since.
    if (this.#index.table !== undefined) return false
    const current = { etag: this.#tag(), modifiedMs: Number.POSITIVE_INFINITY }
    return answerCondition(this.#exchange, current, () => this.#headers())
  }

  /** Weak, because the page contains the time of the response. The same address returns different pages by format and area. */
  #tag(): string {
    return `W/"${this.#index.revision}-${this.#query.format}-${areaTag(this.#exchange.area)}"`
  }

  async answerOne(id: string): Promise<void> {
    for await (const { bytes, count } of this.#chunks()) {
      if (this.#exchange.aborted) return
      if (count === 0 && this.#query.filter !== null && (await this.#isElsewhere()))
        return answerRefusal(this.#exchange, OUTSIDE_AREA)
      if (count === 0) {
        const said = coded('feature_absent', { name: shownName(this.#code), feature: shownName(id) })
        return answerRefusal(this.#exchange, refuse('not_found', said))
      }
      if (this.answeredByTag()) return
      const path = featuresPath(this.#code)
      const links = [
        { rel: 'self', type: ITEM_TYPES.geojson, href: this.#own(`${path}/items/${encodeURIComponent(id)}`, {}) },
        { rel: 'collection', type: 'application/json', href: this.#address(path, new URLSearchParams()) },
      ]
      const text = Buffer.from(bytes).toString().slice(0, -1)
      const body = Buffer.from(`${text},"links":${JSON.stringify(links)}}`)
      if (!this.#inGzip || body.length < MIN_GZIP_BYTES) return this.#exchange.answer('200 OK', this.#headers(), body)
      return this.#exchange.answer('200 OK', this.#headers(IN_GZIP), await gzipInThread(body, { level: GZIP_LEVEL }))
    }
  }

  /** True if a feature that was not found in the area of the token is outside of it. */
  async #isElsewhere(): Promise<boolean> {
    const { edge, gone, token } = this.#exchange
    const everywhere = edge.features.run({ ...this.#query, filter: null }, this.#code, gone, token ?? '')
    for await (const { count } of everywhere) if (count > 0) return true
    return false
  }

  /** Sends GeoJSON: the first features are sent while the others are read. */
  async stream(): Promise<void> {
    const head = this.#opened(
      Buffer.from(`{"type":"FeatureCollection","timeStamp":"${new Date().toISOString()}","features":[`),
    )
    const chunks = this.#chunks()
    try {
      // A refusal is possible until the first bytes are sent.
      const first = await chunks.next()
      if (this.#exchange.aborted || first.done === true) return
      const headers = this.#headers(...this.#encoding)
      if (this.#exchange.isHead) return this.#exchange.answerEmpty('200 OK', headers)
      const start = Buffer.concat([head, first.value.bytes])
      if (first.value.state !== 'going on')
        return this.#exchange.answer('200 OK', headers, Buffer.concat([start, this.#closing(this.#tail())]))
      await this.#exchange.answerPieces('200 OK', headers, null, this.#pieces(start, chunks))
    } finally {
      await chunks.return()
    }
  }

  get #encoding(): readonly Header[] {
    return this.#inGzip ? [IN_GZIP] : []
  }

  /** Begins a body with a text, and returns its first bytes. */
  #opened(text: Uint8Array): Uint8Array {
    if (!this.#inGzip) return text
    const packer = new GzipParts(NO_TEXT)
    const bytes = packer.add(text)
    this.#sum = packer.sum
    return Buffer.concat([GZIP_HEAD, bytes])
  }

  /** Ends a body with a text, and returns its last bytes. */
  #closing(text: string): Uint8Array {
    if (this.#sum === undefined) return Buffer.from(text)
    const packer = new GzipParts(this.#sum)
    return Buffer.concat([packer.add(Buffer.from(text)), packer.end()])
  }

  async *#pieces(start: Uint8Array, others: AsyncGenerator<Chunk, void>): AsyncGenerator<Uint8Array> {
    yield start
    try {
      for await (const { bytes } of others) {
        if (this.#exchange.aborted) return
        // A part that continues after a process that ended begins without a comma.
        if (bytes.length > 0) yield bytes
      }
    } catch (error) {
      // The features sent so far are correct; the rest is on the next page.
      if (!(error instanceof QueryTimeout) || this.#last === null) throw error
      this.#hasMore = true
    }
    yield this.#closing(this.#tail())
  }

  /** Sends a response whose head contains the address of the next page, so it is made before it is sent. */
  async answerWhole(): Promise<void> {
    const exchange = this.#exchange
    const { edge, token } = exchange
    const body = new SpooledBody(edge.disks, path.join(edge.settings.dataDir, 'cache', 'responses'), token ?? '')
    try {
      await body.add(this.#opened(Buffer.alloc(0)))
      for await (const { bytes } of this.#chunks()) {
        if (exchange.aborted) return
        await body.add(bytes)
      }
      await body.add(this.#closing(''))
      const next = this.#next()
      const links: Header[] = next === null ? [] : [['Link', `<${next}>; rel="next"`]]
      const headers = this.#headers(...this.#encoding, ...links)
      const whole = await body.end()
      if (whole instanceof Uint8Array) exchange.answer('200 OK', headers, whole)
      else exchange.answerPart('200 OK', headers, whole, () => mayGoOn(exchange))
    } finally {
      body.discard()
    }
  }

  async *#chunks(): AsyncGenerator<Chunk, void> {
    const { edge, gone, token } = this.#exchange
    const query = { ...this.#query, packedAfter: this.#sum }
    for await (const chunk of edge.features.run(query, this.#code, gone, token ?? '')) {
      this.#returned += chunk.count
      this.#last = chunk.last ?? this.#last
      this.#hasMore = chunk.state === 'more'
      this.#sum = chunk.sum ?? this.#sum
      yield chunk
    }
  }

  #headers(...more: readonly Header[]) {
    const tag: readonly Header[] = this.#index.table === undefined ? [['ETag', this.#tag()]] : []
    return headerBlock(
      ['Content-Type', ITEM_TYPES[this.#query.format]],
      ...tag,
      ['Content-Crs', `<${this.#query.crs.uri}>`],
      ['Cache-Control', 'no-store'],
      ['Vary', 'Accept, Accept-Encoding'],
      ...more,
      ...FEATURES_CORS,
    )
  }

  #tail(): string {
    const path = `${featuresPath(this.#code)}/items`
    const next = this.#next()
    const others = (['csv', 'fgb'] as const).map((format) => ({
      rel: 'alternate',
      type: ITEM_TYPES[format],
      href: this.#own(path, { f: format }),
    }))
    const links = [
      { rel: 'self', type: ITEM_TYPES.geojson, href: this.#own(path, {}) },
      ...others,
      ...(next === null ? [] : [{ rel: 'next', type: ITEM_TYPES.geojson, href: next }]),
      {
        rel: 'collection',
        type: 'application/json',
        href: this.#address(featuresPath(this.#code), new URLSearchParams()),
      },
    ]
    const matched = this.#matched()
    const counted = matched === null ? '' : `"numberMatched":${matched},`
    return `],${counted}"numberReturned":${this.#returned},"links":${JSON.stringify(links)}}`
  }

  /** Returns null if the matches would have to be counted. */
  #matched(): number | null {
    const { filter, offset, after } = this.#query
    if (this.#index.table === undefined && filter === null) return this.#index.description.feature_count
    return !this.#hasMore && offset === 0 && after === null ? this.#returned : null
  }

  #next(): string | null {
    if (!this.#hasMore || this.#last === null) return null
    const cursor = cursorOf(this.#last, this.#index.revision, this.#query.sort)
    return this.#own(`${featuresPath(this.#code)}/items`, { cursor })
  }

  /** Returns the address of this request with changed parameters. */
  #own(path: string, changed: Readonly<Record<string, string>>): string {
    const parameters = new URLSearchParams(this.#exchange.query)
    for (const name of ['token', 'access_token']) parameters.delete(name)
    if (changed.cursor !== undefined) parameters.delete('offset')
    for (const [name, value] of Object.entries(changed)) parameters.set(name, value)
    return this.#address(path, parameters)
  }

  #address(path: string, parameters: URLSearchParams): string {
    const { base, token } = this.#addresses
    const query = [parameters.toString(), token].filter((part) => part !== '').join('&')
    return `${base}${path}${query === '' ? '' : `?${query}`}`
  }
}

/** Fields that pages of other sites may also read. */
const FEATURES_CORS: readonly Header[] = CORS.map(([name, value]) =>
  name === 'Access-Control-Expose-Headers' ? [name, `${value}, Content-Crs, Link`] : [name, value],
)

/** True if an admitted token may read a vector. */
export function isReadable(
  vector: CatalogVector | undefined,
  token: Parameters<typeof isGranted>[0],
): vector is CatalogVector {
  return vector?.served === true && isGranted(token, vector.wanted)
}
