import type { Bounds, TileFormat, VectorLayer } from '@gateway/contracts/basemap.js'
import { formatOfExtension } from '../formats.js'
import { readBounds } from '../metadata/fields.js'
import { degreesIn, isNorthFirst, matchGrid, type SaidLevel, systemOf } from './grid.js'
import { reachable, spread } from './said-addresses.js'
import {
  type FetchDocument,
  formatOfType,
  isTaken,
  NotAService,
  type ReadOptions,
  type UpstreamLayer,
  type UpstreamRequest,
  type UpstreamService,
} from './service.js'

type Json = { readonly [name: string]: unknown }

const DEEPEST_ZOOM = 22
/** Limit: collections and tile sets of an OGC API that are read. */
const MAX_SETS = 500
/** Limit: definitions of sets that are read for one collection. */
const MAX_DESCRIBED = 5

/** Makes a layer of an XYZ template. */
export function readTemplate(template: string, options: ReadOptions): UpstreamService {
  const format = options.format ?? formatOfAddress(template) ?? 'png'
  const { minZoom, maxZoom, tileSize, subdomains } = options
  const request = { kind: 'tiles', template, subdomains, levels: null } as const
  const range = { minZoom: minZoom ?? 0, maxZoom: maxZoom ?? DEEPEST_ZOOM }
  return { layers: [{ ...MERCATOR, layer: '', name: '', ...range, format, tileSize, request }], left: [] }
}

/** Reads a TileJSON 2 or 3. */
export function readTileJson(json: Json, url: string, options: ReadOptions): UpstreamService {
  const [template] = strings(json.tiles)
  if (template === undefined) throw new NotAService('the TileJSON has no tiles')
  const vectorLayers = Array.isArray(json.vector_layers) ? (json.vector_layers as VectorLayer[]) : null
  const format =
    options.format ?? formatOfText(json.format) ?? formatOfAddress(template) ?? (vectorLayers ? 'pbf' : 'png')
  const { template: address, subdomains } = spread(strings(json.tiles).map((one) => reachable(one, url)))
  const flipped = json.scheme === 'tms' ? address.replaceAll('{y}', '{-y}') : address
  const hosts = subdomains.length > 0 ? subdomains : options.subdomains
  if (hosts.length === 0 && flipped.includes('{s}')) return { layers: [], left: [{ layer: '', why: 'address' }] }
  const layer: UpstreamLayer = {
    ...MERCATOR,
    layer: '',
    name: textOf(json.name),
    description: textOf(json.description) || null,
    attribution: textOf(json.attribution) || null,
    bounds: boundsOf(json.bounds),
    minZoom: numberOf(json.minzoom, 0),
    maxZoom: numberOf(json.maxzoom, DEEPEST_ZOOM),
    format,
    tileSize: numberOf(json.tileSize, vectorLayers ? 512 : options.tileSize),
    vectorLayers,
    request: {
      kind: 'tiles',
      template: flipped,
      subdomains: hosts,
      levels: null,
    },
  }
  return { layers: [layer], left: [] }
}

