import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { useGateway } from '../harness/use-gateway.js'
import {
  DESKTOP,
  expectAccessible,
  inPage,
  mapIsDrawn,
  open,
  PHONE,
  settled,
  shot,
  useBrowser,
} from './console-browser.js'

const LONG = 'Very long '.repeat(18).trim()
/** Reads as a state if its direction marks take effect. */
const MARKED = 'evitca \u202eelbaliava\u202c'
const HEBREW = 'מפת העיר'

const gateway = useGateway({}, async ({ home, admin }) => {
  await makeTileFolder(join(home, 'maps/city/2026-1'), { maxZoom: 2 })
  await makeTileFolder(join(home, 'maps/city/2026-2'), { maxZoom: 2, shade: 200 })
  await makeTileFolder(join(home, 'maps/attributed'), { maxZoom: 0 })
  const documentOf = { name: LONG, attribution: `© ${'unbroken'.repeat(40)}` }
  await writeFile(join(home, 'maps/attributed/tilejson.json'), JSON.stringify(documentOf))
  await admin.scanSource('maps', 'basemap', join(home, 'maps'))
  for (const name of [LONG, MARKED, HEBREW, 'plain']) await admin.issueToken({ name, basemap_codes: ['city'] })
  await admin.expect('/scan-sources', {
    method: 'POST',
    body: { code: 'long', kind: 'vector', path: join(home, 'nowhere'), name: `${LONG} ${HEBREW}` },
  })
})
const openConsole = useBrowser()

test.each([
  ['desktop', DESKTOP],
  ['phone', PHONE],
] as const)(
  'names of any length and direction leave room for the rest of the table: %s',
  async (size, viewport) => {
    const console = await openConsole(gateway(), { viewport })
    const { page } = console
    for (const [name, path] of [
      ['tokens', '/tokens'],
      ['sources', '/sources'],
      ['source', '/sources/long'],
      ['overview', '/'],
      ['basemap', '/basemaps/attributed'],
    ] as const) {
      await open(page, path)
      await settled(page)
      const beyond = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
      await expect.poll(async () => [name, await inPage<number>(page, beyond)]).toEqual([name, 0])
      await expectAccessible(page, `${name} with names`)
      await shot(page, `names-${name}-${size}`)
    }
    await open(page, '/tokens')
    // A name that is cut is read as one text, as it was written.
    await page.getByRole('link', { name: LONG, exact: true }).waitFor()
    const row = page.getByRole('row').filter({ hasText: 'Very long' })
    const box = await row.getByRole('button', { name: /^Actions for/ }).boundingBox()
    expect((box?.x ?? Number.NaN) + (box?.width ?? 0)).toBeLessThanOrEqual(viewport.width)
    // The mark is visible instead of taking effect, and the text after the name keeps its direction.
    await page.getByText('evitca \ufffdelbaliava\ufffd', { exact: true }).waitFor()
    if (size === 'desktop') {
      await row.getByText('Very long').first().hover()
      await page.getByRole('tooltip', { name: LONG }).waitFor()
      await shot(page, 'names-whole', false)
      await row.getByRole('button', { name: /^Actions for/ }).click()
      await row.getByRole('button', { name: /^Disable/ }).click()
      await page.getByRole('dialog').waitFor()
      await shot(page, 'names-dialog', false)
    }
    await console.expectClean()
  },
  240_000,
)

test('preview and comparison name code and version, and a divider swipes between two versions', async () => {
  const console = await openConsole(gateway())
  const { page } = console
  await open(page, '/basemaps/city/versions/2026-1')
  await page.getByText('city / 2026-1', { exact: true }).waitFor()
  await open(page, '/basemaps/city/compare')
  await page.getByText('Versions of city').waitFor()
  await page.getByText('city / 2026-1', { exact: true }).waitFor()
  await page.getByText('city / 2026-2', { exact: true }).waitFor()
  await mapIsDrawn(page, 0)
  await mapIsDrawn(page, 1)
  await shot(page, 'compare-split')
  await page.getByText('Swipe', { exact: true }).click()
  const divider = page.getByRole('slider', { name: 'Divider between the left and the right version' })
  await divider.waitFor()
  await mapIsDrawn(page, 0)
  await expectAccessible(page, 'swipe')
  await shot(page, 'compare-swipe')
  const clipped = () => inPage<string>(page, `getComputedStyle(document.querySelector('.swipe-right')).clipPath`)
  await expect.poll(clipped).toBe('inset(0px 0px 0px 50%)')
  await divider.focus()
  for (let i = 0; i < 20; i++) await page.keyboard.press('ArrowRight')
  await expect.poll(clipped).toBe('inset(0px 0px 0px 70%)')
  await expect.poll(() => inPage(page, 'location.search')).toContain('view=swipe')
  await shot(page, 'compare-swiped')
  await page.reload()
  await divider.waitFor()
  await console.expectClean()
})

