import type { Bounds } from '@gateway/contracts/basemap.js'
import type { Picture } from '@gateway/tilesets/maps/positions.js'
import { parametersOf } from './wmts-request.js'
import { xml, xmlDocument } from './xml.js'

export type WmsVersion = '1.3.0' | '1.1.1'

/** Media types of the capabilities and of the errors of 1.1.1. */
export const TYPE_OF_111 = 'application/vnd.ogc.wms_xml'
export const EXCEPTION_TYPE_OF_111 = 'application/vnd.ogc.se_xml'

/** Limits of a picture. */
export const MAX_SIDE = 4096
export const MAX_TILES = 1024
/** Limit: layers of a picture. Each has at least one tile. */
export const MAX_LAYERS = 64
/** Limit: features of each layer in one answer. */
export const MAX_FEATURES = 100

/** Systems by their names, of which the geographic ones of EPSG have the latitude first in version 1.3.0. */
export const MAP_SYSTEMS = {
  'EPSG:3857': { system: 'mercator', isNorthFirst: false },
  'EPSG:4326': { system: 'geographic', isNorthFirst: true },
  'EPSG:4490': { system: 'geographic', isNorthFirst: true },
  'CRS:84': { system: 'geographic', isNorthFirst: false },
} as const satisfies Readonly<Record<string, { system: Picture['system']; isNorthFirst: boolean }>>

export const MAP_FORMATS = { 'image/png': 'png', 'image/jpeg': 'jpg', 'image/webp': 'webp' } as const
export const INFO_FORMATS = {
  'application/json': 'json',
  'application/geo+json': 'json',
  'text/plain': 'text',
} as const

/** Codes of WMS 1.3.0 (OGC 06-042), table E.1, and of 1.1.1 (OGC 01-068r3), annex A.3. null: an error without one. */
export type WmsCode =
  | 'InvalidFormat'
  | 'InvalidCRS'
  | 'InvalidSRS'
  | 'LayerNotDefined'
  | 'StyleNotDefined'
  | 'LayerNotQueryable'
  | 'InvalidPoint'
  | 'InvalidDimensionValue'
  | 'OperationNotSupported'
  | null

export interface WmsException {
  readonly kind: 'exception'
  readonly version: WmsVersion
  readonly code: WmsCode
  readonly text: string
  readonly status: 400 | 404
}

/** The part that GetMap and GetFeatureInfo have in common. */
interface MapView {
  readonly version: WmsVersion
  readonly layers: readonly string[]
  readonly picture: Picture
  /** '' for the present */
  readonly time: string
}

export interface WmsMap extends MapView {
  readonly kind: 'map'
  readonly format: (typeof MAP_FORMATS)[keyof typeof MAP_FORMATS]
  readonly transparent: boolean
  /** 0xRRGGBB */
  readonly background: number
}

export interface WmsInfo extends MapView {
  readonly kind: 'info'
  readonly queried: readonly string[]
  readonly format: (typeof INFO_FORMATS)[keyof typeof INFO_FORMATS]
  readonly count: number
  /** the column and the row of the pixel */
  readonly at: readonly [number, number]
}

export type WmsRequest =
  | { readonly kind: 'capabilities'; readonly version: WmsVersion }
  | WmsMap
  | WmsInfo
  | WmsException

type Parameters = ReadonlyMap<string, string>

/** Thrown inside of this file only; `parseWmsRequest` returns it as a value. */
class Invalid extends Error {
  readonly code: WmsCode

  constructor(code: WmsCode, text: string) {
    super(text)
    this.code = code
  }
}

/** Parses a request of WMS 1.3.0 or 1.1.1. Names of parameters are case-insensitive. A bare address requests the capabilities. */
export function parseWmsRequest(query: string): WmsRequest {
  const parameters = parametersOf(query)
  const version = versionOf(parameters)
  try {
    return requestOf(parameters, version)
  } catch (error) {
    if (error instanceof Invalid) return wmsException(version, error.code, error.message)
    throw error
  }
}

