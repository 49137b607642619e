import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { useGateway } from '../harness/use-gateway.js'
import { inPage, open, shot, useBrowser } from './console-browser.js'

const gateway = useGateway({}, async ({ home, admin }) => {
  await makeTileFolder(join(home, 'maps/city/v1'), { maxZoom: 0 })
  await makeTileFolder(join(home, 'maps/city/v2'), { maxZoom: 0 })
  await admin.scanSource('maps', 'basemap', join(home, 'maps'))
})
const openConsole = useBrowser()

const isLive = (page: Page) => page.getByRole('status').filter({ hasText: /^Live$/ })
const isAway = (page: Page) => page.getByRole('status').filter({ hasText: /^Disconnected$/ })
const NETWORK_ERRORS = /Failed to load resource|net::ERR/

async function defaultVersion(): Promise<string> {
  const { items } = await gateway().admin.expect<{ items: { default_version: string }[] }>('/basemaps')
  return items[0]?.default_version as string
}

async function askForDefault(page: Page, version: string): Promise<void> {
  await open(page, '/basemaps/city')
  await isLive(page).waitFor()
  await page.getByRole('button', { name: `Make default: ${version}` }).click()
  await page.getByRole('dialog').getByText('get it immediately').waitFor()
}

test('nothing can be changed while offline, and a cancelled change is not carried out once online', async () => {
  const console = await openConsole(gateway())
  const { page, context } = console
  console.allowConsole(NETWORK_ERRORS)
  const writes: string[] = []
  page.on('request', (request) => request.method() === 'POST' && writes.push(request.url()))
  await askForDefault(page, 'v1')
  await context.setOffline(true)
  const action = page.getByRole('dialog').getByRole('button', { name: 'Make default' })
  await isAway(page).waitFor()
  // The stream, which the browser does not cut, brings a sign of life between two probes.
  for (let probe = 0; probe < 2; probe++)
    await page.waitForEvent('requestfailed', (request) => request.url().endsWith('/api/v1/system'))
  await isAway(page).waitFor()
  expect(await action.isDisabled()).toBe(true)
  await shot(page, 'away-dialog', false)
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await shot(page, 'away-page', false)
  const sent = writes.length
  await context.setOffline(false)
  await isLive(page).waitFor()
  await page.getByRole('button', { name: 'Make default: v1' }).waitFor()
  expect(writes).toHaveLength(sent)
  expect(await defaultVersion()).toBe('v2')
  await console.expectClean()
})

