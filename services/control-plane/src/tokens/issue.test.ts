import { expect, test } from 'vitest'
import { expiryOf } from './issue.js'

const NOW = Date.parse('2026-11-20T10:00:00Z')

test.each([
  [undefined, '2026-11-20T11:00:00.000Z'],
  ['2030-01-02T00:00:00+08:00', '2030-01-01T16:00:00.000Z'],
  ['2030-01-02T03:04:05', '2030-01-02T03:04:05.000Z'],
  ['2030-01-02T03:04:05.678901', '2030-01-02T03:04:05.678Z'],
  ['2020-01-01', '2020-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
] as const)('expires_at %s means %s', (given, expected) => {
  expect(expiryOf(given, NOW, 3600)).toEqual({ ok: true, at: new Date(expected) })
})

test('0 means never', () => {
  expect(expiryOf(0, NOW, 3600)).toEqual({ ok: true, at: null })
})

test.each(['0000-06-01', '0000-12-31T23:59:59Z', '9999-12-31T23:59:59-14:00'])(
  '%s lies outside of the years that can be told',
  (given) => {
    expect(expiryOf(given, NOW, 3600)).toMatchObject({ ok: false, code: 'invalid_parameters' })
  },
)
