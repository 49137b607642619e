import type { EdgePresence } from '@gateway/contracts/edge.js'
import { ANSWER_TIME_BOUNDS, type TrafficCounters } from '@gateway/contracts/traffic.js'
import { expect, test } from 'vitest'
import { keptHistorySchema, TrafficHistory } from './traffic-history.js'

const START = Date.parse('2026-01-01T00:00:00Z')

function edge(id: string, requests: number, startedMs = START - 60_000): EdgePresence {
  const at = new Date(startedMs).toISOString()
  const rest = { tiles: 0, tiles_missing: 0, memory_hits: 0, downloads: 0, auth_failures: 0, server_errors: 0 }
  const traffic = { requests, ...rest, bytes_sent: 0 }
  return { id, host: 'h', pid: 1, version: '1', started_at: at, seen_at: at, applied_revision: 0, traffic }
}

test('requests counted before the control plane started do not belong to this hour', () => {
  const history = new TrafficHistory(START)
  history.sample([edge('a', 5_000)], START + 5_000)
  history.sample([edge('a', 5_040)], START + 10_000)
  const { points, edges } = history.view()
  expect(points.map(({ requests, seconds }) => ({ requests, seconds }))).toEqual([{ requests: 40, seconds: 10 }])
  expect(edges).toMatchObject([{ id: 'a', requests: 40, seconds: 5 }])
})

test('a replaced process is counted from its start, and no count is negative', () => {
  const history = new TrafficHistory(START)
  history.sample([edge('a', 100)], START + 5_000)
  history.sample([edge('b', 7, START + 6_000)], START + 10_000)
  history.sample([edge('b', 3, START + 6_000)], START + 15_000)
  expect(history.view().points[0]?.requests).toBe(7)
  expect(history.view().edges).toMatchObject([{ id: 'b', requests: 0 }])
})

test('a restarted control plane continues its history, including the counts of edges meanwhile', () => {
  const before = new TrafficHistory(START)
  before.sample([edge('a', 100)], START + 5_000)
  before.sample([edge('a', 140)], START + 10_000)
  const kept = keptHistorySchema.parse(JSON.parse(JSON.stringify(before.kept())))
  const after = new TrafficHistory(START + 70_000, kept)
  expect(after.view()).toMatchObject({ since: new Date(START).toISOString(), points: [{ requests: 40 }] })
  after.sample([edge('a', 200), edge('b', 9, START + 40_000)], START + 75_000)
  expect(after.view().points).toMatchObject([{ requests: 40 }, { requests: 69, seconds: 65 }])
  expect(new TrafficHistory(START + 31 * 86_400_000, kept).view('month').points).toEqual([])
})

test('half minutes in which maps were requested are counted, and those with other requests are not', () => {
  const history = new TrafficHistory(START)
  const used = (requests: number, tiles: number): EdgePresence => {
    const one = edge('a', requests)
    return { ...one, traffic: { ...(one.traffic as TrafficCounters), tiles } }
  }
  history.sample([used(0, 0)], START + 5_000)
  for (let i = 2; i <= 6; i++) history.sample([used(i, 1)], START + i * 5_000)
  expect(history.busySpans).toBe(1)
  for (let i = 7; i <= 12; i++) history.sample([used(i, 1)], START + i * 5_000)
  expect(history.busySpans).toBe(1)
})

test('spans of half a minute are kept for an hour', () => {
  const history = new TrafficHistory(START)
  for (let second = 5; second <= 2 * 3600; second += 5) history.sample([edge('a', second)], START + second * 1000)
  const { points } = history.view()
  expect(points.length).toBe(120)
  expect(points.slice(1, -1).every(({ requests, seconds }) => requests === 30 && seconds === 30)).toBe(true)
})

test('longer ranges have longer spans, and each process has its own', () => {
  const history = new TrafficHistory(START)
  for (let second = 30; second <= 26 * 3600; second += 30) history.sample([edge('a', second)], START + second * 1000)
  expect((['hour', 'day', 'week', 'month'] as const).map((range) => history.view(range).points.length)).toEqual([
    120, 144, 27, 7,
  ])
  expect(history.edge('a', 'day')?.points.at(-2)).toMatchObject({ seconds: 600, requests: 600 })
  expect(history.edge('b', 'day')).toBeUndefined()
})

test('latency is estimated from counts by time, for all processes and for one', () => {
  const history = new TrafficHistory(START)
  const counts = (fast: number, slow: number) =>
    ANSWER_TIME_BOUNDS.map((s) => (s === 0.001 ? fast : s === 1 ? slow : 0))
  const at = (fast: number, slow: number) => {
    const { traffic, ...rest } = edge('a', fast + slow)
    return [
      { ...rest, traffic: { ...(traffic as TrafficCounters), durations: [...counts(fast, slow), 0], memory_bytes: 7 } },
    ]
  }
  history.sample(at(10, 10), START + 5_000)
  history.sample(at(108, 12), START + 10_000)
  const latency = { p50: expect.closeTo(0.00075, 4), p95: expect.closeTo(0.00098, 4), p99: expect.closeTo(0.75, 2) }
  expect(history.view().points).toMatchObject([{ requests: 100, latency }])
  expect(history.view().edges).toMatchObject([{ id: 'a', latency, memory_bytes: 7 }])
  expect(history.edge('a', 'hour')?.points).toMatchObject([{ latency, memory_bytes: 7 }])
})
