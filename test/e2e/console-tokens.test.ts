import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Token } from '@gateway/contracts/token.js'
import { addUsage } from '@gateway/store/usage.js'
import { expect, test } from 'vitest'
import { withConnection } from '../harness/database.js'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { useGateway } from '../harness/use-gateway.js'
import { DESKTOP, expectAccessible, open, shot, useBrowser } from './console-browser.js'

const gateway = useGateway({}, async ({ home, admin }) => {
  for (const code of ['world', 'city']) await makeTileFolder(join(home, `maps/${code}/v1`), { maxZoom: 0 })
  await admin.scanSource('maps', 'basemap', join(home, 'maps'))
})
const openConsole = useBrowser()
const HOUR_MS = 3_600_000

const tile = async (token: string, code = 'world', headers = {}) =>
  (await fetch(`${gateway().url}/tiles/${code}/v1/0/0/0.png`, { headers: { 'x-access-token': token, ...headers } }))
    .status

test('a leaked token is disabled within three clicks from a fragment of it', async () => {
  // More tokens than any page shows.
  const { token } = await gateway().issueToken({ name: 'the leak', basemap_codes: ['world'] })
  for (let i = 0; i < 30; i++) await gateway().issueToken({ name: `other ${i}` })
  expect(await tile(token)).toBe(200)
  const console = await openConsole(gateway())
  const { page } = console
  await open(page, '/')
  await page.keyboard.press('Control+k')
  await page.getByPlaceholder('Search pages, maps').fill(token)
  await shot(page, 'leaked-search', false)
  await page.getByRole('dialog').getByText('the leak').click()
  await page.getByRole('heading', { level: 1, name: 'the leak' }).waitFor()
  await page.getByRole('button', { name: 'Disable' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await page.getByText('1 of 1 edge processes confirmed that they refuse it.').waitFor()
  expect(await tile(token)).toBe(401)
  await page.getByRole('button', { name: 'Close' }).last().click()
  // A disabled token can be deleted. The page may notice before it is left.
  console.allowConsole(/404.*\/tokens\//)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.getByText('“the leak” is deleted.').waitFor()
  await page.waitForURL(`${gateway().url}/admin/tokens`)
  await console.expectClean()
})

test('grants and limits of a token are changed under the same secret, and hold at once', async () => {
  const { id, token } = await gateway().issueToken({ name: 'the portal', basemap_codes: ['world'] })
  expect(await tile(token, 'city')).toBe(403)
  const console = await openConsole(gateway())
  const { page } = console
  const networks = page.locator('input').and(page.getByLabel('Networks that may use it'))
  await open(page, `/tokens/${id}`)
  await page.getByRole('combobox', { name: 'Basemaps it may read' }).fill('ci')
  await page.keyboard.press('Enter')
  await page.locator('input').and(page.getByLabel('Web pages that may use it')).fill('https://maps.example.com')
  await page.keyboard.press('Enter')
  await networks.fill('not a network')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('“not a network” is neither an IP address nor a range.').waitFor()
  await networks.press('Backspace')
  await networks.fill('127.0.0.0/8')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('the portal saved').waitFor()
  await page.getByText('1 of 1 edge processes confirmed it.').waitFor()
  await expectAccessible(page, 'a token')
  await shot(page, 'token-page')
  const stored = await gateway().admin.expect<Token>(`/tokens/${id}`)
  expect(stored).toMatchObject({
    basemap_codes: ['world', 'city'],
    allowed_origins: ['https://maps.example.com'],
    allowed_networks: ['127.0.0.0/8'],
  })
  expect(await tile(token, 'city', { origin: 'https://maps.example.com' })).toBe(200)
  expect(await tile(token, 'city', { origin: 'https://elsewhere.example' })).toBe(403)
  await console.expectClean()
})

test('the usage of a token is charted over a day, a month and a year, exported, and named on the first page', async () => {
  const { id } = await gateway().issueToken({ name: 'the busy one' })
  const now = Date.now()
  const hoursAgo = [0, 1, 2, 24 * 10, 24 * 200]
  const used = { kind: 'token' as const, id, tiles: 900, tile_404: 50, refused: 3, bytes: 12_000_000 }
  const rows = hoursAgo.map((hours) => ({ ...used, at: now - (now % HOUR_MS) - hours * HOUR_MS, requests: 1_000 }))
  await withConnection(gateway().database.url, (sql) => addUsage(sql, randomUUID(), 1, rows))
  const console = await openConsole(gateway(), { viewport: { ...DESKTOP, height: 400 } })
  const { page } = console
  await open(page, '/?tab=busiest')
  // The latest changes contain another link to it.
  await page.getByRole('region', { name: 'Busiest tokens' }).getByRole('link', { name: 'the busy one' }).click()
  const usage = page.getByRole('region', { name: 'Usage' })
  await usage.scrollIntoViewIfNeeded()
  await usage.getByText('total 3,000, hourly').waitFor()
  await usage.getByText('1 y').click()
  await usage.getByText('total 5,000, daily (UTC)').waitFor()
  await usage.getByText('30 d').click()
  await usage.getByText('total 4,000, daily (UTC)').waitFor()
  expect(page.url()).toContain('usage=month')
  await usage.locator('.plot-figure svg').nth(2).waitFor()
  await expectAccessible(page, 'usage of a token')
  await shot(page, 'token-usage')
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    usage.getByRole('link', { name: 'Save as CSV' }).click(),
  ])
  expect(file.suggestedFilename()).toBe('usage-by-token-day.csv')
  expect(await readFile(await file.path(), 'utf8')).toMatch(new RegExp(`^${id},.*,the busy one,`, 'm'))
  await console.expectClean()
})

test('a token gets a new secret, and the old one stays valid for the chosen time', async () => {
  const { id, token } = await gateway().issueToken({ name: 'rotated', basemap_codes: ['world'] })
  const console = await openConsole(gateway())
  const { page } = console
  await open(page, `/tokens/${id}`)
  await page.getByRole('button', { name: 'New secret' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('1 hour').check()
  await expectAccessible(page, 'a new secret')
  await shot(page, 'token-rotate', false)
  await dialog.getByRole('button', { name: 'New secret' }).click()
  const renewed = await dialog.getByRole('group', { name: 'the token' }).innerText()
  await dialog.getByRole('button', { name: 'I have copied it' }).click()
  await page.getByText('Previous secret').waitFor()
  await page
    .getByText(`${renewed.slice(0, 12)}…`)
    .first()
    .waitFor()
  expect([await tile(token), await tile(renewed)]).toEqual([200, 200])
  await shot(page, 'token-rotated')
  await console.expectClean()
})
