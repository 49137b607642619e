import { compareVersions } from '@gateway/store/default-version.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newVersionLabel, versionFor } from './layer-version.js'

const NOW = Date.UTC(2026, 10, 21)
const ONE = { sourceCount: 1, version: null }
const SEVERAL = { sourceCount: 2, version: null }
const LAYER = { known: ['2026-11-01', '2026-11-09'], newest: '2026-11-01' }

test('one source goes to the newest available version, several to a new one', () => {
  expect(versionFor(ONE, LAYER, NOW)).toBe('2026-11-01')
  expect(versionFor(SEVERAL, LAYER, NOW)).toBe('2026-11-21')
})

test('one source starts a layer without an available version', () => {
  expect(versionFor(ONE, { known: ['2026-11-21'], newest: undefined }, NOW)).toBe('2026-11-21-2')
})

test('a job that ran before keeps its version', () => {
  expect(versionFor({ ...SEVERAL, version: '2026-11-09' }, LAYER, NOW)).toBe('2026-11-09')
})

const DAY = Date.UTC(2026, 10, 21, 23, 59)

test('the first version is named after the day in UTC', () => {
  expect(newVersionLabel([], DAY)).toBe('2026-11-21')
})

test('further ones of the same day get numbers, in natural order', () => {
  expect(newVersionLabel(['2026-11-21'], DAY)).toBe('2026-11-21-2')
  expect(newVersionLabel(['2026-11-21', '2026-11-21-9'], DAY)).toBe('2026-11-21-10')
})

test('whatever versions exist, a new one is newer than all of them', () => {
  const labels = fc.array(fc.stringMatching(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,12}$/), { maxLength: 6 })
  fc.assert(
    fc.property(labels, (known) => {
      const label = newVersionLabel(known, DAY)
      for (const other of known) expect(compareVersions(label, other)).toBeGreaterThan(0)
    }),
  )
})
