import Fastify from 'fastify'
import { expect, test } from 'vitest'
import type { App } from './app-type.js'
import { EventStreams, type SendEvent } from './event-streams.js'

test('an event is serialized once, however many streams receive it', async () => {
  const app = Fastify() as unknown as App
  const streams = new EventStreams(app)
  const listeners: SendEvent[] = []
  app.get('/', (_request, reply) =>
    streams.answer(reply, (send) => {
      listeners.push(send)
      return () => {}
    }),
  )
  const answers = Array.from({ length: 20 }, () => app.inject({ url: '/' }))
  await expect.poll(() => listeners.length).toBe(20)
  let written = 0
  const data = { toJSON: () => ({ written: ++written }) }
  for (const send of listeners) send({ event: 'change', data })
  await app.close()
  for (const { body } of await Promise.all(answers)) expect(body).toContain('data: {"written":1}')
})

test('a stream ends with its session, at the next heartbeat', async () => {
  const app = Fastify() as unknown as App
  const streams = new EventStreams(app, 5)
  let lasting = 2
  app.get('/', (request, reply) => {
    request.isStillSignedIn = async () => lasting-- > 0
    return streams.answer(reply, () => () => {})
  })
  const { body } = await app.inject({ url: '/' })
  // One heartbeat at the start, then one before each check.
  expect(body).toBe(':\n\n'.repeat(4))
  await app.close()
})
