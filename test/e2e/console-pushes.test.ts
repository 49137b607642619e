import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { useGateway } from '../harness/use-gateway.js'
import { expectAccessible, open, shot, useBrowser } from './console-browser.js'

const gateway = useGateway(
  { env: { CALLBACK_ALLOW: '127.0.0.1', RETRY_WAITS: '1,600,600' } },
  async ({ home, admin }) => {
    await makeTileFolder(join(home, 'maps/world/v1'), { maxZoom: 0 })
    await admin.scanSource('maps', 'basemap', join(home, 'maps'))
  },
)
const openConsole = useBrowser()

let works = false
const received: string[] = []
const receiver = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk) => {
    body += chunk
  })
  request.on('end', () => {
    if (works) received.push(body)
    response.statusCode = works ? 200 : 503
    response.end(works ? 'thanks' : 'the receiver is being painted')
  })
})
beforeAll(() => new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve)))
afterAll(() => new Promise((resolve) => receiver.close(resolve)))

test('a push to a failing receiver shows its retries and responses, and succeeds by a manual retry after the repair', async () => {
  const console = await openConsole(gateway())
  const { page } = console

  await open(page, '/pushes')
  await page.getByText('No pushes yet').waitFor()
  await page.getByRole('link', { name: 'Add a target' }).first().click()
  await page.getByLabel('Code').fill('partner')
  await page
    .getByRole('textbox', { name: 'URL' })
    .fill(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`)
  await page.getByRole('textbox', { name: 'Secret' }).fill('something long and random')
  await expectAccessible(page, 'new target')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('partner saved').waitFor()
  await page.getByRole('button', { name: 'Test: partner' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('The test failed').waitFor()
  await dialog.getByText('webhook-signature: [hidden]').waitFor()
  await expectAccessible(page, 'test of a target')
  await shot(page, 'push-1-target')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })

  await page.getByRole('link', { name: 'Push a map' }).click()
  await page.getByRole('combobox', { name: 'Basemap' }).click()
  await page.getByRole('option', { name: 'world' }).click()
  await page.getByRole('combobox', { name: 'Version' }).selectOption('current')
  await expectAccessible(page, 'new push')
  await page.getByRole('button', { name: 'Push', exact: true }).click()

  await page.getByRole('heading', { name: 'Push of world · v1' }).waitFor()
  const attempts = page.getByRole('table', { name: 'Attempts' }).getByRole('row')
  // The heading and two attempts; the third attempt is ten minutes away.
  await expect.poll(() => attempts.count()).toBe(3)
  await page.getByText('Retrying', { exact: true }).waitFor()
  await page.getByText('the receiver is being painted').first().waitFor()
  expect(await attempts.nth(1).innerText()).toMatch(/503/)
  await expectAccessible(page, 'push')
  await shot(page, 'push-2-retrying')

  await open(page, '/')
  await page.getByRole('link', { name: 'Delivery of world · v1 to partner is failing' }).click()
  await page.getByRole('button', { name: 'Stop retrying' }).click()
  await dialog.getByRole('button', { name: 'Stop retrying' }).click()
  await page
    .getByText(/^cancelled by/)
    .first()
    .waitFor()
  works = true
  await page.getByRole('button', { name: /^Retry/ }).click()
  await page.getByText('Succeeded').waitFor()
  await page.getByText('Delivered').waitFor()
  expect(JSON.parse(received[0] ?? '{}')).toMatchObject({ event: 'basemap.version.pushed' })
  await shot(page, 'push-3-succeeded')
  await console.expectClean()
})
