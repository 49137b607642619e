import { expect, test } from 'vitest'
import { MARGIN, squareAddress, tileAddress, withoutSecrets, withSecrets } from './addresses.js'
import { readService } from './read-service.js'
import type { ReadOptions, UpstreamLayer } from './service.js'

const OPTIONS: ReadOptions = { layers: null, format: null, tileSize: 256, minZoom: null, maxZoom: null, subdomains: [] }

const read = (url: string, documents: Readonly<Record<string, string>>, options: Partial<ReadOptions> = {}) =>
  readService(url, { ...OPTIONS, ...options }, async (asked) => {
    const text = documents[asked] ?? documents['']
    if (text === undefined) throw new Error(`${asked} is not served`)
    return { url: asked, text }
  })

function addressOf({ request }: UpstreamLayer, z: number, x: number, y: number): string | null {
  if (request.kind !== 'tiles') throw new Error('it draws pictures')
  return tileAddress(request, { z, x, y })
}

/** As basemap.at and Tianditu write it: the first by ResourceURL, the other by key-value pairs and with pixels of 96 dots an inch. */
const WMTS = `<?xml version="1.0"?>
<Capabilities xmlns="http://www.opengis.net/wmts/1.0" xmlns:ows="http://www.opengis.net/ows/1.1" xmlns:xlink="http://www.w3.org/1999/xlink" version="1.0.0">
<ows:ServiceProvider><ows:ProviderName>The agency</ows:ProviderName></ows:ServiceProvider>
<ows:OperationsMetadata><ows:Operation name="GetTile"><ows:DCP><ows:HTTP><ows:Get xlink:href="http://t0.example/vec_c/wmts?">
<ows:Constraint name="GetEncoding"><ows:AllowedValues><ows:Value>KVP</ows:Value></ows:AllowedValues></ows:Constraint></ows:Get></ows:HTTP></ows:DCP></ows:Operation></ows:OperationsMetadata>
<Contents>
<Layer><ows:Title>Base</ows:Title><ows:WGS84BoundingBox><ows:LowerCorner>8.7 46.3</ows:LowerCorner><ows:UpperCorner>17.5 49.1</ows:UpperCorner></ows:WGS84BoundingBox>
<ows:Identifier>base</ows:Identifier><Style isDefault="true"><ows:Identifier>normal</ows:Identifier></Style><Format>image/png</Format>
<Dimension><ows:Identifier>Time</ows:Identifier><Default>2024</Default></Dimension>
<TileMatrixSetLink><TileMatrixSet>google3857</TileMatrixSet></TileMatrixSetLink><TileMatrixSetLink><TileMatrixSet>odd</TileMatrixSet></TileMatrixSetLink>
<ResourceURL format="image/png" resourceType="tile" template="https://maps.example/base/{Style}/{TileMatrixSet}/{Time}/{TileMatrix}/{TileRow}/{TileCol}.png"/></Layer>
<Layer><ows:Title>vec</ows:Title><ows:Identifier>vec</ows:Identifier><Style><ows:Identifier>default</ows:Identifier></Style><Format>tiles</Format><Format>image/jpeg</Format>
<TileMatrixSetLink><TileMatrixSet>c</TileMatrixSet></TileMatrixSetLink></Layer>
<Layer><ows:Identifier>lost</ows:Identifier><Format>image/png</Format><TileMatrixSetLink><TileMatrixSet>odd</TileMatrixSet></TileMatrixSetLink></Layer>
<TileMatrixSet><ows:Identifier>google3857</ows:Identifier><ows:SupportedCRS>urn:ogc:def:crs:EPSG:6.18.3:3857</ows:SupportedCRS>
<TileMatrix><ows:Identifier>00</ows:Identifier><ScaleDenominator>559082264.029</ScaleDenominator><TopLeftCorner>-20037508.3428 20037508.3428</TopLeftCorner><TileWidth>256</TileWidth><TileHeight>256</TileHeight></TileMatrix>
<TileMatrix><ows:Identifier>01</ows:Identifier><ScaleDenominator>279541132.015</ScaleDenominator><TopLeftCorner>-20037508.3428 20037508.3428</TopLeftCorner><TileWidth>256</TileWidth><TileHeight>256</TileHeight></TileMatrix></TileMatrixSet>
<TileMatrixSet><ows:Identifier>c</ows:Identifier><ows:SupportedCRS>urn:ogc:def:crs:EPSG::4490</ows:SupportedCRS>
<TileMatrix><ows:Identifier>1</ows:Identifier><ScaleDenominator>2.958293554545656E8</ScaleDenominator><TopLeftCorner>90.0 -180.0</TopLeftCorner><TileWidth>256</TileWidth><TileHeight>256</TileHeight></TileMatrix>
<TileMatrix><ows:Identifier>2</ows:Identifier><ScaleDenominator>1.479146777272828E8</ScaleDenominator><TopLeftCorner>90.0 -180.0</TopLeftCorner><TileWidth>256</TileWidth><TileHeight>256</TileHeight></TileMatrix></TileMatrixSet>
<TileMatrixSet><ows:Identifier>odd</ows:Identifier><ows:SupportedCRS>urn:ogc:def:crs:EPSG::31256</ows:SupportedCRS>
<TileMatrix><ows:Identifier>0</ows:Identifier><ScaleDenominator>1000000</ScaleDenominator><TopLeftCorner>0 0</TopLeftCorner><TileWidth>256</TileWidth><TileHeight>256</TileHeight></TileMatrix></TileMatrixSet>
</Contents></Capabilities>`

