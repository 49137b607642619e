import type { Example } from './example.js'

const BASE = 'http://127.0.0.1:8910'
const TILE = { code: 'world', version: 'v1', z: 2, x: 1, y: 1, ext: 'png' }
const OGC_TILE = { code: 'world', tileMatrixSetId: 'WebMercatorQuad', tileMatrix: 2, tileRow: 1, tileCol: 1 }
const TILEJSON = {
  tilejson: '3.0.0',
  name: 'World',
  scheme: 'xyz',
  tiles: [`${BASE}/tiles/world/v1/{z}/{x}/{y}.png?v=1`],
  minzoom: 0,
  maxzoom: 12,
  bounds: [5.9, 45.8, 10.5, 47.8],
  center: [8.2, 46.8, 6],
  format: 'png',
  tileSize: 256,
}
const FEATURE = { type: 'Feature', geometry: { type: 'Point', coordinates: [8.54, 47.38] }, properties: { name: 'A1' } }
const GEOJSON = {
  type: 'FeatureCollection',
  features: [FEATURE],
}
const SEQUENCE = `${JSON.stringify(FEATURE)}\n`
const KML =
  '<kml xmlns="http://www.opengis.net/kml/2.2"><Placemark><name>A1</name><Point><coordinates>8.54,47.38</coordinates></Point></Placemark></kml>'
const GML =
  '<gml:Point xmlns:gml="http://www.opengis.net/gml/3.2" gml:id="a1" srsName="EPSG:4326"><gml:pos>47.38 8.54</gml:pos></gml:Point>'
const GPX =
  '<gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1" creator="A1"><wpt lat="47.38" lon="8.54"><name>A1</name></wpt></gpx>'
const CSV = 'name,lon,lat\nA1,8.54,47.38\n'

const JSON_TYPE = 'application/json'
const link = (rel: string, path: string) => ({ rel, href: BASE + path, type: JSON_TYPE })
const OGC_REL = 'http://www.opengis.net/def/rel/ogc/1.0'
const SET = { tileMatrixSetId: 'WebMercatorQuad' }
const MERCATOR = 'http://www.opengis.net/def/crs/EPSG/0/3857'
const COLLECTION = {
  id: 'world',
  title: 'World',
  dataType: 'map',
  crs: [MERCATOR],
  extent: {
    spatial: { bbox: [[5.9, 45.8, 10.5, 47.8]], crs: 'http://www.opengis.net/def/crs/OGC/1.3/CRS84' },
  },
  links: [link('self', '/ogc/collections/world'), link(`${OGC_REL}/tilesets-map`, '/ogc/collections/world/map/tiles')],
}
const tilesetOf = (dataType: 'map' | 'vector', path: string) => ({
  title: 'World',
  dataType,
  crs: MERCATOR,
  ...SET,
  links: [link('self', `${path}/WebMercatorQuad`)],
})
const MAP_TILESET = tilesetOf('map', '/ogc/collections/world/map/tiles')
const VECTOR_TILESET = tilesetOf('vector', '/ogc/collections/streets/tiles')
const tilesets = (tileset: object, path: string) => ({ links: [link('self', path)], tilesets: [tileset] })

const ITEM = { id: 1, ...FEATURE }
const ITEMS = {
  ...GEOJSON,
  features: [ITEM],
  links: [
    {
      rel: 'next',
      href: `${BASE}/ogc/collections/main/items?cursor=eyJhIjoxfQ&limit=1`,
      type: 'application/geo+json',
    },
  ],
  numberReturned: 1,
  numberMatched: 1250,
}
const featureSchema = (name: string) => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: `${BASE}/ogc/collections/main/${name}`,
  type: 'object',
  title: 'main',
  properties: { name: { type: 'string', title: 'name' } },
})

const ESRI_VERSION = { currentVersion: 10.91, fullVersion: '10.9.1' }
const ESRI_TILE = { level: 2, row: 1, column: 1 }
const ESRI_EXTENT = {
  xmin: 656_789,
  ymin: 5_750_000,
  xmax: 1_168_855,
  ymax: 6_075_000,
  spatialReference: { wkid: 102_100, latestWkid: 3857 },
}

