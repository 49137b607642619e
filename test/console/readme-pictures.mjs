import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { openGateway } from './gateway.mjs'

// The pictures of the README, of a gateway that `npm start` has filled with its demo. Each release takes them again:
//
//   node test/console/readme-pictures.mjs --url http://localhost:8910 --password SECRET

const OUT = fileURLToPath(new URL('../../docs/images/', import.meta.url))
/** A map is drawn a moment after its last tile. */
const SETTLED_MS = 2_000

const { api, browser, newContext, url } = await openGateway()
try {
  const { items } = await api('/basemaps?q=world&limit=1')
  const [map] = items
  if (map === undefined) throw new Error('the gateway has no demo: start it with an empty DATA_DIR')
  const { token } = await api('/preview-token', { basemap_code: map.code })
  const version = encodeURIComponent(map.default_version)
  await take('console', `/admin/basemaps/${map.code}/versions/${version}`, { width: 1280, height: 800 })
  await take('map', `/map/#code=${map.code}&token=${token}&view=1.4/14/10`, { width: 960, height: 480 })
} finally {
  await browser.close()
}

async function take(name, path, viewport) {
  const context = await newContext({ viewport, reducedMotion: 'reduce', colorScheme: 'light' })
  const page = await context.newPage()
  await page.goto(`${url}${path}`)
  await page.locator('canvas.maplibregl-canvas').first().waitFor()
  // The console keeps a stream of events open, so that its network is never idle.
  await page.waitForFunction(() => document.querySelector('.mantine-Skeleton-root') === null)
  for (const panel of await page.locator('details[open]#layers summary').all()) await panel.click()
  await page.waitForTimeout(SETTLED_MS)
  await sharp(await page.screenshot())
    .webp({ quality: 82 })
    .toFile(`${OUT}${name}.webp`)
  await context.close()
}