test('Cancel aborts a change in progress', async () => {
  const console = await openConsole(gateway())
  const { page } = console
  console.allowConsole(NETWORK_ERRORS)
  await askForDefault(page, 'v1')
  // A connection that takes the request and returns no response.
  await page.route('**/default-version', () => {})
  const failed = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/default-version'))
  await page.getByRole('dialog').getByRole('button', { name: 'Make default' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  expect((await failed).failure()?.errorText).toContain('ABORTED')
  await page.getByText('The request was cancelled').waitFor()
  await shot(page, 'cancelled', false)
  expect(await defaultVersion()).toBe('v2')
  await console.expectClean()
})

test('a frozen service is noticed although no connection breaks', async () => {
  const console = await openConsole(gateway())
  const { page } = console
  console.allowConsole(NETWORK_ERRORS)
  await open(page, '/basemaps/city')
  await isLive(page).waitFor()
  const { process } = gateway().controlPlane
  process.signal('SIGSTOP')
  const stopped = performance.now()
  try {
    await isAway(page).waitFor()
    globalThis.console.info(`a frozen service was noticed after ${Math.round(performance.now() - stopped)} ms`)
    await page.getByRole('button', { name: 'More actions' }).click()
    await expect.poll(() => page.getByRole('button', { name: 'Withdraw' }).isDisabled()).toBe(true)
  } finally {
    process.signal('SIGCONT')
  }
  const continued = performance.now()
  await isLive(page).waitFor()
  globalThis.console.info(`and its return after ${Math.round(performance.now() - continued)} ms`)
  await console.expectClean()
})

test('while the gateway is gone every page opens, says so, and recovers by itself', async () => {
  const console = await openConsole(gateway())
  const { page } = console
  console.allowConsole(NETWORK_ERRORS)
  const files: string[] = []
  page.on('response', (response) => files.push(new URL(response.url()).pathname))
  // The code of one area's pages does not arrive beforehand.
  await page.route(/\/assets\/maps-/, (route) => route.abort())
  await open(page, '/')
  await isLive(page).waitFor()
  // That of the other pages.
  await expect.poll(() => files.some((file) => /\/assets\/work-/.test(file))).toBe(true)
  const { edges, controlPlane } = gateway()
  await controlPlane.process.kill()
  for (const edge of edges) await edge.process.kill()

  await page.getByRole('link', { name: 'Scan sources', exact: true }).first().click()
  await page.getByRole('heading', { name: 'Scan sources', level: 1 }).waitFor()
  await isAway(page).waitFor()
  await page.getByText('Loading the scan sources failed').waitFor()
  await shot(page, 'away-navigated', false)
  await page.getByRole('link', { name: 'Vectors', exact: true }).click()
  await page.getByText('This page could not be loaded').waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('This page could not be loaded').waitFor()
  await shot(page, 'away-not-loaded', false)

  await page.unroute(/\/assets\/maps-/)
  controlPlane.process.start()
  for (const edge of edges) edge.process.start()
  await gateway().ready()
  await page.getByRole('heading', { name: 'Vectors', level: 1 }).waitFor()
  await page.getByRole('link', { name: 'Scan sources', exact: true }).first().click()
  await page.getByRole('heading', { name: 'Scan sources', level: 1 }).waitFor()
  await page.getByRole('link', { name: 'maps', exact: true }).waitFor()
  await console.expectClean()
}, 240_000)

test('Back does not lose the secret of a token', async () => {
  const console = await openConsole(gateway())
  const { page } = console
  await open(page, '/tokens')
  await page.getByRole('link', { name: 'Issue a token' }).first().click()
  await page.getByLabel('Name').fill('the portal')
  await page.getByPlaceholder('Search by code or name').fill('ci')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Issue a token' }).click()
  const issued = page.getByRole('dialog').filter({ hasText: 'Copy it now' })
  const token = await issued.getByRole('group', { name: 'the token' }).innerText()
  await page.goBack()
  await page.getByText('Leave without the token?').waitFor()
  await shot(page, 'token-back', false)
  await page.getByRole('button', { name: 'Stay' }).click()
  expect(await issued.getByRole('group', { name: 'the token' }).innerText()).toBe(token)
  await issued.getByRole('button', { name: 'I have copied it' }).click()
  await page.getByRole('heading', { name: 'Tokens', level: 1 }).waitFor()
  // The suggestion is granted, not the typed text.
  await page.getByRole('row').filter({ hasText: 'the portal' }).getByRole('cell', { name: 'city' }).waitFor()
  await console.expectClean()
})

test('an unknown code is granted only after a second confirmation', async () => {
  const console = await openConsole(gateway())
  const { page } = console
  await open(page, '/tokens/new')
  await page.getByLabel('Name').fill('for later')
  await page.getByPlaceholder('Search by code or name').fill('cty')
  await page.keyboard.press('Enter')
  await page.getByText('The code “cty” does not exist').waitFor()
  await page.getByRole('button', { name: 'Issue a token' }).click()
  await page.getByText('Grant “cty” or remove it.').waitFor()
  await shot(page, 'unknown-code')
  await page.getByRole('button', { name: 'Grant “cty” anyway' }).click()
  await page.getByRole('button', { name: 'Issue a token' }).click()
  await page.getByText('Copy it now').waitFor()
  await page.getByRole('button', { name: 'I have copied it' }).click()
  await page.getByRole('row').filter({ hasText: 'for later' }).getByText('cty').waitFor()
  await console.expectClean()
})

test('input in a form is not lost without a question', async () => {
  const console = await openConsole(gateway())
  const { page } = console
  await open(page, '/sources/new')
  await page.getByLabel('Code').fill('half-done')
  await page.getByRole('link', { name: 'Tokens', exact: true }).click()
  await page.getByText('Leave without saving?').waitFor()
  await shot(page, 'form-leave', false)
  await page.getByRole('button', { name: 'Stay' }).click()
  expect(await page.getByLabel('Code').inputValue()).toBe('half-done')
  const asked = page.waitForEvent('dialog')
  void inPage(page, 'setTimeout(() => location.reload())')
  const dialog = await asked
  expect(dialog.type()).toBe('beforeunload')
  await dialog.dismiss()
  expect(await page.getByLabel('Code').inputValue()).toBe('half-done')
  await page.getByRole('link', { name: 'Tokens', exact: true }).click()
  await page.getByRole('button', { name: 'Leave' }).click()
  await page.getByRole('heading', { name: 'Tokens', level: 1 }).waitFor()
  await console.expectClean()
})

test('a change made elsewhere does not overwrite current input', async () => {
  const console = await openConsole(gateway())
  const { page } = console
  await open(page, '/sources/maps')
  await isLive(page).waitFor()
  await page.getByRole('textbox', { name: /^Name/ }).fill('my name for it')
  const path = join(gateway().home, 'maps')
  const body = { code: 'maps', kind: 'basemap', path, name: 'their name for it' }
  await gateway().admin.expect('/scan-sources', { method: 'POST', body })
  await page.getByText('Another user has changed this in the meantime').waitFor()
  expect(await page.getByRole('textbox', { name: /^Name/ }).inputValue()).toBe('my name for it')
  await shot(page, 'changed-elsewhere')
  await page.getByRole('button', { name: 'Show the change instead' }).click()
  expect(await page.getByRole('textbox', { name: /^Name/ }).inputValue()).toBe('their name for it')
  // The user's own change does not count as foreign, even if the service normalizes the value.
  await page.getByRole('textbox', { name: /^Name/ }).fill('my name again ')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('maps saved').waitFor()
  await expect.poll(() => page.getByRole('textbox', { name: /^Name/ }).inputValue()).toBe('my name again')
  expect(await page.getByText('Another user has changed this in the meantime').count()).toBe(0)
  await console.expectClean()
})

test('Back restores the previous page and sorting', async () => {
  const console = await openConsole(gateway())
  const { page } = console
  for (let i = 10; i < 40; i++) await gateway().issueToken({ name: `zz client ${i}`, basemap_codes: ['city'] })
  await open(page, '/tokens')
  const heading = page.getByRole('columnheader', { name: 'Name' })
  await heading.getByRole('button').click()
  await page.locator('th[aria-sort=ascending]').waitFor()
  await heading.getByRole('button').click()
  await page.locator('th[aria-sort=descending]').waitFor()
  await page.getByRole('button', { name: 'Page 2' }).click()
  const first = page.getByRole('row').nth(1)
  await first.getByText('zz client 14').waitFor()
  await page.getByRole('link', { name: 'Issue a token' }).click()
  await page.getByRole('heading', { name: 'Issue a token', level: 1 }).waitFor()
  await page.goBack()
  await first.getByText('zz client 14').waitFor()
  expect(await inPage(page, 'location.search')).toBe('?sort=-name&page=2')
  await console.expectClean()
})
