import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { registerAnswerInTime } from './answer-in-time.js'
import type { App } from './app-type.js'
import { registerErrorAnswers } from './error-answers.js'

test('a handler that never responds gets 503; one that may take long is waited for', async () => {
  const app = Fastify() as unknown as App
  registerErrorAnswers(app)
  registerAnswerInTime(app, { read: 5, write: 5, answer: 5 })
  app.get('/stuck', (_, reply) => {
    reply.header('Content-Encoding', 'br').header('ETag', '"of another body"')
    return new Promise(() => {})
  })
  let answer = (_: object): void => {}
  app.get('/long', { config: { mayTakeLong: true } }, () => new Promise((resolve) => (answer = resolve)))
  // A library's route, which a hook marks.
  app.addHook('onRoute', (route) => {
    if (route.url === '/file') route.config = { ...route.config, mayTakeLong: true }
  })
  app.get('/file', () => new Promise((resolve) => setTimeout(resolve, 50, { file: true })))
  app.get('/quick', async () => ({ quick: true }))
  const long = app.inject('/long')
  const stuck = await app.inject('/stuck')
  expect(stuck.statusCode).toBe(503)
  expect(stuck.headers).not.toHaveProperty('content-encoding')
  expect(stuck.headers).not.toHaveProperty('etag')
  expect(stuck.headers['retry-after']).toMatch(/^\d+$/)
  expect(stuck.json()).toEqual({ error: expect.stringContaining('try again') })
  expect((await app.inject('/quick')).json()).toEqual({ quick: true })
  expect((await app.inject('/file')).json()).toEqual({ file: true })
  answer({ long: true })
  expect((await long).json()).toEqual({ long: true })
  await app.close()
})
