import type { Bounds } from '@gateway/contracts/basemap.js'
import { isNorthFirst, type MatchedGrid, matchGrid, type SaidLevel, systemOf } from './grid.js'
import {
  chooseType,
  isTaken,
  NotAService,
  type ReadOptions,
  type UpstreamLayer,
  type UpstreamService,
} from './service.js'
import { all, attribute, first, type Node, numbers, parseXml, text } from './xml.js'

/** Metres of a pixel of the standard's display (OGC 07-057r7, 6.1), and of one of 96 dots an inch, which Tianditu uses. */
const PIXELS = [0.000_28, 0.0254 / 96]
const METRES_PER_DEGREE = (Math.PI * 6_378_137) / 180

/** Reads capabilities of WMTS 1.0.0, for REST and for key-value pairs. */
export function readWmts(document: string, url: string, options: ReadOptions): UpstreamService {
  const contents = first(parseXml(document), 'Capabilities', 'Contents')
  if (contents === undefined) throw new NotAService('there are no capabilities of a WMTS')
  const root = first(parseXml(document), 'Capabilities')
  const sets = new Map(all(contents, 'TileMatrixSet').map((set) => [text(set, 'Identifier'), set]))
  const provider = text(root, 'ServiceProvider', 'ProviderName')
  const getTile = all(first(root, 'OperationsMetadata'), 'Operation').find(
    (one) => attribute(one, 'name') === 'GetTile',
  )
  const kvp = kvpAddress(getTile) ?? url.replace(/\?.*$/, '')
  const layers: UpstreamLayer[] = []
  const left: UpstreamService['left'][number][] = []
  for (const node of all(contents, 'Layer')) {
    const layer = text(node, 'Identifier')
    if (!isTaken(options, layer)) continue
    const type = chooseType(
      all(node, 'Format').map((one) => text(one)),
      options.format,
    )
    if (type === null) {
      left.push({ layer, why: 'format' })
      continue
    }
    const set = chooseSet(node, sets)
    if (set === null) {
      left.push({ layer, why: 'grid' })
      continue
    }
    const template = restTemplate(node, type.type) ?? kvpTemplate(kvp, layer, type.type)
    layers.push({
      layer,
      name: text(node, 'Title') || layer,
      description: text(node, 'Abstract') || null,
      attribution: provider === '' ? null : provider,
      bounds: boundsOf(node),
      format: type.format,
      vectorLayers: null,
      ...set.grid,
      request: {
        kind: 'tiles',
        template: expand(template, node, set.id),
        subdomains: [],
        levels: set.grid.levels,
      },
    })
  }
  return { layers, left }
}

function chooseSet(layer: Node, sets: ReadonlyMap<string, Node>) {
  let best: { readonly id: string; readonly grid: MatchedGrid } | null = null
  for (const link of all(layer, 'TileMatrixSetLink')) {
    const id = text(link, 'TileMatrixSet')
    const set = sets.get(id)
    const grid = set === undefined ? null : gridOf(set, limitsOf(link))
    // Web Mercator is what most clients read; then the set with the deepest zoom.
    if (grid !== null && (best === null || rank(grid) > rank(best.grid))) best = { id, grid }
  }
  return best
}

function rank({ tileMatrixSet, maxZoom }: MatchedGrid): number {
  return (tileMatrixSet === 'WebMercatorQuad' ? 100 : 0) + maxZoom
}

/** Returns the levels that a link limits a layer to; null: all. */
function limitsOf(link: Node): ReadonlySet<string> | null {
  const limits = all(first(link, 'TileMatrixSetLimits'), 'TileMatrixLimits')
  return limits.length === 0 ? null : new Set(limits.map((one) => text(one, 'TileMatrix')))
}

function gridOf(set: Node, limits: ReadonlySet<string> | null): MatchedGrid | null {
  const crs = text(set, 'SupportedCRS')
  const system = systemOf(crs)
  const unit = system === 4326 || system === 84 || system === 4490 ? METRES_PER_DEGREE : 1
  const nodes = all(set, 'TileMatrix').filter((one) => limits === null || limits.has(text(one, 'Identifier')))
  for (const pixel of PIXELS) {
    const levels = nodes.map((one): SaidLevel => {
      const [a = Number.NaN, b = Number.NaN] = numbers(text(one, 'TopLeftCorner'))
      // Many servers write the easting first whatever the system says.
      const isNorth = isNorthFirst(crs) && /^urn|^http/i.test(crs) && !(a === -180 && b === 90)
      return {
        id: text(one, 'Identifier'),
        left: isNorth ? b : a,
        top: isNorth ? a : b,
        cellSize: (Number(text(one, 'ScaleDenominator')) * pixel) / unit,
        tileWidth: Number(text(one, 'TileWidth')),
        tileHeight: Number(text(one, 'TileHeight')),
      }
    })
    const grid = matchGrid(system, levels)
    if (grid !== null) return grid
  }
  return null
}

function kvpAddress(operation: Node | undefined): string | null {
  for (const get of all(first(operation, 'DCP', 'HTTP'), 'Get')) {
    const values = all(
      all(get, 'Constraint').find((one) => /Encoding$/i.test(attribute(one, 'name'))),
      'AllowedValues',
    )
    const encodings = values.flatMap((one) => all(one, 'Value').map((value) => text(value).toUpperCase()))
    if (encodings.length === 0 || encodings.includes('KVP')) return attribute(get, 'href') || null
  }
  return null
}

function restTemplate(layer: Node, type: string): string | null {
  const urls = all(layer, 'ResourceURL').filter((one) => attribute(one, 'resourceType').toLowerCase() === 'tile')
  const one = urls.find((url) => attribute(url, 'format') === type)
  return (one === undefined ? '' : attribute(one, 'template')) || null
}

function kvpTemplate(address: string, layer: string, type: string): string {
  const query = new URLSearchParams({
    SERVICE: 'WMTS',
    REQUEST: 'GetTile',
    VERSION: '1.0.0',
    LAYER: layer,
    FORMAT: type,
  })
  const base = `${address}${/[?&]$/.test(address) ? '' : address.includes('?') ? '&' : '?'}`
  return `${base}${query}&STYLE={Style}&TILEMATRIXSET={TileMatrixSet}&TILEMATRIX={z}&TILEROW={y}&TILECOL={x}`
}

/** Replaces the names of a template by the values of the layer, and those of a place by the gateway's own. */
function expand(template: string, layer: Node, setId: string): string {
  const styles = all(layer, 'Style')
  const style = text(styles.find((one) => attribute(one, 'isDefault') === 'true') ?? styles[0], 'Identifier')
  const values = new Map([
    ['style', encodeURIComponent(style)],
    ['tilematrixset', encodeURIComponent(setId)],
    ['tilematrix', '{z}'],
    ['tilerow', '{y}'],
    ['tilecol', '{x}'],
    ...all(layer, 'Dimension').map(
      (one) => [text(one, 'Identifier').toLowerCase(), encodeURIComponent(text(one, 'Default'))] as const,
    ),
  ])
  return template.replace(/\{([^{}]{1,100})\}/g, (whole, name: string) => values.get(name.toLowerCase()) ?? whole)
}

function boundsOf(layer: Node): Bounds | null {
  const box = first(layer, 'WGS84BoundingBox')
  const sides = [...numbers(text(box, 'LowerCorner')), ...numbers(text(box, 'UpperCorner'))]
  return sides.length === 4 && sides.every(Number.isFinite) ? (sides as unknown as Bounds) : null
}
