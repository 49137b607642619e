import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { makeTileFolder } from '../harness/fixtures/tile-sets.js'
import { startGateway } from '../harness/start-gateway.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = '00f067aa0ba902b7'

interface Span {
  readonly service: string
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
}

interface Exported {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { key: string; value: { stringValue: string } }[] }
    readonly scopeSpans: readonly { readonly spans: readonly Omit<Span, 'service'>[] }[]
  }[]
}

test('one trace covers edge, control plane, job and callback; spans reach a collector, and log lines contain it', async () => {
  const spans: Span[] = []
  const callbacks: string[] = []
  const receiver = createServer(async (req, res) => {
    const body = await json(req)
    if (req.url !== '/v1/traces') callbacks.push(String(req.headers.traceparent))
    else {
      for (const { resource, scopeSpans } of (body as Exported).resourceSpans) {
        const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? ''
        spans.push(...scopeSpans.flatMap((scope) => scope.spans).map((span) => ({ ...span, service })))
      }
    }
    res.end('{}')
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  const gateway = await startGateway({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: address,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      ACCESS_LOG_EVERY: '1',
      CALLBACK_ALLOW: '127.0.0.0/8',
    },
  })
  await makeTileFolder(join(gateway.home, 'basemaps/world/v1'), { maxZoom: 0 })
  await gateway.admin.scanSource('maps', 'basemap', join(gateway.home, 'basemaps'))
  const { token } = await gateway.issueToken({ basemap_codes: ['world'], scopes: ['read', 'slice'] })
  const headers = { 'x-access-token': token, traceparent: `00-${TRACE}-${CALLER}-01`, 'x-request-id': 'r1' }
  expect((await fetch(`${gateway.url}/tiles/world/0/0/0.png?token=${token}`, { headers })).status).toBe(200)
  const submitted = await fetch(`${gateway.url}/api/v1/slice/jobs`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ target_code: 'none', source_path: '/missing.tif', callback_url: `${address}/callback` }),
  })
  const { id } = (await submitted.json()) as { id: string }
  while (callbacks.length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  // Processes flush their spans and write their logs when they stop.
  await gateway.stop()
  const logged = gateway.logs()
  receiver.close()

  const find = (service: string, name: string) => spans.find((span) => span.service === service && span.name === name)
  const edge = spans.find(({ name, traceId }) => name === 'POST passthrough' && traceId === TRACE)
  const control = find('gateway-control-plane', 'POST /api/v1/slice/jobs')
  expect(edge).toMatchObject({ service: 'gateway-edge', parentSpanId: CALLER })
  expect(control).toMatchObject({ traceId: TRACE, parentSpanId: edge?.spanId })
  const submission = { traceId: TRACE, parentSpanId: control?.spanId }
  expect(find('gateway-control-plane', 'slice job')).toMatchObject(submission)
  const delivery = find('gateway-control-plane', 'deliver slice_callback')
  expect(delivery).toMatchObject(submission)
  expect(callbacks).toEqual([`00-${TRACE}-${delivery?.spanId}-01`])

  const lines = logged.split('\n').filter((line) => line.startsWith('{'))
  const line = (words: string) => JSON.parse(lines.find((one) => one.includes(words)) ?? '{}')
  expect(line('a slice job was submitted')).toMatchObject({ job: id, trace_id: TRACE, request_id: 'r1' })
  expect(line('a slice job has ended here')).toMatchObject({ job: id, trace_id: TRACE, request_id: 'r1' })
  const prefix = token.slice(0, 12)
  const access = { msg: 'access', status: 200, token_prefix: prefix, trace_id: TRACE, request_id: 'r1' }
  expect(line('"path":"/tiles/world/0/0/0.png"')).toMatchObject(access)
  expect(logged).not.toContain(token)
})
