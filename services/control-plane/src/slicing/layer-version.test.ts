import { expect, test } from 'vitest'
import { versionFor } from './layer-version.js'

const NOW = Date.UTC(2026, 10, 21)
const ONE = { sourcePaths: ['/a.tif'], version: null }
const SEVERAL = { sourcePaths: ['/a.tif', '/b.tif'], version: null }
const LAYER = { known: ['2026-11-01', '2026-11-09'], newest: '2026-11-01' }

test('one source goes to the newest version that is available, several to a new one', () => {
  expect(versionFor(ONE, LAYER, NOW)).toBe('2026-11-01')
  expect(versionFor(SEVERAL, LAYER, NOW)).toBe('2026-11-21')
})

test('one source begins a layer that has nothing available', () => {
  expect(versionFor(ONE, { known: ['2026-11-21'], newest: undefined }, NOW)).toBe('2026-11-21-2')
})

test('a job that ran before stays where it was', () => {
  expect(versionFor({ ...SEVERAL, version: '2026-11-09' }, LAYER, NOW)).toBe('2026-11-09')
})
