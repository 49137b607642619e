import { join } from 'node:path'
import type { Token } from '@gateway/contracts/token.js'
import { expect, test } from 'vitest'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { useGateway } from '../harness/use-gateway.js'
import { expectAccessible, open, shot, useBrowser } from './console-browser.js'

const gateway = useGateway({}, async ({ home, admin }) => {
  for (const code of ['world', 'city']) await makeTileFolder(join(home, `maps/${code}/v1`), { maxZoom: 0 })
  await admin.scanSource('maps', 'basemap', join(home, 'maps'))
})
const openConsole = useBrowser()

const tile = async (token: string, code = 'world', headers = {}) =>
  (await fetch(`${gateway().url}/tiles/${code}/v1/0/0/0.png`, { headers: { 'x-access-token': token, ...headers } }))
    .status

test('a token that leaked is disabled within three clicks from what was found of it', async () => {
  // Among more than any page shows.
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
  // What is disabled can be deleted. The page may hear of it before it is left.
  console.allowConsole(/404.*\/tokens\//)
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
  await page.getByText('the portal is saved').waitFor()
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

test('a token gets a new secret, and the one before goes on for the time that was chosen', async () => {
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
  await page.getByText('Secret of before').waitFor()
  await page
    .getByText(`${renewed.slice(0, 12)}…`)
    .first()
    .waitFor()
  expect([await tile(token), await tile(renewed)]).toEqual([200, 200])
  await shot(page, 'token-rotated')
  await console.expectClean()
})
