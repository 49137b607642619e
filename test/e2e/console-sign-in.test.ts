import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withConnection } from '../harness/database.js'
import { ADMIN_PASSWORD, ADMIN_USER, type Gateway } from '../harness/gateway.js'
import { IdentityProvider } from '../harness/identity-provider.js'
import { startGateway } from '../harness/start-gateway.js'
import { expectAccessible, open, shot, useBrowser } from './console-browser.js'

const PEOPLE = {
  vera: { name: 'Vera View', email: 'vera@example.com', groups: ['staff'] },
  otto: { name: 'Otto Operate', email: 'otto@example.com', groups: ['staff', 'gis'] },
  anna: { name: 'Anna Admin', email: 'anna@example.com', groups: ['gis-admins', 'staff'] },
  gast: { name: 'Gast', email: 'gast@example.com', groups: ['visitors'] },
}

let provider: IdentityProvider
let gateway: Gateway
beforeAll(async () => {
  provider = await IdentityProvider.start(PEOPLE)
  const roles = 'viewer=staff,operator=gis,admin=gis-admins'
  gateway = await startGateway({ env: { ...provider.settings, OIDC_ROLES: roles } })
  provider.register(gateway.url)
  await gateway.admin.expect('/scan-sources', { body: { code: 'maps', kind: 'basemap', path: gateway.home } })
})
afterAll(async () => {
  await gateway?.stop()
  await provider?.stop()
})

const openConsole = useBrowser()
/** A browser without a session. */
const visit = async (options = {}) => {
  const { context, page } = await openConsole(gateway, { httpCredentials: undefined as never, ...options })
  // The pages of the provider wait for a font from another host.
  await context.route('https://fonts.googleapis.com/**', (route) => route.abort())
  return page
}

/** Signs in through the forms of the provider, starting at the gateway's page. */
async function signIn(page: Page, who: keyof typeof PEOPLE): Promise<void> {
  await page.getByRole('link', { name: /^Sign in at/ }).click()
  await page.locator('input[name=login]').fill(who)
  await page.locator('input[name=password]').fill('any')
  await page.locator('button[type=submit]').click()
  // Consents to the data that the gateway requests.
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.waitForURL((url) => url.origin === gateway.url)
}

async function openAs(who: keyof typeof PEOPLE, path: string): Promise<Page> {
  const page = await visit()
  await page.goto(`/admin${path}`)
  await signIn(page, who)
  await page.getByRole('heading', { level: 1 }).waitFor()
  return page
}

const offers = async (page: Page, name: string) =>
  (await page.getByRole('main').getByText(name, { exact: true }).count()) > 0

test('a user signs in, reaches the requested page, sees the account, and signs out, also at the provider', async () => {
  const page = await visit()
  await page.goto('/admin/sources?q=maps')
  expect(new URL(page.url()).pathname).toBe('/admin/sign-in')
  await expectAccessible(page, 'the page for signing in')
  await shot(page, 'sign-in')
  await signIn(page, 'anna')
  await page.getByRole('heading', { level: 1, name: 'Scan sources' }).waitFor()
  expect(page.url()).toBe(`${gateway.url}/admin/sources?q=maps`)
  const [cookie] = (await page.context().cookies(gateway.url)).filter(({ name }) => name.includes('session'))
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax', secure: false, path: '/' })
  await page.getByRole('button', { name: 'Signed in: Anna Admin, administrator' }).click()
  await page.getByText('anna@example.com').waitFor()
  await expectAccessible(page, 'the account')
  await shot(page, 'account', false)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('You are signed out here.').waitFor()
  await expectAccessible(page, 'the page after signing out')
  await shot(page, 'signed-out')
  await page.goto('/admin/')
  expect(new URL(page.url()).pathname).toBe('/admin/sign-in')
  await page.goto('/admin/sign-in?ended')
  await page.getByRole('link', { name: /^Sign out at/ }).click()
  await page.getByRole('button', { name: /Yes/ }).click()
  await page.waitForURL(`${gateway.url}/admin/sign-in?ended`)
  // The provider asks for the identity again.
  await page.getByRole('link', { name: /^Sign in at/ }).click()
  await page.locator('input[name=login]').waitFor()
  const { items } = await gateway.admin.expect<{ items: object[] }>('/audit?q=session&sort=at')
  expect(items).toMatchObject([
    { actor: 'anna@example.com', action: 'session.begin', detail: { role: 'admin', by: 'oidc' } },
    { actor: 'anna@example.com', action: 'session.end' },
  ])
})

