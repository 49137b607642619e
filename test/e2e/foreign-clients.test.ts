import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useMaps, useToken } from '../conformance/maps.js'

const maps = useMaps()
const token = useToken(maps)
const execute = promisify(execFile)

/** What a developer looks at after a run; ignored by git. */
const ARTIFACTS = fileURLToPath(new URL('../artifacts/', import.meta.url))

let site: Server
let origin: string
let browser: Browser
beforeAll(async () => {
  site = createServer(servePage)
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
  // The fixture's tiles differ in colour by their address: a map that was drawn shows several.
  const { channels } = await sharp(shot).stats()
  expect(Math.max(...channels.map((channel) => channel.stdev))).toBeGreaterThan(2)
  await page.close()
})

test('GDAL reads the XYZ address as a raster', async () => {
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
