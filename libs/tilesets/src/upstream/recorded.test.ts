import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { squareAddress, tileAddress, withoutSecrets, withSecrets } from './addresses.js'
import { decodeDocument, readService } from './read-service.js'
import type { ReadOptions, UpstreamLayer } from './service.js'

// Descriptions of real products, cut down to what the readers read.
const FOLDER = new URL('./test-data/', import.meta.url)
const OPTIONS: ReadOptions = { layers: null, format: null, tileSize: 256, minZoom: null, maxZoom: null, subdomains: [] }

function read(file: string, url: string) {
  const stored = readFileSync(new URL(file, FOLDER), 'utf8')
  // The files are UTF-8, whatever they declare.
  const text = decodeDocument(Buffer.from(stored, /encoding="ISO-8859-1"/.test(stored) ? 'latin1' : 'utf8'))
  // Files of several documents are keyed by their addresses.
  const several = /^\{\s*"https:/.test(text) ? (JSON.parse(text) as Record<string, unknown>) : null
  return readService(url, OPTIONS, async (asked) => {
    const one = several === null ? text : several[asked]
    if (one === undefined) throw new Error(`${asked} is not served`)
    return { url: asked, text: typeof one === 'string' ? one : JSON.stringify(one) }
  })
}

function addressOf(layer: UpstreamLayer, z: number, x: number, y: number): string | null {
  const { request } = layer
  return request.kind === 'tiles'
    ? tileAddress(request, { z, x, y })
    : squareAddress(request, layer, { z, x, y }, 1).url
}

const summary = (layer: UpstreamLayer) =>
  [layer.layer, layer.tileMatrixSet, `${layer.minZoom}-${layer.maxZoom}`, layer.format, layer.tileSize].join(' ')

type Recorded = readonly [
  file: string,
  url: string,
  layers: readonly (readonly [
    summary: string,
    bounds: readonly number[] | null,
    tile: readonly [number, number, number],
    address: string,
  ])[],
  left: readonly string[],
]

const RECORDED: readonly Recorded[] = [
  [
    'geoserver-wmts.xml',
    'https://maps.example/geoserver/gwc/service/wmts?token=abc',
    [
      [
        'topp:states WebMercatorQuad 0-22 png 256',
        [-124.731422, 24.955967, -66.969849, 49.371735],
        [1, 1, 0],
        'https://maps.example/geoserver/gwc/service/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=topp%3Astates&FORMAT=image%2Fpng&STYLE=&TILEMATRIXSET=EPSG%3A900913&TILEMATRIX=EPSG%3A900913%3A1&TILEROW=0&TILECOL=1',
      ],
    ],
    [],
  ],
  [
    'geowebcache-wmts.xml',
    'https://gwc.example/geowebcache/service/wmts?REQUEST=GetCapabilities',
    [
      [
        'img states WorldCRS84Quad 1-1 png 256',
        [-129.6, 3.45, -62.1, 70.9],
        [1, 1, 0],
        'https://gwc.example/geowebcache/service/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=img+states&FORMAT=image%2Fpng&STYLE=line&TILEMATRIXSET=EPSG%3A4326&TILEMATRIX=EPSG%3A4326%3A1&TILEROW=0&TILECOL=1',
      ],
    ],
    [],
  ],
  [
    'mapproxy-wmts.xml',
    'https://tiles.example/wmts/1.0.0/WMTSCapabilities.xml',
    [
      [
        'bluemarble WorldCRS84Quad 0-1 jpg 256',
        [-180, -90, 180, 90],
        [1, 1, 0],
        'https://tiles.example/wmts/bluemarble/WGS84/01/1/0.jpeg',
      ],
    ],
    ['utm grid'],
  ],
  [
    'arcgis-wmts.xml',
    'https://arcgis.example/arcgis/rest/services/Demographics/MapServer/WMTS',
    [
      [
        'Demographics WebMercatorQuad 0-2 png 256',
        [-178.227822, 18.910787, -66.950005, 71.389574],
        [1, 1, 0],
        'https://arcgis.example/arcgis/rest/services/Demographics/MapServer/WMTS/tile/1.0.0/Demographics/default/GoogleMapsCompatible/1/0/1.png',
      ],
    ],
    [],
  ],
  [
    'qgis-wmts.xml',
    'https://qgis.example/?MAP=/data/world.qgs&SERVICE=WMTS',
    [
      [
        'Country WebMercatorQuad 0-2 png 256',
        [-1.7, -4.1, 0.7, -0.4],
        [1, 1, 0],
        'https://qgis.example/?MAP=/data/world.qgs&SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=Country&FORMAT=image%2Fpng&STYLE=default&TILEMATRIXSET=EPSG%3A3857&TILEMATRIX=1&TILEROW=0&TILECOL=1',
      ],
    ],
    [],
  ],
  [
    'tianditu-w.xml',
    'http://t0.tianditu.gov.cn/img_w/wmts?request=GetCapabilities&tk=key',
    [
      [
        'img WebMercatorQuad 1-18 png 256',
        [-180, -90, 180, 90],
        [1, 1, 0],
        'http://t0.tianditu.gov.cn/img_w/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=img&FORMAT=tiles&STYLE=default&TILEMATRIXSET=w&TILEMATRIX=1&TILEROW=0&TILECOL=1',
      ],
    ],
    [],
  ],
  [
    'tianditu-c.xml',
    'http://t0.tianditu.gov.cn/vec_c/wmts?request=GetCapabilities&tk=key',
    [
      [
        'vec CGCS2000Quad 0-17 png 256',
        [-180, -90, 180, 90],
        [1, 1, 0],
        'http://t0.tianditu.gov.cn/vec_c/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=vec&FORMAT=tiles&STYLE=default&TILEMATRIXSET=c&TILEMATRIX=2&TILEROW=0&TILECOL=1',
      ],
    ],
    [],
  ],
  [
    'basemap-at.xml',
    'https://basemap.at/wmts/1.0.0/WMTSCapabilities.xml',
    [
      [
        'geolandbasemap WebMercatorQuad 0-2 png 256',
        [8.782379, 46.35877, 17.5, 49.037872],
        [1, 1, 0],
        'https://maps2.wien.gv.at/basemap/geolandbasemap/normal/google3857/1/0/1.png',
      ],
      [
        'bmapgelaende WebMercatorQuad 0-1 jpg 256',
        [8.782379, 46.35877, 17.5, 49.037872],
        [1, 1, 0],
        'https://maps2.wien.gv.at/basemap/bmapgelaende/grau/google3857/1/0/1.jpeg',
      ],
    ],
    [],
  ],
  [
    'ign.xml',
    'https://data.geopf.fr/wmts?SERVICE=WMTS&REQUEST=GetCapabilities',
    [
      [
        'PLANIGN WebMercatorQuad 1-22 png 256',
        [-175, -85, 175, 85],
        [1, 1, 0],
        'https://data.geopf.fr/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=PLANIGN&FORMAT=image%2Fpng&STYLE=normal&TILEMATRIXSET=PM&TILEMATRIX=1&TILEROW=0&TILECOL=1',
      ],
      [
        'ORTHO.CRS84 WorldCRS84Quad 0-1 jpg 256',
        [-180, -86, 180, 84],
        [1, 1, 0],
        'https://data.geopf.fr/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=ORTHO.CRS84&FORMAT=image%2Fjpeg&STYLE=normal&TILEMATRIXSET=WGS84G&TILEMATRIX=1&TILEROW=0&TILECOL=1',
      ],
    ],
    ['ELEVATION format', 'LAMB grid'],
  ],
  [
    'gibs.xml',
    'https://gibs.earthdata.nasa.gov/wmts/epsg3857/best/1.0.0/WMTSCapabilities.xml',
    [
      [
        'MODIS_Terra WebMercatorQuad 0-2 jpg 256',
        [-180, -85.051129, 180, 85.051129],
        [1, 1, 0],
        'https://gibs.earthdata.nasa.gov/wmts/epsg3857/best/MODIS_Terra/default/2024-05-01/GoogleMapsCompatible_Level9/1/0/1.jpg',
      ],
      [
        'Night WebMercatorQuad 0-2 png 256',
        null,
        [1, 1, 0],
        'https://gibs.earthdata.nasa.gov/wmts/epsg3857/best/Night/default/2016-11-10/GoogleMapsCompatible_Level9/1/0/1.png',
      ],
    ],
    ['Lost address', 'AIRS grid'],
  ],
  [
    'ogc-wmts.xml',
    'http://www.maps.bob/cgi-bin/MiraMon5_0.cgi?request=GetCapabilities',
    [
      [
        'BlueMarbleNextGeneration WebMercatorQuad 0-2 jpg 256',
        [-180, -90, 180, 90],
        [1, 1, 0],
        'http://www.maps.bob/cgi-bin/MiraMon5_0.cgi?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=BlueMarbleNextGeneration&FORMAT=image%2Fjpeg&STYLE=DarkBlue&TILEMATRIXSET=google3857&TILEMATRIX=1&TILEROW=0&TILECOL=1',
      ],
    ],
    [],
  ],
  [
    'deegree-wmts.xml',
    'http://deegree.example/services?service=WMTS',
    [
      [
        'wrap WebMercatorQuad 0-1 png 256',
        [0, 0, 180, 85.051129],
        [1, 1, 0],
        'http://deegree.example/services?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=wrap&FORMAT=image%2Fpng%3B+mode%3D8bit&STYLE=default&TILEMATRIXSET=wrap&TILEMATRIX=1&TILEROW=0&TILECOL=1',
      ],
    ],
    [],
  ],
  [
    'geoserver-wms-111.xml',
    'https://gis-prod.digital.mass.gov/geoserver/wms?version=1.1.1',
    [
      [
        'massgis_dep_21e_mcp WebMercatorQuad 13-17 png 256',
        [-73.53335, 41.178739, -69.831276, 42.888208],
        [13, 0, 0],
        'https://gis-prod.digital.mass.gov/geoserver/wms?SERVICE=WMS&REQUEST=GetMap&VERSION=1.1.1&LAYERS=massgis_dep_21e_mcp&STYLES=&SRS=EPSG%3A3857&BBOX=-20037508.342789244%2C20031393.38052643%2C-20031393.38052643%2C20037508.342789244&WIDTH=320&HEIGHT=320&FORMAT=image%2Fpng&TRANSPARENT=TRUE',
      ],
    ],
    [],
  ],
  [
    'geoserver-wms.xml',
    'https://maps.example/geoserver/wms',
    [
      [
        'usa:states WebMercatorQuad 0-20 png 256',
        [-179.25, 17.75, -65.25, 71.5],
        [1, 1, 0],
        'https://maps.example/geoserver/ows?SERVICE=WMS&REQUEST=GetMap&VERSION=1.3.0&LAYERS=usa%3Astates&STYLES=&CRS=EPSG%3A3857&BBOX=-5009377.085697312%2C-5009377.085697312%2C20037508.342789244%2C20037508.342789244&WIDTH=320&HEIGHT=320&FORMAT=image%2Fpng&TRANSPARENT=TRUE',
      ],
      [
        'spearfish WebMercatorQuad 0-13 png 256',
        [-180, -90, 180, 90],
        [1, 1, 0],
        'https://maps.example/geoserver/ows?SERVICE=WMS&REQUEST=GetMap&VERSION=1.3.0&LAYERS=spearfish&STYLES=&CRS=EPSG%3A3857&BBOX=-5009377.085697312%2C-5009377.085697312%2C20037508.342789244%2C20037508.342789244&WIDTH=320&HEIGHT=320&FORMAT=image%2Fpng&TRANSPARENT=TRUE',
      ],
    ],
    [],
  ],
  [
    'mapserver-wms.xml',
    'https://maps.example/cgi-bin/mapserv?map=/data/a.map&service=WMS',
    [
      [
        'all WebMercatorQuad 0-20 png 256',
        [-180, -90, 180, 90],
        [1, 1, 0],
        'https://maps.example/cgi-bin/mapserv?map=/data/a.map&SERVICE=WMS&REQUEST=GetMap&VERSION=1.1.1&LAYERS=all&STYLES=&SRS=EPSG%3A3857&BBOX=-5009377.085697312%2C-5009377.085697312%2C20037508.342789244%2C20037508.342789244&WIDTH=320&HEIGHT=320&FORMAT=image%2Fpng&TRANSPARENT=TRUE',
      ],
      [
        'scan WebMercatorQuad 6-12 png 256',
        [-5.86764, 41.1701, 11.0789, 51.1419],
        [6, 33, 32],
        'https://maps.example/cgi-bin/mapserv?map=/data/a.map&SERVICE=WMS&REQUEST=GetMap&VERSION=1.1.1&LAYERS=scan&STYLES=&SRS=EPSG%3A3857&BBOX=469629.10178412125%2C-782715.1696402053%2C1408887.305352367%2C156543.03392804042&WIDTH=384&HEIGHT=384&FORMAT=image%2Fpng&TRANSPARENT=FALSE',
      ],
      [
        'sheet WebMercatorQuad 6-12 png 256',
        [-5.86764, 41.1701, 11.0789, 51.1419],
        [6, 33, 32],
        'https://maps.example/cgi-bin/mapserv?map=/data/a.map&SERVICE=WMS&REQUEST=GetMap&VERSION=1.1.1&LAYERS=sheet&STYLES=&SRS=EPSG%3A3857&BBOX=469629.10178412125%2C-782715.1696402053%2C1408887.305352367%2C156543.03392804042&WIDTH=384&HEIGHT=384&FORMAT=image%2Fpng&TRANSPARENT=FALSE',
      ],
    ],
    [],
  ],
  [
    'qgis-wms.xml',
    'https://www.qgis.org/?MAP=tests/test_project.qgs&SERVICE=WMS',
    [
      [
        'QGIS Test Project WorldCRS84Quad 0-20 png 256',
        [8.20315, 44.9012, 8.20416, 44.9016],
        [1, 1, 0],
        'https://www.qgis.org/?MAP=tests/test_project.qgs&SERVICE=WMS&REQUEST=GetMap&VERSION=1.3.0&LAYERS=QGIS+Test+Project&STYLES=&CRS=CRS%3A84&BBOX=-112.5%2C-22.5%2C22.5%2C90&WIDTH=384&HEIGHT=320&FORMAT=image%2Fpng&TRANSPARENT=TRUE',
      ],
      [
        'testlayer èé WorldCRS84Quad 0-20 png 256',
        [8.20315, 44.9012, 8.20416, 44.9016],
        [1, 1, 0],
        'https://www.qgis.org/?MAP=tests/test_project.qgs&SERVICE=WMS&REQUEST=GetMap&VERSION=1.3.0&LAYERS=testlayer+%C3%A8%C3%A9&STYLES=&CRS=CRS%3A84&BBOX=-112.5%2C-22.5%2C22.5%2C90&WIDTH=384&HEIGHT=320&FORMAT=image%2Fpng&TRANSPARENT=TRUE',
      ],
    ],
    [],
  ],
  [
    'arcgis-wms.xml',
    'https://services.example/gis/services/Indexes/MapServer/WMSServer?service=WMS',
    [
      [
        '100k WebMercatorQuad 6-20 png 256',
        [112.500009, -43.849986, 154.000008, -8.999986],
        [6, 33, 32],
        'https://services.example/gis/services/Indexes/MapServer/WMSServer?SERVICE=WMS&REQUEST=GetMap&VERSION=1.3.0&LAYERS=100k&STYLES=&CRS=EPSG%3A102100&BBOX=469629.10178412125%2C-782715.1696402053%2C1408887.305352367%2C156543.03392804042&WIDTH=384&HEIGHT=384&FORMAT=image%2Fpng&TRANSPARENT=TRUE',
      ],
    ],
    [],
  ],
  [
    'ogc-wms-130.xml',
    'https://wms.example/path',
    [
      [
        'ROADS_RIVERS WorldCRS84Quad 11-18 png 256',
        [-71.63, 41.75, -70.78, 42.9],
        [11, 1025, 1024],
        'https://wms.example/path?SERVICE=WMS&REQUEST=GetMap&VERSION=1.3.0&LAYERS=ROADS_RIVERS&STYLES=&CRS=CRS%3A84&BBOX=-89.93408203125%2C-0.10986328125%2C-89.80224609375%2C0.02197265625&WIDTH=384&HEIGHT=384&FORMAT=image%2Fpng&TRANSPARENT=TRUE',
      ],
      [
        'ROADS_1M WorldCRS84Quad 11-18 png 256',
        [-71.63, 41.75, -70.78, 42.9],
        [11, 1025, 1024],
        'https://wms.example/path?SERVICE=WMS&REQUEST=GetMap&VERSION=1.3.0&LAYERS=ROADS_1M&STYLES=&CRS=CRS%3A84&BBOX=-89.93408203125%2C-0.10986328125%2C-89.80224609375%2C0.02197265625&WIDTH=384&HEIGHT=384&FORMAT=image%2Fpng&TRANSPARENT=TRUE',
      ],
    ],
    [],
  ],
  [
    'ogc-wms-111.xml',
    'http://10.0.0.7:8080/path?service=WMS',
    [
      [
        'ROADS_RIVERS WorldCRS84Quad 0-20 jpg 256',
        [-71.63, 41.75, -70.78, 42.9],
        [1, 1, 0],
        'http://10.0.0.7:8080/path?SERVICE=WMS&REQUEST=GetMap&VERSION=1.1.1&LAYERS=ROADS_RIVERS&STYLES=&SRS=EPSG%3A4326&BBOX=-112.5%2C-22.5%2C22.5%2C90&WIDTH=384&HEIGHT=320&FORMAT=image%2Fjpeg&TRANSPARENT=FALSE',
      ],
    ],
    ['plane grid'],
  ],
  [
    'arcgis-cached.json',
    'https://arcgis.example/rest/services/Plan/MapServer',
    [
      [
        ' WebMercatorQuad 15-16 png 256',
        [140.965771, -38.861939, 149.474999, -34.124254],
        [15, 16385, 16384],
        'https://arcgis.example/rest/services/Plan/MapServer/tile/15/16384/16385',
      ],
    ],
    [],
  ],
  [
    'arcgis-usgs.json',
    'https://basemap.nationalmap.gov/arcgis/rest/services/USGSTopo/MapServer',
    [
      [
        ' WebMercatorQuad 1-2 jpg 256',
        [-179.999989, -85, 179.999989, 85],
        [1, 1, 0],
        'https://basemap.nationalmap.gov/arcgis/rest/services/USGSTopo/MapServer/tile/1/0/1',
      ],
    ],
    [],
  ],
  [
    'arcgis-dynamic.json',
    'https://arcgis.example/rest/services/Cadastre/MapServer',
    [
      [
        ' WebMercatorQuad 0-13 png 256',
        [113, -43, 153, -10],
        [1, 1, 0],
        'https://arcgis.example/rest/services/Cadastre/MapServer/export?bbox=-5009377.085697312%2C-5009377.085697312%2C20037508.342789244%2C20037508.342789244&bboxSR=3857&imageSR=3857&size=320%2C320&format=png32&transparent=true&f=image',
      ],
    ],
    [],
  ],
  ['arcgis-odd-lods.json', 'https://arcgis.example/rest/services/National/MapServer', [], [' grid']],
  [
    'arcgis-imageserver.json',
    'https://arcgis.example/rest/services/Naip/ImageServer',
    [
      [
        ' WebMercatorQuad 7-9 png 256',
        [140.965771, -38.861939, 149.474999, -34.124254],
        [7, 65, 64],
        'https://arcgis.example/rest/services/Naip/ImageServer/tile/7/64/65',
      ],
    ],
    [],
  ],
  [
    'arcgis-lerc.json',
    'https://arcgis.example/rest/services/Elevation/ImageServer',
    [
      [
        ' WebMercatorQuad 0-20 png 256',
        [-180, -90, 180, 90],
        [1, 1, 0],
        'https://arcgis.example/rest/services/Elevation/ImageServer/exportImage?bbox=-5009377.085697312%2C-5009377.085697312%2C20037508.342789244%2C20037508.342789244&bboxSR=3857&imageSR=3857&size=320%2C320&format=png&transparent=true&f=image',
      ],
    ],
    [],
  ],
  [
    'ldproxy.json',
    'https://demo.ldproxy.net/daraa',
    [
      [
        ' WebMercatorQuad 6-14 pbf 512',
        null,
        [6, 33, 32],
        'https://demo.ldproxy.net/daraa/tiles/WebMercatorQuad/6/32/33?f=mvt',
      ],
    ],
    [],
  ],
  [
    'gnosis.json',
    'https://maps.gnosis.earth/ogcapi',
    [
      [
        'lakes WebMercatorQuad 0-22 png 256',
        [-180, -90, 180, 90],
        [1, 1, 0],
        'https://maps.gnosis.earth/ogcapi/collections/x/map/tiles/WebMercatorQuad/1/0/1.png',
      ],
      [
        'own WorldCRS84Quad 0-1 png 256',
        [-180, -90, 180, 90],
        [1, 1, 0],
        'https://maps.gnosis.earth/ogcapi/collections/x/map/tiles/InspireCRS84Quad/L1/0/1.png',
      ],
    ],
    ['odd grid'],
  ],
  [
    'tilejson-tms.json',
    'https://tiles.example/osm.json',
    [[' WebMercatorQuad 0-14 png 256', [170, -50, -170, -30], [1, 1, 0], 'https://b.tiles.example/osm/1/1/1.png']],
    [],
  ],
  ['tilejson-subdomain.json', 'https://tiles.example/v.json', [], [' address']],
]

test.each(RECORDED)('%s', async (file, url, layers, left) => {
  const service = await read(file, url)
  expect(
    service.layers.map((layer, i) => {
      const tile = layers[i]?.[2] ?? [0, 0, 0]
      const bounds = layer.bounds?.map((side) => Number(side.toFixed(6))) ?? null
      return [summary(layer), bounds, tile, addressOf(layer, ...tile)]
    }),
  ).toEqual(layers)
  expect(service.left.map(({ layer, why }) => `${layer} ${why}`)).toEqual(left)
})

test('each document of the folder is read', () =>
  expect(readdirSync(FOLDER).sort()).toEqual(RECORDED.map(([file]) => file).sort()))

test('names are read in the encoding of the document', async () => {
  const { layers } = await read('mapserver-wms.xml', 'https://maps.example/cgi-bin/mapserv?service=WMS')
  expect(layers[0]?.name).toBe('Géologie')
  const utf16 = Buffer.from('\ufeff<?xml version="1.0" encoding="UTF-16"?><a>é</a>', 'utf16le')
  expect(decodeDocument(utf16)).toContain('<a>é</a>')
  const chinese = Buffer.concat([
    Buffer.from('<?xml version="1.0" encoding="GB2312"?>'),
    Buffer.from('ccecb5d8', 'hex'),
  ])
  expect(decodeDocument(chinese)).toContain('天地')
  const wrong = '<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>'
  expect(decodeDocument(Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(wrong, 'latin1')]))).toBe(wrong)
  expect(decodeDocument(Buffer.from(`\ufeff${wrong}`))).toBe(wrong)
})

