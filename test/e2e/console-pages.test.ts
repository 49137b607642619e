import type { Token } from '@gateway/contracts/token.js'
import type { TrafficHistory } from '@gateway/contracts/traffic.js'
import type { UsageCells } from '@gateway/contracts/usage.js'
import type { Request } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { useMaps } from '../conformance/maps.js'
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

const maps = useMaps()
/** More than the elements of the overview that the keyboard reaches. */
const OVERVIEW_STOPS = 45
const openConsole = useBrowser()

/** Existing tiles for every column and row of zoom 2, and missing tiles of zoom 8 around one place. */
const FOUND = Array.from({ length: 16 }, (_, i) => `2/${i % 4}/${i >> 2}`)
const MISSED = Array.from({ length: 24 }, (_, i) => `8/${132 + (i % 6)}/${88 + Math.floor(i / 6)}`)

/** The token that requested the tiles. */
let reader: string

// Runs before all tests, since edges report requests only every 15 s.
beforeAll(async () => {
  const { id, token } = await maps().gateway.admin.issueToken({ basemap_codes: ['archive'] })
  reader = id
  for (const place of [...FOUND, ...MISSED, ...MISSED]) {
    const answer = await maps().get(`/tiles/archive/default/${place}.png`, { 'x-access-token': token })
    expect([place, answer.status]).toEqual([place, MISSED.includes(place) ? 404 : 200])
    await answer.arrayBuffer()
  }
})

/** From the issue: the compressed first load without the map; the charts, which are visible by then, are a quarter of it. */
const FIRST_LOAD_BYTES = 500_000

const PAGES: Readonly<Record<string, string>> = {
  overview: '/',
  basemaps: '/basemaps',
  basemap: '/basemaps/world',
  'basemap-access': '/basemaps/world?tab=access',
  'basemap-urls': '/basemaps/world?tab=addresses',
  'basemap-details': '/basemaps/world?tab=details',
  busiest: '/?tab=busiest',
  activity: '/?tab=activity',
  partner: '/tokens/partner',
  version: '/basemaps/world/versions/2026-10?grid=on&tile=1/1/0',
  'vector-tiles': '/basemaps/streets/versions/default',
  compare: '/basemaps/world/compare',
  vectors: '/vectors',
  vector: '/vectors/regions-countries',
  shapefile: '/vectors/regions-rivers',
  tokens: '/tokens',
  'issue-token': '/tokens/new',
  versions: '/versions',
  'signing-keys': '/signing-keys',
  sources: '/sources',
  source: '/sources/fixture-basemaps',
  'new-source': '/sources/new',
  slicing: '/slicing',
  'new-job': '/slicing/new',
  pushes: '/pushes',
  targets: '/pushes?show=targets',
  'new-push': '/pushes/new',
  'new-target': '/pushes/targets/new',
  audit: '/audit',
  settings: '/settings',
  nowhere: '/there/is/no/such/page',
}

type View = readonly [colorScheme: 'light' | 'dark', size: 'desktop' | 'phone']

/** The views for every page, and further views for the pages with many colours and tables. */
const VIEWS: readonly View[] = [
  ['light', 'desktop'],
  ['dark', 'phone'],
]
const OTHER_VIEWS: readonly View[] = [
  ['light', 'phone'],
  ['dark', 'desktop'],
]
const IN_ALL_VIEWS: ReadonlySet<string> = new Set(['overview', 'version', 'issue-token'])

test('every page is clean, accessible and fits, light on a desktop and dark on a phone', async () => {
  const console = await openConsole(maps().gateway)
  const { page } = console
  for (const [name, path] of Object.entries(PAGES)) {
    // One page follows the system preference and the window width, so a new view reloads nothing.
    await page.setViewportSize(DESKTOP)
    await page.emulateMedia({ colorScheme: 'light' })
    await open(page, path)
    await page.waitForLoadState('load')
    for (const [colorScheme, size] of [...VIEWS, ...(IN_ALL_VIEWS.has(name) ? OTHER_VIEWS : [])]) {
      await page.setViewportSize(size === 'phone' ? PHONE : DESKTOP)
      await page.emulateMedia({ colorScheme })
      await expect.poll(() => inPage(page, 'document.documentElement.dataset.mantineColorScheme')).toBe(colorScheme)
      await settled(page)
      await expectAccessible(page, `${name} ${colorScheme} ${size}`)
      const beyond = () =>
        inPage<number>(page, 'document.documentElement.scrollWidth - document.documentElement.clientWidth')
      await expect.poll(async () => [name, size, await beyond()]).toEqual([name, size, 0])
      await shot(page, `${name}-${colorScheme}-${size}`)
    }
  }
  await console.expectClean()
}, 480_000)

