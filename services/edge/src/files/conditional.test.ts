import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { httpDate, isNotModified, isPreconditionFailed, isRangeStillGood } from './conditional.js'

const current = { etag: '"a,b-1"', modifiedMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678) }

describe('If-None-Match', () => {
  test.each(['"a,b-1"', 'W/"a,b-1"', '"x", "a,b-1"', '"x",W/"a,b-1" , "y"', '*', ' * '])(
    '%s finds the same content',
    (header) => {
      expect(isNotModified(header, '', current)).toBe(true)
    },
  )

  test.each(['"x"', '"a"', 'a,b-1', '"a,b-1', 'W/"x", "b-1"'])('%s finds other content', (header) => {
    expect(isNotModified(header, '', current)).toBe(false)
  })

  test('is the only condition that counts if it is present', () => {
    expect(isNotModified('"x"', httpDate(current.modifiedMs), current)).toBe(false)
  })
})

describe('If-Match', () => {
  test.each(['"a,b-1"', '"x", "a,b-1"', 'W/"a,b-1", "a,b-1"', '*', ' * '])('%s finds the same content', (header) => {
    expect(isPreconditionFailed(header, '', current)).toBe(false)
  })

  test.each(['"x"', 'W/"a,b-1"', '"a"', 'a,b-1', '"a,b-1'])('%s finds other content', (header) => {
    expect(isPreconditionFailed(header, '', current)).toBe(true)
  })

  test('never matches content with a weak tag', () => {
    expect(isPreconditionFailed('W/"x"', '', { ...current, etag: 'W/"x"' })).toBe(true)
  })

  test('is the only condition that counts if it is present', () => {
    expect(isPreconditionFailed('"a,b-1"', httpDate(0), current)).toBe(false)
  })
})

test('If-Unmodified-Since compares whole seconds, and ignores content without a date', () => {
  expect(isPreconditionFailed('', httpDate(current.modifiedMs), current)).toBe(false)
  expect(isPreconditionFailed('', httpDate(current.modifiedMs - 1_000), current)).toBe(true)
  expect(isPreconditionFailed('', 'yesterday', current)).toBe(false)
  expect(isPreconditionFailed('', httpDate(0), { ...current, modifiedMs: Number.POSITIVE_INFINITY })).toBe(false)
})

test('If-Modified-Since compares whole seconds', () => {
  expect(isNotModified('', httpDate(current.modifiedMs), current)).toBe(true)
  expect(isNotModified('', httpDate(current.modifiedMs + 5_000), current)).toBe(true)
  expect(isNotModified('', httpDate(current.modifiedMs - 1_000), current)).toBe(false)
  expect(isNotModified('', 'yesterday', current)).toBe(false)
})

describe('a date in a condition', () => {
  const modified = { etag: '"a"', modifiedMs: Date.UTC(2026, 10, 6, 8, 49, 37) }
  test.each(['Fri, 06 Nov 2026 08:49:37 GMT', 'Friday, 06-Nov-26 08:49:37 GMT', 'Fri Nov  6 08:49:37 2026'])(
    '%s is parsed as an HTTP date in any time zone of the machine',
    (date) => {
      expect([isNotModified('', date, modified), isRangeStillGood(date, modified)]).toEqual([true, true])
      const before = date.replace(':37', ':36')
      expect([isNotModified('', before, modified), isRangeStillGood(before, modified)]).toEqual([false, false])
    },
  )

  test.each([
    'copy of 2038',
    '2038',
    '2038-01-01T00:00:00Z',
    'Fri, 01 Jan 2038 00:00:00',
    'Fri, 01 Jan 2038 00:00:00 +0100',
  ])('%s is not an HTTP date and is ignored', (text) => {
    expect(isNotModified('', text, modified)).toBe(false)
  })
})

test('If-Range accepts the strong tag or the exact date, and never a weak tag', () => {
  expect(isRangeStillGood('', current)).toBe(true)
  expect(isRangeStillGood('"a,b-1"', current)).toBe(true)
  expect(isRangeStillGood('W/"a,b-1"', current)).toBe(false)
  expect(isRangeStillGood(httpDate(current.modifiedMs), current)).toBe(true)
  expect(isRangeStillGood(httpDate(current.modifiedMs + 60_000), current)).toBe(false)
  expect(isRangeStillGood('nonsense', current)).toBe(false)
})

test('no header causes an error', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      isNotModified(a, b, current)
      isRangeStillGood(a, current)
    }),
  )
})
