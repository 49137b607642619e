import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import sharp from 'sharp'

/** Milliseconds after which the service answers a picture. */
const DELAY_MS = 20
/** Different pictures of each size. */
const PICTURES = 40
const TILE = 256

/** A map service of somebody else: WMS 1.3.0, WMTS and XYZ with fixed pictures, each 20 ms after its request. */
export interface MapService {
  readonly url: string
  /** pictures asked for so far */
  readonly asked: () => number
  /** milliseconds until each answer */
  delay(ms: number): void
  stop(): void
}

export async function startMapService(): Promise<MapService> {
  let asked = 0
  let delayMs = DELAY_MS
  const pictures = new Map<string, Promise<readonly Buffer[]>>()
  const ofSize = (width: number, height: number): Promise<readonly Buffer[]> => {
    const key = `${width}x${height}`
    const known = pictures.get(key) ?? drawAll(width, height)
    pictures.set(key, known)
    return known
  }
  await ofSize(TILE, TILE)
  const server = createServer(async ({ url = '/' }, res) => {
    const { pathname, searchParams } = new URL(url, 'http://127.0.0.1')
    const query = new Map([...searchParams].map(([name, value]) => [name.toLowerCase(), value]))
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    if (/capabilities/i.test(url)) {
      res.setHeader('content-type', 'text/xml')
      return res.end(pathname === '/wms' ? wmsCapabilities(base) : wmtsCapabilities(base))
    }
    asked++
    const [, , x = 0, y = 0] = (/\/(\d+)\/(\d+)\/(\d+)\.png/.exec(pathname) ?? []).map(Number)
    const [width, height] = [Number(query.get('width') ?? TILE), Number(query.get('height') ?? TILE)]
    const all = await ofSize(width, height)
    const place = query.has('bbox') ? asked : x * 7 + y
    setTimeout(() => {
      const body = all[place % all.length] as Buffer
      res.writeHead(200, { 'content-type': 'image/png', 'content-length': body.length })
      res.end(body)
    }, delayMs)
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1', 1_024)
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    delay: (ms) => {
      delayMs = ms
    },
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Large pictures are few: each takes a tenth of a second to draw. */
function drawAll(width: number, height: number): Promise<readonly Buffer[]> {
  const count = width * height > 1_000_000 ? 4 : PICTURES
  return Promise.all(Array.from({ length: count }, (_, i) => draw(width, height, i + 1)))
}

/** Draws areas, roads and houses, so that a tile has about as many bytes as one of a town. */
async function draw(width: number, height: number, seed: number): Promise<Buffer> {
  let state = seed * 7_919
  const random = (most: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * most)
  }
  const point = () => `${random(width)},${random(height)}`
  const per = (width * height) / TILE ** 2
  const many = (count: number, shape: () => string) => Array.from({ length: Math.ceil(count * per) }, shape).join('')
  const colour = () => `hsl(${random(360)},40%,${60 + random(30)}%)`
  const areas = many(
    3,
    () => `<circle cx="${random(width)}" cy="${random(height)}" r="${40 + random(60)}" fill="${colour()}"/>`,
  )
  const roads = many(
    6,
    () => `<polyline points="${point()} ${point()}" stroke="${colour()}" stroke-width="${1 + random(6)}"/>`,
  )
  const houses = many(
    40,
    () =>
      `<rect x="${random(width)}" y="${random(height)}" width="${4 + random(9)}" height="${4 + random(9)}" fill="${colour()}" stroke="#876"/>`,
  )
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="#eed"/>${areas}${roads}${houses}</svg>`
  return sharp(Buffer.from(svg)).removeAlpha().png().toBuffer()
}

function wmsCapabilities(base: string): string {
  return `<?xml version="1.0"?><WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms" xmlns:xlink="http://www.w3.org/1999/xlink">
<Service><Name>WMS</Name><Title>bench</Title></Service><Capability><Request><GetMap><Format>image/png</Format><DCPType><HTTP><Get>
<OnlineResource xlink:href="${base}/wms?"/></Get></HTTP></DCPType></GetMap></Request><Layer opaque="1"><Name>town</Name><Title>town</Title>
<CRS>EPSG:3857</CRS><EX_GeographicBoundingBox><westBoundLongitude>-180</westBoundLongitude><eastBoundLongitude>180</eastBoundLongitude>
<southBoundLatitude>-85</southBoundLatitude><northBoundLatitude>85</northBoundLatitude></EX_GeographicBoundingBox></Layer></Capability></WMS_Capabilities>`
}

function wmtsCapabilities(base: string): string {
  const matrix = (z: number) =>
    `<TileMatrix><ows:Identifier>${z}</ows:Identifier><ScaleDenominator>${559_082_264.028_717_8 / 2 ** z}</ScaleDenominator>
<TopLeftCorner>-20037508.342789244 20037508.342789244</TopLeftCorner><TileWidth>256</TileWidth><TileHeight>256</TileHeight>
<MatrixWidth>${2 ** z}</MatrixWidth><MatrixHeight>${2 ** z}</MatrixHeight></TileMatrix>`
  return `<?xml version="1.0"?><Capabilities version="1.0.0" xmlns="http://www.opengis.net/wmts/1.0" xmlns:ows="http://www.opengis.net/ows/1.1" xmlns:xlink="http://www.w3.org/1999/xlink">
<Contents><Layer><ows:Title>town</ows:Title><ows:Identifier>town</ows:Identifier><Style isDefault="true"><ows:Identifier>default</ows:Identifier></Style>
<Format>image/png</Format><TileMatrixSetLink><TileMatrixSet>g</TileMatrixSet></TileMatrixSetLink>
<ResourceURL format="image/png" resourceType="tile" template="${base}/wmts/{TileMatrix}/{TileCol}/{TileRow}.png"/></Layer>
<TileMatrixSet><ows:Identifier>g</ows:Identifier><ows:SupportedCRS>urn:ogc:def:crs:EPSG::3857</ows:SupportedCRS>
${Array.from({ length: 19 }, (_, z) => matrix(z)).join('')}</TileMatrixSet></Contents></Capabilities>`
}
