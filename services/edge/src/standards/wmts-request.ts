import { CURRENT_VERSION } from '@gateway/contracts/basemap.js'
import { parseIndex } from '@gateway/tilesets/address.js'
import { CONTENT_TYPES } from '@gateway/tilesets/formats.js'
import { matrixAt } from '@gateway/tilesets/tile-matrix-sets.js'
import { type Layer, stylePath } from './layer.js'
import type { OwsException } from './ows-exception.js'
import { isSetOf, sizedSetId, wholeSetId } from './sized-set.js'

/** Sections of the capabilities (WMTS 1.0.0, table 3); there are no themes. */
const SECTIONS = ['ServiceIdentification', 'ServiceProvider', 'OperationsMetadata', 'Contents', 'Themes'] as const
export type WmtsSection = (typeof SECTIONS)[number]
export const ALL_SECTIONS: ReadonlySet<WmtsSection> = new Set(SECTIONS)

export type WmtsRequest =
  | {
      readonly kind: 'capabilities'
      /** The only layer that is listed; null for all. */
      readonly only: string | null
      readonly sections: ReadonlySet<WmtsSection>
    }
  | {
      readonly kind: 'tile'
      readonly layer: string
      readonly z: string
      readonly x: string
      readonly y: string
      readonly parameters: ReadonlyMap<string, string>
    }
  | OwsException

/**
 * Parses a request in key-value form (WMTS 1.0.0, 8). Names are case-insensitive. QGIS requests WMS capabilities from a bare address, and
 * GDAL sends no parameters: both get those of the WMTS. `only` is not a parameter of the standard: it lists one layer, whose grid has the
 * layer's own zooms.
 * @param defaults values of parameters that a request, other than a bare address, may omit
 */
export function parseWmtsRequest(query: string, defaults: Readonly<Record<string, string>> = {}): WmtsRequest {
  const parameters = parametersOf(query)
  if (parameters.has('REQUEST')) {
    for (const [name, value] of Object.entries(defaults)) parameters.set(name, parameters.get(name) || value)
  }
  const service = parameters.get('SERVICE')?.toUpperCase() || undefined
  const request = parameters.get('REQUEST')?.toLowerCase()
  if (service !== undefined && service !== 'WMTS' && !(service === 'WMS' && request === 'getcapabilities')) {
    return invalid('service', 'this is a WMTS')
  }
  // Without either it is the bare address.
  if (service !== undefined && !request) return missing('request')
  if (!service && request) return missing('service')
  switch (request) {
    case undefined:
    case '':
    case 'getcapabilities':
      return capabilitiesRequest(parameters)
    case 'gettile':
      return tileRequest(parameters)
    case 'getfeatureinfo':
      return { kind: 'exception', code: 'OperationNotSupported', locator: 'GetFeatureInfo', text: OPERATIONS }
    default:
      return invalid('request', OPERATIONS)
  }
}

/** Returns the first value of each parameter by its name in upper case. */
export function parametersOf(query: string): Map<string, string> {
  const parameters = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(query)) {
    const key = name.toUpperCase()
    if (!parameters.has(key)) parameters.set(key, value)
  }
  return parameters
}

const OPERATIONS = 'there are GetCapabilities and GetTile'

function capabilitiesRequest(parameters: ReadonlyMap<string, string>): WmtsRequest {
  const versions = parameters.get('ACCEPTVERSIONS')
  // OWS Common 1.1.0, 7.3.2.
  if (versions && !versions.split(',').some((version) => version.trim() === '1.0.0')) {
    return { kind: 'exception', code: 'VersionNegotiationFailed', locator: null, text: 'the version is 1.0.0' }
  }
  const sections = sectionsOf(parameters.get('SECTIONS'))
  if (sections === null) return invalid('Sections', `the sections are ${SECTIONS.join(', ')} and All`)
  return { kind: 'capabilities', only: parameters.get('ONLY') || null, sections }
}

