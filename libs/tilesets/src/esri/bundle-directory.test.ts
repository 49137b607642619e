import { zxyToTileId } from 'pmtiles'
import { expect, test } from 'vitest'
import { directoryOf, firstOfBundle } from './bundle-directory.js'

/** The records of a bundle in which these tiles have as many bytes as their place among the records, and one more. */
function recordsOf(places: readonly (readonly [x: number, y: number])[]): Buffer {
  const records = Buffer.alloc(128 * 128 * 8)
  for (const [x, y] of places) {
    const record = y * 128 + x
    records.writeUIntLE(1000 + record, record * 8, 5)
    records.writeUIntLE(record + 1, record * 8 + 5, 3)
  }
  return records
}

const ALL = Array.from({ length: 128 * 128 }, (_, i) => [i % 128, Math.floor(i / 128)] as const)
const SPREAD = ALL.filter((_, i) => i % 997 === 0)

test.each([
  [0, 0, 0],
  [3, 0, 0],
  [6, 0, 0],
  [7, 0, 0],
  [8, 128, 128],
  [9, 0, 384],
  [10, 512, 256],
  [13, 4096, 8064],
  [20, 1_048_448, 640],
])('the tiles of the bundle %i/%i/%i have the numbers of PMTiles, in their order', (z, left, top) => {
  const places = z < 7 ? ALL.filter(([x, y]) => x < 2 ** z && y < 2 ** z) : SPREAD
  const expected = places.map(([x, y]) => ({ id: zxyToTileId(z, left + x, top + y), record: y * 128 + x }))
  expected.sort((a, b) => a.id - b.id)
  const made = directoryOf({ z, x: left + (z < 7 ? 0 : 5), y: top }, recordsOf(places), (offset) => offset + 7)
  expect([...made.tileIds]).toEqual(expected.map(({ id }) => id))
  expect([...made.offsets]).toEqual(expected.map(({ record }) => 1007 + record))
  expect([...made.lengths]).toEqual(expected.map(({ record }) => record + 1))
  const first = firstOfBundle({ z, x: left, y: top })
  expect(made.tileIds.every((id) => id >= first && id < first + 128 * 128)).toBe(true)
})

test('a bundle holds nothing beyond its zoom', () => {
  const made = directoryOf(
    { z: 1, x: 0, y: 0 },
    recordsOf([
      [0, 0],
      [1, 1],
      [2, 0],
      [127, 127],
    ]),
    (offset) => offset,
  )
  expect([...made.tileIds]).toEqual([zxyToTileId(1, 0, 0), zxyToTileId(1, 1, 1)])
})
