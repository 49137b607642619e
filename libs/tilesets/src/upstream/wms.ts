import type { Bounds } from '@gateway/contracts/basemap.js'
import { readBounds } from '../metadata/fields.js'
import { TILE_MATRIX_SETS } from '../tile-matrix-sets.js'
import { knownGrid, systemOf } from './grid.js'
import { queryBase, reachable } from './said-addresses.js'
import {
  chooseType,
  isTaken,
  NotAService,
  type ReadOptions,
  type UpstreamLayer,
  type UpstreamService,
} from './service.js'
import { all, attribute, first, type Node, parseXml, text } from './xml.js'

/** Limits: depth of nested layers, and the deepest zoom of a layer without its own limit. */
const MAX_DEPTH = 20
const DEEPEST_ZOOM = 20
/** Systems in which layers are asked for, the first that a layer has. */
const SYSTEMS = ['EPSG:3857', 'EPSG:900913', 'EPSG:102100', 'CRS:84', 'EPSG:4326', 'EPSG:4490']
/** Metres of a pixel of the standard's display (OGC 06-042, 7.2.4.6.9). */
const PIXEL = 0.000_28
/** Metres of the diagonal of a pixel at scale 1. */
const DIAGONAL = PIXEL * Math.SQRT2
/** A format that only GeoServer has, which writes scales where 1.1.1 has diagonals, unless it is set otherwise. */
const OF_GEOSERVER = /^application\/openlayers\d?$/
/** Part of a zoom by which a limit of the scale may be rounded. */
const ZOOM_TOLERANCE = 0.01

interface Inherited {
  readonly systems: ReadonlySet<string>
  readonly bounds: Bounds | null
  readonly attribution: string | null
  readonly isOpaque: boolean
  /** scale denominators; 0: no limit */
  readonly scales: readonly [least: number, largest: number]
}

/** Reads capabilities of WMS 1.1.1 and 1.3.0. Layers without a name only group others. */
export function readWms(document: string, url: string, options: ReadOptions): UpstreamService {
  const parsed = parseXml(document)
  const root = first(parsed, 'WMS_Capabilities') ?? first(parsed, 'WMT_MS_Capabilities')
  if (root === undefined) throw new NotAService('there are no capabilities of a WMS')
  const version = attribute(root, 'version').startsWith('1.3') ? '1.3.0' : '1.1.1'
  const capability = first(root, 'Capability')
  const getMap = first(capability, 'Request', 'GetMap')
  const types = all(getMap, 'Format').map((one) => text(one))
  const type = chooseType(types, options.format ?? 'png')
  const hintUnit = types.some((one) => OF_GEOSERVER.test(one)) ? 1 : DIAGONAL
  const said = all(getMap, 'DCPType')
    .flatMap((one) => all(one, 'HTTP'))
    .map((one) => attribute(first(one, 'Get', 'OnlineResource'), 'href'))
    .find((href) => href !== '')
  const address = queryBase(said === undefined ? url : reachable(said, url))
  const maxPixels = [text(root, 'Service', 'MaxWidth'), text(root, 'Service', 'MaxHeight')]
    .map(Number)
    .filter((n) => n > 0)
  const layers: UpstreamLayer[] = []
  const left: UpstreamService['left'][number][] = []
  const visit = (node: Node, above: Inherited, depth: number): void => {
    const own = inherited(node, above, hintUnit)
    const layer = text(node, 'Name')
    if (layer !== '' && isTaken(options, layer)) {
      const crs = SYSTEMS.find((name) => own.systems.has(name))
      const grid = crs === undefined ? null : knownGrid(systemOf(crs))
      if (type === null) left.push({ layer, why: 'format' })
      else if (crs === undefined || grid === null) left.push({ layer, why: 'grid' })
      else {
        layers.push({
          layer,
          name: text(node, 'Title') || layer,
          description: text(node, 'Abstract') || null,
          attribution: own.attribution,
          bounds: own.bounds,
          ...zoomsOf(own.scales, TILE_MATRIX_SETS[grid].scaleDenominator * (256 / options.tileSize)),
          format: type.format,
          tileSize: options.tileSize,
          tileMatrixSet: grid,
          tileMatrices: null,
          vectorLayers: null,
          request: {
            kind: 'wms',
            url: address,
            version,
            layers: layer,
            // The default style. Names of others may be those of groups.
            styles: '',
            crs,
            isLatitudeFirst: version === '1.3.0' && (crs === 'EPSG:4326' || crs === 'EPSG:4490'),
            format: type.type,
            transparent: !own.isOpaque && type.format !== 'jpg',
            maxPixels: maxPixels.length === 0 ? null : Math.min(...maxPixels),
          },
        })
      }
    }
    if (depth < MAX_DEPTH) for (const child of all(node, 'Layer')) visit(child, own, depth + 1)
  }
  const nothing: Inherited = {
    systems: new Set(),
    bounds: null,
    attribution: null,
    isOpaque: false,
    scales: [0, 0],
  }
  for (const node of all(capability, 'Layer')) visit(node, nothing, 0)
  return { layers, left }
}

function inherited(node: Node, above: Inherited, hintUnit: number): Inherited {
  const named = [...all(node, 'CRS'), ...all(node, 'SRS')].flatMap((one) => text(one).toUpperCase().split(/\s+/))
  return {
    systems: named.length === 0 ? above.systems : new Set([...above.systems, ...named]),
    bounds: boundsOf(node) ?? above.bounds,
    attribution: text(node, 'Attribution', 'Title') || above.attribution,
    isOpaque: attribute(node, 'opaque') === '' ? above.isOpaque : /^(?:1|true)$/i.test(attribute(node, 'opaque')),
    scales: scalesOf(node, above.scales, hintUnit),
  }
}

/** WMS 1.1.1 gives the diagonal of a pixel in metres in place of the scale (OGC 01-068r3, 7.1.4.5.8). `hintUnit` is that of scale 1. */
function scalesOf(node: Node, above: Inherited['scales'], hintUnit: number): Inherited['scales'] {
  const hint = first(node, 'ScaleHint')
  const scale = (name: string, side: string) =>
    Number(text(node, name)) || Number(attribute(hint, side)) / hintUnit || 0
  return [scale('MinScaleDenominator', 'min') || above[0], scale('MaxScaleDenominator', 'max') || above[1]]
}

function boundsOf(node: Node): Bounds | null {
  const box = first(node, 'EX_GeographicBoundingBox')
  const old = first(node, 'LatLonBoundingBox')
  const sides = box
    ? ['westBoundLongitude', 'southBoundLatitude', 'eastBoundLongitude', 'northBoundLatitude'].map((name) =>
        Number(text(box, name)),
      )
    : ['minx', 'miny', 'maxx', 'maxy'].map((name) => Number(attribute(old, name) || Number.NaN))
  return sides.every(Number.isFinite) ? readBounds(sides, []) : null
}

/** Scales at which a layer is drawn, as zooms of a grid whose zoom 0 has a scale. */
function zoomsOf([least, largest]: Inherited['scales'], scale0: number) {
  const zoomAt = (scale: number) => Math.log2(scale0 / scale)
  const inRange = (zoom: number, from: number) => Math.max(from, Math.min(DEEPEST_ZOOM, zoom))
  const minZoom = largest > 0 ? inRange(Math.ceil(zoomAt(largest) - ZOOM_TOLERANCE), 0) : 0
  const maxZoom = least > 0 ? inRange(Math.floor(zoomAt(least) + ZOOM_TOLERANCE), minZoom) : DEEPEST_ZOOM
  return { minZoom, maxZoom }
}
