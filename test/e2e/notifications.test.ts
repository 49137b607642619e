import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { SMTPServer } from 'smtp-server'
import { afterAll, expect, test } from 'vitest'
import { useGateway } from '../harness/use-gateway.js'
import { expectAccessible, open, shot, useBrowser } from './console-browser.js'

/** A mail server that wants a password, and what it has taken. */
async function startMailServer() {
  const received: string[] = []
  const server = new SMTPServer({
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _session, done) =>
      username === 'maps' && password === 'a password' ? done(null, { user: username }) : done(new Error('wrong')),
    onData(stream, { envelope }, done) {
      let text = `for ${envelope.rcptTo.map(({ address }) => address).join()}\n`
      stream.on('data', (part: Buffer) => {
        text += part
      })
      stream.on('end', () => {
        received.push(text)
        done()
      })
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  return { server, received, port: (server.server.address() as AddressInfo).port }
}

interface Hook {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A receiver of webhooks, and what it has taken. */
async function startReceiver() {
  const received: Hook[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    received.push({ headers: request.headers, body })
    response.end('thanks')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { server, received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }
}

const mail = await startMailServer()
const hooks = await startReceiver()
afterAll(async () => {
  await new Promise<void>((resolve) => mail.server.close(resolve))
  await new Promise((resolve) => hooks.server.close(resolve))
})

const KEY = Buffer.from('a key that only the receiver has')
const gateway = useGateway({
  env: {
    CALLBACK_ALLOW: '127.0.0.1',
    SMTP_URL: `smtp://maps:a%20password@127.0.0.1:${mail.port}`,
    SMTP_FROM: 'maps@example.com',
  },
})
const openConsole = useBrowser()

/** As https://www.standardwebhooks.com has it. */
function expectSigned({ headers, body }: Hook): void {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const signature = createHmac('sha256', KEY).update(signed).digest('base64')
  expect(headers['webhook-signature']).toBe(`v1,${signature}`)
}

test('a failed scan is told by a signed webhook and by mail, and the list of sent alerts shows both', async () => {
  const { admin, home } = gateway()
  const post = (path: string, body: object) => admin.expect(path, { method: 'POST', body })
  const secret = `whsec_${KEY.toString('base64')}`
  await post('/targets', { code: 'pager', kind: 'http', url: hooks.url, secret })
  await post('/notification-rules', { target_code: 'pager', kinds: ['scan_failed'] })
  await post('/notification-rules', { email: 'ops@example.com', kinds: ['scan_failed'] })
  await post('/scan-sources', { code: 'share', kind: 'basemap', path: join(home, 'no-such-share') })
  await admin.call('/scan-sources/share/run', { method: 'POST' })

  await expect.poll(() => hooks.received.length).toBe(1)
  const hook = hooks.received[0] as Hook
  expectSigned(hook)
  expect(JSON.parse(hook.body)).toMatchObject({
    event: 'attention.scan_failed',
    count: 1,
    items: [{ name: 'share', message: expect.stringContaining('no-such-share is missing') }],
  })
  await expect.poll(() => mail.received.length).toBe(1)
  expect(mail.received[0]).toMatch(/^for ops@example\.com\n/)
  expect(mail.received[0]).toContain('From: maps@example.com')
  // Long lines are folded.
  expect(mail.received[0]?.replaceAll(/=\r?\n/g, '')).toMatch(/- share: .*no-such-share is missing/)

  const console = await openConsole(gateway())
  const { page } = console
  await open(page, '/notifications?tab=sent')
  await expect.poll(() => page.getByRole('cell', { name: 'Sent', exact: true }).count()).toBe(2)
  await expectAccessible(page, 'sent alerts')
  await shot(page, 'notifications-sent')
  await console.expectClean()
})

test('an alert is tried from its row in the console', async () => {
  const console = await openConsole(gateway())
  const { page } = console
  await open(page, '/notifications')
  await expectAccessible(page, 'recipients')
  await shot(page, 'notifications')
  const [taken, mailed] = [hooks.received.length, mail.received.length]
  await page.getByRole('button', { name: 'Send a test: pager' }).click()
  await page.getByRole('button', { name: 'Send a test: ops@example.com' }).click()
  await expect.poll(() => hooks.received.length).toBe(taken + 1)
  await expect.poll(() => mail.received.length).toBe(mailed + 1)
  expectSigned(hooks.received.at(-1) as Hook)
  expect(JSON.parse(hooks.received.at(-1)?.body ?? '{}')).toMatchObject({ event: 'attention.test' })
  await console.expectClean()
})
