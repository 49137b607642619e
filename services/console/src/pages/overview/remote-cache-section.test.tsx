// @vitest-environment happy-dom
import type { EdgePresence, RemoteCache } from '@gateway/contracts/edge.js'
import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { show, stubService } from '../../testing/render.js'
import { RemoteCacheSection } from './remote-cache-section.js'

const NOTHING = {
  requests: 0,
  tiles: 0,
  tiles_missing: 0,
  memory_hits: 0,
  downloads: 0,
  auth_failures: 0,
  server_errors: 0,
  bytes_sent: 0,
}
const GIB = 1024 ** 3

function edge(host: string, pid: number, cache?: Partial<RemoteCache>): EdgePresence {
  const at = '2026-11-22T10:00:00Z'
  const empty = { kept_bytes: 0, capacity_bytes: 10 * GIB, saved_bytes: 0, fetched_bytes: 0, failing: false }
  const remote_cache = cache && { ...empty, ...cache }
  const traffic = { ...NOTHING, remote_cache }
  return { id: `${host}-${pid}`, host, pid, version: '1', started_at: at, seen_at: at, applied_revision: 1, traffic }
}

test('the cache of a host is shown once, with the totals of its processes', async () => {
  stubService(() => ({}))
  const edges = [
    edge('north', 1, { kept_bytes: 2 * GIB, saved_bytes: 3 * GIB, fetched_bytes: GIB }),
    edge('north', 2, { kept_bytes: GIB, saved_bytes: 2 * GIB, fetched_bytes: GIB }),
    edge('south', 3, { capacity_bytes: 0, failing: true }),
    edge('west', 4),
  ]
  show(<RemoteCacheSection edges={edges} />)
  const [, north, south, ...others] = (await screen.findAllByRole('row')).map((row) => row.textContent)
  expect(north).toMatch(/^north.*2.*of 10.*5.*2.*OK$/)
  expect(south).toMatch(/^south.*No cache.*Failing$/)
  expect(others).toEqual([])
})

test('nothing is shown if no edge has read a remote version', () => {
  stubService(() => ({}))
  show(<RemoteCacheSection edges={[edge('north', 1)]} />)
  expect(screen.queryByRole('table')).toBeNull()
})