/** Reads a MapServer or an ImageServer of ArcGIS: its cache, or pictures that it draws. */
export function readArcgis(json: Json, url: string, options: ReadOptions): UpstreamService {
  const [path = ''] = url.split(/[?#]/, 1)
  const base = path.endsWith('/') ? path.slice(0, -1) : path
  const isImage = /\/ImageServer$/i.test(base)
  const info = json.tileInfo as Json | undefined
  const about = {
    ...MERCATOR,
    layer: '',
    name: textOf(json.mapName) || textOf(json.name) || nameOf(base),
    description: textOf(json.serviceDescription) || textOf(json.description) || null,
    attribution: textOf(json.copyrightText) || null,
    bounds: degreesOf((json.fullExtent ?? json.extent) as Json | undefined),
  }
  const kind = textOf(info?.format).toUpperCase()
  // Tiles of LERC are heights. Pictures of them are drawn.
  if (info !== undefined && json.singleFusedMapCache !== false && !kind.startsWith('LERC')) {
    const origin = info.origin as Json | undefined
    const system = systemOfReference((info.spatialReference ?? json.spatialReference) as Json | undefined)
    const lods = ((Array.isArray(info.lods) ? info.lods : []) as Json[]).filter((lod) => isMade(lod, json))
    const said = lods.map((lod) => ({
      id: String(lod.level),
      left: Number(origin?.x),
      top: Number(origin?.y),
      cellSize: Number(lod.resolution),
      tileWidth: Number(info.cols),
      tileHeight: Number(info.rows),
    }))
    const grid = matchGrid(system, said)
    if (grid === null) return { layers: [], left: [{ layer: '', why: 'grid' }] }
    const format: TileFormat = /^JPE?G$/.test(kind) ? 'jpg' : 'png'
    const formats: TileFormat[] = /^PNG|^JPE?G$/.test(kind) ? [format] : ['png', 'jpg']
    const request = {
      kind: 'tiles',
      template: `${base}/tile/{z}/{y}/{x}`,
      subdomains: [],
      levels: grid.levels,
      formats,
    } as const
    return { layers: [{ ...about, ...grid, format, request }], left: [] }
  }
  const format = options.format ?? 'png'
  const drawn = { png: isImage ? 'png' : 'png32', jpg: 'jpg', webp: '', avif: '', pbf: '', mlt: '' }[format]
  if (drawn === '') return { layers: [], left: [{ layer: '', why: 'format' }] }
  const request = {
    kind: 'arcgis',
    url: `${base}/${isImage ? 'exportImage' : 'export'}?`,
    wkid: 3857,
    format: drawn,
  } as const
  const { tileSize } = options
  return { layers: [{ ...about, ...drawnZooms(json, tileSize), format, tileSize, request }], left: [] }
}

/** Scale of zoom 0 of Web Mercator for pixels of 96 dots an inch, and the part of a scale that is rounding. */
const SCALE_0 = 591_657_527.591_555
const SCALE_TOLERANCE = 0.01

/** True if the cache of a service has a level: its description lists all that the scheme of tiles has. */
function isMade({ level, scale }: Json, { minLOD, maxLOD, minScale, maxScale }: Json): boolean {
  if (typeof minLOD === 'number' && Number(level) < minLOD) return false
  if (typeof maxLOD === 'number' && Number(level) > maxLOD) return false
  const [least, most] = [Number(maxScale) || 0, Number(minScale) || 0]
  const isTooFine = Number(scale) < least * (1 - SCALE_TOLERANCE)
  return !isTooFine && !(most > 0 && Number(scale) > most * (1 + SCALE_TOLERANCE))
}

function drawnZooms({ minScale, maxScale }: Json, tileSize: number) {
  const [least, most] = [Number(maxScale) || 0, Number(minScale) || 0]
  const zoomAt = (scale: number) => Math.log2((SCALE_0 * 256) / tileSize / scale)
  const minZoom = most > 0 ? Math.max(0, Math.min(20, Math.ceil(zoomAt(most) - SCALE_TOLERANCE))) : 0
  const maxZoom = least > 0 ? Math.max(minZoom, Math.min(20, Math.floor(zoomAt(least) + SCALE_TOLERANCE))) : 20
  return { minZoom, maxZoom }
}

/** Reads the landing page of an OGC API - Tiles, and its collections. */
export async function readOgcTiles(
  json: Json,
  url: string,
  options: ReadOptions,
  fetch: FetchDocument,
): Promise<UpstreamService> {
  const collections = linksOf(json).find(({ rel }) => /\/data$|^data$/.test(rel))
  const owners: Owner[] = []
  if (collections !== undefined) {
    const listed = await fetchJson(fetch, new URL(collections.href, url).href)
    for (const one of ((Array.isArray(listed.json.collections) ? listed.json.collections : []) as Json[]).slice(
      0,
      MAX_SETS,
    ))
      owners.push({ layer: textOf(one.id), title: textOf(one.title), about: one, url: listed.url })
  }
  if (owners.length === 0) owners.push({ layer: '', title: textOf(json.title), about: json, url })
  const found = await readOwners(owners, options, fetch)
  // The tiles of some services are those of the whole.
  const isEmpty = found.layers.length === 0 && found.left.length === 0
  if (!isEmpty || collections === undefined) return found
  return readOwners([{ layer: '', title: textOf(json.title), about: json, url }], options, fetch)
}

interface Owner {
  readonly layer: string
  readonly title: string
  readonly about: Json
  readonly url: string
}

async function readOwners(
  owners: readonly Owner[],
  options: ReadOptions,
  fetch: FetchDocument,
): Promise<UpstreamService> {
  const layers: UpstreamLayer[] = []
  const left: UpstreamService['left'][number][] = []
  for (const owner of owners) {
    if (!isTaken(options, owner.layer)) continue
    const found = await tilesOf(owner.about, owner.url, options, fetch)
    if (found === 'no tiles') continue
    if (typeof found === 'string') {
      left.push({ layer: owner.layer, why: found })
      continue
    }
    const extent = (
      ((owner.about.extent as Json | undefined)?.spatial as Json | undefined)?.bbox as unknown[] | undefined
    )?.[0]
    layers.push({
      ...MERCATOR,
      layer: owner.layer,
      name: owner.title || owner.layer,
      description: textOf(owner.about.description) || null,
      bounds: boundsOf(extent),
      minZoom: 0,
      maxZoom: DEEPEST_ZOOM,
      ...found,
    })
  }
  return { layers, left }
}

async function tilesOf(owner: Json, url: string, options: ReadOptions, fetch: FetchDocument) {
  const links = linksOf(owner).filter(({ rel }) => /tilesets-(?:map|vector|coverage)$/.test(rel))
  const link = links.find(({ rel }) => rel.endsWith('map')) ?? links[0]
  if (link === undefined) return 'no tiles' as const
  const { json, url: listUrl } = await fetchJson(fetch, new URL(link.href, url).href)
  const sets = (Array.isArray(json.tilesets) ? json.tilesets : []) as Json[]
  const known = sets.flatMap((set) => {
    const named = textOf(set.tileMatrixSetURI) || textOf(set.tileMatrixSetId) || textOf(set.crs)
    const grid = GRIDS.find((id) => named.endsWith(id))
    return grid === undefined ? [] : [{ set, grid, matched: null }]
  })
  const best =
    known.find(({ grid }) => grid === 'WebMercatorQuad') ?? known[0] ?? (await describedSet(sets, listUrl, fetch))
  if (best === undefined) return 'grid' as const
  let item = itemOf(linksOf(best.set), options)
  let about = best.set
  let base = listUrl
  const self = linksOf(best.set).find(({ rel }) => rel === 'self' || rel === 'tileset')
  if (item === null && self !== undefined) {
    const read = await fetchJson(fetch, new URL(self.href, listUrl).href)
    about = read.json
    base = read.url
    item = itemOf(linksOf(about), options)
  }
  if (item === null) return 'address' as const
  const template = reachable(item.href, base)
    .replaceAll('{tileMatrix}', '{z}')
    .replaceAll('{tileRow}', '{y}')
    .replaceAll('{tileCol}', '{x}')
    .replaceAll('{tileMatrixSetId}', textOf(best.set.tileMatrixSetId) || best.grid)
  const limits = (Array.isArray(about.tileMatrixSetLimits) ? about.tileMatrixSetLimits : []) as Json[]
  const zooms = limits.map(({ tileMatrix }) => Number(tileMatrix)).filter(Number.isInteger)
  const levels = best.matched?.levels ?? null
  const request: UpstreamRequest = { kind: 'tiles', template, subdomains: [], levels }
  if (best.matched !== null) return { request, format: item.format, ...best.matched }
  const range = zooms.length === 0 ? {} : { minZoom: Math.min(...zooms), maxZoom: Math.max(...zooms) }
  return {
    request,
    format: item.format,
    tileSize: item.format === 'pbf' ? 512 : 256,
    tileMatrixSet: best.grid,
    ...range,
  }
}

/** Compares the definition of a set with the grids: its system says nothing of its tiles. */
async function describedSet(sets: readonly Json[], url: string, fetch: FetchDocument) {
  for (const set of sets.slice(0, MAX_DESCRIBED)) {
    const link = linksOf(set).find(({ rel }) => /tiling-scheme$/.test(rel))
    if (link === undefined) continue
    const { json } = await fetchJson(fetch, new URL(link.href, url).href)
    const crs = textOf(json.crs) || textOf((json.crs as Json | undefined)?.uri)
    const said = ((Array.isArray(json.tileMatrices) ? json.tileMatrices : []) as Json[]).map((one) =>
      levelOf(one, isNorthFirst(crs)),
    )
    const matched = said.includes(null) ? null : matchGrid(systemOf(crs), said as SaidLevel[])
    if (matched !== null) return { set, grid: matched.tileMatrixSet, matched }
  }
  return undefined
}

/** null: rows of the level have different widths, or begin at the bottom. */
function levelOf(matrix: Json, isNorth: boolean): SaidLevel | null {
  if (Array.isArray(matrix.variableMatrixWidths) || matrix.cornerOfOrigin === 'bottomLeft') return null
  const [a = Number.NaN, b = Number.NaN] = (Array.isArray(matrix.pointOfOrigin) ? matrix.pointOfOrigin : []).map(Number)
  return {
    id: String(matrix.id),
    left: isNorth ? b : a,
    top: isNorth ? a : b,
    cellSize: Number(matrix.cellSize),
    tileWidth: Number(matrix.tileWidth),
    tileHeight: Number(matrix.tileHeight),
  }
}

function itemOf(links: readonly Link[], options: ReadOptions) {
  const items = links.flatMap(({ rel, type, href }) => {
    const format = rel === 'item' ? formatOfType(type) : null
    return format === null ? [] : [{ href, format }]
  })
  return items.find(({ format }) => format === options.format) ?? items[0] ?? null
}

interface Link {
  readonly rel: string
  readonly type: string
  readonly href: string
}

function linksOf(json: Json): readonly Link[] {
  const links = (Array.isArray(json.links) ? json.links : []) as Json[]
  return links.map(({ rel, type, href }) => ({ rel: textOf(rel), type: textOf(type), href: textOf(href) }))
}

async function fetchJson(fetch: FetchDocument, url: string): Promise<{ readonly json: Json; readonly url: string }> {
  const document = await fetch(url)
  return { json: parseJson(document.text), url: document.url }
}

export function parseJson(text: string): Json {
  try {
    const json: unknown = JSON.parse(text)
    if (typeof json === 'object' && json !== null) return json as Json
  } catch {}
  throw new NotAService('the description is no JSON object')
}

const GRIDS = ['WebMercatorQuad', 'WorldCRS84Quad', 'CGCS2000Quad'] as const

const MERCATOR = {
  description: null,
  attribution: null,
  bounds: null,
  tileMatrixSet: 'WebMercatorQuad',
  tileMatrices: null,
  vectorLayers: null,
} as const

function systemOfReference(reference: Json | undefined): number {
  return Number(reference?.latestWkid ?? reference?.wkid)
}

function degreesOf(extent: Json | undefined): Bounds | null {
  const system = systemOfReference(extent?.spatialReference as Json | undefined)
  return degreesIn(system, [extent?.xmin, extent?.ymin, extent?.xmax, extent?.ymax].map(Number))
}

function boundsOf(value: unknown): Bounds | null {
  const sides = Array.isArray(value) ? value : []
  return readBounds(sides.length === 6 ? [sides[0], sides[1], sides[3], sides[4]] : sides, [])
}

function formatOfText(value: unknown): TileFormat | null {
  return typeof value === 'string' ? (formatOfExtension(value) ?? formatOfType(value)) : null
}

function formatOfAddress(address: string): TileFormat | null {
  const extension = /\.([a-z]{3,4})(?:[?#]|$)/i.exec(address)?.[1]
  return extension === undefined ? null : formatOfExtension(extension)
}

function nameOf(base: string): string {
  return decodeURIComponent(base.split('/').at(-2) ?? '')
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : ''
}

function numberOf(value: unknown, otherwise: number): number {
  const number = Number(value)
  return value !== undefined && value !== null && Number.isInteger(number) && number >= 0 ? number : otherwise
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
}
