import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Vector } from '@gateway/contracts/vector.js'
import { type Browser, chromium, type Page } from 'playwright-core'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fixtureTile, useMaps, useToken } from '../conformance/maps.js'

const maps = useMaps()
const token = useToken(maps)
const execute = promisify(execFile)

/** Screenshots for inspection after a run; ignored by git. */
const ARTIFACTS = fileURLToPath(new URL('../artifacts/', import.meta.url))

const site = createServer(servePage)
let origin: string
let browser: Browser
beforeAll(async () => {
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  const { port } = site.address() as { port: number }
  // Another name for this machine makes another origin.
  origin = `http://localhost:${port}`
  browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
  })
})
afterAll(async () => {
  await browser?.close()
  await new Promise((resolve) => site.close(resolve))
})

test('MapLibre on a page of another origin draws a basemap with a query token', async () => {
  const page = await browser.newPage({ viewport: { width: 512, height: 512 } })
  const problems: string[] = []
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  page.on('pageerror', (error) => problems.push(error.message))
  const tilejson = `${maps().gateway.url}/tiles/world/tilejson.json?token=${token()}`
  await page.goto(`${origin}/?tilejson=${encodeURIComponent(tilejson)}`)
  await page.waitForFunction('window.drawn === true')
  await mkdir(ARTIFACTS, { recursive: true })
  const shot = await page.screenshot({ path: join(ARTIFACTS, 'maplibre.png') })
  expect(problems).toEqual([])
  // The colour of the fixture's tiles depends on their address, so a drawn map shows several colours.
  const { channels } = await sharp(shot).stats()
  expect(Math.max(...channels.map((channel) => channel.stdev))).toBeGreaterThan(2)
  await page.close()
})

test('GDAL reads the XYZ URL as a raster', async () => {
  const description = join(maps().gateway.home, 'world.xml')
  await writeFile(
    description,
    `<GDAL_WMS><Service name="TMS"><ServerUrl>${maps().gateway.url}/tiles/world/current/\${z}/\${x}/\${y}.png?token=${token()}</ServerUrl></Service>
     <DataWindow><UpperLeftX>-20037508.34</UpperLeftX><UpperLeftY>20037508.34</UpperLeftY><LowerRightX>20037508.34</LowerRightX>
     <LowerRightY>-20037508.34</LowerRightY><TileLevel>2</TileLevel><TileCountX>1</TileCountX><TileCountY>1</TileCountY><YOrigin>top</YOrigin>
     </DataWindow><Projection>EPSG:3857</Projection><BlockSizeX>256</BlockSizeX><BlockSizeY>256</BlockSizeY><BandsCount>3</BandsCount></GDAL_WMS>`,
  )
  const out = join(maps().gateway.home, 'world.png')
  await execute('gdal_translate', ['-q', '-of', 'PNG', '-outsize', '1024', '1024', description, out])
  const { data, info } = await sharp(out).raw().toBuffer({ resolveWithObject: true })
  const pixel = (x: number, y: number) => [
    ...data.subarray((y * info.width + x) * info.channels, (y * info.width + x) * info.channels + 3),
  ]
  // Shade 9, zoom 2, tile (3, 1): the colour that the fixture gives to that address.
  expect(pixel(3 * 256 + 128, 256 + 128)).toEqual([2 * 40 + 9, 3 * 16 + 9, 16 + 9])
})

test('GDAL reads a vector download', async () => {
  const url = `/vsicurl/${maps().gateway.url}/vectors/regions-countries/download?token=${token()}`
  const { stdout } = await execute('ogrinfo', ['-ro', '-so', '-al', url])
  expect(stdout).toMatch(/Feature Count: 200/)
})

test('GDAL reads GeoPackage and FlatGeobuf in ranges, and the catalog agrees with GDAL', async () => {
  const { gateway, vectorRoot } = maps()
  const folder = join(gateway.home, 'formats')
  await mkdir(folder)
  const countries = join(vectorRoot, 'regions/countries.geojson')
  for (const [format, name] of [
    ['GPKG', 'utm.gpkg'],
    ['FlatGeobuf', 'gauss.fgb'],
  ] as const) {
    const system = name === 'utm.gpkg' ? 'EPSG:32632' : 'EPSG:4547'
    await execute('ogr2ogr', ['-f', format, '-t_srs', system, '-where', 'id < 5', join(folder, name), countries])
  }
  await gateway.admin.scanSource('formats', 'vector', folder)
  for (const name of ['utm.gpkg', 'gauss.fgb']) {
    const address = `${gateway.url}/vectors/${name}`
    const [driver, system] = name === 'utm.gpkg' ? ['GPKG', 'EPSG:32632'] : ['FlatGeobuf', 'EPSG:4547']
    // In a header, because the URL must end in the extension that GDAL's GeoPackage driver expects.
    const env = {
      ...process.env,
      GDAL_HTTP_HEADERS: `X-Access-Token: ${token()}`,
      GDAL_DISABLE_READDIR_ON_OPEN: 'EMPTY_DIR',
    }
    const { stdout, stderr } = await execute('ogrinfo', ['-ro', '-so', '-al', `/vsicurl/${address}`], { env })
    expect([stderr, stdout]).toEqual([
      '',
      expect.stringMatching(new RegExp(`driver .${driver}' successful[\\s\\S]*Feature Count: 5`)),
    ])
    const code = name.slice(0, name.indexOf('.'))
    const told = (await (await maps().get(`/api/v1/catalog/vectors/${code}?token=${token()}`)).json()) as Vector
    expect(told).toMatchObject({
      crs: system,
      geometry_type: 'Polygon',
      feature_count: 5,
      fields: expect.arrayContaining([{ name: 'name', type: 'string' }]),
    })
    const whole = await maps().get(`/vectors/${code}/download?token=${token()}`)
    expect(whole.headers.get('content-type')).toBe(
      name === 'utm.gpkg' ? 'application/geopackage+sqlite3' : 'application/flatgeobuf',
    )
    expect(Buffer.from(await whole.arrayBuffer()).equals(await readFile(join(folder, name)))).toBe(true)
    expect((await maps().get(`/vectors/${code}.kml?token=${token()}`)).status).toBe(404)
  }
})

