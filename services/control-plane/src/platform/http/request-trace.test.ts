import { setTimeout as sleep } from 'node:timers/promises'
import { logContext } from '@gateway/core/logging/log.js'
import type { Tracer } from '@gateway/core/tracing/span.js'
import { NO_TRACER } from '@gateway/core/tracing/tracer.js'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import type { ControlContext } from '../context.js'
import { currentTrace } from '../trace.js'
import type { App } from './app-type.js'
import { registerRequestTrace } from './request-trace.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`

async function appWith(tracer: Tracer) {
  const app = Fastify() as unknown as App
  registerRequestTrace(app, { tracer } as ControlContext)
  app.post('/x/:id', async () => {
    await sleep(1)
    return { fields: logContext.getStore(), trace: currentTrace() }
  })
  return app
}

test('code that runs for a request, even after its body was read and after a wait, has its trace and its id', async () => {
  const app = await appWith(NO_TRACER)
  const headers = { traceparent: TRACEPARENT, 'x-request-id': 'r1' }
  const { fields, trace } = (await app.inject({ method: 'POST', url: '/x/1', headers, payload: { a: 1 } })).json()
  expect(fields).toEqual({ trace_id: TRACE, span_id: '00f067aa0ba902b7', trace_flags: '01', request_id: 'r1' })
  expect(trace).toMatchObject({ traceId: TRACE, sampled: true })
  const other = await app.inject({ method: 'POST', url: '/x/1', headers: { 'x-request-id': 'two words' } })
  expect(other.json().fields).toEqual({
    trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
    trace_flags: '00',
  })
})

test('a span is named after the route, and ends with the status', async () => {
  const spans: unknown[] = []
  const app = await appWith({
    ...NO_TRACER,
    start: (name, options) => {
      const { context } = NO_TRACER.start(name, options)
      return { context, end: (...end) => void spans.push([name, options.parent?.traceId, end]) }
    },
  })
  await app.inject({ method: 'POST', url: '/x/1', headers: { traceparent: TRACEPARENT } })
  await app.inject({ method: 'GET', url: '/nowhere' })
  expect(spans).toEqual([
    ['POST /x/:id', TRACE, [{ 'http.response.status_code': 200 }, null]],
    ['GET none', undefined, [{ 'http.response.status_code': 404 }, null]],
  ])
})
