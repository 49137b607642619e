import { isVectorFormat } from '@gateway/contracts/basemap.js'
import { decodedSegment, parseIndex } from '@gateway/tilesets/address.js'
import { CONTENT_TYPES } from '@gateway/tilesets/formats.js'
import { TILE_MATRIX_SETS } from '@gateway/tilesets/tile-matrix-sets.js'
import type { Addresses, Layer } from './layer.js'
import type { OwsException } from './ows-exception.js'
import { wholeSetId } from './sized-set.js'
import { capabilitiesFrame, layerWith, limitedLink, matrixSet, type Provider } from './wmts-capabilities.js'
import {
  invalid,
  noSuchLayer,
  parametersOf,
  parseWmtsRequest,
  tileRequestError,
  type WmtsRequest,
} from './wmts-request.js'
import { type Xml, xml, xmlItem, xmlPieces } from './xml.js'

/** `w` is Web Mercator; `c` is longitude and latitude in CGCS2000. */
export type TiandituSet = 'w' | 'c'

/** The only format of that service, for tiles of any type. */
const FORMAT = 'tiles'
const FIRST_MATRIX = 1
const LAST_MATRIX = 18

/** Media types that clients send by default; the tile has the type of its layer. */
const FORMATS: ReadonlySet<string> = new Set([
  FORMAT,
  ...Object.values(CONTENT_TYPES).filter((type) => type.startsWith('image/')),
])
/** Values that published addresses omit. */
const DEFAULTS = { SERVICE: 'WMTS', STYLE: 'default', FORMAT }

export interface TiandituPlace {
  readonly code: string
  readonly set: TiandituSet
  /** The older form of requests for tiles, `T={code}_{set}&x=&y=&l=`, which published pages still use. */
  readonly isDataServer: boolean
}

/** Parses an address of the form `/tianditu/{code}_{w|c}/{wmts|DataServer}`; null for any other form. */
export function tiandituPlace(path: string): TiandituPlace | null {
  const [, , service = '', kind = '', ...more] = path.replace(/\/$/, '').split('/')
  const name = decodedSegment(service) ?? ''
  const [code, mark, set] = [name.slice(0, -2), name.at(-2), name.at(-1)]
  const isDataServer = kind.toLowerCase() === 'dataserver'
  const isPlace = code !== '' && mark === '_' && (set === 'w' || set === 'c')
  return isPlace && (kind === 'wmts' || isDataServer) && more.length === 0 ? { code, set, isDataServer } : null
}

/** Parses the query of a request to a place. */
export function parseTiandituRequest({ code, set, isDataServer }: TiandituPlace, query: string): WmtsRequest {
  if (!isDataServer) return parseWmtsRequest(query, DEFAULTS)
  const { T = '', X: x = '', Y: y = '', L: z = '' } = Object.fromEntries(parametersOf(query))
  if (T !== `${code}_${set}`) return invalid('T', `the layer is ${code}_${set}`)
  const parameters = new Map(Object.entries({ ...DEFAULTS, TILEMATRIXSET: set }))
  return { kind: 'tile', layer: code, z, x, y, parameters }
}

/**
 * True if a layer is served under the name of a set. CGCS2000 and WGS 84 differ by less than a metre, so a set in either is `c`. Vector tiles
 * are in no set.
 */
export function isInTianditu({ set, format }: Pick<Layer, 'set' | 'format'>, name: TiandituSet): boolean {
  return !isVectorFormat(format) && set.own === null && (name === 'w') === (set.columns === 1)
}

type TileRequest = Extract<WmtsRequest, { kind: 'tile' }>

/** Returns a request in the form of the gateway's WMTS, or its error. */
export function plainTileRequest(request: TileRequest, layer: Layer, name: TiandituSet): TileRequest | OwsException {
  const { parameters } = request
  if (request.layer !== layer.code) return noSuchLayer()
  if (wholeSetId(parameters.get('TILEMATRIXSET') as string) !== name)
    return invalid('TileMatrixSet', `the set is ${name}`)
  if (!FORMATS.has(parameters.get('FORMAT') as string)) return invalid('Format', `the format is ${FORMAT}`)
  const matrix = parseIndex(request.z)
  if (matrix < FIRST_MATRIX || matrix > LAST_MATRIX)
    return invalid('TileMatrix', `the matrices are ${FIRST_MATRIX} to ${LAST_MATRIX}`)
  const own = [
    ['TILEMATRIXSET', layer.set.id],
    ['FORMAT', CONTENT_TYPES[layer.format]],
    // Published addresses name a file: default.jpg.
    ['STYLE', (parameters.get('STYLE') ?? '').replace(/\.(?:jpe?g|png)$/, '')],
  ] as const
  const plain = { ...request, z: String(zoomOf(matrix, name)), parameters: new Map([...parameters, ...own]) }
  return tileRequestError(plain, layer) ?? plain
}

/**
 * Returns the capabilities of one layer (WMTS 1.0.0). The first set has the layer's own zooms, because GDAL and QGIS assume that a layer has the
 * zooms of its set. The second set has the matrices that clients know by their numbers.
 */
export function tiandituCapabilities(
  layer: Layer,
  addresses: Addresses,
  provider: Provider,
  name: TiandituSet,
): string {
  const [first, last] = [zoomOf(FIRST_MATRIX, name), zoomOf(LAST_MATRIX, name)]
  const set = name === 'w' ? layer.set : TILE_MATRIX_SETS.CGCS2000Quad
  const all = { ...layer, set, id: name as string, minZoom: first, maxZoom: last }
  const own = { ...all, minZoom: Math.max(first, layer.minZoom), maxZoom: Math.min(last, layer.maxZoom) }
  const idOf = (zoom: number) => zoom + FIRST_MATRIX - first
  const ownId = `${name}_${idOf(own.minZoom)}_${idOf(own.maxZoom)}`
  const hasOwn = own.minZoom <= own.maxZoom
  const links: Xml[] = [xml`<TileMatrixSetLink><TileMatrixSet>${name}</TileMatrixSet></TileMatrixSetLink>`]
  if (hasOwn) links.unshift(limitedLink(own, ownId, idOf))
  const sets = hasOwn ? [{ ...own, id: ownId }, all] : [all]
  const items = [layerWith(layer, [FORMAT], links), ...sets.map((one) => matrixSet(one, idOf))]
  const place = { kvp: `/tianditu/${encodeURIComponent(layer.code)}_${name}/wmts`, rest: null, isTimed: false }
  return [...xmlPieces(capabilitiesFrame(addresses, place, provider), items.map(xmlItem))].join('')
}

/**
 * Returns the zoom of a matrix. Tianditu's first geographic matrix has two tiles, which is zoom 0; in Web Mercator matrix and zoom have the same
 * number.
 */
function zoomOf(matrix: number, name: TiandituSet): number {
  return name === 'c' ? matrix - 1 : matrix
}
