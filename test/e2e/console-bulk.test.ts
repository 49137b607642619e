import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { useGateway } from '../harness/use-gateway.js'
import { expectAccessible, open, shot, useBrowser } from './console-browser.js'

/** More than a page of the list. */
const TOKENS = 30

const gateway = useGateway({}, async ({ home, admin }) => {
  for (const code of ['city', 'coast']) await makeTileFolder(join(home, `maps/${code}/v1`), { maxZoom: 0 })
  await admin.scanSource('maps', 'basemap', join(home, 'maps'))
  for (let i = 0; i < TOKENS; i++) {
    await admin.issueToken({ name: `terminal ${String(i).padStart(2, '0')}`, basemap_codes: ['city'] })
  }
})
const openConsole = useBrowser()

interface Listed {
  readonly items: readonly { readonly basemap_codes: readonly string[]; readonly disabled_at: string | null }[]
  readonly total: number
}

const tokens = async () => (await gateway().admin.call<Listed>('/tokens?limit=100&q=terminal')).body

const action = (page: Page, name: string) =>
  page.getByRole('region', { name: /selected$/ }).getByRole('button', { name, exact: true })

/** Confirms an action, and answers what the dialog says of it. */
async function confirm(page: Page, name: string): Promise<string> {
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name, exact: true }).click()
  const result = await dialog.getByRole('status').textContent()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await dialog.waitFor({ state: 'hidden' })
  return result ?? ''
}

test('rows are selected on this page or as all that match, and one confirmation names their number', async () => {
  const console = await openConsole(gateway())
  const { page } = console
  await open(page, '/tokens?q=terminal')
  await page.getByRole('checkbox', { name: 'Select all rows of this page' }).check()
  await page.getByText('25 selected').waitFor()
  await page.getByRole('button', { name: `Select all ${TOKENS} that match` }).click()
  await action(page, 'Grant maps').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(`This changes ${TOKENS} items`).waitFor()
  await expectAccessible(page, 'a bulk dialog')
  await shot(page, 'bulk-grant', false)
  await dialog.getByRole('radio', { name: 'Selected' }).first().check()
  await dialog.getByPlaceholder('Search by code or name').first().fill('coast')
  await page.locator('[data-combobox-option]:visible').filter({ hasText: 'coast' }).click()
  await page.keyboard.press('Escape')
  expect(await confirm(page, 'Grant maps')).toContain(`${TOKENS} of ${TOKENS}`)
  for (const { basemap_codes: codes } of (await tokens()).items) expect(codes).toEqual(['city', 'coast'])
  await console.expectClean()
})

test('the actions of a row at the lower edge of the window open above it', async () => {
  const console = await openConsole(gateway())
  const { page } = console
  await open(page, '/tokens?q=terminal')
  const button = page.getByRole('button', { name: /^Actions for/ }).last()
  await button.waitFor()
  await button.evaluate((element) => element.scrollIntoView({ block: 'end' }))
  await button.click()
  const disable = page.getByRole('button', { name: /^Disable: terminal/ }).filter({ visible: true })
  const [row, menu] = [await button.boundingBox(), await disable.boundingBox()]
  expect((menu?.y ?? 0) + (menu?.height ?? 0)).toBeLessThan(row?.y ?? 0)
  expect(menu?.y).toBeGreaterThan(0)
  await console.expectClean()
})

test('selected rows are disabled in one call, and the others stay as they are', async () => {
  const console = await openConsole(gateway())
  const { page } = console
  const calls: string[] = []
  page.on('request', (request) => request.method() === 'POST' && calls.push(new URL(request.url()).pathname))
  await open(page, '/tokens?q=terminal&sort=name')
  for (const name of ['terminal 03', 'terminal 07'])
    await page.getByRole('checkbox', { name: `Select ${name}` }).check()
  await action(page, 'Disable').click()
  expect(await confirm(page, 'Disable')).toContain('2 of 2')
  expect(calls.filter((path) => path.includes('/tokens'))).toEqual(['/api/v1/admin/tokens/bulk'])
  const { items, total } = await tokens()
  expect([total, items.filter(({ disabled_at: at }) => at !== null).length]).toEqual([TOKENS, 2])
  await console.expectClean()
})
