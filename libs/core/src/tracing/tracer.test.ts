import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { NO_TRACER, openTracer } from './tracer.js'

const PARENT = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', sampled: true, state: '' }
const WHO = { service: 'gateway-test', version: '1.2.3' }

test('without tracing a span has only ids: those of its parent, or new ones', async () => {
  const tracer = await openTracer({ ...WHO, protocol: null, onTrouble: () => {} })
  expect(tracer).toBe(NO_TRACER)
  expect(tracer.start('x', { kind: 'server', parent: PARENT }).context).toEqual(PARENT)
  expect(tracer.start('x', { kind: 'server', parent: null }).context).toMatchObject({ sampled: false })
})

test('spans arrive at a receiver of OTLP over HTTP, in the trace of their parent', async () => {
  const bodies: { path: string | undefined; body: string }[] = []
  const receiver = createServer(async (req, res) => {
    bodies.push({ path: req.url, body: await text(req) })
    res.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  process.env.OTEL_RESOURCE_ATTRIBUTES = 'deployment.environment.name=test'
  const troubles: unknown[] = []
  try {
    const tracer = await openTracer({ ...WHO, protocol: 'http/json', onTrouble: (error) => troubles.push(error) })
    const span = tracer.start('GET /x', { kind: 'server', parent: PARENT, attributes: { 'http.route': '/x' } })
    expect(span.context).toMatchObject({ traceId: PARENT.traceId, sampled: true })
    expect(span.context.spanId).not.toBe(PARENT.spanId)
    span.end({ 'http.response.status_code': 503 }, 'the store is away')
    const unsampled = tracer.start('GET /y', { kind: 'server', parent: { ...PARENT, sampled: false } })
    unsampled.end()
    await tracer.close()
  } finally {
    delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT
    delete process.env.OTEL_RESOURCE_ATTRIBUTES
    receiver.close()
  }
  expect(troubles).toEqual([])
  expect(bodies.map(({ path }) => path)).toEqual(['/v1/traces'])
  const [{ resource, scopeSpans }] = JSON.parse(bodies[0]?.body ?? '').resourceSpans
  const value = (name: string) =>
    resource.attributes.find(({ key }: { key: string }) => key === name)?.value.stringValue
  expect([value('service.name'), value('service.version')]).toEqual(['gateway-test', '1.2.3'])
  expect(value('deployment.environment.name')).toBe('test')
  expect(scopeSpans[0].spans).toEqual([
    expect.objectContaining({
      name: 'GET /x',
      traceId: PARENT.traceId,
      parentSpanId: PARENT.spanId,
      kind: 2,
      status: { code: 2, message: 'the store is away' },
    }),
  ])
})
