import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freshDatabase, type TestDatabase } from '../harness/database.js'
import { laySampleFiles, sampleCode } from '../harness/sample/files.js'
import { fillSampleDatabase } from '../harness/sample/make.js'
import { useGateway } from '../harness/use-gateway.js'
import { DESKTOP, inPage, open, PHONE, settled, useBrowser } from './console-browser.js'

/** As many as the overview lists. */
const EDGES = 4

let dir: string
let database: TestDatabase
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gateway-sample-'))
  database = await freshDatabase()
  await laySampleFiles(dir)
  await fillSampleDatabase(database.url, dir)
}, 240_000)
afterAll(() => rm(dir, { recursive: true, force: true }))

// Tiles of 203 vectors would be built while the pages are opened.
const gateway = useGateway({
  database: async () => database,
  env: { VECTOR_TILES: 'false', EDGE_WORKERS: String(EDGES) },
})
const openConsole = useBrowser()

interface List<T> {
  readonly items: readonly T[]
}

/** Limit: the sample has a thousand versions, whose first scan takes a minute of a quiet processor. */
const SCANNED_WITHIN_MS = 300_000

/** Resolves when the sample's files are in the catalog. */
async function scanned(): Promise<void> {
  const states = async () => {
    const { body } = await gateway().admin.call<List<{ last_scan: { status: string } | null }>>('/scan-sources')
    return new Set(body.items.map(({ last_scan: scan }) => scan?.status))
  }
  await expect.poll(states, { timeout: SCANNED_WITHIN_MS }).toEqual(new Set(['succeeded', 'failed']))
}

/** Returns the id of the first item of a list. */
async function firstOf(list: string): Promise<string> {
  const { body } = await gateway().admin.call<List<{ id: string | number }>>(list)
  return String(body.items[0]?.id)
}

const CODE = sampleCode(0)
const BASEMAP = `/basemaps/${CODE}`
const VERSION = `${BASEMAP}/versions/2026-11`
/** A basemap whose files are missing. */
const GONE = `/basemaps/${sampleCode(313)}`

/** Returns every page and form, and each tab of pages with tabs. */
async function pages(): Promise<readonly string[]> {
  const [token, failedJob, job, push, vectorPush, entry] = await Promise.all([
    firstOf('/tokens?limit=1&sort=name'),
    firstOf('/slice/jobs?limit=1&status=failed'),
    firstOf('/slice/jobs?limit=1&status=succeeded'),
    firstOf('/push-records?limit=1&status=failed'),
    firstOf('/vector-push-records?limit=1&status=failed'),
    firstOf('/audit?limit=1'),
  ])
  return [
    ...['/', '/?tab=busiest', '/?tab=activity', '/basemaps', '/versions', BASEMAP],
    ...['usage', 'access', 'addresses', 'details'].map((tab) => `${BASEMAP}?tab=${tab}`),
    ...[VERSION, `${VERSION}?tab=usage`, `${VERSION}?tab=addresses`, `${VERSION}/export`, `${BASEMAP}/compare`, GONE],
    ...['/preview', `/preview?layers=${encodeURIComponent(`basemap/${CODE}//40,vector/${CODE}//100`)}`],
    ...['/vectors', `/vectors/${CODE}`, '/tokens', '/tokens?kind=preview', '/tokens/new', '/tokens/partner'],
    ...[`/tokens/${token}`, '/signing-keys', '/sources', '/sources/new', '/sources/maps', '/sources/archive-share-1'],
    ...['/slicing', '/slicing/new', `/slicing/new?layer=${CODE}`, `/slicing/jobs/${failedJob}`, `/slicing/jobs/${job}`],
    ...[
      '/pushes',
      '/pushes?of=vector',
      '/pushes?of=purge',
      '/pushes?show=targets',
      '/pushes?show=exports',
      '/pushes/new',
    ],
    ...[
      '/pushes/targets/new',
      '/pushes/targets/dispatch-centre',
      `/pushes/basemap/${push}`,
      `/pushes/vector/${vectorPush}`,
    ],
    ...['/edges', '/notifications', '/notifications?tab=sent', '/audit', `/audit/${entry}`, '/settings'],
  ]
}

/** Collects responses with an error status, and requests without a response. */
function collectFailures(page: Page): string[] {
  const failures: string[] = []
  page.on('response', (answer) => answer.status() >= 400 && failures.push(`${answer.status()} ${answer.url()}`))
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText
    // A page that is left aborts its pending requests.
    if (reason !== 'net::ERR_ABORTED') failures.push(`${reason} ${request.url()}`)
  })
  return failures
}

