import type { Bounds } from '@gateway/contracts/basemap.js'
import { MOST_LATITUDE } from '@gateway/contracts/drawing.js'
import type { DatabaseFunction } from '@gateway/contracts/postgis.js'
import type { GeometryType } from '@gateway/contracts/vector.js'
import { MAX_WHOLE_BYTES } from '@gateway/contracts/without-schemas.js'
import { commonBounds } from '@gateway/tilesets/area.js'
import type { IndexDescription } from '@gateway/vectors/index-file/index-description.js'
import { geometryNameAmong } from '@gateway/vectors/query/cql2/compile.js'
import { CRS84 } from '@gateway/vectors/query/crs.js'
import { FORMATS } from '@gateway/vectors/query/items-query.js'
import { fieldsOf, ITEM_TYPES, timeFieldOf } from '@gateway/vectors/query/parameters.js'
import { type CatalogVector, commentOn } from '../sync/catalog.js'
import { type Addresses, addressOf, vectorPath } from './layer.js'
import { previewLink } from './styles-documents.js'

/**
 * Documents of OGC API – Features: parts 1 (OGC 17-069r4), 2 (OGC 18-058r1) and 3 (OGC 19-079r2), and the schemas of part 5.
 */

const REL = 'http://www.opengis.net/def/rel/ogc/1.0'
const JSON_TYPE = 'application/json'
const SCHEMA_TYPE = 'application/schema+json'
const EPSG = 'http://www.opengis.net/def/crs/EPSG/0/'
/** Systems in which the features of every collection are available. */
export const FEATURES_CRS = [CRS84, `${EPSG}4326`, `${EPSG}3857`, `${EPSG}4490`]

export const FEATURES_CONFORMANCE = [
  'http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core',
  'http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/geojson',
  'http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/oas30',
  'http://www.opengis.net/spec/ogcapi-features-2/1.0/conf/crs',
  'http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/queryables',
  'http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/queryables-query-parameters',
  'http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/filter',
  'http://www.opengis.net/spec/ogcapi-features-3/1.0/conf/features-filter',
  'http://www.opengis.net/spec/cql2/1.0/conf/cql2-text',
  'http://www.opengis.net/spec/cql2/1.0/conf/cql2-json',
  'http://www.opengis.net/spec/cql2/1.0/conf/basic-cql2',
  'http://www.opengis.net/spec/cql2/1.0/conf/advanced-comparison-operators',
  'http://www.opengis.net/spec/cql2/1.0/conf/case-insensitive-comparison',
  'http://www.opengis.net/spec/cql2/1.0/conf/accent-insensitive-comparison',
  'http://www.opengis.net/spec/cql2/1.0/conf/basic-spatial-functions',
  'http://www.opengis.net/spec/cql2/1.0/conf/basic-spatial-functions-plus',
]

interface Facts {
  readonly crs: string | null
  readonly bounds: Bounds | null
  readonly geometry_type: GeometryType | null
}

export function factsOf({ factsText }: CatalogVector): Facts {
  return factsText === null ? { crs: null, bounds: null, geometry_type: null } : (JSON.parse(factsText) as Facts)
}

function storageCrs(name: string | null): string | null {
  const code = /^EPSG:(\d{4,6})$/.exec(name ?? '')?.[1]
  return code === undefined ? null : `${EPSG}${code}`
}

export function featuresPath(code: string): string {
  return `/ogc/collections/${encodeURIComponent(code)}`
}

export interface CollectionLink {
  readonly rel: string
  readonly href: string
  readonly type: string
  readonly title?: string
}

/** A vector as a token with an area sees it: `isCut` is true if the token has an area. */
export type SeenVector = CatalogVector & { readonly isCut?: boolean }

/** Returns a vector cut to an area, or null if it lies outside. If `area` is null, returns the same object. */
export function vectorWithin(vector: CatalogVector, area: Bounds | null): SeenVector | null {
  if (area === null) return vector
  const facts = factsOf(vector)
  const bounds = commonBounds(area, facts.bounds)
  return bounds === null ? null : { ...vector, factsText: JSON.stringify({ ...facts, bounds }), isCut: true }
}

/** Steps of a degree to which the positions of features are rounded (RFC 7946, 11.2). */
const STEPS = 1e7
/** Part of a step that only arithmetic causes. */
const NOISE = 1e-3

/** Rounds an extent outwards, so that it contains the rounded positions of its outermost features. */
export function outwards([west, south, east, north]: Bounds): Bounds {
  const round = (value: number, to: (steps: number) => number) => {
    const steps = value * STEPS
    return Math.abs(steps - Math.round(steps)) < NOISE ? value : to(steps) / STEPS
  }
  return [round(west, Math.floor), round(south, Math.floor), round(east, Math.ceil), round(north, Math.ceil)]
}

/** False for a vector whose features cannot be read, and for a large one before its first build, whose requests would end with 503. */
function offersFeatures({ stored: { kind, size, tiles } }: CatalogVector): boolean {
  if (kind === 'postgis-function') return false
  if (tiles.build !== null) return true
  return tiles.queued ? size <= MAX_WHOLE_BYTES : tiles.message === ''
}

/**
 * Returns the collection of a vector's features, with the links that every reader of the vector may follow.
 * @param hasPictures true: its plain style is drawn here, under its code
 */