/** Opens a page that reaches only the gateway. Requests to other hosts are problems, as are errors. */
async function alonePage(): Promise<{ page: Page; problems: string[] }> {
  const problems: string[] = []
  const page = await browser.newPage({ viewport: { width: 512, height: 512 } })
  await page.context().route(/^https?:/, (route) => {
    if (new URL(route.request().url()).origin === maps().gateway.url) return route.continue()
    problems.push(`a request to ${route.request().url()}`)
    return route.abort()
  })
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
  page.on('pageerror', (error) => problems.push(error.message))
  return { page, problems }
}

/** Waits until the middle of the map shows several colours, which depend on the addresses of the fixture's tiles. */
async function mapIsDrawn(page: Page, name: string): Promise<void> {
  await mkdir(ARTIFACTS, { recursive: true })
  const deviation = async () => {
    const shot = await page.screenshot({ clip: { x: 64, y: 64, width: 384, height: 384 } })
    const { channels } = await sharp(shot).stats()
    return Math.max(...channels.map((channel) => channel.stdev))
  }
  await expect.poll(deviation).toBeGreaterThan(2)
  await page.screenshot({ path: join(ARTIFACTS, name) })
}

test('the example page draws a basemap as a file on the disk, and explains a failure', async () => {
  const { page, problems } = await alonePage()
  const file = new URL('../../docs/examples/maplibre.html', import.meta.url)
  file.hash = String(new URLSearchParams({ gateway: maps().gateway.url, code: 'world', token: token() }))
  await page.goto(file.href)
  await mapIsDrawn(page, 'example-map.png')
  expect(problems).toEqual([])
  file.hash = String(new URLSearchParams({ gateway: maps().gateway.url, code: 'nowhere', token: token() }))
  await page.goto(file.href)
  await page.reload()
  await page.getByRole('status').getByText('there is no basemap "nowhere"').waitFor()
  await page.close()
})

test('the page of the first map draws a basemap without any other host, and explains a failure', async () => {
  const { page, problems } = await alonePage()
  await page.goto(`${maps().gateway.url}/map/#code=world&token=${token()}`)
  await mapIsDrawn(page, 'first-map.png')
  expect([await page.title(), problems]).toEqual(['world', []])
  await page.goto(`${maps().gateway.url}/map/#code=nowhere&token=${token()}`)
  await page.getByRole('alert').getByText('The map of nowhere cannot be shown: there is no basemap "nowhere"').waitFor()
  await page.goto(`${maps().gateway.url}/map/`)
  await page.getByRole('alert').getByText('/map/#code=CODE&token=TOKEN').waitFor()
  await page.close()
})

test('the page of the first map opens at zooms with tiles, even if the bounds would fit at a lower zoom', async () => {
  const { gateway, get } = maps()
  const source = join(gateway.home, 'deep')
  for (const x of [210, 211, 212])
    for (const y of [96, 97, 98]) {
      await mkdir(join(source, `city/8/${x}`), { recursive: true })
      await writeFile(join(source, `city/8/${x}/${y}.png`), await fixtureTile(4, x % 16, y % 16))
    }
  await gateway.admin.scanSource('deep', 'basemap', source)
  expect(await (await get(`/tiles/city/tilejson.json?token=${token()}`)).json()).toMatchObject({ minzoom: 8 })
  const { page, problems } = await alonePage()
  await page.goto(`${gateway.url}/map/#code=city&token=${token()}`)
  await mapIsDrawn(page, 'first-map-deep.png')
  expect(problems).toEqual([])
  await page.close()
})

test('the page of the first map says so if the metadata of vector tiles names no layers', async () => {
  const { page } = await alonePage()
  await page.goto(`${maps().gateway.url}/map/#code=streets&token=${token()}`)
  await page.getByRole('alert').getByText('The metadata of streets names no vector layers').waitFor()
  await page.close()
})

async function servePage(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://site').pathname
  const library = dirname(createRequire(import.meta.url).resolve('maplibre-gl/package.json'))
  if (path.endsWith('.mjs') || path.endsWith('.css')) {
    response.setHeader('Content-Type', path.endsWith('.css') ? 'text/css' : 'text/javascript')
    response.end(await readFile(join(library, 'dist', path.slice(1))))
    return
  }
  if (path === '/favicon.ico') return void response.writeHead(204).end()
  response.setHeader('Content-Type', 'text/html')
  response.end(PAGE)
}

const PAGE = `<!doctype html><link rel="stylesheet" href="/maplibre-gl.css">
<div id="map" style="position:fixed;inset:0"></div>
<script type="module">
  import * as maplibregl from '/maplibre-gl.mjs'
  maplibregl.setWorkerUrl('/maplibre-gl-worker.mjs')
  const map = new maplibregl.Map({
    container: 'map', zoom: 1, center: [0, 0], fadeDuration: 0,
    style: {
      version: 8,
      sources: { world: { type: 'raster', url: new URLSearchParams(location.search).get('tilejson'), tileSize: 256 } },
      layers: [{ id: 'world', type: 'raster', source: 'world' }],
    },
  })
  map.once('idle', () => { window.drawn = true })
</script>`
