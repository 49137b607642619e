import { expect, it } from 'vitest'
import { boundsOfView, partsOf, squareOf, tilesInRow } from './square.js'

it('a square of four by four tiles begins at a multiple of four, and its centre is the corner of its middle tiles', () => {
  const { tiles, side, view, size } = squareOf({ z: 4, x: 6, y: 13 }, 512, 1)
  expect([side, size, view.zoom]).toEqual([4, 2048, 4])
  expect([tiles[0], tiles[5], tiles.at(-1)]).toEqual([
    { z: 4, x: 4, y: 12 },
    { z: 4, x: 5, y: 13 },
    { z: 4, x: 7, y: 15 },
  ])
  const [x, y] = partsOf(view.center)
  expect(x * 16).toBeCloseTo(6, 9)
  expect(y * 16).toBeCloseTo(14, 9)
})

it.each([
  [0, 1],
  [1, 2],
  [2, 4],
  [3, 4],
])('at zoom %i a square has %i tiles in a row', (z, side) => {
  expect(squareOf({ z, x: 0, y: 0 }, 512, 1).side).toBe(side)
  expect(squareOf({ z, x: 0, y: 0 }, 512, 1).tiles).toHaveLength(side ** 2)
})

it('tiles of 256 points are drawn one zoom above, and those of twice the pixels in smaller squares', () => {
  expect(squareOf({ z: 5, x: 9, y: 9 }, 256, 1).view.zoom).toBe(4)
  expect([tilesInRow(512, 1), tilesInRow(256, 1), tilesInRow(512, 2), tilesInRow(256, 2)]).toEqual([4, 4, 2, 4])
})

it('the bounds of the view of one tile are those of the tile', () => {
  const bounds = boundsOfView(squareOf({ z: 0, x: 0, y: 0 }, 512, 1).view, { width: 512, height: 512 })
  expect(bounds?.map((degrees) => Number(degrees.toFixed(4)))).toEqual([-180, -85.0511, 180, 85.0511])
  const turned = { center: [0, 0], zoom: 3, bearing: 10, pitch: 0 } as const
  expect(boundsOfView(turned, { width: 10, height: 10 })).toBeNull()
})
