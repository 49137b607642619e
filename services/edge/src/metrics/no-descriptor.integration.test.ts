import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

const compiled = (name: string) => JSON.stringify(new URL(`../../dist/${name}`, import.meta.url).href)

/** Opens every descriptor that the process may have, and then reads its metrics. */
const SCRIPT = `
  import { openSync } from 'node:fs'
  import { Counters } from ${compiled('metrics/counters.js')}
  import { createProcessMetrics } from ${compiled('metrics/registry.js')}
  import { ownVersion } from ${compiled('own-version.js')}
  const zero = () => 0
  const metrics = createProcessMetrics(new Counters(), {
    appliedRevision: zero, tileBytes: () => ({ native: 0, javascript: 0 }), tileMemoryBytes: zero, cachedTokens: zero, openTransfers: zero,
    syncAgeSeconds: zero, storeUp: () => true, busUp: () => true, upstreamRequests: () => ({}), remote: () => undefined, upstream: () => undefined, missingGlyphs: () => 0, fileTier: () => 'copy',
    version: ownVersion,
  })
  try {
    for (;;) openSync('/dev/null')
  } catch (error) {
    if (error.code !== 'EMFILE') throw error
  }
  const report = await metrics.report()
  const value = (name) => report.find((metric) => metric.name === name).values[0].value
  console.log(JSON.stringify({
    memory: value('gateway_resident_memory_bytes'), open: value('gateway_process_open_fds'), most: value('gateway_process_max_fds'),
  }))`

test('a process without free descriptors still returns its metrics', () => {
  const command = ['--nofile=128:128', process.execPath, '--input-type=module', '-e', SCRIPT]
  const { memory, open, most } = JSON.parse(execFileSync('prlimit', command, { encoding: 'utf8' }))
  expect(memory).toBeGreaterThan(1e6)
  expect(most).toBe(128)
  // Before Linux 6.2 the number of open descriptors cannot be read without another one.
  if (open !== null) expect(open).toBeGreaterThanOrEqual(128)
})
