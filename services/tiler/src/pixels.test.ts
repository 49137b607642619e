import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { alphaKind, type Children, downsample, downsampleClasses, layOver, type Pixels } from './pixels.js'

const SIZE = 4
const pixelsOf = (bytes: readonly number[]) => Buffer.from(bytes)
/** Tiles of 4×4 pixels whose alpha takes its extremes often. */
const tile = fc
  .array(fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.oneof(fc.constantFrom(0, 255), fc.nat(255))), {
    minLength: SIZE * SIZE,
    maxLength: SIZE * SIZE,
  })
  .map((pixels) => pixelsOf(pixels.flat()))
const child = fc.option(tile.map((data): Pixels => ({ data, alpha: alphaKind(data) })))
const children = fc.tuple(child, child, child, child) as fc.Arbitrary<Children>

function alphas(data: Buffer): number[] {
  return [...data].filter((_, index) => index % 4 === 3)
}

describe('alphaKind', () => {
  it('agrees with each pixel', () => {
    fc.assert(
      fc.property(tile, (data) => {
        const values = alphas(data)
        const expected = values.every((a) => a === 0) ? 'empty' : values.every((a) => a === 255) ? 'opaque' : 'partial'
        expect(alphaKind(data)).toBe(expected)
      }),
    )
  })
})

describe('layOver', () => {
  it('never thickens: the alpha is the greater of the two', () => {
    fc.assert(
      fc.property(tile, tile, (above, below) => {
        const expected = alphas(above).map((alpha, index) => Math.max(alpha, alphas(below)[index]!))
        expect(alphas(layOver(above, below))).toEqual(expected)
      }),
    )
  })

  it('leaves a tile unchanged if it is laid over itself', () => {
    fc.assert(
      fc.property(tile, (data) => {
        const once = layOver(data, data)
        for (let i = 0; i < data.length; i += 4) {
          if (data[i + 3]! > 0) expect(once.subarray(i, i + 4)).toEqual(data.subarray(i, i + 4))
        }
      }),
    )
  })

  it('shows opaque pixels of the upper tile, and the lower tile where the upper is empty', () => {
    fc.assert(
      fc.property(tile, tile, (above, below) => {
        const result = layOver(above, below)
        for (let i = 0; i < result.length; i += 4) {
          if (above[i + 3] === 255) expect(result.subarray(i, i + 4)).toEqual(above.subarray(i, i + 4))
          if (above[i + 3] === 0 && below[i + 3]! > 0)
            expect(result.subarray(i, i + 4)).toEqual(below.subarray(i, i + 4))
        }
      }),
    )
  })

  it('mixes colours between the two originals', () => {
    fc.assert(
      fc.property(tile, tile, (above, below) => {
        const result = layOver(above, below)
        result.forEach((value, i) => {
          if (i % 4 === 3 || above[i - (i % 4) + 3] === 0 || below[i - (i % 4) + 3] === 0) return
          expect(value).toBeGreaterThanOrEqual(Math.min(above[i]!, below[i]!))
          expect(value).toBeLessThanOrEqual(Math.max(above[i]!, below[i]!))
        })
      }),
    )
  })
})

describe('downsample', () => {
  it('is opaque if all children are, and empty if all are missing', () => {
    const opaque: Pixels = { data: Buffer.alloc(SIZE * SIZE * 4, 255), alpha: 'opaque' }
    expect(downsample([opaque, opaque, opaque, opaque], SIZE)).toEqual(opaque)
    expect(downsample([null, null, null, null], SIZE).alpha).toBe('empty')
    expect(downsample([opaque, opaque, null, opaque], SIZE).alpha).toBe('partial')
  })

  it('has the right alpha kind, and is visible exactly where a child is', () => {
    fc.assert(
      fc.property(children, (four) => {
        const parent = downsample(four, SIZE)
        expect(parent.alpha).toBe(alphaKind(parent.data))
        for (let y = 0; y < SIZE; y++) {
          for (let x = 0; x < SIZE; x++) {
            const quadrant = four[(y >= SIZE / 2 ? 2 : 0) + (x >= SIZE / 2 ? 1 : 0)]!
            const covered = [0, 1].some((dy) =>
              [0, 1].some((dx) => {
                const at = ((2 * (y % 2) + dy) * SIZE + 2 * (x % 2) + dx) * 4
                return (quadrant?.data[at + 3] ?? 0) > 0
              }),
            )
            expect(parent.data[(y * SIZE + x) * 4 + 3]! > 0).toBe(covered)
          }
        }
      }),
    )
  })

  it('does not mix in the colour of transparent pixels', () => {
    const data = Buffer.alloc(SIZE * SIZE * 4)
    for (let i = 0; i < data.length; i += 4) data.set(i % 8 === 0 ? [200, 100, 50, 255] : [0, 255, 0, 0], i)
    const { data: parent } = downsample([{ data, alpha: 'partial' }, null, null, null], SIZE)
    expect([...parent.subarray(0, 4)]).toEqual([200, 100, 50, 128])
  })

  it('gives the same opaque tiles with either way of counting', () => {
    fc.assert(
      fc.property(tile, (data) => {
        for (let i = 3; i < data.length; i += 4) data[i] = 255
        const [fast, slow] = (['opaque', 'partial'] as const).map((alpha) =>
          downsample([{ data, alpha }, null, null, null], SIZE),
        )
        expect(fast!.data.equals(slow!.data)).toBe(true)
      }),
    )
  })
})

describe('downsampleClasses', () => {
  const of = (...colours: (readonly [number, number])[]): Pixels => {
    // Red and alpha of 2×2 pixels.
    const data = Buffer.from(colours.flatMap(([red, alpha]) => [red, 0, 0, alpha]))
    return { data, alpha: alphaKind(data) }
  }
  it.each([
    ['the most frequent one', of([1, 255], [2, 255], [2, 255], [3, 255]), [2, 0, 0, 255]],
    ['the first of equally frequent ones', of([4, 255], [1, 255], [1, 255], [4, 255]), [4, 0, 0, 255]],
    ['a single visible one', of([0, 0], [0, 0], [0, 0], [9, 255]), [9, 0, 0, 255]],
    ['none, if none is visible', of([5, 0], [5, 0], [5, 0], [5, 0]), [0, 0, 0, 0]],
  ])('shows %s of four', (_, child, expected) => {
    const { data } = downsampleClasses([child, null, null, null], 2)
    expect([...data.subarray(0, 4)]).toEqual(expected)
  })
})
