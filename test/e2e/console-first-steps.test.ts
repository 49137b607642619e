import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { useGateway } from '../harness/use-gateway.js'
import { expectAccessible, inPage, mapIsDrawn, open, shot, useBrowser } from './console-browser.js'

const WORKERS = 2
const gateway = useGateway({ edgeWorkers: WORKERS }, async ({ home }) => {
  await makeTileFolder(join(home, 'maps/world/2026-1'), { maxZoom: 3 })
  await makeTileFolder(join(home, 'maps/world/2026-2'), { maxZoom: 2, format: 'webp', shade: 90 })
})
const openConsole = useBrowser()
const execute = promisify(execFile)

/** A real client that is independent of the console. */
async function curl(address: string, token: string): Promise<string> {
  const args = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '-H', `X-Access-Token: ${token}`, address]
  return (await execute('curl', args)).stdout
}

test('from an empty system to a map, a token, and the end of that token', async () => {
  const console = await openConsole(gateway())
  const { page } = console

  await open(page, '/')
  await page.getByText('Welcome. There are no maps yet.').waitFor()
  await shot(page, 'first-1-welcome')
  await page.getByRole('link', { name: 'Add a scan source' }).click()
  await page.getByLabel('Code').fill('maps')
  await page.getByLabel('Path').fill(join(gateway().home, 'maps'))
  await expectAccessible(page, 'new scan source')
  await page.getByRole('button', { name: 'Test' }).click()
  await page.getByText('A scan would find: 2 added, 0 updated, 0 missing').waitFor()
  await expectAccessible(page, 'tried scan source')
  await shot(page, 'first-2-tried')
  await page.getByRole('button', { name: 'Save and scan' }).click()
  await page.getByText('Succeeded', { exact: true }).waitFor()
  await shot(page, 'first-2-scanned')

  await page.getByRole('link', { name: 'Show basemaps' }).click()
  await page.getByRole('link', { name: 'world', exact: true }).click()
  await mapIsDrawn(page)
  await shot(page, 'first-3-preview')

  await page.getByRole('link', { name: 'Tokens', exact: true }).click()
  await page.getByText('No tokens yet').waitFor()
  await page.getByRole('link', { name: 'Issue a token' }).first().click()
  await page.getByLabel('Name').fill('the city portal')
  await page.getByPlaceholder('Search by code or name').fill('world')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Issue a token' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Copy it now').waitFor()
  await expectAccessible(page, 'issued token')
  await shot(page, 'first-4-issued', false)
  // The message is visible only for a moment.
  const copied = dialog.getByRole('button', { name: 'Copied', exact: true }).waitFor()
  await dialog.getByRole('button', { name: 'Copy the token' }).click()
  await copied
  const token = await inPage<string>(page, 'navigator.clipboard.readText()')
  expect(token).toMatch(/^bmp_\w{38}$/)
  await dialog.getByRole('button', { name: 'I have copied it' }).click()
  await dialog.waitFor({ state: 'hidden' })
  expect(await page.content()).not.toContain(token)

  const tile = `${gateway().url}/tiles/world/current/1/0/0.webp`
  expect(await curl(tile, token)).toBe('200')

  await page.getByRole('button', { name: 'Actions for the city portal' }).click()
  await page.getByRole('button', { name: 'Disable: the city portal' }).click()
  await dialog.getByText('return 401 immediately').waitFor()
  await dialog.getByRole('button', { name: 'Disable' }).click()
  await dialog.getByText(`${WORKERS} of ${WORKERS} edge processes confirmed that they refuse it.`).waitFor()
  await expectAccessible(page, 'disabled token')
  await shot(page, 'first-5-disabled', false)
  expect(await curl(tile, token)).toBe('401')
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('cell', { name: 'Disabled' }).waitFor()

  await console.expectClean()
})

test('a new default is shown with its effects before it is set, and its map and tiles can be inspected', async () => {
  const console = await openConsole(gateway())
  const { page } = console
  await open(page, '/basemaps/world')
  await page.getByRole('button', { name: 'Make default: 2026-1' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Clients that request .webp get 404').waitFor()
  await expect
    .poll(() => dialog.getByRole('row').allInnerTexts())
    .toContainEqual(expect.stringMatching(/Highest zoom\s+2\s+3/))
  await expectAccessible(page, 'default version')
  await shot(page, 'default-1-asked', false)
  await dialog.getByRole('button', { name: 'Make default' }).click()
  await page.getByText('2026-1 is now the default of world').waitFor()

  await page.getByRole('link', { name: 'Preview: 2026-1' }).click()
  // The previous page has a map too, and stays until this page has loaded.
  await page.getByRole('heading', { level: 1, name: /2026-1/ }).waitFor()
  await mapIsDrawn(page)
  await page.getByLabel('Tile z/x/y').fill('3/4/9')
  await page.getByRole('button', { name: 'Inspect' }).click()
  await page.getByText('The zoom is from 0 to 3').waitFor()
  await page.getByLabel('Tile z/x/y').fill('3/4/2')
  await page.getByRole('button', { name: 'Inspect' }).click()
  await page.getByRole('img', { name: 'Tile 3/4/2' }).waitFor()
  await page.getByText('public, max-age=31536000, immutable').waitFor()
  await page.getByRole('switch', { name: 'Tile grid' }).click()
  await page.waitForURL(/grid=on/)
  expect(new URL(page.url()).searchParams.get('tile')).toBe('3/4/2')
  await expectAccessible(page, 'version')
  await shot(page, 'version-grid')

  await page.getByRole('link', { name: 'Compare versions' }).click()
  // The previous page with its map stays visible until the next page has loaded.
  await page.getByRole('heading', { name: 'Compare versions' }).waitFor()
  await mapIsDrawn(page, 0)
  await mapIsDrawn(page, 1)
  await expectAccessible(page, 'comparison')
  await shot(page, 'compare')
  await console.expectClean()
})

test('a missing tile is reported as missing', async () => {
  const console = await openConsole(gateway())
  const { page } = console
  // The browser logs every 404 in its console, even an expected one.
  console.allowConsole(/404 .*\/tiles\/world\/2026-2\/2\/3\/3\.webp/)
  await rm(join(gateway().home, 'maps/world/2026-2/2/3/3.webp'))
  await open(page, '/basemaps/world/versions/2026-2?tile=2/3/3')
  await page.getByText('404: no such tile').waitFor()
  await shot(page, 'tile-missing')
  await console.expectClean()
})