test('layers of a WMTS have the grid, the zooms and the addresses that it describes; others are left out', async () => {
  const { layers, left } = await read('https://maps.example/wmts?request=GetCapabilities', { '': WMTS })
  expect(left).toEqual([{ layer: 'lost', why: 'grid' }])
  const [base, vec] = layers as [UpstreamLayer, UpstreamLayer]
  expect(base).toMatchObject({
    tileMatrixSet: 'WebMercatorQuad',
    minZoom: 0,
    maxZoom: 1,
    format: 'png',
    attribution: 'The agency',
    bounds: [8.7, 46.3, 17.5, 49.1],
  })
  expect(addressOf(base, 1, 1, 0)).toBe('https://maps.example/base/normal/google3857/2024/01/0/1.png')
  expect(vec).toMatchObject({ tileMatrixSet: 'CGCS2000Quad', minZoom: 0, maxZoom: 1, format: 'jpg' })
  expect(addressOf(vec, 1, 3, 1)).toBe(
    'http://t0.example/vec_c/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=vec&FORMAT=image%2Fjpeg&STYLE=default&TILEMATRIXSET=c&TILEMATRIX=2&TILEROW=1&TILECOL=3',
  )
})

const wms = (
  version: string,
  root: string,
  crs: string,
) => `<${root} version="${version}"><Service/><Capability><Request><GetMap><Format>image/png</Format><Format>image/jpeg</Format>
<DCPType><HTTP><Get><OnlineResource xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="http://wms.example/ows?map=a.map"/></Get></HTTP></DCPType></GetMap></Request>
<Layer><Title>all</Title><${crs}>EPSG:4326</${crs}><Layer opaque="1"><Name>roads</Name><Title>Roads</Title></Layer></Layer></Capability></${root}>`

test('a picture of a WMS is asked for in squares with a margin, in the axis order of its version', async () => {
  const boxes = []
  for (const [version, root, crs] of [
    ['1.3.0', 'WMS_Capabilities', 'CRS'],
    ['1.1.1', 'WMT_MS_Capabilities', 'SRS'],
  ] as const) {
    const { layers } = await read('http://wms.example/ows?service=WMS', { '': wms(version, root, crs) })
    const [layer] = layers as [UpstreamLayer]
    expect(layer).toMatchObject({ layer: 'roads', tileMatrixSet: 'WorldCRS84Quad', format: 'png' })
    if (layer.request.kind === 'tiles') throw new Error('it has no tiles')
    const square = squareAddress(layer.request, layer, { z: 3, x: 9, y: 5 }, 4)
    expect(square).toMatchObject({
      x: 8,
      y: 4,
      columns: 4,
      rows: 4,
      left: MARGIN,
      top: MARGIN,
      width: 1024 + 2 * MARGIN,
      height: 1024 + MARGIN,
    })
    const query = new URL(square.url).searchParams
    expect([query.get('map'), query.get('TRANSPARENT')]).toEqual(['a.map', 'FALSE'])
    boxes.push(query.get('BBOX')?.split(',').map(Number))
  }
  const margin = (MARGIN * 22.5) / 256
  expect(boxes).toEqual([
    [-90, 0 - margin, 0 + margin, 90 + margin],
    [0 - margin, -90, 90 + margin, 0 + margin],
  ])
})

