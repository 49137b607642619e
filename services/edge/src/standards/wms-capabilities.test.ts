import { storedBasemap, storedVector, storedVersion } from '@gateway/store/testing/stored-rows.js'
import { TILE_MATRIX_SETS } from '@gateway/tilesets/tile-matrix-sets.js'
import { expect, test } from 'vitest'
import type { CatalogVector } from '../sync/catalog.js'
import type { DrawnStyle } from '../sync/drawn-styles.js'
import type { Layer } from './layer.js'
import { wmsCapabilitiesPieces } from './wms-capabilities.js'
import type { WmsVersion } from './wms-request.js'

const BASEMAP: Layer = {
  code: 'city',
  title: 'City & <Land>',
  description: 'roads',
  attribution: 'Survey',
  version: 'v1',
  revision: 1,
  format: 'png',
  tileSize: 256,
  minZoom: 3,
  maxZoom: 9,
  bounds: [5, 45, 15, 55],
  set: TILE_MATRIX_SETS.WebMercatorQuad,
  vectorLayers: null,
  times: ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'],
  isOfVector: false,
}

/** The plain style of a vector with these bounds, as a token sees it whose area has the bounds of the layer. */
function drawnVector(code: string, bounds: Layer['bounds'], area: Layer['bounds'] = null): Layer {
  const version = storedVersion('1', { bounds, format: 'pbf', extension: 'pbf' })
  const stored = storedBasemap(code, [version])
  const tiles = { stored, versions: new Map([['current', { stored: version }]]) }
  const vector = { stored: storedVector(code), served: true, tiles } as unknown as CatalogVector
  const drawn = { kind: 'vector', of: vector, code } as DrawnStyle
  return { ...BASEMAP, code, bounds: area, minZoom: 0, times: [], description: null, attribution: null, drawn }
}

function capabilities(version: WmsVersion, layers: readonly Layer[]): string {
  const provider = { providerName: 'Survey', providerSite: null }
  const groups = [{ title: 'All', layers }]
  return [...wmsCapabilitiesPieces(version, groups, { base: 'http://maps.example', token: '' }, provider)].join('')
}

/** Sequences of the schema of OGC 06-042 and of the document type of OGC 01-068r3, as far as they are used. */
const SEQUENCES: Readonly<Record<string, readonly string[]>> = {
  WMS_Capabilities: ['Service', 'Capability'],
  WMT_MS_Capabilities: ['Service', 'Capability'],
  Service: [
    ...['Name', 'Title', 'Abstract', 'KeywordList', 'OnlineResource', 'ContactInformation', 'Fees'],
    ...['AccessConstraints', 'LayerLimit', 'MaxWidth', 'MaxHeight'],
  ],
  Capability: ['Request', 'Exception', 'Layer'],
  Request: ['GetCapabilities', 'GetMap', 'GetFeatureInfo'],
  GetMap: ['Format', 'DCPType'],
  Layer: [
    ...['Name', 'Title', 'Abstract', 'KeywordList', 'CRS', 'SRS', 'EX_GeographicBoundingBox', 'LatLonBoundingBox'],
    ...['BoundingBox', 'Dimension', 'Extent', 'Attribution', 'Style', 'MinScaleDenominator', 'MaxScaleDenominator'],
    ...['ScaleHint', 'Layer'],
  ],
  EX_GeographicBoundingBox: [
    ...['westBoundLongitude', 'eastBoundLongitude', 'southBoundLatitude', 'northBoundLatitude'],
  ],
  Style: ['Name', 'Title'],
}

/** Returns the elements whose children are not in sequence, each with its children. */
function disordered(text: string): string[] {
  const open: { readonly name: string; readonly children: string[] }[] = []
  const wrong: string[] = []
  for (const [, end, name = '', single] of text.matchAll(/<(\/?)([A-Za-z_]+)[^<>]*?(\/?)>/g)) {
    if (end !== '/') {
      open.at(-1)?.children.push(name)
      if (single !== '/') open.push({ name, children: [] })
      continue
    }
    const { name: parent = '', children = [] } = open.pop() ?? {}
    const sequence = SEQUENCES[parent]
    const places = sequence === undefined ? [] : children.map((child) => sequence.indexOf(child))
    if (!places.every((place, i) => place >= (places[i - 1] ?? 0))) wrong.push(`${parent}: ${children.join(' ')}`)
  }
  return wrong
}

test.each(['1.3.0', '1.1.1'] as const)('the elements of %s are in the order of the standard', (version) => {
  const text = capabilities(version, [BASEMAP, drawnVector('roads', [10, 50, 11, 51])])
  expect(text).toContain('<Dimension name="time"')
  expect(disordered(text)).toEqual([])
  expect(
    disordered(text.replaceAll(/<Title>[^<]*<\/Title>\n/g, '').replaceAll('<Fees>', '<Title/><Fees>')),
  ).not.toEqual([])
})

const boxes = (text: string) =>
  [...text.matchAll(/<BoundingBox CRS="CRS:84" minx="([^"]+)" miny="([^"]+)" maxx="([^"]+)" maxy="([^"]+)"/g)]
    .slice(1)
    .map((found) => found.slice(1).map(Number))

test('the plain style of a vector lies where its features are, in the area of the token, and each box has an area', () => {
  const text = capabilities('1.3.0', [
    drawnVector('roads', [10, 50, 11, 51]),
    drawnVector('cut', [10, 50, 11, 51], [10.5, 40, 20, 50.5]),
    drawnVector('point', [10, 50, 10, 50]),
    drawnVector('pacific', [170, -10, -170, 10]),
  ])
  const [roads, cut, [west = 0, south = 0, east = 0, north = 0] = [], pacific] = boxes(text)
  expect([roads, cut, pacific]).toEqual([
    [10, 50, 11, 51],
    [10.5, 50, 11, 50.5],
    [-180, -10, 180, 10],
  ])
  expect([west < 10, east > 10, south < 50, north > 50, east - west < 0.001]).toEqual([true, true, true, true, true])
})
