import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseByteRange } from './byte-range.js'

const size = fc.integer({ min: 1, max: 10_000 })
const place = fc.integer({ min: 0, max: 20_000 })

test('a range with both ends returns that part, up to the end of the file', () => {
  fc.assert(
    fc.property(size, place, place, (n, a, b) => {
      const [first, last] = a <= b ? [a, b] : [b, a]
      const expected = first >= n ? { kind: 'unsatisfiable' } : { kind: 'part', first, last: Math.min(last, n - 1) }
      expect(parseByteRange(`bytes=${first}-${last}`, n)).toEqual(expected)
    }),
  )
})

test('an open range reaches to the end, and a suffix counts from it', () => {
  expect(parseByteRange('bytes=10-', 100)).toEqual({ kind: 'part', first: 10, last: 99 })
  expect(parseByteRange('bytes=-10', 100)).toEqual({ kind: 'part', first: 90, last: 99 })
  expect(parseByteRange('bytes=-1000', 100)).toEqual({ kind: 'part', first: 0, last: 99 })
})

test('a range beyond the file is unsatisfiable', () => {
  for (const header of ['bytes=100-', 'bytes=100-200', 'bytes=-0']) {
    expect(parseByteRange(header, 100), header).toEqual({ kind: 'unsatisfiable' })
  }
  expect(parseByteRange('bytes=0-', 0)).toEqual({ kind: 'unsatisfiable' })
  expect(parseByteRange('bytes=-5', 0)).toEqual({ kind: 'unsatisfiable' })
})

test('a malformed range, another unit or several ranges mean the whole file', () => {
  for (const header of ['bytes=5-2', 'bytes=-', 'bytes=a-b', 'lines=0-1', 'bytes=0-1,3-4', '', 'bytes 0-1']) {
    expect(parseByteRange(header, 100), header).toEqual({ kind: 'whole' })
  }
})

test('no header results in a range outside of the file', () => {
  fc.assert(
    fc.property(fc.string(), size, (header, n) => {
      const range = parseByteRange(header, n)
      if (range.kind === 'part') expect(range.first >= 0 && range.first <= range.last && range.last < n).toBe(true)
    }),
  )
})
