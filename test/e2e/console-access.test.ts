import { expect, test } from 'vitest'
import { useGateway } from '../harness/use-gateway.js'
import { shot, useBrowser } from './console-browser.js'

const gateway = useGateway({ edges: 1, env: { ADMIN_PASSWORD: '' } })
const openConsole = useBrowser()

test('with only ADMIN_TOKEN configured the browser gets 401 with an explanation', async () => {
  const { page } = await openConsole(gateway(), { httpCredentials: undefined as never })
  const answer = await page.goto('/admin/')
  expect(answer?.status()).toBe(401)
  // A browser would ask for a password that no one has.
  expect(await answer?.headerValue('www-authenticate')).not.toMatch(/basic/i)
  const words = await page.locator('body').innerText()
  expect(words).toContain('set ADMIN_PASSWORD to use the console in a browser')
  await shot(page, 'access-token-only', false)
})
