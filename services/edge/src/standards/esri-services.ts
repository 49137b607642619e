import type { Bounds } from '@gateway/contracts/basemap.js'
import { type AccessToken, isGranted } from '@gateway/core/access/decide.js'
import { rewriteStyle, type StyleAddresses, withQuery } from '@gateway/styles/rewrite.js'
import { isObject, parseGatewayAddress, type StyleJson } from '@gateway/styles/style-json.js'
import type { Catalog, CatalogStyle, CatalogVector } from '../sync/catalog.js'
import { type DrawnStyle, drawnStyle } from '../sync/drawn-styles.js'
import { type ServiceType, serviceType, vectorTileServer } from './esri-documents.js'
import {
  type Addresses,
  addressOf,
  type Layer,
  layerOf,
  layerOfDrawn,
  layerOfVector,
  readableLayers,
  readablePictures,
  readableVectors,
} from './layer.js'

/** What ArcGIS REST calls a service: a basemap, a vector by its tiles, a style by the vector tiles that it draws, or the pictures of a style or a vector. */
export type EsriService =
  | { readonly kind: 'basemap'; readonly type: ServiceType; readonly layer: Layer }
  | {
      readonly kind: 'vector'
      readonly type: 'VectorTileServer'
      readonly layer: Layer
      readonly vector: CatalogVector
    }
  | { readonly kind: 'picture'; readonly type: 'MapServer'; readonly layer: Layer; readonly drawn: DrawnStyle }
  | { readonly kind: 'style'; readonly type: 'VectorTileServer'; readonly layer: Layer; readonly style: CatalogStyle }

/**
 * Returns the service of a code and type, which is in lower case; null if no content has such a service. A basemap counts before a vector of that
 * code, and that before a style.
 */
export function serviceAt(catalog: Catalog, code: string, type: string): EsriService | null {
  const basemap = catalog.basemaps.get(code)
  const layer = basemap === undefined ? null : layerOf(basemap)
  const own = layer === null ? null : serviceType(layer)
  if (layer !== null && own?.toLowerCase() === type) return { kind: 'basemap', type: own, layer }
  if (type === 'mapserver' && basemap === undefined) return pictureService(catalog, code)
  if (type !== 'vectortileserver') return null
  const vector = catalog.vectors.get(code)
  const ofVector = vector === undefined ? null : layerOfVector(vector)
  if (vector !== undefined && ofVector !== null)
    return { kind: 'vector', type: 'VectorTileServer', layer: ofVector, vector }
  const style = catalog.styles.get(code)
  const ofStyle = style?.served ? layerOfStyle(catalog, style) : null
  return style === undefined || ofStyle === null
    ? null
    : { kind: 'style', type: 'VectorTileServer', layer: ofStyle, style }
}

function pictureService(catalog: Catalog, code: string): EsriService | null {
  const drawn = drawnStyle(catalog, code)
  return drawn === null ? null : { kind: 'picture', type: 'MapServer', layer: layerOfDrawn(drawn), drawn }
}

/** The list that a token may read, by code within each kind. `draws`: this edge draws styles. */
export function readableServices(
  catalog: Catalog,
  token: AccessToken,
  draws: boolean,
): { name: string; type: ServiceType }[] {
  const services = readableLayers(catalog, token).flatMap((layer) => {
    const type = serviceType(layer)
    return type === null ? [] : [{ name: layer.code, type }]
  })
  const taken = new Set(services.filter(({ type }) => type === 'VectorTileServer').map(({ name }) => name))
  const add = (name: string) => {
    if (!taken.has(name)) services.push({ name, type: 'VectorTileServer' })
    taken.add(name)
  }
  for (const vector of readableVectors(catalog, token)) if (layerOfVector(vector) !== null) add(vector.stored.code)
  const styles = [...catalog.styles.values()].filter((style) => style.served && isGranted(token, style.wanted))
  const codes = styles.filter((style) => layerOfStyle(catalog, style) !== null).map(({ stored }) => stored.code)
  for (const code of codes.sort()) add(code)
  if (!draws) return services
  for (const { code } of readablePictures(catalog, token)) services.push({ name: code, type: 'MapServer' })
  return services
}

