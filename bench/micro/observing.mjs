/**
 * The cost of tracing for each edge request that JavaScript handles, disabled and enabled. Responses from the native table are not traced.
 *
 *   node bench/micro/observing.mjs [--rounds 9]
 *
 * Needs `npx tsc -b`. Prints nanoseconds per request, medians of interleaved rounds. Nothing is sent: the collector's address does not exist.
 */
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { parseTraceparent } from '@gateway/core/tracing/trace-context.js'
import { NO_TRACER, openTracer } from '@gateway/core/tracing/tracer.js'
import { median } from '../dist/compare/summary.js'
import { textTable } from '../dist/report/text-table.js'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' } } })
process.env.OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:9'
const recording = await openTracer({ protocol: 'http/protobuf', service: 'bench', version: '0', onTrouble: () => {} })
const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const options = (traceparent) => ({
  kind: /** @type {const} */ ('server'),
  parent: parseTraceparent(traceparent),
  attributes: { 'http.request.method': 'GET', 'url.path': '/tiles/world/1/0/0/0.webp' },
})

/**
 * The calls that the edge makes, each with the number of times in a round.
 * @type {Record<string, [number, () => unknown]>}
 */
const WORK = {
  'tracing off, no traceparent': [1e6, () => parseTraceparent('') !== null || NO_TRACER.on],
  'tracing off, a traceparent is handed on': [2e5, () => NO_TRACER.start('GET tile', options(TRACEPARENT)).end()],
  'tracing on, a recorded span': [
    2e4,
    () => recording.start('GET tile', options(TRACEPARENT)).end({ 'http.response.status_code': 200 }),
  ],
}

const times = Object.fromEntries(Object.keys(WORK).map((name) => [name, []]))
for (let round = -1; round < Number(values.rounds); round++) {
  for (const [name, [count, work]] of Object.entries(WORK)) {
    const from = performance.now()
    for (let i = 0; i < count; i++) work()
    // The first round lets the compiler optimize.
    if (round >= 0) times[name].push(((performance.now() - from) * 1e6) / count)
    await new Promise((resolve) => setImmediate(resolve))
  }
}
console.log(
  textTable(
    ['what', 'ns'],
    Object.entries(times).map(([name, all]) => [name, median(all).toFixed(1)]),
  ),
)
process.exit(0)
