import { expect, it } from 'vitest'
import { mercatorX, mercatorY, unionOfBounds } from './mercator.js'
import { boundsAround, TILE_SPACES } from './space.js'

it.each([
  ['one', [[5, 45, 15, 55]], [5, 45, 15, 55]],
  [
    'two that lie apart',
    [
      [-100, 10, -90, 20],
      [30, 0, 40, 5],
    ],
    [-100, 0, 40, 20],
  ],
  [
    'two that meet at the antimeridian',
    [
      [177, -20, 180, -15],
      [-180, -20, -178, -15],
    ],
    [177, -20, -178, -15],
  ],
  [
    'two that lie on both sides of it',
    [
      [170, -40, 175, -30],
      [-177, -45, -176, -44],
    ],
    [170, -45, -176, -30],
  ],
  [
    'one that goes across, and more in it',
    [
      [177, -20, -178, -15],
      [178, -30, 179, 0],
    ],
    [177, -30, -178, 0],
  ],
  [
    'one that goes across, and one far away',
    [
      [177, -20, -178, -15],
      [100, 0, 110, 5],
    ],
    [100, -20, -178, 5],
  ],
  [
    'two that go across',
    [
      [170, 0, -175, 1],
      [175, 0, -170, 1],
    ],
    [170, 0, -170, 1],
  ],
  [
    'the whole earth',
    [
      [-180, -85, 180, 85],
      [10, 0, 20, 5],
    ],
    [-180, -85, 180, 85],
  ],
  [
    'halves of the earth',
    [
      [-180, -85, 0, 85],
      [0, -85, 180, 85],
    ],
    [-180, -85, 180, 85],
  ],
] as const)('the bounds around %s', (_, all, expected) => {
  expect(unionOfBounds(all as never)).toEqual(expected)
  expect(unionOfBounds([...all].reverse() as never)).toEqual(expected)
})

it('boxes of a map are converted to enclosing boxes in degrees', () => {
  const box = (west: number, east: number) => ({
    west: mercatorX(west),
    east: mercatorX(east),
    south: mercatorY(-20),
    north: mercatorY(-15),
  })
  expect(boundsAround(TILE_SPACES.WebMercatorQuad, [box(177, 180), box(-180, -178)])).toEqual([177, -20, -178, -15])
})
