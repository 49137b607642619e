import { expect, test } from 'vitest'
import { boxOnSphere } from './places.js'

/** A position on a sphere of the radius 1. */
const onSphere = (longitude: number, latitude: number) => {
  const [lon, lat] = [(longitude * Math.PI) / 180, (latitude * Math.PI) / 180]
  return [Math.cos(lat) * Math.cos(lon), Math.cos(lat) * Math.sin(lon), Math.sin(lat)]
}
const around = (...positions: readonly (readonly [number, number])[]) => {
  const found = positions.map(([lon, lat]) => onSphere(lon, lat))
  const of = (pick: (...values: number[]) => number) => [0, 1, 2].map((i) => pick(...found.map((one) => one[i] ?? 0)))
  return { min: of(Math.min), max: of(Math.max) }
}

test.each([
  ['a point', [around([10, 50])], [10, 50, 10, 50]],
  ['several parts', [around([-70, -30]), around([-60, 20])], [-70, -30, -60, 20]],
  ['both sides of the 180th meridian', [around([179, -17], [-179, -16])], [-180, -17, 180, -16]],
  ['the area around a pole', [around([0, 89], [120, 89], [-120, 89])], [-180, 89, 180, 89]],
])('the extent of %s on a sphere contains it', (_, boxes, [west = 0, south = 0, east = 0, north = 0]) => {
  const box = boxOnSphere(boxes)
  const near = 1e-6
  expect([box[0] <= west + near, box[1] <= south + near, box[2] >= east - near, box[3] >= north - near]).toEqual([
    true,
    true,
    true,
    true,
  ])
  expect([Math.abs(box[1] - south) < near, Math.abs(box[3] - north) < near]).toEqual([true, true])
})