test('parameters of the configured address that are no part of the protocol are in each request', async () => {
  const secret = 'token=abcdef&SERVICE=WMTS&REQUEST=GetCapabilities'
  const { layers } = await read('geoserver-wmts.xml', `https://maps.example/geoserver/gwc/service/wmts?${secret}`)
  const stored = withoutSecrets((layers[0] as UpstreamLayer).request, secret)
  if (stored.kind !== 'tiles') throw new Error('it draws pictures')
  const url = new URL(withSecrets(tileAddress(stored, { z: 1, x: 1, y: 0 }) ?? '', secret))
  expect([url.searchParams.getAll('token'), url.searchParams.getAll('REQUEST')]).toEqual([['abcdef'], ['GetTile']])
})

test('the plain address of a service is asked for its capabilities', async () => {
  const asked: string[] = []
  const { layers } = await readService('https://maps.example/geoserver/wms', OPTIONS, async (url) => {
    asked.push(url)
    const isAsked = url.includes('REQUEST=GetCapabilities')
    const file = readFileSync(new URL('geoserver-wms.xml', FOLDER), 'utf8')
    return { url, text: isAsked ? file : '<ServiceExceptionReport>No service</ServiceExceptionReport>' }
  })
  expect(layers).toHaveLength(2)
  expect(asked.at(-1)).toBe('https://maps.example/geoserver/wms?SERVICE=WMS&REQUEST=GetCapabilities')
})