/** Returns the requested sections (OWS Common 1.1.0, 7.3.3), or null if one of them does not exist. */
function sectionsOf(list: string | undefined): ReadonlySet<WmtsSection> | null {
  if (!list) return ALL_SECTIONS
  const named = list.split(',').map((name) => name.trim())
  if (!named.every((name) => name === 'All' || ALL_SECTIONS.has(name as WmtsSection))) return null
  return named.includes('All') ? ALL_SECTIONS : new Set(named as WmtsSection[])
}

/** Spelled as in table 29 of the standard. */
const TILE_PARAMETERS = ['Layer', 'Style', 'TileMatrixSet', 'TileMatrix', 'TileRow', 'TileCol', 'Format']

function tileRequest(parameters: ReadonlyMap<string, string>): WmtsRequest {
  const absent = TILE_PARAMETERS.find((name) => {
    const value = parameters.get(name.toUpperCase())
    // Leaflet.TileLayer.WMTS sends an empty style unless its user names one.
    return name === 'Style' ? value === undefined : !value
  })
  if (absent !== undefined) return missing(absent)
  const text = (name: string) => parameters.get(name) as string
  return {
    kind: 'tile',
    layer: text('LAYER'),
    z: text('TILEMATRIX'),
    x: text('TILECOL'),
    y: text('TILEROW'),
    parameters,
  }
}

/** Returns the error of a tile request to an existing layer, or null. */
export function tileRequestError(
  { parameters, z, x, y }: Extract<WmtsRequest, { kind: 'tile' }>,
  layer: Pick<Layer, 'set' | 'format' | 'formats' | 'tileSize'>,
): OwsException | null {
  if (parameters.get('VERSION') !== undefined && parameters.get('VERSION') !== '1.0.0')
    return invalid('Version', 'the version is 1.0.0')
  const style = parameters.get('STYLE') ?? ''
  if (style !== '' && style !== 'default') return invalid('Style', 'the style is default')
  if (!isSetOf(layer, wholeSetId(parameters.get('TILEMATRIXSET') as string)))
    return invalid('TileMatrixSet', `the layer lies in ${sizedSetId(layer)}`)
  const types = (layer.formats ?? [layer.format]).map((format) => CONTENT_TYPES[format])
  if (!types.includes(parameters.get('FORMAT') as string))
    return invalid('Format', `the format is ${types.join(' or ')}`)
  const zoom = parseIndex(z)
  const matrix = zoom < 0 ? null : matrixAt(layer.set, zoom)
  if (matrix === null) return invalid('TileMatrix', 'there is no such matrix')
  for (const [locator, value, count] of [
    ['TileRow', y, matrix.rows],
    ['TileCol', x, matrix.columns],
  ] as const) {
    const index = parseIndex(value)
    if (index < 0) return invalid(locator, 'not a whole number')
    if (index >= count)
      return { kind: 'exception', code: 'TileOutOfRange', locator, text: `the matrix has 0 to ${count - 1}` }
  }
  return null
}

export function noSuchLayer(): OwsException {
  return invalid('Layer', 'there is no such layer')
}

function missing(locator: string): OwsException {
  return { kind: 'exception', code: 'MissingParameterValue', locator, text: `${locator} is missing` }
}

export function invalid(locator: string, text: string): OwsException {
  return { kind: 'exception', code: 'InvalidParameterValue', locator, text }
}

/** Returns the path of the requested tile on the tile route, or on that of styles. */
export function tilePathOf(
  { layer, z, x, y }: Extract<WmtsRequest, { kind: 'tile' }>,
  { format, drawn }: Pick<Layer, 'format' | 'drawn'>,
  version: string = CURRENT_VERSION,
): string {
  if (drawn !== undefined) return `${stylePath(layer)}/${z}/${x}/${y}.${format}`
  return `/tiles/${encodeURIComponent(layer)}/${encodeURIComponent(version)}/${z}/${x}/${y}.${format}`
}
