import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { AdminBasemapVersion } from '@gateway/contracts/basemap.js'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { useGateway } from '../harness/use-gateway.js'
import { expectAccessible, mapIsDrawn, open, settled, shot, useBrowser } from './console-browser.js'
import { gdal2tiles, worldImage } from './producer-fixtures.js'

const gateway = useGateway({}, async ({ home, admin }) => {
  await mkdir(join(home, 'maps'))
  await gdal2tiles(await worldImage(home), join(home, 'maps/world'), ['--xyz'])
  await admin.scanSource('maps', 'basemap', join(home, 'maps'))
})
const openConsole = useBrowser()
const PAGE = '/basemaps/world/versions/default'

/** Returns the mean green of the upper and of the lower half of a map: the picture grows greener to the south. */
async function greenOf(page: Page, nth: number): Promise<readonly [upper: number, lower: number]> {
  const picture = await page.locator('canvas.maplibregl-canvas').nth(nth).screenshot()
  const { width = 0, height = 0 } = await sharp(picture).metadata()
  const greenFrom = async (top: number) => {
    // Only the middle, without the controls. `stats` would read the whole picture.
    const band = { left: width >> 2, top, width: width >> 1, height: height >> 2 }
    const { channels } = await sharp(await sharp(picture).extract(band).png().toBuffer()).stats()
    return channels[1]?.mean ?? 0
  }
  return [await greenFrom(height >> 3), await greenFrom(height - (height >> 2) - (height >> 3))]
}

test('the page of a version shows the scanned values, and previews other values on the map before they are saved', async () => {
  const console = await openConsole(gateway())
  const { page } = console
  await open(page, PAGE)
  await settled(page)
  const section = page.getByRole('region', { name: 'Overrides' })
  await section.getByText('Scanned: xyz', { exact: true }).waitFor()
  await section.getByText('Scanned: WebMercatorQuad').waitFor()
  expect(await section.locator('canvas').count()).toBe(0)
  await section.getByLabel('Rows').selectOption('tms')
  await section.getByText('Preview with these values. Nothing is saved yet.').waitFor()
  // The upper map shows the served tiles: greener in the south. The lower map is upside down.
  await expect
    .poll(async () => {
      const [upper, lower] = await greenOf(page, 1)
      return upper - lower
    })
    .toBeGreaterThan(30)
  await expect
    .poll(async () => {
      const [upper, lower] = await greenOf(page, 0)
      return lower - upper
    })
    .toBeGreaterThan(30)
  await section.getByLabel('Lowest zoom').fill('9')
  await section.getByText('The highest zoom is below the lowest').waitFor()
  await section.getByLabel('Lowest zoom').fill('1')
  await section.getByLabel('Bounds').fill('1, 2, 3')
  await section.getByText('Enter west, south, east, north in degrees').waitFor()
  await section.getByLabel('Bounds').fill('')
  await section.getByLabel('Attribution').fill('The harbour office')
  await expectAccessible(page, 'a version with other values')
  await shot(page, 'overrides-en')
  await section.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Overrides of world default saved').waitFor()
  const stored = await gateway().admin.expect<AdminBasemapVersion>(PAGE)
  expect(stored).toMatchObject({
    storage: 'tms',
    overrides: { storage: 'tms', min_zoom: 1, attribution: 'The harbour office' },
    scanned: { storage: 'xyz', min_zoom: 0, attribution: null },
  })
  // Now the served tiles are upside down, and the saved values are shown.
  await expect
    .poll(async () => {
      const [above, below] = await greenOf(page, 0)
      return above - below
    })
    .toBeGreaterThan(30)
  expect(await section.getByLabel('Rows').inputValue()).toBe('tms')
  await shot(page, 'overrides-saved')
  // A wider grid has places without tiles.
  console.allowConsole(/404/)
  await section.getByLabel('Grid').selectOption('WorldCRS84Quad')
  await section.getByText('Preview with these values').waitFor()
  await section.getByRole('button', { name: 'Discard' }).click()
  await section.getByText('Preview with these values').waitFor({ state: 'detached' })
  await console.expectClean()
})

test('the values of a version are shown in Chinese', async () => {
  const console = await openConsole(gateway(), { locale: 'zh-CN' })
  const { page } = console
  // Tiles served in Web Mercator do not exist in the east of a grid that is twice as wide.
  console.allowConsole(/404/)
  await open(page, PAGE)
  await settled(page)
  const section = page.getByRole('region', { name: '覆盖值' })
  await section.getByLabel('网格').selectOption('WorldCRS84Quad')
  await section.getByText('以这些值预览。尚未保存。').waitFor()
  await expect.poll(() => page.locator('canvas.maplibregl-canvas').count()).toBe(2)
  await mapIsDrawn(page, 1)
  await shot(page, 'overrides-zh')
  await section.getByRole('button', { name: '放弃' }).click()
  await console.expectClean()
})
