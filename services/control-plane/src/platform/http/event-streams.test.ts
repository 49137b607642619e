import Fastify from 'fastify'
import { expect, test } from 'vitest'
import type { App } from './app-type.js'
import { EventStreams } from './event-streams.js'

test('a stream ends with the session that it belongs to, at the next heartbeat', async () => {
  const app = Fastify() as unknown as App
  const streams = new EventStreams(app, 5)
  let lasting = 2
  app.get('/', (request, reply) => {
    request.isStillSignedIn = async () => lasting-- > 0
    return streams.answer(reply, () => () => {})
  })
  const { body } = await app.inject({ url: '/' })
  // One when it begins, then one before each look.
  expect(body).toBe(':\n\n'.repeat(4))
  await app.close()
})
