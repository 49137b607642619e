import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { useGateway } from '../harness/use-gateway.js'
import { DESKTOP, expectAccessible, open, PHONE, settled, shot, useBrowser } from './console-browser.js'

const SQUARE = [
  [-40, -40],
  [40, -40],
  [40, 40],
  [-40, 40],
  [-40, -40],
]
const PARK = {
  type: 'FeatureCollection',
  features: [
    { type: 'Feature', properties: { name: '玄武湖公园' }, geometry: { type: 'Polygon', coordinates: [SQUARE] } },
  ],
}

const style = (name: string, colour: string, font = 'Noto Sans Regular') => ({
  version: 8,
  name,
  center: [0, 0],
  zoom: 1,
  glyphs: 'gateway://fonts',
  sources: { parks: { type: 'geojson', data: 'gateway://vectors/parks' } },
  layers: [
    { id: 'parks', type: 'fill', source: 'parks', paint: { 'fill-color': colour } },
    { id: 'names', type: 'symbol', source: 'parks', layout: { 'text-field': ['get', 'name'], 'text-font': [font] } },
  ],
})

// Pictures of rows would compete with the maps of the pages for the processor.
const gateway = useGateway({ env: { RENDERING: 'false' } }, async ({ home, admin }) => {
  const write = async (name: string, content: object) => {
    const file = join(home, name)
    await mkdir(join(file, '..'), { recursive: true })
    await writeFile(file, JSON.stringify(content))
  }
  await write('vectors/parks.geojson', PARK)
  await write('styles/day/style.json', style('Day', '#20a040'))
  await write('styles/night/style.json', style('Night', '#203060', 'Missing Font'))
  await admin.scanSource('vectors', 'vector', join(home, 'vectors'))
  await admin.scanSource('styles', 'style', join(home, 'styles'))
})
const openConsole = useBrowser()

/** True if a picture contains a colour, within the tolerance of displays. */
async function hasColour(picture: Buffer, colour: readonly number[]): Promise<boolean> {
  const { data, info } = await sharp(picture).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  for (let i = 0; i < data.length; i += info.channels)
    if (colour.every((value, channel) => Math.abs((data[i + channel] ?? 0) - value) < 6)) return true
  return false
}
const DAY = [0x20, 0xa0, 0x40]
const NIGHT = [0x20, 0x30, 0x60]

test.each([
  ['desktop', DESKTOP],
  ['phone', PHONE],
] as const)('styles are listed with what they look like and what they lack: %s', async (size, viewport) => {
  const { page, expectClean } = await openConsole(gateway(), { viewport })
  await open(page, '/styles')
  await settled(page)
  const row = page.getByRole('row').filter({ hasText: 'Night' })
  await row.getByText('1 missing part').waitFor()
  await page.locator('.thumbnail img').first().waitFor()
  await expectAccessible(page, 'styles')
  await shot(page, `styles-${size}`)
  await expectClean()
})

test('a style shows its layers, hides them, and names the features under the cursor', async () => {
  const { page, expectClean } = await openConsole(gateway())
  await open(page, '/styles/day')
  await settled(page)
  const map = page.locator('.map')
  await expect.poll(async () => hasColour(await map.screenshot(), DAY)).toBe(true)
  await map.hover()
  await page.locator('dd').filter({ hasText: '玄武湖公园' }).first().waitFor()
  await expectAccessible(page, 'a style')
  await shot(page, 'style')
  await page.getByRole('checkbox', { name: 'parks' }).uncheck()
  await expect.poll(async () => hasColour(await map.screenshot(), DAY)).toBe(false)
  await expectClean()
})

test('two styles are compared side by side, and a file is imported as a third', async () => {
  const { page, expectClean } = await openConsole(gateway())
  await open(page, '/styles/compare?left=day&right=night')
  await settled(page)
  const swipe = page.locator('.swipe')
  for (const colour of [DAY, NIGHT])
    await expect.poll(async () => hasColour(await swipe.screenshot(), colour)).toBe(true)
  await expectAccessible(page, 'a comparison of styles')
  await shot(page, 'styles-compared')
  await open(page, '/styles')
  await page.getByRole('button', { name: 'Import' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.locator('input[type=file]').setInputFiles({
    name: 'dusk.json',
    mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify(style('Dusk', '#805030'))),
  })
  await dialog.getByLabel('Code').fill('dusk')
  await dialog.getByRole('button', { name: 'Import' }).click()
  await page.getByRole('heading', { level: 1, name: 'Dusk' }).waitFor()
  await expectClean()
})
