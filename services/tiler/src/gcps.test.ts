import { expect, test } from 'vitest'
import { type Gcp, placeByGcps } from './gcps.js'

const SIZE = 1000
const at = (pixels: readonly (readonly [number, number])[], place: (pixel: number, line: number) => [number, number]) =>
  pixels.map(([pixel, line]): Gcp => {
    const [x, y] = place(pixel, line)
    return { pixel, line, x, y }
  })
const CORNERS = [
  [0, 0],
  [SIZE, 0],
  [0, SIZE],
  [SIZE, SIZE],
] as const
const NINE = [0, 500, SIZE].flatMap((line) => [0, 500, SIZE].map((pixel) => [pixel, line] as const))

test('points on an affine transform give that transform, also for a rotated image', () => {
  const turned = (pixel: number, line: number): [number, number] => [
    500_000 + 2 * pixel + line,
    4_000_000 + pixel - 2 * line,
  ]
  const placing = placeByGcps(at(CORNERS, turned), SIZE, SIZE)
  expect(placing?.points).toBeNull()
  for (const [i, number] of [500_000, 2, 1, 4_000_000, 1, -2].entries())
    expect(placing?.transform[i]).toBeCloseTo(number, 6)
})

test('points on a curve give the polynomial through them, also between them', () => {
  const curved = (pixel: number, line: number): [number, number] => [
    8 + pixel / 1e4 + (line / 1e4) ** 2,
    47 - line / 1e4 + (pixel / 1e4) ** 2,
  ]
  const placing = placeByGcps(at(NINE, curved), SIZE, SIZE)
  const [x, y] = placing?.locate(250, 750) ?? [0, 0]
  expect(placing?.points).toHaveLength(25)
  expect([x - curved(250, 750)[0], y - curved(250, 750)[1]].every((miss) => Math.abs(miss) < 1e-9)).toBe(true)
})

test.each([
  ['two points', CORNERS.slice(0, 2)],
  [
    'points on a line',
    [
      [0, 0],
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 4],
      [5, 5],
      [6, 6],
    ] as const,
  ],
  ['no point', []],
])('%s place no image', (_, pixels) => {
  expect(
    placeByGcps(
      at(pixels, (pixel, line) => [pixel, line]),
      SIZE,
      SIZE,
    ),
  ).toBeNull()
})