/** The layers that a style draws of vector tiles, all as one; null: it draws none. */
function layerOfStyle(catalog: Catalog, { stored }: CatalogStyle): Layer | null {
  const layers = stored.dependencies.sources.flatMap(({ kind, code }) => sourceLayer(catalog, kind, code) ?? [])
  const [first, ...others] = layers
  if (first === undefined) return null
  return {
    ...first,
    title: stored.name,
    description: null,
    minZoom: Math.min(...layers.map(({ minZoom }) => minZoom)),
    maxZoom: Math.max(...layers.map(({ maxZoom }) => maxZoom)),
    bounds: others.reduce((all, { bounds }) => around(all, bounds), first.bounds),
  }
}

/** null for the whole world, also if the data crosses the antimeridian. */
function around(one: Bounds | null, other: Bounds | null): Bounds | null {
  if (one === null || other === null || one[0] > one[2] || other[0] > other[2]) return null
  const [low, high] = [Math.min, Math.max]
  return [low(one[0], other[0]), low(one[1], other[1]), high(one[2], other[2]), high(one[3], other[3])]
}

function sourceLayer(catalog: Catalog, kind: 'basemap' | 'vector', code: string): Layer | null {
  if (kind === 'vector') {
    const vector = catalog.vectors.get(code)
    return vector === undefined ? null : layerOfVector(vector)
  }
  const basemap = catalog.basemaps.get(code)
  const layer = basemap === undefined ? null : layerOf(basemap)
  return layer?.format === 'pbf' ? layer : null
}

function servicePath(code: string): string {
  return `/arcgis/rest/services/${encodeURIComponent(code)}/VectorTileServer`
}

/** The service of a style. Its tiles are those of the first vector tiles that it draws, at their own service. */
export function styleServer(layer: Layer, addresses: Addresses): object {
  return {
    ...vectorTileServer(layer, addresses),
    tiles: [addressOf(addresses, `${servicePath(layer.code)}/tile/{z}/{y}/{x}.pbf`)],
  }
}

/**
 * A style (MapLibre style specification, version 8) whose vector tiles are services, as Esri's clients read them. Sprites, glyphs and everything else are at
 * the addresses of the style itself.
 */
export function styleRoot(
  catalog: Catalog,
  style: CatalogStyle,
  addresses: Addresses,
  places: Omit<StyleAddresses, 'code' | 'at'>,
): object {
  const { code, document } = style.stored
  const own = JSON.parse(document) as StyleJson
  const rewritten = rewriteStyle(own, { code, ...places })
  if (!isObject(own.sources) || !isObject(rewritten.sources)) return rewritten
  const sources = Object.entries(rewritten.sources).map(([name, source]) => {
    const named = isObject(own.sources) ? serviceOf(catalog, own.sources[name]) : null
    if (named === null) return [name, source]
    return [name, { type: 'vector', url: withQuery(`${addresses.base}${servicePath(named)}`, [addresses.token]) }]
  })
  return { ...rewritten, sources: Object.fromEntries(sources) }
}

/** The code of the service of a source whose version is not fixed; null: it is another source. */
function serviceOf(catalog: Catalog, source: unknown): string | null {
  if (!isObject(source) || source.type !== 'vector') return null
  const { url, tiles } = source
  const address = [url, ...(Array.isArray(tiles) ? tiles : [])].find((one) => typeof one === 'string')
  const gateway = typeof address === 'string' ? parseGatewayAddress(address) : null
  if (gateway?.kind !== 'vector' && (gateway?.kind !== 'basemap' || gateway.version !== null)) return null
  return serviceAt(catalog, gateway.code, 'vectortileserver')?.kind === gateway.kind ? gateway.code : null
}