test('TileJSON, ArcGIS, an OGC API and templates are recognized by what they answer', async () => {
  const tilejson = await read('https://x.example/t.json', {
    '': '{"tilejson":"3.0.0","tiles":["t/{z}/{x}/{y}.pbf"],"vector_layers":[{"id":"a"}],"maxzoom":14,"scheme":"tms"}',
  })
  expect(tilejson.layers[0]).toMatchObject({ format: 'pbf', maxZoom: 14 })
  expect(addressOf(tilejson.layers[0] as UpstreamLayer, 2, 1, 0)).toBe('https://x.example/t/2/1/3.pbf')
  const lods = [
    { level: 0, resolution: 156543.03392800014 },
    { level: 1, resolution: 78271.51696399994 },
  ]
  const cache = {
    rows: 256,
    cols: 256,
    format: 'JPEG',
    origin: { x: -20037508.342787, y: 20037508.342787 },
    spatialReference: { wkid: 102100, latestWkid: 3857 },
    lods,
  }
  const arcgis = await read('https://x.example/rest/services/Topo/MapServer', {
    'https://x.example/rest/services/Topo/MapServer?f=json': JSON.stringify({
      currentVersion: 11,
      singleFusedMapCache: true,
      tileInfo: cache,
    }),
  })
  expect(arcgis.layers[0]).toMatchObject({ name: 'Topo', format: 'jpg', maxZoom: 1 })
  expect(addressOf(arcgis.layers[0] as UpstreamLayer, 1, 1, 0)).toBe(
    'https://x.example/rest/services/Topo/MapServer/tile/1/0/1',
  )
  const ogc = await read('https://x.example/ogc', {
    'https://x.example/ogc': '{"links":[{"rel":"data","href":"ogc/collections"}]}',
    'https://x.example/ogc/collections':
      '{"collections":[{"id":"w","title":"World","links":[{"rel":"http://www.opengis.net/def/rel/ogc/1.0/tilesets-map","href":"/sets"}]}]}',
    'https://x.example/sets':
      '{"tilesets":[{"tileMatrixSetURI":"http://www.opengis.net/def/tilematrixset/OGC/1.0/WebMercatorQuad","links":[{"rel":"item","type":"image/png","href":"/w/{tileMatrix}/{tileRow}/{tileCol}"}]}]}',
  })
  expect(addressOf(ogc.layers[0] as UpstreamLayer, 3, 2, 1)).toBe('https://x.example/w/3/1/2')
  const xyz = await read('https://{s}.example/{quadkey}/{-y}.jpg', {}, { subdomains: ['a', 'b'] })
  expect(addressOf(xyz.layers[0] as UpstreamLayer, 3, 3, 5)).toBe('https://a.example/213/2.jpg')
})

test.each([
  ['HTML', '<html><body>Sign in</body></html>', 'Sign in'],
  ['entities', '<!DOCTYPE x [<!ENTITY a "b">]><Capabilities></Capabilities>', 'entities'],
  ['other JSON', '{}', 'other JSON'],
])('%s is no service, and the reason is told', (_, text, words) =>
  expect(read('https://x.example/', { '': text })).rejects.toThrow(words),
)

test('the secret query of a source is in no stored address and in every request', () => {
  const secret = 'tk=s3cr3t-value&map=/etc/a.map'
  const request = {
    kind: 'tiles',
    subdomains: [],
    levels: null,
    template: 'https://x.example/s3cr3t-value/{z}/{x}/{y}?tk=s3cr3t-value&f=png',
  } as const
  const stored = withoutSecrets(request, secret)
  expect(JSON.stringify(stored)).not.toContain('s3cr3t')
  if (stored.kind !== 'tiles') throw new Error('the kind has changed')
  expect(withSecrets(stored.template, secret)).toBe(
    'https://x.example/s3cr3t-value/{z}/{x}/{y}?f=png&tk=s3cr3t-value&map=/etc/a.map',
  )
})