test.each([
  ['vera', 'viewer', []],
  ['otto', 'operator', ['Scan now']],
  ['anna', 'administrator', ['Scan now', 'Add a scan source']],
] as const)('%s, who is %s, is offered what the role allows', async (who, role, offered) => {
  const page = await openAs(who, '/sources')
  await page.getByRole('button', { name: new RegExp(`, ${role}$`) }).waitFor()
  await page.getByRole('link', { name: 'maps', exact: true }).waitFor()
  for (const name of ['Scan now', 'Add a scan source']) {
    expect([name, await offers(page, name)]).toEqual([name, offered.some((one) => one === name)])
  }
  await open(page, '/tokens/new')
  const heading = role === 'administrator' ? 'Issue a token' : 'Your role has no access'
  await page.getByRole('heading', { level: 1, name: heading }).waitFor()
  await expectAccessible(page, `a page for administrators, as ${role}`)
  await shot(page, `issue-token-as-${role}`)
})

test('a user without a role is told so, with the user’s name', async () => {
  const page = await visit()
  await page.goto('/admin/')
  await signIn(page, 'gast')
  await page.getByText('You are gast@example.com, who has no role here.').waitFor()
  await expectAccessible(page, 'the page without a role')
  await shot(page, 'no-role')
  expect((await page.request.get('/api/v1/admin/tokens')).status()).toBe(401)
})

test('a session that ends over a form keeps the form, and continues after a new sign-in', async () => {
  const page = await openAs('anna', '/tokens/new')
  await page.getByLabel('Name').fill('Kept over the end')
  await page.getByRole('radio', { name: 'All, present and future' }).first().click()
  // Not earlier: the page may notice by itself and then disables the button.
  await page.route(
    '**/api/v1/admin/tokens',
    async (route) => {
      await withConnection(gateway.database.url, (sql) => sql`DELETE FROM operator_sessions`)
      await route.continue()
    },
    { times: 1 },
  )
  await page.getByRole('button', { name: 'Issue a token' }).click()
  const ended = page.getByRole('dialog', { name: 'Your session has ended' })
  await ended.waitFor()
  await expectAccessible(page, 'the dialogue of a session that has ended')
  await shot(page, 'session-ended', false)
  const popup = page.waitForEvent('popup')
  await ended.getByRole('button', { name: 'Sign in again' }).click()
  const window = await popup
  const closed = window.waitForEvent('close')
  // The provider still has its session.
  await window.getByRole('link', { name: /^Sign in at/ }).click()
  await closed
  await ended.waitFor({ state: 'hidden' })
  expect(await page.getByLabel('Name').inputValue()).toBe('Kept over the end')
  await page.getByRole('button', { name: 'Issue a token' }).click()
  await page.getByRole('dialog', { name: 'Token issued' }).waitFor()
  const { items } = await gateway.admin.expect<{ items: object[] }>('/audit?action=token.issue')
  expect(items).toMatchObject([{ actor: 'anna@example.com', detail: { name: 'Kept over the end' } }])
})

test('while the provider is down the page says so, and the password opens the console', async () => {
  const page = await visit({ locale: 'zh-CN' })
  await provider.stop()
  gateway.allowErrors(/sign-in by OpenID Connect does not succeed/)
  await page.goto('/admin/audit')
  await page.getByRole('link', { name: /登录$/ }).click()
  await page.getByText('登录服务暂时没有响应').waitFor()
  await expectAccessible(page, 'the page for signing in, Chinese')
  // The password form is open, because the other way does not work now.
  await page.getByLabel('用户名').fill(ADMIN_USER)
  await page.getByLabel('密码').fill(ADMIN_PASSWORD)
  await shot(page, 'sign-in-password-chinese')
  await page.getByRole('button', { name: '登录' }).click()
  await page.waitForURL(`${gateway.url}/admin/audit`)
  await page.getByRole('button', { name: '已登录：admin，管理员' }).waitFor()
  await shot(page, 'audit-by-password-chinese')
})
