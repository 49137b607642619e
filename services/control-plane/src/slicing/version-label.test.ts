import { compareVersions } from '@gateway/store/default-version.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newVersionLabel } from './version-label.js'

const DAY = Date.UTC(2026, 10, 21, 23, 59)

test('the first version is named after the day in UTC', () => {
  expect(newVersionLabel([], DAY)).toBe('2026-11-21')
})

test('further ones of the same day get numbers, in natural order', () => {
  expect(newVersionLabel(['2026-11-21'], DAY)).toBe('2026-11-21-2')
  expect(newVersionLabel(['2026-11-21', '2026-11-21-9'], DAY)).toBe('2026-11-21-10')
})

test('whatever versions there are, a new one is newer than all of them', () => {
  const labels = fc.array(fc.stringMatching(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,12}$/), { maxLength: 6 })
  fc.assert(
    fc.property(labels, (known) => {
      const label = newVersionLabel(known, DAY)
      for (const other of known) expect(compareVersions(label, other)).toBeGreaterThan(0)
    }),
  )
})
