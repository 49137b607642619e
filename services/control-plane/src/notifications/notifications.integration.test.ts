import { once } from 'node:events'
import { insertPush } from '@gateway/store/deliveries.js'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendMail } from '../deliveries/mail/send.js'
import { startTestApp, type TestApp } from '../testing/test-app.js'
import { messageOf, tellNews } from './watch.js'

const ADMIN = '/api/v1/admin'
let gateway: TestApp
beforeAll(async () => {
  gateway = await startTestApp(process.env.TEST_POSTGRES_URL)
})
afterAll(() => gateway.close())

async function call(method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) {
  const answer = await gateway.admin({ method, url: `${ADMIN}${url}`, ...(payload !== undefined && { payload }) })
  return { status: answer.statusCode, body: answer.json() }
}

const sent = async () => (await call('GET', '/notification-records')).body.items.toReversed()

/** Inserts a push of a version that has failed for good. */
async function failedPush(version: string): Promise<void> {
  await gateway.ctx.sql.begin(async (tx) => {
    const { id } = await insertPush(
      tx,
      { code: 'city', lane: 'message' },
      { kind: 'basemap_push', basemapCode: 'world', version },
    )
    await tx`UPDATE deliveries SET status = 'failed', due_at = NULL, message = 'answered 503' WHERE id = ${id}`
  })
}

test('each item is reported once, grouped by kind, to everyone with a rule for its kind', async () => {
  await call('POST', '/targets', { code: 'city', kind: 'http', url: 'http://127.0.0.1:9/x' })
  await failedPush('v1')
  await failedPush('v2')
  const rules = [
    { email: 'ops@example.com', kinds: ['push_failed', 'scan_failed'] },
    { target_code: 'city', kinds: ['push_failed'] },
    { email: 'off@example.com', kinds: ['push_failed'], enabled: false },
    { email: 'other@example.com', kinds: ['edge_gone'] },
  ]
  for (const rule of rules) expect((await call('POST', '/notification-rules', rule)).status).toBe(200)
  // Two control planes check at the same time.
  await Promise.all([tellNews(gateway.ctx), tellNews(gateway.ctx)])
  const alert = { event: 'attention.push_failed', subject: '2 pushes have failed' }
  // Both messages are of the same time, in any order.
  const told = (await sent()) as {
    readonly event: string
    readonly subject: string
    readonly email: string | null
    readonly target_code: string | null
  }[]
  expect(told).toMatchObject([alert, alert])
  expect(new Set(told.map(({ email, target_code: target }) => email ?? target))).toEqual(
    new Set(['ops@example.com', 'city']),
  )
  await tellNews(gateway.ctx)
  expect(await sent()).toHaveLength(2)
  await failedPush('v3')
  await tellNews(gateway.ctx)
  expect((await sent()).map(({ subject }: { subject: string }) => subject)).toEqual([
    ...['2 pushes have failed', '2 pushes have failed'],
    ...['1 push has failed', '1 push has failed'],
  ])
})

test('a rule is replaced, tested and deleted; one without a recipient, or with a target for files, is refused', async () => {
  const { body: rule } = await call('POST', '/notification-rules', { email: 'a@example.com', kinds: ['scan_failed'] })
  const changed = { id: rule.id, email: 'b@example.com', kinds: ['scan_failed', 'unavailable'], enabled: false }
  expect((await call('POST', '/notification-rules', changed)).body).toMatchObject(changed)
  expect((await call('POST', `/notification-rules/${rule.id}/test`)).status).toBe(202)
  expect((await sent()).at(-1)).toMatchObject({ event: 'attention.test', email: 'b@example.com' })
  expect((await call('DELETE', `/notification-rules/${rule.id}`)).status).toBe(200)
  expect((await call('DELETE', `/notification-rules/${rule.id}`)).status).toBe(404)
  for (const wrong of [
    { kinds: ['scan_failed'] },
    { email: 'a@example.com', target_code: 'city', kinds: ['scan_failed'] },
    { email: 'no address', kinds: ['scan_failed'] },
    { email: 'a@example.com', kinds: [] },
    { target_code: 'nowhere', kinds: ['scan_failed'] },
  ]) {
    expect([wrong, (await call('POST', '/notification-rules', wrong)).status]).toEqual([wrong, 400])
  }
})

test('a message goes to a mail server as one text, whatever names it contains', async () => {
  const received: string[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, _session, done) {
      let text = ''
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
  const { port } = server.server.address() as { port: number }
  const mail = { url: `smtp://127.0.0.1:${port}`, from: 'Gateway <maps@example.com>' }
  const items = [{ kind: 'push_failed' as const, name: 'world\r\nBcc: x@example.com', message: 'answered 503' }]
  try {
    const outcome = await sendMail(mail, 'ops@example.com', messageOf('push_failed', items, 'http://gateway'))
    expect(outcome).toMatchObject({ delivered: true })
    expect(received[0]).toContain('To: ops@example.com')
    expect(received[0]).toContain('Subject: 1 push has failed')
    expect(received[0]).toContain('- world Bcc: x@example.com: answered 503')
    expect(received[0]).toContain('http://gateway/admin/')
    expect(received[0]).not.toMatch(/^Bcc/m)
  } finally {
    await new Promise<void>((resolve) => server.close(resolve))
  }
  expect(await sendMail(mail, 'ops@example.com', messageOf('test', [], ''))).toMatchObject({ delivered: false })
  expect(await sendMail({ url: null, from: null }, 'ops@example.com', {})).toMatchObject({ delivered: false })
})