const WMS_CAPABILITIES =
  '<?xml version="1.0" encoding="UTF-8"?><WMS_Capabilities xmlns="http://www.opengis.net/wms" version="1.3.0"/>'
const CAPABILITIES =
  '<?xml version="1.0" encoding="UTF-8"?><Capabilities xmlns="http://www.opengis.net/wmts/1.0" version="1.0.0"/>'
const code = { code: 'world' }
const streets = { code: 'streets' }
const relative = (path: string) => ({ relative_path: path })

export const DATA_PLANE: Readonly<Record<string, Example>> = {
  forwardAuth: { parameters: { 'X-Original-URI': '/tiles/world/v1/2/1/1.png' } },
  getVersionTile: { parameters: TILE },
  getTile: { parameters: TILE },
  getTileJson: { parameters: code, answer: TILEJSON },
  getVersionTileJson: { parameters: TILE, answer: TILEJSON },
  getTileOfVector: { parameters: { code: 'main', z: 2, x: 2, y: 1 } },
  getTileJsonOfVector: {
    parameters: { code: 'main' },
    answer: {
      tilejson: '3.0.0',
      name: 'main',
      scheme: 'xyz',
      tiles: [`${BASE}/vectors/main/tiles/{z}/{x}/{y}.mvt?v=3`],
      minzoom: 0,
      maxzoom: 12,
      bounds: [5.9, 45.8, 10.5, 47.8],
      center: [8.2, 46.8, 6],
      format: 'pbf',
      tileSize: 512,
      vector_layers: [{ id: 'main', fields: { name: 'String' } }],
    },
  },
  downloadVector: {
    parameters: { code: 'main' },
    answers: {
      'application/geo+json': GEOJSON,
      'application/x-ndjson': SEQUENCE,
      'application/vnd.google-earth.kml+xml': KML,
      'application/gml+xml': GML,
      'application/gpx+xml': GPX,
      'text/csv': CSV,
    },
  },
  downloadVectorAsGeoJson: { parameters: { code: 'main' }, answer: GEOJSON },
  downloadVectorAsZip: { parameters: { code: 'lakes' } },
  downloadVectorAsGeoPackage: { parameters: { code: 'parcels' } },
  downloadVectorAsFlatGeobuf: { parameters: { code: 'buildings' } },
  downloadVectorAsGeoJsonSequence: { parameters: { code: 'trips' }, answer: SEQUENCE },
  downloadVectorAsKml: { parameters: { code: 'trails' }, answer: KML },
  downloadVectorAsKmz: { parameters: { code: 'tours' } },
  downloadVectorAsGml: { parameters: { code: 'parcels' }, answer: GML },
  downloadVectorAsGpx: { parameters: { code: 'tracks' }, answer: GPX },
  downloadVectorAsDxf: { parameters: { code: 'plans' } },
  downloadVectorAsCsv: { parameters: { code: 'wells' }, answer: CSV },
  downloadPmtiles: { parameters: { code: 'cloud', version: 'v1' } },
  downloadMbtiles: { parameters: { code: 'world', version: 'v2' } },
  downloadGeoJsonByPath: { parameters: relative('roads/main.geojson'), answer: GEOJSON },
  downloadShapefileByPath: { parameters: relative('lakes.shp') },
  callWmts: { parameters: { service: 'WMTS', request: 'GetCapabilities' }, answer: CAPABILITIES },
  getWmtsCapabilities: { answer: CAPABILITIES },
  callWms: { parameters: { service: 'WMS', request: 'GetCapabilities' }, answer: WMS_CAPABILITIES },
  callTianditu: { parameters: { code: 'world', set: 'w', request: 'GetCapabilities' }, answer: CAPABILITIES },
  getTiandituTile: { parameters: { code: 'world', set: 'w', T: 'world_w', x: 0, y: 0, l: 1 } },
  listFeatures: {
    parameters: { code: 'main', limit: 1 },
    answers: { 'application/geo+json': ITEMS, 'text/csv': 'id,name,WKT\r\n1,A1,POINT (8.54 47.38)\r\n' },
  },
  getFeature: { parameters: { code: 'main', id: '1' }, answer: ITEM },
  getQueryables: { parameters: { code: 'main' }, answer: featureSchema('queryables') },
  getFeatureSchema: { parameters: { code: 'main' }, answer: featureSchema('schema') },
  getArcgisInfo: { answer: { ...ESRI_VERSION, authInfo: { isTokenBasedSecurity: true } } },
  listArcgisServices: {
    answer: { ...ESRI_VERSION, folders: [], services: [{ name: 'world', type: 'MapServer' }] },
  },
  getMapServer: {
    parameters: code,
    answer: { ...ESRI_VERSION, mapName: 'World', singleFusedMapCache: true, fullExtent: ESRI_EXTENT },
  },
  getMapServerTile: { parameters: { ...code, ...ESRI_TILE } },
  getMapServerTilemap: {
    parameters: { ...code, ...ESRI_TILE, width: 2, height: 1 },
    answer: { adjusted: false, location: { left: 1, top: 1, width: 2, height: 1 }, data: [1, 0] },
  },
  getVectorTileServer: {
    parameters: streets,
    answer: { ...ESRI_VERSION, name: 'Streets', type: 'indexedVector', tiles: ['tile/{z}/{y}/{x}.pbf'] },
  },
  getVectorTileServerTile: { parameters: { ...streets, z: 2, x: 1, y: 1 } },
  getVectorTileServerStyle: {
    parameters: streets,
    answer: { version: 8, sources: { esri: { type: 'vector', url: '../../' } }, layers: [] },
  },
  getOgcLandingPage: {
    answer: {
      title: 'Map asset gateway',
      description: 'Basemaps that the token may read, as OGC API – Tiles',
      links: [link('self', '/ogc'), link('data', '/ogc/collections')],
    },
  },
  getOgcConformance: {
    answer: { conformsTo: ['http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/core'] },
  },
  listCollections: { answer: { links: [link('self', '/ogc/collections')], collections: [COLLECTION] } },
  getCollection: { parameters: code, answer: COLLECTION },
  listMapTilesets: { parameters: code, answer: tilesets(MAP_TILESET, '/ogc/collections/world/map/tiles') },
  getMapTileset: { parameters: { ...code, ...SET }, answer: MAP_TILESET },
  getMapTile: { parameters: OGC_TILE },
  listVectorTilesets: { parameters: streets, answer: tilesets(VECTOR_TILESET, '/ogc/collections/streets/tiles') },
  getVectorTileset: { parameters: { ...streets, ...SET }, answer: VECTOR_TILESET },
  getVectorTile: { parameters: { ...OGC_TILE, ...streets } },
  listTileMatrixSets: {
    answer: {
      tileMatrixSets: [
        {
          id: 'WebMercatorQuad',
          title: 'Google Maps Compatible for the World',
          uri: 'http://www.opengis.net/def/tilematrixset/OGC/1.0/WebMercatorQuad',
          links: [link('self', '/ogc/tileMatrixSets/WebMercatorQuad')],
        },
      ],
    },
  },
  getTileMatrixSet: {
    parameters: SET,
    answer: {
      id: 'WebMercatorQuad',
      title: 'Google Maps Compatible for the World',
      crs: MERCATOR,
      tileMatrices: [
        {
          id: '0',
          scaleDenominator: 559082264.0287178,
          cellSize: 156543.03392804097,
          pointOfOrigin: [-20037508.342789244, 20037508.342789244],
          tileWidth: 256,
          tileHeight: 256,
          matrixWidth: 1,
          matrixHeight: 1,
        },
      ],
    },
  },
  listTileMaps: {
    answer: `<?xml version="1.0" encoding="UTF-8"?><TileMapService version="1.0.0" services="${BASE}/tms"/>`,
  },
  getTileMap: {
    parameters: code,
    answer: '<?xml version="1.0" encoding="UTF-8"?><TileMap version="1.0.0"><Title>World</Title></TileMap>',
  },
  getTmsTile: { parameters: { ...TILE, y: 2 } },
}
