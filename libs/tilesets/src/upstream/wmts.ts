import type { Bounds } from '@gateway/contracts/basemap.js'
import { readBounds } from '../metadata/fields.js'
import { degreesIn, isNorthFirst, knownGrid, type MatchedGrid, matchGrid, type SaidLevel, systemOf } from './grid.js'
import { queryBase, reachable, spread } from './said-addresses.js'
import {
  chooseType,
  formatOfType,
  formatsOfType,
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
  const root = first(parseXml(document), 'Capabilities')
  const contents = first(root, 'Contents')
  if (contents === undefined) throw new NotAService('there are no capabilities of a WMTS')
  const sets = new Map(all(contents, 'TileMatrixSet').map((set) => [text(set, 'Identifier'), set]))
  const provider = text(root, 'ServiceProvider', 'ProviderName')
  const kvp = kvpAddress(root)
  const layers: UpstreamLayer[] = []
  const left: UpstreamService['left'][number][] = []
  for (const node of all(contents, 'Layer')) {
    const layer = text(node, 'Identifier')
    if (!isTaken(options, layer)) continue
    const set = chooseSet(node, sets)
    const tiles = set === null ? 'grid' : addressesOf(node, { kvp, url, setId: set.id }, options)
    if (set === null || typeof tiles === 'string') {
      left.push({ layer, why: typeof tiles === 'string' ? tiles : 'grid' })
      continue
    }
    const { format, formats, template, subdomains } = tiles
    layers.push({
      layer,
      name: text(node, 'Title') || layer,
      description: text(node, 'Abstract') || null,
      attribution: provider === '' ? null : provider,
      bounds: boundsOf(node),
      format,
      vectorLayers: null,
      ...set.grid,
      request: { kind: 'tiles', template, subdomains, levels: set.grid.levels, formats },
    })
  }
  return { layers, left }
}

interface Addressed {
  /** null: the service names none */
  readonly kvp: string | null
  /** of the capabilities */
  readonly url: string
  readonly setId: string
}

function addressesOf(layer: Node, { kvp, url, setId }: Addressed, options: ReadOptions) {
  const style = styleOf(layer)
  const urls = all(layer, 'ResourceURL')
    .filter((one) => attribute(one, 'resourceType').toLowerCase() === 'tile')
    .map((one) => ({ type: attribute(one, 'format'), template: attribute(one, 'template') }))
    // An empty name leaves two slashes, which few services read.
    .filter(({ template }) => style !== '' || kvp === null || !/\{style\}/i.test(template))
    .map(({ type, template }) => ({
      type,
      template: expand(style === '' ? template.replace(EMPTY_STYLE, '/') : template, layer, setId),
    }))
    .filter(({ template }) => !hasOtherNames(template))
  const offered = all(layer, 'Format').map((one) => text(one))
  // Without key-value pairs, only what has an address can be asked for.
  const types = kvp === null && urls.length > 0 ? urls.map(({ type }) => type) : offered
  const type = chooseType(types, options.format) ?? unnamedType(types, options)
  if (type === null) return 'format' as const
  const formats = [...new Set([type.type, ...types].flatMap(formatsOfType))]
  const same = urls.filter((one) => one.type === type.type)
  const rest = same.length > 0 ? same : urls.filter((one) => formatOfType(one.type) === type.format)
  if (rest.length > 0)
    return { format: type.format, formats, ...spread(rest.map(({ template }) => reachable(template, url))) }
  if (kvp === null && all(layer, 'ResourceURL').length > 0) return 'address' as const
  const address = queryBase(kvp === null ? (url.split('?', 1)[0] ?? url) : reachable(kvp, url))
  const template = expand(`${address}${kvpQuery(layer, type.type)}`, layer, setId)
  return { format: type.format, formats, template, subdomains: [] as readonly string[] }
}

/** The part of a path that an empty name of a style leaves out. */
const EMPTY_STYLE = /\/\{style\}\//i
/** True if a template has names that no dimension of the layer has. */
function hasOtherNames(template: string): boolean {
  return (template.match(/\{[^{}]*\}/g) ?? []).some((name) => !['{z}', '{x}', '{y}'].includes(name))
}

/** Tianditu names no media type: its tiles are PNG or JPEG, by the layer. */
function unnamedType(types: readonly string[], { format }: ReadOptions) {
  return types.includes('tiles') ? { type: 'tiles', format: format ?? ('png' as const) } : null
}

function chooseSet(layer: Node, sets: ReadonlyMap<string, Node>) {
  let best: { readonly id: string; readonly grid: MatchedGrid } | null = null
  // Some services name several sets in one link.
  const links = all(layer, 'TileMatrixSetLink').flatMap((link) =>
    all(link, 'TileMatrixSet').map((one) => ({ link, id: text(one) })),
  )
  for (const { link, id } of links) {
    const set = sets.get(id)
    const grid = set === undefined ? null : gridOf(set, limitsOf(link, id))
    // Web Mercator is what most clients read; then the set with the deepest zoom.
    if (grid !== null && (best === null || rank(grid) > rank(best.grid))) best = { id, grid }
  }
  return best
}

function rank({ tileMatrixSet, maxZoom }: MatchedGrid): number {
  return (tileMatrixSet === 'WebMercatorQuad' ? 100 : 0) + maxZoom
}

