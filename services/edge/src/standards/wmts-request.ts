import { CURRENT_VERSION } from '@gateway/contracts/basemap.js'
import { parseIndex } from '@gateway/tilesets/address.js'
import { CONTENT_TYPES } from '@gateway/tilesets/formats.js'
import type { Layer } from './layer.js'
import type { OwsException } from './ows-exception.js'
import { sizedSetId } from './sized-set.js'

export type WmtsRequest =
  | {
      readonly kind: 'capabilities'
      /** the one layer that is listed; null: all */
      readonly only: string | null
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
 * A request by key and value (WMTS 1.0.0, 8). Names in any case. QGIS asks a bare address for WMS capabilities and GDAL for nothing at all:
 * both get those of the WMTS. `only` is no parameter of the standard: QGIS and GDAL take the depth of a whole grid for that of each layer, and show
 * nothing where a layer ends before; alone it has a grid of its own depth.
 */
export function parseWmtsRequest(query: string): WmtsRequest {
  const parameters = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(query)) {
    const key = name.toUpperCase()
    if (!parameters.has(key)) parameters.set(key, value)
  }
  const request = parameters.get('REQUEST')?.toLowerCase() ?? 'getcapabilities'
  const service = parameters.get('SERVICE')?.toUpperCase()
  if (service !== undefined && service !== 'WMTS' && !(service === 'WMS' && request === 'getcapabilities')) {
    return invalid('service', 'this is a WMTS')
  }
  switch (request) {
    case 'getcapabilities':
      return { kind: 'capabilities', only: parameters.get('ONLY') || null }
    case 'gettile':
      return tileRequest(parameters)
    default:
      return {
        kind: 'exception',
        code: 'OperationNotSupported',
        locator: 'request',
        text: 'there are GetCapabilities and GetTile',
      }
  }
}

function tileRequest(parameters: ReadonlyMap<string, string>): WmtsRequest {
  for (const name of ['LAYER', 'TILEMATRIXSET', 'TILEMATRIX', 'TILEROW', 'TILECOL', 'FORMAT']) {
    if (!parameters.get(name)) {
      return {
        kind: 'exception',
        code: 'MissingParameterValue',
        locator: name.toLowerCase(),
        text: `${name} is missing`,
      }
    }
  }
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

/** What is wrong with a tile request to a layer that is there; null: nothing. */
export function tileRequestError(
  { parameters, z, x, y }: Extract<WmtsRequest, { kind: 'tile' }>,
  layer: Pick<Layer, 'set' | 'format' | 'tileSize'>,
): OwsException | null {
  if (parameters.get('VERSION') !== undefined && parameters.get('VERSION') !== '1.0.0')
    return invalid('version', 'the version is 1.0.0')
  const style = parameters.get('STYLE') ?? ''
  if (style !== '' && style !== 'default') return invalid('style', 'the style is default')
  const set = parameters.get('TILEMATRIXSET')
  if (set !== layer.set.id && set !== sizedSetId(layer))
    return invalid('tilematrixset', `the layer lies in ${sizedSetId(layer)}`)
  if (parameters.get('FORMAT') !== CONTENT_TYPES[layer.format])
    return invalid('format', `the format is ${CONTENT_TYPES[layer.format]}`)
  const zoom = parseIndex(z)
  if (zoom < 0 || zoom > 30) return invalid('tilematrix', 'there is no such matrix')
  const rows = 2 ** zoom
  for (const [locator, value, count] of [
    ['tilerow', y, rows],
    ['tilecol', x, rows * layer.set.columns],
  ] as const) {
    const index = parseIndex(value)
    if (index < 0) return invalid(locator, 'not a whole number')
    if (index >= count)
      return { kind: 'exception', code: 'TileOutOfRange', locator, text: `the matrix has 0 to ${count - 1}` }
  }
  return null
}

export function noSuchLayer(): OwsException {
  return invalid('layer', 'there is no such layer')
}

function invalid(locator: string, text: string): OwsException {
  return { kind: 'exception', code: 'InvalidParameterValue', locator, text }
}

/** The path of the tile that a request names, as the tile route knows it. */
export function tilePathOf(
  { layer, z, x, y }: Extract<WmtsRequest, { kind: 'tile' }>,
  { format }: Pick<Layer, 'format'>,
): string {
  return `/tiles/${encodeURIComponent(layer)}/${CURRENT_VERSION}/${z}/${x}/${y}.${format}`
}
