import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { useGateway } from '../harness/use-gateway.js'
import { open, useBrowser } from './console-browser.js'

const gateway = useGateway({}, async ({ home, admin }) => {
  await makeTileFolder(join(home, 'maps/world/v1'), { maxZoom: 0 })
  await makeTileFolder(join(home, 'maps/world/v2'), { maxZoom: 0 })
  await admin.scanSource('maps', 'basemap', join(home, 'maps'))
})
const openConsole = useBrowser()

/** Interval at which lists that change without an event are also read. Other pages are refreshed only by events. */
const READ_EVERY_MS = 30_000
const NO_POLLING = `{
  const set = window.setInterval
  window.setInterval = (work, ms, ...more) => (ms === ${READ_EVERY_MS} ? 0 : set(work, ms, ...more))
}`

/** True once the page says that it will not miss changes. */
const isLive = (page: Page) => page.getByRole('status').filter({ hasText: 'Live' })

test('a change in one browser appears in the other by itself', async () => {
  const [one, other] = [await openConsole(gateway()), await openConsole(gateway())]
  await other.context.addInitScript(NO_POLLING)
  await open(one.page, '/basemaps/world')
  await open(other.page, '/basemaps/world')
  const elsewhere = other.page.getByRole('row').filter({ hasText: 'v1' })
  await elsewhere.getByRole('button', { name: 'Make default: v1' }).waitFor()
  await isLive(other.page).waitFor()

  await one.page.getByRole('button', { name: 'Make default: v1' }).click()
  await one.page.getByRole('dialog').getByRole('button', { name: 'Make default' }).click()
  await one.page.getByText('v1 is now the default of world').waitFor()
  await elsewhere.getByText('default', { exact: true }).waitFor()

  await open(other.page, '/tokens')
  await other.page.getByText('No tokens yet').waitFor()
  await isLive(other.page).waitFor()
  await open(one.page, '/tokens/new')
  await one.page.getByLabel('Name').fill('for the other browser')
  await one.page.getByLabel('None').first().check()
  await one.page.getByRole('button', { name: 'Issue a token' }).click()
  await one.page.getByText('Copy it now').waitFor()
  await other.page.getByText('for the other browser').waitFor()

  await one.expectClean()
  await other.expectClean()
})

test.each([
  ['the details of a basemap', '/basemaps/world?tab=details', 'Owner', '/basemaps/world', { owner: 'somebody else' }],
  [
    'the overrides of a version',
    '/basemaps/world/versions/v1',
    'Title of this version',
    '/basemaps/world/versions/v1',
    { attribution: 'somebody else' },
  ],
] as const)(
  'a change elsewhere keeps what is typed into %s, and so does another tab',
  async (_, path, label, resource, body) => {
    const console = await openConsole(gateway())
    const { page } = console
    await open(page, path)
    const field = page.getByLabel(label)
    await field.fill('half typ')
    await isLive(page).waitFor()
    await gateway().admin.expect(resource, { method: 'PATCH', body })
    await page.getByText('Another user has changed this in the meantime').waitFor()
    expect(await field.inputValue()).toBe('half typ')

    await page.getByRole('tab', { name: 'Usage' }).click()
    await page.getByRole('button', { name: 'Stay' }).click()
    expect(await field.inputValue()).toBe('half typ')
    await field.fill('half typed')
    await page.getByRole('main').getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText(/saved$/).waitFor()
    await expect
      .poll(() => page.getByRole('main').getByRole('button', { name: 'Save', exact: true }).isDisabled())
      .toBe(true)
    expect(await field.inputValue()).toBe('half typed')
    await page.getByRole('tab', { name: 'Usage' }).click()
    await page.getByRole('heading', { name: 'Usage' }).waitFor()
    await console.expectClean()
  },
)

test('the result of an availability check appears on the first page of every browser', async () => {
  const [one, other] = [await openConsole(gateway()), await openConsole(gateway())]
  await open(other.page, '/')
  await other.page.getByText('Availability has not been checked yet').waitFor()
  await isLive(other.page).waitFor()
  await open(one.page, '/')
  await one.page.getByRole('button', { name: 'Check availability now' }).click()
  const found = /^Availability last checked .*: 0 of 2 versions and 0 of 0 vectors are missing\.$/
  await other.page.getByText(found).waitFor()
  await one.page.reload()
  await one.page.getByText(found).waitFor()
  await one.expectClean()
  await other.expectClean()
})

test('a page says that its service is gone, and reloads everything by itself once the service is back', async () => {
  const console = await openConsole(gateway())
  const { page } = console
  // The browser logs every request without a response.
  console.allowConsole(/Failed to load resource/)
  await open(page, '/tokens')
  await isLive(page).waitFor()
  const { process } = gateway().controlPlane
  await process.kill()
  await page.getByText('Disconnected').waitFor()
  await page.getByText('for the other browser').waitFor()
  process.start()
  await gateway().ready()
  await gateway().issueToken({ name: 'issued meanwhile' })
  await isLive(page).waitFor()
  await page.getByText('issued meanwhile').waitFor()
  await console.expectClean()
})