export function wmsException(
  version: WmsVersion,
  code: WmsCode,
  text: string,
  status: WmsException['status'] = code === 'LayerNotDefined' ? 404 : 400,
): WmsException {
  return { kind: 'exception', version, code, text, status }
}

/** Returns the body of a 400 or 404. */
export function serviceExceptionReport({
  version,
  code,
  text,
}: Pick<WmsException, 'version' | 'code' | 'text'>): string {
  const namespace = version === '1.3.0' ? xml` xmlns="http://www.opengis.net/ogc"` : null
  return xmlDocument(xml`
<ServiceExceptionReport version="${version}"${namespace}>
<ServiceException${code === null ? null : xml` code="${code}"`}>${text}</ServiceException>
</ServiceExceptionReport>`)
}

function versionSaid(parameters: Parameters): string | undefined {
  return parameters.get('VERSION') || parameters.get('WMTVER')
}

/** Chooses the version by the rules of 1.3.0, 6.2.4. Without one, a request that names a system as 1.1.1 does is refused in that version. */
function versionOf(parameters: Parameters): WmsVersion {
  const asked = versionSaid(parameters)
  if (!asked) return parameters.has('SRS') && !parameters.has('CRS') ? '1.1.1' : '1.3.0'
  const [major = 0, minor = 0] = asked.split('.').map(Number)
  return major > 1 || (major === 1 && minor >= 3) ? '1.3.0' : '1.1.1'
}

const OPERATIONS = 'there are GetCapabilities, GetMap and GetFeatureInfo'

function requestOf(parameters: Parameters, version: WmsVersion): WmsRequest {
  const service = parameters.get('SERVICE')
  if (service && service.toUpperCase() !== 'WMS') throw new Invalid(null, 'SERVICE: this is a WMS')
  const request = parameters.get('REQUEST')?.toLowerCase()
  if (service && !request) throw new Invalid(null, 'REQUEST is missing')
  switch (request) {
    case undefined:
    case '':
    case 'getcapabilities':
    case 'capabilities':
      return { kind: 'capabilities', version }
    case 'getmap':
    case 'map':
      return mapRequest(parameters, version)
    case 'getfeatureinfo':
    case 'feature_info':
      return infoRequest(parameters, version)
    default:
      throw new Invalid('OperationNotSupported', `REQUEST: ${OPERATIONS}`)
  }
}

function mapRequest(parameters: Parameters, version: WmsVersion): WmsMap {
  const view = viewOf(parameters, version)
  const format = MAP_FORMATS[needed(parameters, 'FORMAT').toLowerCase() as keyof typeof MAP_FORMATS]
  if (format === undefined)
    throw new Invalid('InvalidFormat', `FORMAT: there are ${Object.keys(MAP_FORMATS).join(', ')}`)
  // The standard has no transparent JPEG.
  const transparent = format !== 'jpg' && (parameters.get('TRANSPARENT') ?? '').toUpperCase() === 'TRUE'
  return { kind: 'map', ...view, format, transparent, background: backgroundOf(parameters.get('BGCOLOR')) }
}

function infoRequest(parameters: Parameters, version: WmsVersion): WmsInfo {
  const view = viewOf(parameters, version)
  const queried = namesOf(needed(parameters, 'QUERY_LAYERS'), 'QUERY_LAYERS')
  const format = INFO_FORMATS[(parameters.get('INFO_FORMAT') || 'text/plain') as keyof typeof INFO_FORMATS]
  if (format === undefined)
    throw new Invalid('InvalidFormat', `INFO_FORMAT: there are ${Object.keys(INFO_FORMATS).join(', ')}`)
  const [column, row] = version === '1.3.0' ? ['I', 'J'] : ['X', 'Y']
  // Clients mix the names of both versions.
  const at = [
    wholeNumber(parameters.get(column as string) ?? parameters.get('X') ?? parameters.get('I')),
    wholeNumber(parameters.get(row as string) ?? parameters.get('Y') ?? parameters.get('J')),
  ] as const
  const { width, height } = view.picture
  if (!(at[0] < width && at[1] < height))
    throw new Invalid('InvalidPoint', `${column}, ${row}: the picture has ${width} by ${height} pixels, from 0`)
  const count = parameters.has('FEATURE_COUNT') ? wholeNumber(parameters.get('FEATURE_COUNT')) : 1
  if (!(count >= 1)) throw new Invalid(null, 'FEATURE_COUNT: not a whole number from 1')
  return { kind: 'info', ...view, queried, format, at, count: Math.min(count, MAX_FEATURES) }
}

