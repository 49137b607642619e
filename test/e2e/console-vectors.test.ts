import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { makeVectorLayers } from '../harness/fixtures/vector-layers.js'
import { tilesBuilt } from '../harness/tiles-built.js'
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

// Pictures of rows would compete with the maps of the pages for the processor.
const gateway = useGateway({ env: { RENDERING: 'false' } }, async (started) => {
  const folder = join(started.home, 'vectors')
  await mkdir(folder)
  await makeVectorLayers(folder)
  await writeFile(join(folder, 'broken.csv'), 'x,y,name\n500000,4000000,a\n')
  await started.admin.scanSource('city', 'vector', folder)
  for (const code of ['places', 'rivers', 'parcels', 'broken']) await tilesBuilt(started, code)
})
const openConsole = useBrowser()

const rows = (page: Page) => page.getByRole('table', { name: 'Features' }).getByRole('row')

test('the page of a vector draws its tiles, and its table is filtered by conditions that become CQL2', async () => {
  const { page, expectClean } = await openConsole(gateway())
  await open(page, '/vectors/places')
  await settled(page)
  await mapIsDrawn(page)
  await page.getByText('1–25 of 30,000').waitFor()
  await expectAccessible(page, 'a vector')
  await shot(page, 'vector-places')
  await page.getByLabel('Attribute').selectOption('population')
  await page.getByLabel('Comparison').selectOption('is at least')
  await page.getByLabel('Value').fill('99990')
  await page.getByRole('button', { name: 'Add condition' }).click()
  await expect.poll(() => page.getByLabel('Filter (CQL2)').inputValue()).toBe('"population" >= 99990')
  await page.getByText(/^1–\d of \d$/).waitFor()
  await page.getByRole('columnheader', { name: 'population' }).getByRole('button').click()
  const values = async () => {
    const cells = await rows(page).locator('td[data-label=population]').allInnerTexts()
    return cells.map(Number)
  }
  await expect
    .poll(async () => {
      const found = await values()
      return found.length > 1 && found.every((value, i) => value >= 99990 && value <= (found[i - 1] ?? value))
    })
    .toBe(true)
  await shot(page, 'vector-filtered')
  await expectClean()
})

test('pages of features follow each other, and a feature is shown on the map', async () => {
  const { page, expectClean } = await openConsole(gateway())
  await open(page, '/vectors/parcels')
  await settled(page)
  await mapIsDrawn(page)
  const first = await rows(page).nth(1).innerText()
  await page.getByRole('button', { name: 'Next page' }).click()
  await page.getByText('26–50 of 3,600').waitFor()
  // The table shows the previous rows until the others have come.
  await expect.poll(() => rows(page).nth(1).innerText()).not.toBe(first)
  await page.getByRole('button', { name: 'Show feature 30 on the map' }).click()
  await page.getByLabel('Only features in the map view').check()
  // The map has moved to the feature: few others are around it.
  await page.getByText(/^1–\d+( of \d+)?$/).waitFor()
  await page.getByRole('button', { name: 'Show feature 30 on the map' }).waitFor()
  await page.locator('canvas.maplibregl-canvas').click()
  await page.getByText('Feature under the click').waitFor()
  await page.locator('dd').filter({ hasText: '对象 30' }).waitFor()
  await shot(page, 'vector-feature')
  await expectClean()
})

test('a filter that the service does not understand is said to be wrong, and can be cleared', async () => {
  const { page, allowConsole } = await openConsole(gateway())
  allowConsole(/400/)
  await open(page, '/vectors/rivers')
  await settled(page)
  const filter = page.getByLabel('Filter (CQL2)')
  await filter.fill('kind ==== 1')
  await filter.press('Enter')
  await page
    .getByRole('alert')
    .getByText(/filter/)
    .waitFor()
  await page.getByRole('button', { name: 'Clear' }).click()
  await page.getByText('1–25 of 600').waitFor()
})