export function featureCollection(vector: SeenVector, addresses: Addresses, hasPictures = false) {
  const { code, name } = vector.stored
  const { crs, bounds } = factsOf(vector)
  const description = commentOn(vector)
  const own = storageCrs(crs)
  const path = featuresPath(code)
  const to = linksTo(addresses)
  const ofFeatures = [
    ...FORMATS.map((format) =>
      to('items', format === 'geojson' ? `${path}/items` : `${path}/items?f=${format}`, ITEM_TYPES[format]),
    ),
    to(`${REL}/queryables`, `${path}/queryables`, SCHEMA_TYPE),
    to('describedby', `${path}/schema`, SCHEMA_TYPE),
    to(`${REL}/schema`, `${path}/schema`, SCHEMA_TYPE),
  ]
  const links: CollectionLink[] = [
    to('self', path, JSON_TYPE),
    ...(offersFeatures(vector) ? ofFeatures : []),
    ...(vector.tiles === null
      ? []
      : [
          to(`${REL}/tilesets-vector`, `${path}/tiles`, JSON_TYPE),
          to('describedby', `${vectorPath(code)}/tilejson.json`, 'application/vnd.mapbox.tilejson+json'),
        ]),
    ...(hasPictures ? [to(`${REL}/tilesets-map`, `${path}/map/tiles`, JSON_TYPE)] : []),
    ...(hasPictures && vector.isCut !== true ? [previewLink(code, viewOf(bounds), addresses)] : []),
    // A whole file cannot be cut to an area.
    ...(vector.isCut === true || vector.stored.kind === 'postgis-function'
      ? []
      : [to('enclosure', `${vectorPath(code)}/download`, 'application/octet-stream')]),
  ]
  return {
    id: code,
    title: name,
    ...(description !== null && { description }),
    itemType: 'feature',
    dataType: 'vector',
    extent: { spatial: { bbox: [bounds === null ? [-180, -90, 180, 90] : outwards(bounds)], crs: CRS84 } },
    crs: own === null || FEATURES_CRS.includes(own) ? FEATURES_CRS : [...FEATURES_CRS, own],
    storageCrs: own ?? CRS84,
    links,
  }
}

/** Returns the view of a static map that shows a vector. */
function viewOf(bounds: Bounds | null): string {
  if (bounds === null) return '0,0,0'
  const [west, south, east, north] = bounds
  const [low, high] = [south, north].map((latitude) => Math.max(-MOST_LATITUDE, Math.min(MOST_LATITUDE, latitude)))
  if (west === east || low === high) return `${west},${low},12`
  return `${west},${low},${east},${high}`
}

const TYPES = {
  string: { type: 'string' },
  number: { type: 'number' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  date: { type: 'string', format: 'date' },
  datetime: { type: 'string', format: 'date-time' },
  json: {},
} as const

const GEOMETRY_FORMATS: Readonly<Record<string, string>> = {
  Point: 'geometry-point',
  MultiPoint: 'geometry-multipoint',
  LineString: 'geometry-linestring',
  MultiLineString: 'geometry-multilinestring',
  Polygon: 'geometry-polygon',
  MultiPolygon: 'geometry-multipolygon',
  GeometryCollection: 'geometry-geometrycollection',
}

/** Returns the properties that filters may name. */
export function queryables(vector: CatalogVector, index: IndexDescription, addresses: Addresses): object {
  return schema(vector, index, addresses, 'queryables', `Queryables of ${vector.stored.name}`)
}

/** Returns the parameters of a function that makes tiles: they are passed as texts, whatever their names, and these are the ones that it reads. */
export function functionQueryables(
  { stored }: CatalogVector,
  { keys = [] }: DatabaseFunction,
  addresses: Addresses,
): object {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `${addresses.base}${featuresPath(stored.code)}/queryables`,
    title: `Queryables of ${stored.name}`,
    type: 'object',
    properties: Object.fromEntries(keys.map((key) => [key, { title: key, type: 'string' }])),
    additionalProperties: true,
  }
}

/** Returns the schema of the features. */
export function featureSchema(vector: CatalogVector, index: IndexDescription, addresses: Addresses): object {
  return schema(vector, index, addresses, 'schema', vector.stored.name)
}

function schema(
  vector: CatalogVector,
  index: IndexDescription,
  addresses: Addresses,
  room: string,
  title: string,
): object {
  const fields = fieldsOf(index)
  const time = timeFieldOf(fields)
  const geometry = {
    [geometryNameAmong((name) => fields.some((field) => field.name === name))]: {
      'x-ogc-role': 'primary-geometry',
      format: GEOMETRY_FORMATS[index.geometry_type ?? ''] ?? 'geometry-any',
    },
  }
  const properties = fields.map((field) => [
    field.name,
    {
      title: field.name,
      ...TYPES[field.type],
      ...(room === 'schema' && field === time ? { 'x-ogc-role': 'primary-instant' } : {}),
    },
  ])
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `${addresses.base}${featuresPath(vector.stored.code)}/${room}`,
    title,
    type: 'object',
    properties: { ...(index.geometry_type === null ? {} : geometry), ...Object.fromEntries(properties) },
    additionalProperties: false,
  }
}

function linksTo(addresses: Addresses) {
  return (rel: string, path: string, type: string): CollectionLink => ({ rel, href: addressOf(addresses, path), type })
}