function viewOf(parameters: Parameters, version: WmsVersion): MapView {
  if (!versionSaid(parameters)) throw new Invalid(null, 'VERSION is missing: 1.3.0 or 1.1.1')
  const layers = namesOf(needed(parameters, 'LAYERS'), 'LAYERS')
  checkStyles(parameters.get('STYLES') ?? '', layers.length)
  const width = side(parameters, 'WIDTH')
  const height = side(parameters, 'HEIGHT')
  const name = version === '1.3.0' ? 'CRS' : 'SRS'
  const said = needed(parameters, name).toUpperCase()
  const known = MAP_SYSTEMS[said as keyof typeof MAP_SYSTEMS]
  if (known === undefined)
    throw new Invalid(`Invalid${name}`, `${name}: there are ${Object.keys(MAP_SYSTEMS).join(', ')}`)
  const bounds = boundsOf(needed(parameters, 'BBOX'), version === '1.3.0' && known.isNorthFirst)
  const time = parameters.get('TIME') ?? ''
  return { version, layers, time, picture: { system: known.system, bounds, width, height } }
}

function needed(parameters: Parameters, name: string): string {
  const value = parameters.get(name)
  if (!value) throw new Invalid(null, `${name} is missing`)
  return value
}

function namesOf(text: string, parameter: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim())
  if (names.length > MAX_LAYERS) throw new Invalid(null, `${parameter}: at most ${MAX_LAYERS} layers are drawn`)
  return names
}

/** Each layer has one style, `default`, whose name may be left out. */
function checkStyles(text: string, layers: number): void {
  const styles = text === '' ? [] : text.split(',').map((style) => style.trim())
  if (styles.some((style) => style !== '' && style !== 'default'))
    throw new Invalid('StyleNotDefined', 'STYLES: each layer has the style default')
  if (styles.length > 0 && styles.length !== layers)
    throw new Invalid('StyleNotDefined', 'STYLES: there must be as many as LAYERS, or none')
}

function wholeNumber(text: string | undefined): number {
  return /^\d{1,9}$/.test(text ?? '') ? Number(text) : Number.NaN
}

function side(parameters: Parameters, name: string): number {
  const pixels = wholeNumber(needed(parameters, name))
  if (pixels >= 1 && pixels <= MAX_SIDE) return pixels
  throw new Invalid(null, `${name}: a whole number from 1 to ${MAX_SIDE}`)
}

const DECIMAL = /^[-+]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][-+]?\d{1,3})?$/

function boundsOf(text: string, isNorthFirst: boolean): Bounds {
  const numbers = text.split(',').map((part) => (DECIMAL.test(part.trim()) ? Number(part) : Number.NaN))
  const [a = 0, b = 0, c = 0, d = 0] = numbers
  if (numbers.length !== 4 || !numbers.every(Number.isFinite)) throw new Invalid(null, 'BBOX: not four numbers')
  if (!(a < c && b < d)) throw new Invalid(null, 'BBOX: the lower corner comes first, and a box has an area')
  return isNorthFirst ? [b, a, d, c] : [a, b, c, d]
}

const WHITE = 0xffffff

function backgroundOf(text: string | undefined): number {
  if (!text) return WHITE
  const [, digits] = /^(?:0x|#)?([0-9a-f]{6})$/i.exec(text) ?? []
  if (digits === undefined) throw new Invalid(null, 'BGCOLOR: 0x and six hexadecimal digits')
  return Number.parseInt(digits, 16)
}
