import type { Bounds } from '@gateway/contracts/basemap.js'
import { knownGrid, systemOf } from './grid.js'
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
/** Metres of a pixel of the standard's display (OGC 06-042, 7.2.4.6.9), and of a pixel of Web Mercator at zoom 0. */
const PIXEL = 0.000_28
const ZOOM_0 = 156_543.033_928_041

interface Inherited {
  readonly systems: ReadonlySet<string>
  readonly style: string
  readonly bounds: Bounds | null
  readonly attribution: string | null
}

/** Reads capabilities of WMS 1.1.1 and 1.3.0. Layers without a name only group others. */
export function readWms(document: string, url: string, options: ReadOptions): UpstreamService {
  const parsed = parseXml(document)
  const root = first(parsed, 'WMS_Capabilities') ?? first(parsed, 'WMT_MS_Capabilities')
  if (root === undefined) throw new NotAService('there are no capabilities of a WMS')
  const version = attribute(root, 'version').startsWith('1.3') ? '1.3.0' : '1.1.1'
  const capability = first(root, 'Capability')
  const getMap = first(capability, 'Request', 'GetMap')
  const type = chooseType(
    all(getMap, 'Format').map((one) => text(one)),
    options.format ?? 'png',
  )
  const said = attribute(first(getMap, 'DCPType', 'HTTP', 'Get', 'OnlineResource'), 'href') || url.replace(/\?.*$/, '')
  const address = `${said}${/[?&]$/.test(said) ? '' : said.includes('?') ? '&' : '?'}`
  const maxPixels = [text(root, 'Service', 'MaxWidth'), text(root, 'Service', 'MaxHeight')]
    .map(Number)
    .filter((n) => n > 0)
  const layers: UpstreamLayer[] = []
  const left: UpstreamService['left'][number][] = []
  const visit = (node: Node, above: Inherited, depth: number): void => {
    const own = inherited(node, above)
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
          ...zoomsOf(node),
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
            styles: own.style,
            crs,
            isLatitudeFirst: version === '1.3.0' && (crs === 'EPSG:4326' || crs === 'EPSG:4490'),
            format: type.type,
            transparent: attribute(node, 'opaque') !== '1' && type.format !== 'jpg',
            maxPixels: maxPixels.length === 0 ? null : Math.min(...maxPixels),
          },
        })
      }
    }
    if (depth < MAX_DEPTH) for (const child of all(node, 'Layer')) visit(child, own, depth + 1)
  }
  const nothing = { systems: new Set<string>(), style: '', bounds: null, attribution: null }
  for (const node of all(capability, 'Layer')) visit(node, nothing, 0)
  return { layers, left }
}

function inherited(node: Node, above: Inherited): Inherited {
  const named = [...all(node, 'CRS'), ...all(node, 'SRS')].flatMap((one) => text(one).toUpperCase().split(/\s+/))
  return {
    systems: named.length === 0 ? above.systems : new Set([...above.systems, ...named]),
    style: text(first(node, 'Style'), 'Name') === '' ? above.style : '',
    bounds: boundsOf(node) ?? above.bounds,
    attribution: text(node, 'Attribution', 'Title') || above.attribution,
  }
}

function boundsOf(node: Node): Bounds | null {
  const box = first(node, 'EX_GeographicBoundingBox')
  const old = first(node, 'LatLonBoundingBox')
  const sides = box
    ? ['westBoundLongitude', 'southBoundLatitude', 'eastBoundLongitude', 'northBoundLatitude'].map((name) =>
        Number(text(box, name)),
      )
    : ['minx', 'miny', 'maxx', 'maxy'].map((name) => Number(attribute(old, name) || Number.NaN))
  const [west = 0, south = 0, east = 0, north = 0] = sides
  return sides.every(Number.isFinite) && west < east && south < north ? [west, south, east, north] : null
}

/** Scales at which a layer is drawn, as zooms. */
function zoomsOf(node: Node): { readonly minZoom: number; readonly maxZoom: number } {
  const zoomAt = (scale: number) => Math.log2(ZOOM_0 / (scale * PIXEL))
  const [largest, least] = [Number(text(node, 'MaxScaleDenominator')), Number(text(node, 'MinScaleDenominator'))]
  const minZoom = largest > 0 ? Math.max(0, Math.min(DEEPEST_ZOOM, Math.ceil(zoomAt(largest)))) : 0
  const maxZoom = least > 0 ? Math.max(minZoom, Math.min(DEEPEST_ZOOM, Math.floor(zoomAt(least)))) : DEEPEST_ZOOM
  return { minZoom, maxZoom }
}