/** Returns by how many pixels a page is wider than its window, once its layout has settled. */
function settledWidth(page: Page): Promise<number> {
  return inPage(
    page,
    `(async () => {
      let last = NaN
      for (;;) {
        for (let i = 0; i < 5; i++) await new Promise(requestAnimationFrame)
        const width = document.documentElement.scrollWidth - window.innerWidth
        if (width <= 0 || width === last) return width
        last = width
      }
    })()`,
  )
}

/**
 * Returns the labels of tables that are wider than their frame, once their layout has settled. Those with many columns of short values may be, and
 * have no class `cards`.
 */
function wideTables(page: Page): Promise<readonly string[]> {
  return inPage(
    page,
    `(async () => {
      let last = ''
      for (;;) {
        for (let i = 0; i < 5; i++) await new Promise(requestAnimationFrame)
        const wide = [...document.querySelectorAll('.table-scroll:has(table.cards)')]
          .filter((frame) => frame.scrollWidth > frame.clientWidth + 1)
          .map((frame) => frame.querySelector('table').ariaLabel)
        if (wide.length === 0 || wide.join() === last) return wide
        last = wide.join()
      }
    })()`,
  )
}

/** Returns the titles of sections that have a heading and nothing below it. */
function emptySections(page: Page): Promise<readonly string[]> {
  return inPage(
    page,
    `[...document.querySelectorAll('main section')]
      .filter((section) => {
        const below = [...section.firstElementChild.children].slice(1)
        return below.every((part) => part.textContent.trim() === '' && part.querySelector('svg, canvas, img, input') === null)
      })
      .map((section) => section.querySelector('h2')?.textContent ?? '')`,
  )
}

test('every page and form shows the data of an organization without an error, and fits on a phone', async () => {
  await scanned()
  const console = await openConsole(gateway())
  const { page } = console
  const failures = collectFailures(page)
  const problems: string[] = []
  for (const path of await pages()) {
    await page.setViewportSize(DESKTOP)
    await open(page, path)
    await settled(page)
    for (const size of [DESKTOP, PHONE]) {
      await page.setViewportSize(size)
      const beyond = await settledWidth(page)
      if (beyond > 0) problems.push(`${path} is ${beyond} px wider than ${size.width} px`)
      for (const label of await wideTables(page))
        problems.push(`${path}: the table "${label}" scrolls sideways at ${size.width} px`)
    }
    // Charts begin to load when they are visible, which a page reports a frame later.
    await settled(page)
    for (const title of await emptySections(page)) problems.push(`${path}: the section "${title}" is empty`)
    problems.push(...failures.splice(0).map((failure) => `${path}: ${failure}`))
    if ((await page.getByRole('heading', { level: 1 }).count()) !== 1) problems.push(`${path} has no one heading`)
  }
  expect(problems).toEqual([])
  await console.expectClean()
}, 600_000)

test('the overview of an organisation fits on one screen of 1440 by 900 pixels, in both languages', async () => {
  await scanned()
  for (const locale of ['en-GB', 'zh-CN']) {
    const { page } = await openConsole(gateway(), { locale, viewport: { width: 1440, height: 900 } })
    await open(page, '/')
    await settled(page)
    await page.locator('.findings li').first().waitFor()
    await page
      .locator('.edges-now tbody tr')
      .nth(EDGES - 1)
      .waitFor()
    await page.locator('.overview-now svg.recharts-surface').first().waitFor()
    expect(await inPage<number>(page, 'document.documentElement.scrollHeight')).toBeLessThanOrEqual(900)
  }
})