test('builds and what they left out are with the scans of their source, and a failed one says why', async () => {
  const { page, expectClean, allowConsole } = await openConsole(gateway())
  // A vector that cannot be read has no features.
  allowConsole(/404/)
  await open(page, '/sources/city')
  await settled(page)
  const table = page.getByRole('table', { name: 'Vector tiles' })
  await table
    .getByRole('row')
    .filter({ hasText: 'places' })
    .getByText(/^up to [\d,]+ at zooms 0–\d+$/)
    .waitFor()
  const broken = table.getByRole('row').filter({ hasText: 'broken' })
  await broken.getByText('Not built').waitFor()
  expect((await broken.innerText()).length).toBeGreaterThan('broken Not built'.length + 10)
  await shot(page, 'source-builds')
  await open(page, '/vectors/broken?tab=tiles')
  await page.getByRole('button', { name: 'Build again' }).waitFor()
  await shot(page, 'vector-broken')
  await expectClean()
})

describe.each([
  ['1440', { ...DESKTOP, width: 1440 }, 'light', 'en-GB'],
  ['1280', DESKTOP, 'dark', 'zh-CN'],
  ['390', PHONE, 'light', 'zh-CN'],
  ['390', PHONE, 'dark', 'en-GB'],
] as const)('at %s pixels', (width, viewport, colorScheme, locale) => {
  test(`the pages of vectors fit and are accessible: ${colorScheme}, ${locale}`, async () => {
    const { page, expectClean } = await openConsole(gateway(), { viewport, colorScheme, locale })
    for (const [name, path] of [
      ['vectors', '/vectors'],
      ['vector', '/vectors/parcels'],
      ['addresses', '/vectors/parcels?tab=addresses'],
      ['source', '/sources/city'],
    ] as const) {
      await open(page, path)
      await settled(page)
      await expectAccessible(page, path)
      const fits = () => inPage(page, 'document.documentElement.scrollWidth <= innerWidth')
      await expect.poll(async () => [path, await fits()]).toEqual([path, true])
      await shot(page, `vectors-${name}-${width}-${colorScheme}-${locale}`)
    }
    await expectClean()
  })
})

describe('/map/', () => {
  let token = ''
  beforeAll(async () => {
    token = (await gateway().issueToken({ vector_codes: ['*'], basemap_codes: [] })).token
  })
  const address = (more: string) => `${gateway().url}/map/#token=${token}${more}`

  test.each([
    ['desktop', DESKTOP, 'light', 'en-GB'],
    ['phone', PHONE, 'dark', 'zh-CN'],
  ] as const)(
    'lists vectors, draws those that are chosen, and shows attributes: %s',
    async (name, viewport, colorScheme, locale) => {
      const { page } = await openConsole(gateway(), { viewport, colorScheme, locale })
      await page.goto(address(''))
      const panel = page.locator('#layers')
      await panel.waitFor()
      if (name === 'phone') await panel.locator('summary').click()
      await panel.getByLabel('parcels').check()
      await expect.poll(() => page.title()).toBe('parcels')
      await page.getByLabel('parcels').waitFor({ state: 'attached' })
      await page.locator('canvas.maplibregl-canvas').waitFor()
      const popup = page.locator('.maplibregl-popup')
      // Tiles may be on their way while the map is clicked.
      await expect
        .poll(
          async () => {
            await page.locator('canvas.maplibregl-canvas').click()
            return popup.count()
          },
          { timeout: 60_000 },
        )
        .toBeGreaterThan(0)
      await popup
        .getByText(/对象 \d+/)
        .first()
        .waitFor()
      await shot(page, `map-vectors-${name}`, false)
      await page.goto(address('&vector=parcels&vector=rivers'))
      // The page loads itself again for another address.
      await expect.poll(() => page.title()).toBe('parcels, rivers')
      await shot(page, `map-two-vectors-${name}`, false)
    },
  )

  test('says why a vector is not shown', async () => {
    const { page } = await openConsole(gateway())
    await page.goto(address('&vector=broken'))
    await page.getByRole('alert').getByText('The map of broken cannot be shown').waitFor()
  })
})
