import type { AddressProtocol } from '@gateway/contracts/addresses.js'
import type { Edge } from '../edge.js'
import { askArcgis, onArcgis } from './arcgis.js'
import { askArchive, onArchive } from './archives.js'
import { ANY_TOKEN, type Ask } from './authorize.js'
import { askArchives, askChanges, ON_BASEMAPS, ON_STYLES, ON_VECTORS } from './catalog.js'
import { askVectorTileJsons, askVectorTiles, onVectorTileJsons, onVectorTiles } from './composite-tiles.js'
import {
  askVectorByPath,
  askVectorDownload,
  askVectorFile,
  onVectorByPath,
  onVectorDownload,
  onVectorFile,
} from './downloads.js'
import { askOgcStyles, onOgcStyles } from './ogc-styles.js'
import type { Handler } from './request-context.js'
import { askOgc, askTms, askWmts, onOgc, onTms, onWmts, onWmtsResource } from './standards.js'
import {
  askBasemapStyle,
  askFont,
  askStyle,
  askVectorStyle,
  onBasemapStyle,
  onFont,
  onStyle,
  onVectorStyle,
} from './styles.js'
import { askTianditu, onTianditu } from './tianditu.js'
import { askTile, onTile } from './tiles.js'
import { askWms, onWms } from './wms.js'

/** Returns the request of an address whose path has a pattern of the protocol; null: the read interface does not have it. */
type MakeAsk = (edge: Edge, path: string, query: string) => Ask | null

/** A pattern of addresses in the form of uWebSockets.js, its request, and its handler; null: the control plane answers. */
interface Route {
  readonly pattern: string
  readonly ask: MakeAsk
  readonly handler: Handler | null
}

const route = (pattern: string, ask: MakeAsk, handler: Handler | null): Route => ({ pattern, ask, handler })
const anyToken: MakeAsk = () => ANY_TOKEN

/** The routes of each protocol. The server answers, and forward-auth decides, by this table; ADDRESSES has the forms of the same protocols. */
export const PROTOCOLS: Readonly<Record<AddressProtocol, readonly Route[]>> = {
  xyz: [route('/tiles/*', askTile, onTile)],
  basemapStyle: [route('/tiles/:code/style.json', askBasemapStyle, onBasemapStyle)],
  vectorStyle: [route('/vectors/:code/style.json', askVectorStyle, onVectorStyle)],
  vectorDownload: [route('/vectors/:code/download', askVectorDownload, onVectorDownload)],
  vectorTileJson: [route('/vectors/:code/tilejson.json', askVectorTileJsons, onVectorTileJsons)],
  vectorTiles: [route('/vectors/:code/tiles/*', askVectorTiles, onVectorTiles)],
  vectorFile: [route('/vectors/:file', askVectorFile, onVectorFile)],
  geojsonByPath: [
    route(
      '/geojson/*',
      (edge, path) => askVectorByPath(edge, 'geojson', '/geojson/', path),
      (edge, res, req) => onVectorByPath(edge, 'geojson', '/geojson/', res, req),
    ),
  ],
  shapefileByPath: [
    route(
      '/shp/*',
      (edge, path) => askVectorByPath(edge, 'shapefile', '/shp/', path),
      (edge, res, req) => onVectorByPath(edge, 'shapefile', '/shp/', res, req),
    ),
  ],
  archives: [route('/archives/*', askArchive, onArchive)],
  styles: [route('/styles/*', askStyle, onStyle)],
  fonts: [route('/fonts/*', askFont, onFont)],
  wmts: [route('/wmts', askWmts, onWmts)],
  wmtsResource: [route('/wmts/*', anyToken, onWmtsResource)],
  wms: [route('/wms', askWms, onWms)],
  tms: [route('/tms/*', askTms, onTms)],
  ogcStyles: [route('/ogc/styles', askOgcStyles, onOgcStyles), route('/ogc/styles/*', askOgcStyles, onOgcStyles)],
  ogc: [route('/ogc', askOgc, onOgc), route('/ogc/*', askOgc, onOgc)],
  // ArcGIS occurs in addresses in two spellings.
  arcgis: [route('/arcgis/*', askArcgis, onArcgis), route('/ArcGIS/*', askArcgis, onArcgis)],
  tianditu: [route('/tianditu/*', askTianditu, onTianditu)],
  catalogBasemaps: catalog('/api/v1/catalog/basemaps', ON_BASEMAPS),
  catalogVectors: catalog('/api/v1/catalog/vectors', ON_VECTORS),
  catalogStyles: catalog('/api/v1/catalog/styles', ON_STYLES),
  changes: [route('/api/v1/catalog/basemaps/:code/changes', askChanges, null)],
  exportedArchives: [
    route('/api/v1/catalog/basemaps/:code/archives', askArchives, null),
    route('/api/v1/catalog/basemaps/:code/archives/:id', askArchives, null),
  ],
}

function catalog(path: string, { onList, onEntry, askEntry }: typeof ON_BASEMAPS): Route[] {
  return [route(path, anyToken, onList), route(`${path}/:code`, askEntry, onEntry)]
}

/** All routes as uWebSockets.js prefers them: a pattern of fixed length before one with any end, and of these the longer. */
const BY_PREFERENCE: readonly Route[] = Object.values(PROTOCOLS)
  .flat()
  .sort((a, b) => endless(a) - endless(b) || b.pattern.length - a.pattern.length)

function endless({ pattern }: Route): number {
  return pattern.endsWith('*') ? 1 : 0
}

/** Returns the request of an address; null: the read interface does not have it. */
export function askOf(edge: Edge, path: string, query: string): Ask | null {
  return routeOf(path)?.ask(edge, path, query) ?? null
}

/** Returns the route that answers a path; undefined if the read interface does not have it. */
export function routeOf(path: string): Route | undefined {
  return BY_PREFERENCE.find(({ pattern }) => matches(pattern, path))
}

function matches(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split('/'), path.split('/')]
  const isLong = wanted.at(-1) === '*' ? given.length >= wanted.length : given.length === wanted.length
  return isLong && wanted.every((part, i) => part.startsWith(':') || part === '*' || part === given[i])
}
