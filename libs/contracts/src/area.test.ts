import { expect, test } from 'vitest'
import { areaSchema } from './basemap.js'
import { exportBodySchema } from './export.js'

test.each([
  [
    [170, -50, 190, 0],
    [170, -50, -170, 0],
  ],
  [
    [-190, -50, -170, 0],
    [170, -50, -170, 0],
  ],
  [
    [350, 40, 370, 60],
    [-10, 40, 10, 60],
  ],
  [
    [170, -50, -170, 0],
    [170, -50, -170, 0],
  ],
  [
    [-180, -90, 180, 90],
    [-180, -90, 180, 90],
  ],
  [[181, 0, 541, 10], null],
  [
    [170, 0, 530, 10],
    [-180, 0, 180, 10],
  ],
  [
    [180, 0, 190, 10],
    [-180, 0, -170, 10],
  ],
])('the area %s is kept as %s, in tokens, signed URLs and exports', (given, kept) => {
  const asked = areaSchema.safeParse(given)
  expect(asked.success ? asked.data : null).toEqual(kept)
  const body = exportBodySchema.safeParse({ basemap_code: 'a', version: 'b', bounds: given })
  expect(body.success ? body.data.bounds : null).toEqual(kept)
})
