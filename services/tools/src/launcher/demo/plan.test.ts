import type { ScanSource } from '@gateway/contracts/scan-source.js'
import { expect, test } from 'vitest'
import { DEMO_BASEMAPS, DEMO_STYLES, DEMO_VECTORS, planDemo } from './plan.js'

function source(code: string, status: 'succeeded' | 'failed' | 'running' | null): ScanSource {
  const counts = { added: 0, updated: 0, missing: 0, warnings: 0, steps: 0 }
  const scan = {
    id: '',
    started_at: '2026-01-01T00:00:00Z',
    finished_at: null,
    message: '',
    reason: 'manual' as const,
    changed: null,
    next_scan_at: null,
    message_code: null,
    message_params: null,
    cancelled: false,
    ...counts,
  }
  const last_scan = status === null ? null : { ...scan, status }
  const basics = { code, name: code, kind: 'basemap', path: '/somewhere', enabled: true } as const
  return {
    ...basics,
    ...{ publish: 'automatic', schedule: null, next_scan_at: null, watch: false, watch_problem: null },
    last_scan,
    queued_at: null,
  }
}

test('an empty catalog is filled', () => {
  expect(planDemo([], 0)).toBe('fill')
})

test('a source that holds nothing yet does not keep the demo away', () => {
  expect(planDemo([source('layers', 'succeeded')], 0)).toBe('fill')
})

test('a catalog with other resources gets no demo', () => {
  expect(planDemo([source('mine', 'succeeded')], 3)).toBe('none')
})

test('a demo that was scanned completely is kept', () => {
  const complete = [DEMO_BASEMAPS, DEMO_VECTORS, DEMO_STYLES].map((code) => source(code, 'succeeded'))
  expect(planDemo(complete, 5)).toBe('keep')
})

test('a demo that an earlier start did not finish is finished', () => {
  expect(planDemo([source(DEMO_BASEMAPS, 'succeeded')], 2)).toBe('fill')
  expect(planDemo([source(DEMO_BASEMAPS, 'succeeded'), source(DEMO_VECTORS, null)], 2)).toBe('fill')
  expect(planDemo([source(DEMO_BASEMAPS, 'failed'), source(DEMO_VECTORS, 'succeeded')], 2)).toBe('fill')
})

test('a demo of an earlier release, which had no style, gets one', () => {
  expect(planDemo([source(DEMO_BASEMAPS, 'succeeded'), source(DEMO_VECTORS, 'succeeded')], 5)).toBe('fill')
})