test('the first load is small and contains no map; charts and map load when they are shown', async () => {
  const points = async () => (await maps().gateway.admin.call<TrafficHistory>('/dashboard/traffic')).body.points.length
  // A line needs two points, and a span is 30 s.
  await expect.poll(points, { timeout: 120_000, interval: 500 }).toBeGreaterThan(1)
  const console = await openConsole(maps().gateway, { viewport: { ...DESKTOP, height: 300 } })
  const { page } = console
  const finished: Request[] = []
  page.on('requestfinished', (request) => finished.push(request))
  const files: string[] = []
  page.on('request', (request) => files.push(new URL(request.url()).pathname))
  const asked = (pattern: RegExp) => files.some((file) => pattern.test(file))
  await open(page, '/')
  // The place of the chart is reserved as soon as there is data; it is below the visible part of the window.
  await page.locator('.plot').first().waitFor({ state: 'attached' })
  await settled(page)
  expect(asked(/charts/)).toBe(false)
  let send = () => {}
  const isSent = new Promise<void>((resolve) => {
    send = resolve
  })
  await page.route(/charts/, async (route) => {
    await isSent
    await route.continue()
  })
  await page.getByRole('heading', { name: 'Traffic' }).scrollIntoViewIfNeeded()
  await page.getByRole('status', { name: 'Loading Traffic' }).waitFor()
  send()
  await page.locator('.plot-figure svg').first().waitFor()
  expect(asked(/charts/)).toBe(true)
  expect(asked(/map-library|maplibre|\/tiles\//)).toBe(false)
  // Repeated requests for figures do not count.
  const loaded = finished.filter((request) => !request.url().includes('/api/'))
  const sizes = await Promise.all(loaded.map((request) => request.sizes()))
  const bytes = sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0)
  expect(bytes).toBeGreaterThan(50_000)
  expect(bytes).toBeLessThan(FIRST_LOAD_BYTES)
  await page.setViewportSize(DESKTOP)
  await page.getByRole('link', { name: 'Basemaps', exact: true }).click()
  await page.getByRole('link', { name: 'world', exact: true }).click()
  await mapIsDrawn(page)
  expect(asked(/\/assets\/map-library/)).toBe(true)
  expect(asked(/^\/tiles\/world\//)).toBe(true)
  await console.expectClean()
}, 300_000)

test('before a default changes, the differing tiles are shown on the map, and on the comparison page', async () => {
  const console = await openConsole(maps().gateway)
  const { page } = console
  await open(page, '/basemaps/world/versions/2026-2')
  await page.getByRole('button', { name: 'Make default' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Show the tiles that differ' }).click()
  await dialog.getByText(/tiles with other content$/).waitFor()
  await dialog.getByText(/^All .* tiles of this zoom/).waitFor()
  await expectAccessible(page, 'tiles that differ')
  await dialog.getByRole('link', { name: 'Open on its own page' }).click()
  await page.getByRole('heading', { name: 'Compare versions · world', level: 1 }).waitFor()
  await page.getByLabel('Zoom', { exact: true }).selectOption('0')
  await page.getByText('1 tile with other content').waitFor()
  await mapIsDrawn(page)
  await expectAccessible(page, 'compare, tiles that differ')
  await shot(page, 'compare-tiles')
  await console.expectClean()
})

test('the overview fits on one screen of 1440 by 900', async () => {
  const console = await openConsole(maps().gateway, { viewport: { width: 1440, height: 900 } })
  const { page } = console
  await open(page, '/')
  await settled(page)
  await page.getByRole('region', { name: 'Edges' }).waitFor()
  const beyond = () =>
    inPage<number>(page, 'document.documentElement.scrollHeight - document.documentElement.clientHeight')
  await expect.poll(beyond).toBe(0)
  await shot(page, 'overview-one-screen')
  await console.expectClean()
})

test('a page comes with its first data, and an idle page sends no requests', async () => {
  const console = await openConsole(maps().gateway)
  const { page } = console
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  const answer = await page.goto('/admin/basemaps')
  await page.getByRole('link', { name: 'world', exact: true }).waitFor()
  expect(await answer?.text()).toContain('"/api/v1/admin/basemaps?limit=25":{')
  await page.getByRole('status').filter({ hasText: 'Live' }).waitFor()
  expect(asked).not.toContain('/api/v1/system')
  await console.expectClean()
})

test('lists of basemaps show a tile of each default version, with one token for all', async () => {
  const console = await openConsole(maps().gateway)
  const { page } = console
  const tokens: unknown[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/preview-token')) tokens.push(request.postDataJSON())
  })
  await open(page, '/basemaps')
  await expect.poll(() => page.locator('.thumbnail img').count()).toBeGreaterThan(3)
  expect(tokens).toEqual([{ basemap_codes: expect.arrayContaining(['archive', 'cloud', 'world']) }])
  await console.expectClean()
})

test('a partner gets a token for chosen maps, with snippets and a text without the secret', async () => {
  const console = await openConsole(maps().gateway)
  const { page } = console
  await open(page, '/tokens/partner?basemap=world')
  await page.getByLabel('Partner').fill('Harbour office')
  await page.getByRole('button', { name: 'Give access' }).click()
  const token = (await page.getByRole('group', { name: 'the token' }).innerText()).trim()
  const text = page.getByRole('group', { name: 'Text to send' })
  await expect.poll(() => text.innerText()).toContain('/tiles/world/current/{z}/{x}/{y}.png?token=YOUR_TOKEN')
  expect(await text.innerText()).not.toContain(token)
  await page.getByRole('switch', { name: 'With the token' }).click()
  await expect.poll(() => text.innerText()).toContain(token)
  await page.getByRole('tab', { name: 'QGIS' }).click()
  await expect.poll(() => page.getByRole('group', { name: /QGIS/ }).innerText()).toContain(token)
  expect((await maps().get('/tiles/world/current/0/0/0.png', { 'x-access-token': token })).status).toBe(200)
  await expectAccessible(page, 'partner access')
  await shot(page, 'partner-given')
})

test('URLs are deep links, and the back button leads to the previous page', async () => {
  const console = await openConsole(maps().gateway)
  const { page } = console
  await open(page, '/basemaps?q=clou')
  await page.getByRole('link', { name: 'fixture', exact: true }).waitFor()
  expect(await page.getByRole('row').count()).toBe(2)
  await page.getByRole('searchbox').fill('nothing is called so')
  await page.getByText('Nothing matches').waitFor()
  await page.getByRole('searchbox').fill('flipped')
  await page.getByRole('link', { name: 'flipped', exact: true }).click()
  await page.getByRole('heading', { name: 'flipped', level: 1 }).waitFor()
  await page.goBack()
  // The previous page has a search field as well.
  await page.getByRole('heading', { name: 'Basemaps', level: 1 }).waitFor()
  expect(await page.getByRole('searchbox').inputValue()).toBe('flipped')
  await page.reload()
  expect(await page.getByRole('searchbox').inputValue()).toBe('flipped')
  await console.expectClean()
})

/** Time between two keys of a fast typist; milliseconds. */
const BETWEEN_KEYS_MS = 30
const SLOWED_BY = 4

test('fast typing on a slow processor loses no letter in the search field of any list', async () => {
  const console = await openConsole(maps().gateway)
  const { page, context } = console
  const slowed = await context.newCDPSession(page)
  // The other lists have no rows here, and therefore no search field.
  for (const list of ['basemaps', 'versions', 'vectors', 'tokens', 'sources', 'audit', 'settings']) {
    await open(page, `/${list}`)
    const field = page.getByRole('searchbox').first()
    await field.waitFor()
    await slowed.send('Emulation.setCPUThrottlingRate', { rate: SLOWED_BY })
    await field.click()
    await page.keyboard.type('Harbour authority', { delay: BETWEEN_KEYS_MS })
    expect([list, await field.inputValue()]).toEqual([list, 'Harbour authority'])
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('Harbour authority')
    expect([list, await field.inputValue()]).toEqual([list, 'Harbour authority'])
    await slowed.send('Emulation.setCPUThrottlingRate', { rate: 1 })
  }
  await console.expectClean()
}, 240_000)

test('Ctrl K opens the global search even from inside a search field', async () => {
  const console = await openConsole(maps().gateway)
  const { page } = console
  await open(page, '/basemaps')
  await page.getByRole('searchbox').click()
  await page.keyboard.press('Control+k')
  await page.getByPlaceholder('Search pages, maps').waitFor()
  await console.expectClean()
})

test('the keyboard skips to the content, opens the global search, and lands on the heading of a page', async () => {
  const console = await openConsole(maps().gateway)
  const { page } = console
  await open(page, '/audit')
  await page.keyboard.press('Tab')
  expect(await inPage(page, 'document.activeElement?.textContent')).toBe('Skip to content')
  await page.keyboard.press('Control+k')
  await page.getByPlaceholder('Search pages, maps').fill('countries')
  await page.getByRole('dialog').getByText('regions-countries').first().waitFor()
  await expectAccessible(page, 'search')
  await shot(page, 'search', false)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'countries', level: 1 }).waitFor()
  await expect.poll(() => inPage(page, 'document.activeElement?.tagName')).toBe('H1')
  await console.expectClean()
})

test('every element of the overview that the keyboard reaches shows its focus', async () => {
  const console = await openConsole(maps().gateway)
  const { page } = console
  await open(page, '/')
  await settled(page)
  const unmarked = `(() => {
    const element = document.activeElement
    const looks = [element, ...element.parentElement.querySelectorAll('label, span')].map((each) => getComputedStyle(each))
    const isMarked = looks.some(({ outlineStyle, boxShadow }) => outlineStyle !== 'none' || boxShadow !== 'none')
    return isMarked || element === document.body ? null : element.outerHTML
  })()`
  const found = new Set<string>()
  let links = 0
  for (let i = 0; i < OVERVIEW_STOPS; i++) {
    await page.keyboard.press('Tab')
    const html = await inPage<string | null>(page, unmarked)
    if (html !== null) found.add(html)
    if (await inPage<boolean>(page, `document.activeElement.matches('.card-link')`)) links++
  }
  expect([...found]).toEqual([])
  expect(links).toBeGreaterThan(1)
})

test('the console switches to Chinese and remembers the choice', async () => {
  const console = await openConsole(maps().gateway)
  const { page } = console
  await open(page, '/')
  await page.getByRole('button', { name: 'Language' }).click()
  await page.getByRole('menuitemradio', { name: '中文' }).click()
  await page.getByRole('heading', { name: '概览' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: '概览' }).waitFor()
  await expect.poll(() => inPage(page, 'document.documentElement.lang')).toBe('zh-CN')
  await expectAccessible(page, 'overview in Chinese')
  await shot(page, 'overview-zh')
  await open(page, '/tokens/new')
  await shot(page, 'issue-token-zh')
  await console.expectClean()
})

test('at the control plane, which has no tiles, the map names the URL of the tiles', async () => {
  const { controlPlane } = maps().gateway
  const console = await openConsole(maps().gateway, { baseURL: controlPlane.url })
  const { page } = console
  await open(page, '/basemaps/world/versions/2026-10')
  await page.getByText('Tiles are not served at this URL').waitFor()
  const link = page.getByRole('link', { name: 'Open the console there' })
  expect(await link.getAttribute('href')).toBe(`${maps().gateway.url}/admin/basemaps/world/versions/2026-10`)
})

test('a vector is withdrawn after confirmation, marked in its list, and restored', async () => {
  const console = await openConsole(maps().gateway, { viewport: DESKTOP })
  const { page } = console
  await open(page, '/vectors/regions-countries')
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('button', { name: 'Withdraw' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Readers get 404').waitFor()
  await expectAccessible(page, 'withdraw')
  await dialog.getByRole('button', { name: 'Withdraw' }).click()
  await page.getByText('1 of 1 edge processes confirmed it.').waitFor()
  await dialog.waitFor({ state: 'hidden' })
  const { token } = await maps().gateway.issueToken({ vector_codes: ['*'] })
  const download = `/vectors/regions-countries/download?token=${token}`
  expect((await maps().get(download)).status).toBe(404)
  await open(page, '/vectors')
  await page.getByText('withdrawn', { exact: true }).waitFor()
  await open(page, '/vectors/regions-countries')
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('button', { name: 'Restore' }).click()
  await dialog.getByRole('button', { name: 'Restore' }).click()
  await dialog.waitFor({ state: 'hidden' })
  expect((await maps().get(download)).status).toBe(200)
  await console.expectClean()
})

test('a heat map shows requested and missing tiles over the map', async () => {
  const cells = async () =>
    (await maps().gateway.admin.call<UsageCells>('/usage/cells?basemap=archive&kind=misses')).body
  await expect.poll(async () => (await cells()).requests).toBe(2 * MISSED.length)
  const console = await openConsole(maps().gateway)
  const { page } = console
  await open(page, '/basemaps/archive?tab=usage')
  const heat = page.getByRole('region', { name: 'Requests on the map' })
  await heat.scrollIntoViewIfNeeded()
  await heat.getByText('Missing (404)').click()
  await heat.getByText(`${2 * MISSED.length} requests in 2 cells.`).waitFor()
  // The first map is that of the page.
  await mapIsDrawn(page, 1)
  // Zoom 6 is the smallest cell of a map of the world.
  await heat.getByRole('button', { name: 'Show 6/33/22 on the map' }).click()
  await heat.getByText('6/33/22: 32 requests, 32 of them missed').waitFor()
  await expectAccessible(page, 'the heat map')
  await shot(page, 'heat-map-missed')
  await heat
    .locator('label')
    .filter({ hasText: /^Requests$/ })
    .click()
  // The map's own requests arrive later.
  await heat.getByRole('columnheader', { name: 'Requests' }).waitFor()
  await shot(page, 'heat-map')
  await console.expectClean()
})

test('the page of a token shows the first and the last address that used it', async () => {
  const used = () => maps().gateway.admin.call<Token>(`/tokens/${reader}`)
  await expect.poll(async () => (await used()).body.last_used_from).toBe('127.0.0.1')
  const console = await openConsole(maps().gateway)
  await open(console.page, `/tokens/${reader}`)
  await expect.poll(() => console.page.getByText('from 127.0.0.1').count()).toBe(2)
  await shot(console.page, 'token-used-from')
  await console.expectClean()
})
