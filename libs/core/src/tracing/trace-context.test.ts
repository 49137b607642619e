import { expect, test } from 'vitest'
import { formatTraceparent, newTrace, parseTraceparent, traceHeaders } from './trace-context.js'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

test('a traceparent is parsed, and formatted unchanged', () => {
  const text = `00-${TRACE}-${SPAN}-01`
  const context = parseTraceparent(text, 'vendor=1')
  expect(context).toEqual({ traceId: TRACE, spanId: SPAN, sampled: true, state: 'vendor=1' })
  expect(context && traceHeaders(context)).toEqual(['traceparent', text, 'tracestate', 'vendor=1'])
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-02`)).toMatchObject({ sampled: false, state: '' })
})

test('of a later version only the known fields count', () => {
  expect(parseTraceparent(`cc-${TRACE}-${SPAN}-01-what-the-future-will-be-like`)).toMatchObject({ traceId: TRACE })
  expect(parseTraceparent(`cc-${TRACE}-${SPAN}-01.what`)).toBeNull()
})

test.each([
  '',
  'nonsense',
  `ff-${TRACE}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01-more`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE}-${SPAN}`,
  ` 00-${TRACE}-${SPAN}-01`,
])('%j is not a trace', (text) => {
  expect(parseTraceparent(text)).toBeNull()
})

test('a tracestate that is too long is dropped, and the trace continues', () => {
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-01`, 'a'.repeat(513))).toMatchObject({ traceId: TRACE, state: '' })
})

test('a new trace is valid, and different each time', () => {
  const [one, other] = [newTrace(), newTrace()]
  expect(parseTraceparent(formatTraceparent(one))).toEqual(one)
  expect(one.traceId).not.toBe(other.traceId)
})