test('an object that no longer exists is deleted after confirmation', async () => {
  const console = await openConsole(gateway())
  // The page of a deleted object may request it, and its map may request tiles, until the page is left; the browser logs that.
  console.allowConsole(/404 .*\/(scan-sources\/long|basemaps\/city|targets\/old|tiles\/city\/2026-1)\b/)
  const { page } = console
  const dialog = page.getByRole('dialog')
  await open(page, '/sources/long')
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await dialog.getByText('Everything that was found in it').waitFor()
  await expectAccessible(page, 'delete')
  await shot(page, 'delete-source', false)
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { name: 'Scan sources', level: 1 }).waitFor()
  await page.getByRole('link', { name: 'maps', exact: true }).waitFor()
  await expect.poll(() => page.getByRole('link', { name: 'Very long' }).count()).toBe(0)

  await open(page, '/basemaps/city/versions/2026-1')
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { name: 'city', level: 1, exact: true }).waitFor()
  await page.getByRole('link', { name: '2026-2', exact: true }).waitFor()
  await expect.poll(() => page.getByRole('link', { name: '2026-1', exact: true }).count()).toBe(0)

  const target = { code: 'old', kind: 'directory', path: join(gateway().home, 'out') }
  await gateway().admin.expect('/targets', { method: 'POST', body: target })
  await open(page, '/pushes/targets/old')
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await dialog.getByText('Its push records are also deleted').waitFor()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No targets yet').waitFor()
  await console.expectClean()
})

/** Traffic of an hour with two periods of requests, far apart in time. */
function traffic() {
  const points = Array.from({ length: 20 }, (_, i) => ({
    at: new Date(Date.UTC(2026, 0, 1, 12, 0, i * 30)).toISOString(),
    seconds: 30,
    requests: 30 * i,
    tiles: i === 5 || i >= 12 ? 30 : 0,
    tiles_missing: i,
    memory_hits: i === 5 || i >= 12 ? 20 : 0,
    downloads: 0,
    auth_failures: 0,
    server_errors: 0,
    bytes_sent: 1000 * i,
  }))
  return { since: points[0]?.at, points, edges: [] }
}

test('charts are loaded when they scroll into view, and draw a line for a series and a point for a single value', async () => {
  const console = await openConsole(gateway(), { viewport: { width: 1280, height: 300 } })
  const { page } = console
  await page.route('**/dashboard/traffic', (route) => route.fulfill({ json: traffic() }))
  const files: string[] = []
  page.on('response', (response) => files.push(new URL(response.url()).pathname))
  await open(page, '/')
  await page.getByRole('heading', { name: 'Traffic' }).waitFor()
  // Every page is there by then, and with them would be what they import.
  await expect.poll(() => files.some((file) => /\/assets\/work-/.test(file))).toBe(true)
  expect(files.filter((file) => /charts|plot|map-library|maplibre/.test(file))).toEqual([])
  await page.getByRole('heading', { name: 'Traffic' }).scrollIntoViewIfNeeded()
  await page.mouse.wheel(0, 600)
  const hits = page.getByRole('figure').filter({ hasText: 'Tiles from memory' })
  // The page first shows the traffic of the gateway, and then that of the test.
  await hits.locator('circle').waitFor()
  expect(files.filter((file) => /charts/.test(file))).not.toEqual([])
  // A single span at 12:02:30, through which no line goes, and a line of eight.
  const line = await hits.locator('path.recharts-area-curve').first().getAttribute('d')
  expect(line?.split(/(?=M)/)).toEqual([expect.stringMatching(/^M[^LC]*Z$/), expect.stringMatching(/^M.*[LC]/)])
  expect(await hits.locator('circle').count()).toBe(1)
  await page.setViewportSize(DESKTOP)
  await shot(page, 'charts')
  await console.expectClean()
})

test('settings show their values in units, their defaults, and their purpose', async () => {
  const console = await openConsole(gateway())
  const { page } = console
  await open(page, '/settings')
  const row = (name: string) => page.getByRole('row').filter({ has: page.getByText(name, { exact: true }) })
  await row('TOKEN_DEFAULT_TTL').getByText('30 days').waitFor()
  await row('TOKEN_DEFAULT_TTL').getByText('default', { exact: true }).waitFor()
  await row('RETRY_WAITS').getByText('30 seconds, 1 minute, 1 minute').waitFor()
  expect(await row('API_PORT').getByText('default', { exact: true }).count()).toBe(0)
  for (const described of await page.getByRole('row').locator('td:first-child').allInnerTexts()) {
    expect(described).toMatch(/^[A-Z0-9_]+\s+\S/)
  }
  await shot(page, 'settings-units')
  await console.expectClean()
})
