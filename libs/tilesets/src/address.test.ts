import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { flipRow, isInPyramid, MAX_ZOOM, parseIndex, parseTileAddress } from './address.js'

const tile = fc
  .integer({ min: 0, max: MAX_ZOOM })
  .chain((z) => fc.record({ z: fc.constant(z), x: fc.nat(2 ** z - 1), y: fc.nat(2 ** z - 1) }))

describe('a tile address', () => {
  it('is parsed as written', () => {
    fc.assert(
      fc.property(tile, fc.constantFrom('png', 'jpeg', 'MVT', 'x'), ({ z, x, y }, extension) => {
        expect(parseTileAddress(`${z}`, `${x}`, `${y}.${extension}`)).toEqual({
          ok: true,
          z,
          x,
          y,
          suffix: '',
          extension,
        })
      }),
    )
  })

  it('beyond its zoom is out of range, which differs from malformed', () => {
    fc.assert(
      fc.property(tile, fc.bigInt({ min: 0n, max: 10n ** 30n }), ({ z, x, y }, beyond) => {
        const index = String(BigInt(2 ** z) + beyond)
        const outOfRange = { ok: false, reason: 'out_of_range', z }
        expect(parseTileAddress(`${z}`, index, `${y}.png`)).toEqual(outOfRange)
        expect(parseTileAddress(`${z}`, `${x}`, `${index}.png`)).toEqual(outOfRange)
        expect(parseTileAddress(String(BigInt(MAX_ZOOM + 1) + beyond), '0', '0.png')).toMatchObject({
          ok: false,
          reason: 'out_of_range',
        })
      }),
    )
  })

  it.each(['', '+1', '-1', '01', '00', '1.0', '1e3', '0x1', ' 1', '1 ', '1_0', '١', 'NaN', 'Infinity', '%31', '1/2'])(
    'with the number %j is malformed in each place',
    (number) => {
      const malformed = { ok: false, reason: 'malformed' }
      expect(parseTileAddress(number, '0', '0.png')).toEqual(malformed)
      expect(parseTileAddress('5', number, '0.png')).toEqual(malformed)
      expect(parseTileAddress('5', '0', `${number}.png`)).toEqual(malformed)
    },
  )

  it.each(['0', '0.', '.png', '0@3x.png', '@2x.png', '0@2x', '0.png/..', '0.p-g', '0.verylongext', '0.png.png'])(
    'ending in %j is malformed',
    (end) => {
      expect(parseTileAddress('0', '0', end)).toEqual({ ok: false, reason: 'malformed' })
    },
  )

  it('is never accepted unless it is canonical', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const index = parseIndex(text)
        if (index >= 0 && Number.isFinite(index)) expect(String(index)).toBe(text)
      }),
    )
  })
})

it('flipping a row twice returns the row, and the first becomes the last', () => {
  fc.assert(
    fc.property(tile, ({ z, x, y }) => {
      expect(flipRow(z, flipRow(z, y))).toBe(y)
      expect(isInPyramid(z, x, flipRow(z, y))).toBe(true)
      expect(flipRow(z, 0)).toBe(2 ** z - 1)
    }),
  )
})
