import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { logChanges } from '@gateway/store/change-log.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ADMIN_TOKEN, startTestApp, type TestApp } from '../../testing/test-app.js'

let gateway: TestApp
let url: string
beforeAll(async () => {
  gateway = await startTestApp(process.env.TEST_POSTGRES_URL)
  url = `${await gateway.app.listen({ host: '127.0.0.1', port: 0 })}/api/v1/admin/events`
})
afterAll(() => gateway.close())

/** Yields the events of the stream. */
async function* events(stop: AbortSignal): AsyncGenerator<unknown> {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` }, signal: stop })
  expect(answer.headers.get('content-type')).toBe('text/event-stream')
  const lines = createInterface({ input: Readable.fromWeb(answer.body as never) })
  for await (const line of lines) if (line.startsWith('data: ')) yield JSON.parse(line.slice(6))
}

const change = (key: string) => gateway.store.sql.begin((tx) => logChanges(tx, [{ kind: 'basemap', key }]))

test('every change committed after the start of the stream is sent once, in order', async () => {
  const stop = new AbortController()
  const stream = events(stop.signal)
  const first = stream.next()
  // The stream is ready once it has read the log for the first time; earlier commits may not be sent.
  const nudge = setInterval(() => void change('nudge'), 100)
  expect((await first).value).toMatchObject({ kind: 'basemap', key: 'nudge' })
  clearInterval(nudge)
  const keys = ['a', 'b', 'c']
  for (const key of keys) await change(key)
  const told: { revision: number; key: string }[] = []
  while (told.filter(({ key }) => key !== 'nudge').length < keys.length) {
    told.push((await stream.next()).value as { revision: number; key: string })
  }
  expect(told.map(({ key }) => key).filter((key) => key !== 'nudge')).toEqual(keys)
  const revisions = told.map(({ revision }) => revision)
  expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b))
  stop.abort()
  await stream.next().catch(() => {})
})

test('an open stream does not prevent the application from closing', async () => {
  const other = await startTestApp(process.env.TEST_POSTGRES_URL)
  const address = await other.app.listen({ host: '127.0.0.1', port: 0 })
  const answer = await fetch(`${address}/api/v1/admin/events`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })
  await other.close()
  expect(await answer.text()).toMatch(/^:/)
})