/** Returns the levels that a link limits a layer to; null: all. Some services name them with the set. */
function limitsOf(link: Node, id: string): ReadonlySet<string> | null {
  const limits = all(first(link, 'TileMatrixSetLimits'), 'TileMatrixLimits').map((one) => text(one, 'TileMatrix'))
  if (limits.length === 0) return null
  return new Set(limits.flatMap((one) => (one.startsWith(`${id}:`) ? [one, one.slice(id.length + 1)] : [one])))
}

function gridOf(set: Node, limits: ReadonlySet<string> | null): MatchedGrid | null {
  const crs = text(set, 'SupportedCRS')
  const system = systemOf(crs)
  const unit = system === 4326 || system === 84 || system === 4490 ? METRES_PER_DEGREE : 1
  const nodes = all(set, 'TileMatrix').filter((one) => limits === null || limits.has(text(one, 'Identifier')))
  const isByName = isNorthFirst(crs) && /^urn|^http/i.test(crs)
  // Many servers write the corner in the other order than the system says.
  for (const isNorth of [isByName, !isByName])
    for (const pixel of PIXELS) {
      const grid = matchGrid(
        system,
        nodes.map((one) => levelOf(one, isNorth, pixel / unit)),
      )
      if (grid !== null) return grid
    }
  return null
}

function levelOf(node: Node, isNorth: boolean, pixel: number): SaidLevel {
  const [a = Number.NaN, b = Number.NaN] = numbers(text(node, 'TopLeftCorner'))
  return {
    id: text(node, 'Identifier'),
    left: isNorth ? b : a,
    top: isNorth ? a : b,
    cellSize: Number(text(node, 'ScaleDenominator')) * pixel,
    tileWidth: Number(text(node, 'TileWidth')),
    tileHeight: Number(text(node, 'TileHeight')),
  }
}

function kvpAddress(root: Node | undefined): string | null {
  const operations = all(first(root, 'OperationsMetadata'), 'Operation')
  const operation = operations.find((one) => attribute(one, 'name') === 'GetTile')
  const protocols = all(operation, 'DCP').flatMap((one) => all(one, 'HTTP'))
  for (const get of protocols.flatMap((one) => all(one, 'Get'))) {
    const values = all(
      all(get, 'Constraint').find((one) => /Encoding$/i.test(attribute(one, 'name'))),
      'AllowedValues',
    )
    const encodings = values.flatMap((one) => all(one, 'Value').map((value) => text(value).toUpperCase()))
    if (encodings.length === 0 || encodings.includes('KVP')) return attribute(get, 'href') || null
  }
  return null
}

function kvpQuery(layer: Node, type: string): string {
  const query = new URLSearchParams({
    SERVICE: 'WMTS',
    REQUEST: 'GetTile',
    VERSION: '1.0.0',
    LAYER: text(layer, 'Identifier'),
    FORMAT: type,
  })
  // The service knows its defaults. Other dimensions have to be named.
  for (const one of all(layer, 'Dimension'))
    if (text(one, 'Default') === '') query.set(text(one, 'Identifier'), dimensionValue(one))
  return `${query}&STYLE={Style}&TILEMATRIXSET={TileMatrixSet}&TILEMATRIX={z}&TILEROW={y}&TILECOL={x}`
}

function styleOf(layer: Node): string {
  const styles = all(layer, 'Style')
  return text(styles.find((one) => /^(?:1|true)$/.test(attribute(one, 'isDefault'))) ?? styles[0], 'Identifier')
}

/** Returns the default of a dimension, or its last value, or the end of its last period. */
function dimensionValue(dimension: Node): string {
  const last = all(dimension, 'Value').at(-1)
  const said = text(dimension, 'Default') || (last === undefined ? '' : text(last))
  return said.split('/')[1] ?? said
}

/** Replaces the names of a template by the values of the layer, and those of a place by the gateway's own. */
function expand(template: string, layer: Node, setId: string): string {
  const values = new Map([
    ['style', encodeURIComponent(styleOf(layer))],
    ['tilematrixset', encodeURIComponent(setId)],
    ['tilematrix', '{z}'],
    ['tilerow', '{y}'],
    ['tilecol', '{x}'],
    ...all(layer, 'Dimension').map(
      (one) => [text(one, 'Identifier').toLowerCase(), encodeURIComponent(dimensionValue(one))] as const,
    ),
  ])
  return template.replace(/\{([^{}]{1,100})\}/g, (whole, name: string) => values.get(name.toLowerCase()) ?? whole)
}

function boundsOf(layer: Node): Bounds | null {
  const degrees = cornersOf(first(layer, 'WGS84BoundingBox'))
  if (degrees !== null) return readBounds(degrees, [])
  for (const box of all(layer, 'BoundingBox')) {
    const system = systemOf(attribute(box, 'crs'))
    const corners = cornersOf(box)
    if (corners !== null && knownGrid(system) === 'WebMercatorQuad') return degreesIn(system, corners)
  }
  return null
}

function cornersOf(box: Node | undefined): readonly number[] | null {
  const sides = [...numbers(text(box, 'LowerCorner')), ...numbers(text(box, 'UpperCorner'))]
  return sides.length === 4 && sides.every(Number.isFinite) ? sides : null
}
