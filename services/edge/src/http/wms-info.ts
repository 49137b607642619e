import type { Bounds } from '@gateway/contracts/basemap.js'
import { type Picture, placeOf } from '@gateway/tilesets/maps/positions.js'
import { parseItemsQuery, type QueriedIndex } from '@gateway/vectors/query/parameters.js'
import { CORS, headerBlock } from '../answers/header-block.js'
import { drawnNamed, vectorNamed } from '../standards/wms-layers.js'
import { type WmsInfo, wmsException } from '../standards/wms-request.js'
import type { CatalogVector } from '../sync/catalog.js'
import { refusalOf, withIndex, withinArea } from './features.js'
import { answerRefusal, answerServiceException } from './refusals.js'
import { guarded, type RequestContext } from './request-context.js'

/** Pixels around the one that is asked about in which features are found. */
const REACH = 5
/** Limit: bytes of the features of one layer, after which the rest is left out. Their properties are read on the event loop for text. */
const MAX_BYTES = { json: 4 * 1024 * 1024, text: 512 * 1024 }
const HEADERS = {
  json: headerBlock(['Content-Type', 'application/json'], ['Cache-Control', 'no-store'], ...CORS),
  text: headerBlock(['Content-Type', 'text/plain; charset=utf-8'], ['Cache-Control', 'no-store'], ...CORS),
}

/** The features of one layer, as GeoJSON separated by commas. */
interface Found {
  readonly name: string
  readonly features: string
}

/** Sends the features of vectors around a pixel. */
export function answerFeatureInfo(exchange: RequestContext, request: WmsInfo) {
  const { version, layers, queried } = request
  const { catalog } = exchange.edge.freshness
  const draws = exchange.edge.pictures.available
  const unknown = [...layers, ...queried].find(
    (name) => drawnNamed(catalog, name, draws) === null && vectorNamed(catalog, name) === null,
  )
  if (unknown !== undefined)
    return answerServiceException(exchange, wmsException(version, 'LayerNotDefined', `there is no layer ${unknown}`))
  const vectors = queried.map((name) => vectorNamed(catalog, name))
  const none = vectors.indexOf(null)
  if (none !== -1)
    return answerServiceException(
      exchange,
      wmsException(
        version,
        'LayerNotQueryable',
        `QUERY_LAYERS: ${queried[none]} is no vector, so that it has no features`,
      ),
    )
  collect(exchange, request, vectors as readonly CatalogVector[], [])
}

/** Queries the layers one after the other, and sends what was found. */
function collect(
  exchange: RequestContext,
  request: WmsInfo,
  vectors: readonly CatalogVector[],
  found: readonly Found[],
) {
  const vector = vectors[found.length]
  if (vector === undefined) return send(exchange, request, found)
  withIndex(exchange, vector, (index) => {
    query(exchange, request, index).then(
      (features) =>
        guarded(exchange.edge, () => {
          if (!exchange.aborted) collect(exchange, request, vectors, [...found, { name: vector.stored.code, features }])
        }),
      (error) =>
        guarded(exchange.edge, () => {
          if (!exchange.aborted) answerRefusal(exchange, refusalOf(exchange.edge, exchange, error))
        }),
    )
  })
}

async function query(exchange: RequestContext, request: WmsInfo, index: QueriedIndex): Promise<string> {
  const { edge, gone, token, area } = exchange
  const bounds = reached(request.picture, request.at)
  if (bounds === null) return ''
  const parsed = parseItemsQuery(`bbox=${bounds.join(',')}&limit=${request.count}&f=geojson`, '', index)
  const bounded = { ...withinArea(parsed, area), maxBytes: MAX_BYTES[request.format] }
  const parts: Uint8Array[] = []
  for await (const { bytes } of edge.features.run(bounded, index.description.layers[0]?.id ?? '', gone, token ?? ''))
    parts.push(bytes)
  return Buffer.concat(parts).toString()
}

/** Returns the box around a pixel in degrees, also beyond 180 of them; null: it lies beyond the poles. */
function reached(picture: Picture, [column, row]: readonly [number, number]): Bounds | null {
  const [west, north] = placeOf(picture, column - REACH, row - REACH)
  const [east, south] = placeOf(picture, column + REACH, row + REACH)
  const box: Bounds = [west, Math.max(-90, south), east, Math.min(90, north)]
  return box[1] < box[3] ? box : null
}

function send(exchange: RequestContext, { format }: WmsInfo, found: readonly Found[]): void {
  const body = format === 'json' ? collection(found) : found.map(textOf).join('\n')
  exchange.answer('200 OK', HEADERS[format], body)
}

function collection(found: readonly Found[]): string {
  const features = found.map((one) => one.features).filter((text) => text !== '')
  return `{"type":"FeatureCollection","features":[${features.join(',')}]}`
}

function textOf({ name, features }: Found): string {
  const all = JSON.parse(`[${features}]`) as { id?: unknown; properties: Record<string, unknown> | null }[]
  const lines = all.flatMap(({ id, properties }, i) => [
    `  Feature ${id ?? i + 1}`,
    ...Object.entries(properties ?? {}).map(([key, value]) => `    ${key} = ${lineOf(value)}`),
  ])
  return [`Layer ${name}`, ...(lines.length === 0 ? ['  no features'] : lines), ''].join('\n')
}

function lineOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null)
  return text.replace(/[\r\n]+/g, ' ')
}
