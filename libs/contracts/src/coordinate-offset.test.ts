import { expect, test } from 'vitest'
import { offsetOf, scannedOffset } from './version-overrides.js'

test("the operator's label takes precedence over that of the metadata; an unknown offset has none", () => {
  const said = { coordinate_offset: 'GCJ02' }
  expect(scannedOffset(said)).toBe('gcj02')
  expect(offsetOf({ metadata: said, overrides: {} })).toBe('gcj02')
  expect(offsetOf({ metadata: {}, overrides: { coordinate_offset: 'gcj02' } })).toBe('gcj02')
  for (const metadata of [{}, { coordinate_offset: 'bd09' }, { coordinate_offset: 7 }, { coordinate_offset: null }])
    expect(offsetOf({ metadata, overrides: {} })).toBeNull()
})
