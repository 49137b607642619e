import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { useGateway } from '../harness/use-gateway.js'
import { expectAccessible, mapIsDrawn, open, shot, useBrowser } from './console-browser.js'

const SQUARE = {
  type: 'FeatureCollection',
  features: [
    {
      type: 'Feature',
      properties: { name: 'square' },
      geometry: {
        type: 'Polygon',
        coordinates: [
          [
            [0, 0],
            [20, 0],
            [20, 20],
            [0, 20],
            [0, 0],
          ],
        ],
      },
    },
  ],
}

const gateway = useGateway({ env: { VECTOR_TILES: 'false' } }, async ({ home, admin }) => {
  for (const version of ['v1', 'v2']) await makeTileFolder(join(home, 'maps/world', version), { maxZoom: 2 })
  await admin.scanSource('maps', 'basemap', join(home, 'maps'))
  await mkdir(join(home, 'shapes'))
  await writeFile(join(home, 'shapes/districts.geojson'), JSON.stringify(SQUARE))
  await admin.scanSource('shapes', 'vector', join(home, 'shapes'))
})
const openConsole = useBrowser()

const layersOf = (page: Page) => new URL(page.url()).searchParams.get('layers')

async function add(page: Page, kind: string, code: string): Promise<void> {
  await page.getByRole('radio', { name: kind }).locator('..').getByText(kind, { exact: true }).click()
  await page.getByRole('combobox', { name: 'Add a layer' }).fill(code)
  await page.locator('[data-combobox-option]:visible').first().click()
}

test('maps are laid over one another, and the URL keeps their order, opacity and version', async () => {
  const console = await openConsole(gateway())
  const { page } = console
  await open(page, '/preview')
  await expectAccessible(page, 'an empty preview')
  await add(page, 'Basemaps', 'world')
  await add(page, 'Vectors', 'districts')
  await expect.poll(() => layersOf(page)).toBe('basemap/world//100,vector/districts//100')
  await mapIsDrawn(page)
  await page.getByLabel('Version of world').selectOption('v1')
  await page.getByRole('slider', { name: 'Opacity of world' }).press('ArrowLeft')
  await page.getByRole('button', { name: 'Move world up' }).click()
  await expect.poll(() => layersOf(page)).toBe('vector/districts//100,basemap/world/v1/95')
  await page.reload()
  await page.getByText('95 %').waitFor()
  expect(await page.getByRole('button', { name: 'Move world up' }).isDisabled()).toBe(true)
  await expectAccessible(page, 'a preview of two layers')
  await shot(page, 'preview')
  await console.expectClean()
})

test('coordinates and the tile’s URL are below the pointer, and stay after a click', async () => {
  const console = await openConsole(gateway())
  const { page } = console
  await open(page, `/preview?layers=${encodeURIComponent('basemap/world/v2/100')}&at=1.00/0.00000/0.00000`)
  await mapIsDrawn(page)
  const map = page.locator('canvas.maplibregl-canvas')
  await map.hover({ position: { x: 200, y: 200 } })
  const shown = page.locator('output')
  await shown.getByText(/^-?\d+\.\d{5}, -?\d+\.\d{5}$/).waitFor()
  await shown.getByText(/\/tiles\/world\/v2\/\d\/\d\/\d\.png/).waitFor()
  await map.click({ position: { x: 200, y: 200 } })
  await page.getByRole('button', { name: 'Follow the pointer' }).waitFor()
  const kept = await shown.textContent()
  await map.hover({ position: { x: 300, y: 260 } })
  expect(await shown.textContent()).toBe(kept)
  await page.getByRole('button', { name: 'Follow the pointer' }).click()
  await console.expectClean()
})

test('nothing of a layer is requested before there is a token that reads it', async () => {
  const console = await openConsole(gateway())
  const { page } = console
  const withoutToken: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    const isOfLayer = /^\/(tiles|vectors)\//.test(pathname)
    if (isOfLayer && request.headers()['x-access-token'] === undefined) withoutToken.push(pathname)
  })
  let issue = () => {}
  const held = new Promise<void>((resolve) => {
    issue = resolve
  })
  await page.route('**/preview-token', async (route) => {
    await held
    await route.continue()
  })
  await open(page, `/preview?layers=${encodeURIComponent('vector/districts//100')}`)
  // The layer is known, and its token is not.
  await page.getByRole('slider', { name: 'Opacity of districts' }).waitFor()
  const drawn = page.waitForResponse(/\/vectors\/districts\.geojson/)
  issue()
  expect((await drawn).status()).toBe(200)
  await add(page, 'Basemaps', 'world')
  await page.waitForResponse(/\/tiles\/world\/[^/]+\/\d/)
  expect(withoutToken).toEqual([])
  await console.expectClean()
})
