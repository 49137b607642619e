import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { useGateway } from '../harness/use-gateway.js'
import { expectAccessible, mapIsDrawn, open, shot, useBrowser } from './console-browser.js'

const execute = promisify(execFile)
const gateway = useGateway({}, ({ home }) => makeImage(join(home, 'images'), 'north.tif'))
const openConsole = useBrowser()

/** An image with bands of colour over central Europe. */
async function makeImage(dir: string, name: string): Promise<void> {
  await mkdir(dir, { recursive: true })
  const png = join(dir, '.source.png')
  const stripes = Array.from(
    { length: 8 },
    (_, i) => `<rect x="${i * 128}" width="128" height="1024" fill="hsl(${i * 45},80%,50%)"/>`,
  )
  await sharp(
    Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="1024" height="1024">${stripes.join('')}</svg>`),
  )
    .png()
    .toFile(png)
  await execute('gdal_translate', [
    '-q',
    '-of',
    'GTiff',
    '-a_srs',
    'EPSG:4326',
    '-a_ullr',
    '5',
    '55',
    '15',
    '47',
    png,
    join(dir, name),
  ])
}

test('images are picked on the server, estimated and sliced, with progress and log, into a layer on the map', async () => {
  const console = await openConsole(gateway())
  const { page } = console
  await open(page, '/slicing')
  await page.getByText('No jobs yet').waitFor()
  await page.getByRole('link', { name: 'Slice images' }).first().click()

  await page.getByRole('button', { name: 'Choose images' }).click()
  const picker = page.getByRole('dialog')
  await picker.getByRole('button', { name: 'tmp', exact: true }).waitFor()
  // The directory may contain more entries than a list shows.
  await picker.getByRole('textbox', { name: 'Directory' }).fill(gateway().home)
  await page.keyboard.press('Enter')
  await picker.getByRole('button', { name: 'images', exact: true }).click()
  await picker.getByLabel('north.tif').check()
  await expectAccessible(page, 'file picker')
  await shot(page, 'slice-1-picker', false)
  await picker.getByRole('button', { name: 'Add 1 image' }).click()

  await page.getByRole('combobox', { name: 'Layer code' }).fill('north')
  await page.getByLabel('Display name').fill('The north')
  await page.getByLabel('Highest zoom').fill('9')
  // The layer is new, so nothing is said of an older version.
  await page.getByRole('button', { name: 'Estimate' }).click()
  await page.getByText('Tiles at most').waitFor()
  await expectAccessible(page, 'new slicing job')
  await shot(page, 'slice-2-estimate')
  await page.getByRole('button', { name: 'Submit the job' }).click()

  await page.getByRole('heading', { name: 'Job The north' }).waitFor()
  await page.getByRole('progressbar', { name: 'Progress of The north' }).waitFor()
  const log = page.getByRole('log')
  await log.waitFor()
  await page.getByText('Succeeded').waitFor({ timeout: 150_000 })
  await expect.poll(() => log.innerText()).toMatch(/\nDone: \d+ tiles \(webp\) of zoom 0–9\n*$/)
  expect(await log.innerText()).not.toContain('{')
  await expectAccessible(page, 'slicing job')
  await shot(page, 'slice-3-job')

  await page.getByRole('link', { name: 'Show the layer' }).click()
  await page
    .getByRole('heading', { name: 'The north' })
    .or(page.getByRole('heading', { name: 'north' }))
    .first()
    .waitFor()
  await mapIsDrawn(page)
  await shot(page, 'slice-4-layer')

  await open(page, '/slicing')
  await page.getByRole('link', { name: /^Rebuild: north · / }).click()
  await page.getByText(join(gateway().home, 'images/north.tif')).waitFor()
  await page.getByText('tiles that it does not cover stay as they are').waitFor()
  await console.expectClean()
}, 240_000)
