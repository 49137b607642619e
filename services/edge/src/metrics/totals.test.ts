import { expect, test } from 'vitest'
import { Counters } from './counters.js'
import { createProcessMetrics, type ProcessMetrics } from './registry.js'
import { exposition, Totals } from './totals.js'

function processWith(requests: number, revision = 7, syncAge = 1): { metrics: ProcessMetrics; counters: Counters } {
  const counters = new Counters()
  counters.requests = requests
  counters.authFailures.token_expired = requests
  const metrics = createProcessMetrics(counters, {
    appliedRevision: () => revision,
    tileBytes: () => ({ native: 4, javascript: 6 }),
    tileMemoryBytes: () => 20,
    cachedTokens: () => 1,
    openTransfers: () => 0,
    syncAgeSeconds: () => syncAge,
    storeUp: () => syncAge < 10,
    busUp: () => true,
    upstreamRequests: () => ({ answers: 1 }),
    remote: () => undefined,
    upstream: () => undefined,
    missingGlyphs: () => 0,
    fileTier: () => 'copy',
    version: () => '1.2.3',
  })
  return { metrics, counters }
}

const sampleOf = (text: string, name: string) =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')
      .at(-1),
  )

test('counters and gauges are summed over processes; the worst revision and freshness is returned', async () => {
  const totals = new Totals()
  totals.keep(1, await processWith(3, 9, 40).metrics.report())
  totals.keep(2, await processWith(4, 5).metrics.report())
  const text = await totals.text([exposition('gauge', 'gateway_edge_processes', 'Processes', 2)])
  expect(sampleOf(text, 'gateway_requests_total')).toBe(7)
  expect(sampleOf(text, 'gateway_auth_failures_total{reason="token_expired"}')).toBe(7)
  expect(sampleOf(text, 'gateway_auth_failures_total{reason="token_missing"}')).toBe(0)
  expect(sampleOf(text, 'gateway_tile_memory_bytes')).toBe(40)
  expect(sampleOf(text, 'gateway_applied_revision')).toBe(5)
  expect(sampleOf(text, 'gateway_sync_age_seconds')).toBe(40)
  expect(sampleOf(text, 'gateway_build_info{version="1.2.3"}')).toBe(2)
  expect(sampleOf(text, 'gateway_resident_memory_bytes')).toBeGreaterThan(2e7)
  expect(sampleOf(text, 'gateway_event_loop_delay_seconds')).toBeGreaterThanOrEqual(0)
  expect(sampleOf(text, 'gateway_file_tier{tier="copy"}')).toBe(2)
  expect(sampleOf(text, 'gateway_edge_processes')).toBe(2)
})

test('the counts of a dead process stay in the sums, its gauges do not', async () => {
  const totals = new Totals()
  const dying = processWith(3)
  dying.counters.answers.tile.durations.add(0.002)
  dying.counters.tileTimes.of('thread').add(0.002)
  totals.keep(1, await dying.metrics.report())
  totals.keep(2, await processWith(4).metrics.report())
  await totals.retire(1)
  const text = await totals.text([])
  expect(sampleOf(text, 'gateway_requests_total')).toBe(7)
  expect(sampleOf(text, 'gateway_hot_tile_bytes')).toBe(10)
  expect(sampleOf(text, 'gateway_request_duration_seconds_count{kind="tile"}')).toBe(1)
  const duration = 'gateway_tile_duration_seconds'
  expect(sampleOf(text, `${duration}_count{source="thread"}`)).toBe(1)
  expect(sampleOf(text, `${duration}_bucket{le="0.001",source="thread"}`)).toBe(0)
  expect(sampleOf(text, `${duration}_bucket{le="0.005",source="thread"}`)).toBe(1)
  totals.keep(3, await processWith(5).metrics.report())
  await totals.retire(2)
  await totals.retire(3)
  expect(sampleOf(await totals.text([]), 'gateway_requests_total')).toBe(12)
})

test('served tiles are hits of one of the two caches, or misses', async () => {
  const { metrics, counters } = processWith(0)
  Object.assign(counters, { tiles: 10, hotTileHits: 7, nativeTileHits: 4, threadedTiles: 1 })
  const totals = new Totals()
  totals.keep(1, await metrics.report())
  const text = await totals.text([])
  expect(sampleOf(text, 'gateway_tile_cache_hits_total{cache="native"}')).toBe(4)
  expect(sampleOf(text, 'gateway_tile_cache_hits_total{cache="javascript"}')).toBe(3)
  expect(sampleOf(text, 'gateway_tile_cache_misses_total')).toBe(3)
  expect(sampleOf(text, 'gateway_hot_tile_hits_total')).toBe(7)
  const sources = ['memory', 'page_cache', 'thread'].map((source) => `gateway_tile_answers_total{source="${source}"}`)
  expect(sources.map((source) => sampleOf(text, source))).toEqual([7, 2, 1])
})
