import type { Bounds, TileFormat, VectorLayer } from '@gateway/contracts/basemap.js'
import { formatOfExtension } from '../formats.js'
import { knownGrid, matchGrid, systemOf } from './grid.js'
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
  const address = new URL(template, url).href.replaceAll('%7B', '{').replaceAll('%7D', '}')
  const flipped = json.scheme === 'tms' ? address.replaceAll('{y}', '{-y}') : address
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
    request: { kind: 'tiles', template: flipped, subdomains: options.subdomains, levels: null },
  }
  return { layers: [layer], left: [] }
}

/** Reads a MapServer or an ImageServer of ArcGIS: its cache, or pictures that it draws. */
export function readArcgis(json: Json, url: string, options: ReadOptions): UpstreamService {
  const base = url.replace(/[?#].*$/, '').replace(/\/+$/, '')
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
  if (info !== undefined && json.singleFusedMapCache !== false) {
    const origin = info.origin as Json | undefined
    const system = systemOfReference(info.spatialReference as Json | undefined)
    const lods = (Array.isArray(info.lods) ? info.lods : []) as Json[]
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
    const kind = textOf(info.format).toUpperCase()
    const format: TileFormat = options.format ?? (/^JPE?G$/.test(kind) ? 'jpg' : 'png')
    const request = {
      kind: 'tiles',
      template: `${base}/tile/{z}/{y}/{x}`,
      subdomains: [],
      levels: grid.levels,
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
  return { layers: [{ ...about, minZoom: 0, maxZoom: 20, format, tileSize: options.tileSize, request }], left: [] }
}

/** Reads the landing page of an OGC API - Tiles, and its collections. */
export async function readOgcTiles(
  json: Json,
  url: string,
  options: ReadOptions,
  fetch: FetchDocument,
): Promise<UpstreamService> {
  const collections = linksOf(json).find(({ rel }) => /\/data$|^data$/.test(rel))
  const owners: { readonly layer: string; readonly title: string; readonly about: Json; readonly url: string }[] = []
  if (collections !== undefined) {
    const listed = await fetchJson(fetch, new URL(collections.href, url).href)
    for (const one of ((Array.isArray(listed.json.collections) ? listed.json.collections : []) as Json[]).slice(
      0,
      MAX_SETS,
    ))
      owners.push({ layer: textOf(one.id), title: textOf(one.title), about: one, url: listed.url })
  }
  if (owners.length === 0) owners.push({ layer: '', title: textOf(json.title), about: json, url })
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
    const grid = GRIDS.find((id) => named.endsWith(id)) ?? knownGrid(systemOf(textOf(set.crs)))
    return grid === null ? [] : [{ set, grid }]
  })
  const best = known.find(({ grid }) => grid === 'WebMercatorQuad') ?? known[0]
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
  const template = new URL(item.href, base).href
    .replaceAll('%7B', '{')
    .replaceAll('%7D', '}')
    .replaceAll('{tileMatrix}', '{z}')
    .replaceAll('{tileRow}', '{y}')
    .replaceAll('{tileCol}', '{x}')
    .replaceAll('{tileMatrixSetId}', best.grid)
  const limits = (Array.isArray(about.tileMatrixSetLimits) ? about.tileMatrixSetLimits : []) as Json[]
  const zooms = limits.map(({ tileMatrix }) => Number(tileMatrix)).filter(Number.isInteger)
  const request: UpstreamRequest = { kind: 'tiles', template, subdomains: [], levels: null }
  const range = zooms.length === 0 ? {} : { minZoom: Math.min(...zooms), maxZoom: Math.max(...zooms) }
  return {
    request,
    format: item.format,
    tileSize: item.format === 'pbf' ? 512 : 256,
    tileMatrixSet: best.grid,
    ...range,
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
  const sides = [extent?.xmin, extent?.ymin, extent?.xmax, extent?.ymax].map(Number)
  const grid = knownGrid(systemOfReference(extent?.spatialReference as Json | undefined))
  if (!sides.every(Number.isFinite) || grid === null) return null
  if (grid !== 'WebMercatorQuad') return boundsOf(sides)
  const [west = 0, south = 0, east = 0, north = 0] = sides
  const longitude = (x: number) => (x / 20_037_508.342_789_244) * 180
  const latitude = (y: number) => (Math.atan(Math.sinh(y / 6_378_137)) * 180) / Math.PI
  return boundsOf([longitude(west), latitude(south), longitude(east), latitude(north)])
}

function boundsOf(value: unknown): Bounds | null {
  const sides = Array.isArray(value) ? value.map(Number) : []
  const [west = 0, south = 0, east = 0, north = 0] =
    sides.length === 6 ? [sides[0], sides[1], sides[3], sides[4]] : sides
  if (sides.length < 4 || !sides.every(Number.isFinite)) return null
  const box: Bounds = [Math.max(-180, west), Math.max(-90, south), Math.min(180, east), Math.min(90, north)]
  return box[0] < box[2] && box[1] < box[3] ? box : null
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
