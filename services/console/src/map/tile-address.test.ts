import { expect, test } from 'vitest'
import { parseAddress, tileAt, tileBounds } from './tile-address.js'

const images = { minZoom: 0, maxZoom: 5, tileSize: 256, columns: 1 as const, vector: false }
const geographic = { ...images, columns: 2 as const }

test('the tile at a place is the one that the map library shows there', () => {
  expect(tileAt(-0.1, 51.5, 2, images)).toEqual({ z: 3, x: 3, y: 2 })
  expect(tileAt(-0.1, 51.5, 2.4, images)).toEqual({ z: 3, x: 3, y: 2 })
  expect(tileAt(-0.1, 51.5, 2.9, { ...images, vector: true, tileSize: 512 })).toEqual({ z: 2, x: 1, y: 1 })
})

test('zooms beyond the tile set show its deepest tiles', () => {
  expect(tileAt(0.1, -0.1, 12, images).z).toBe(5)
  expect(tileAt(0.1, -0.1, 0, { ...images, minZoom: 4 }).z).toBe(4)
})

test('the date line and the poles are within a tile', () => {
  expect(tileAt(540, 0, 1, images)).toEqual({ z: 2, x: 0, y: 2 })
  expect(tileAt(180, 90, 1, images)).toMatchObject({ x: 0, y: 0 })
  expect(tileAt(179.9, -90, 1, images)).toEqual({ z: 2, x: 3, y: 3 })
})

test('an address is parsed within its limits', () => {
  expect(parseAddress(' 3/4/ 2', images)).toEqual({ z: 3, x: 4, y: 2 })
  expect(parseAddress('3/8/2', images)).toBe('range')
  expect(parseAddress('6/0/0', images)).toBe('range')
  expect(parseAddress('3/4', images)).toBeNull()
  expect(parseAddress('3/-4/1', images)).toBeNull()
})

test('a tile contains the places for which it is found', () => {
  const [west, south, east, north] = tileBounds({ z: 3, x: 3, y: 2 }, images)
  expect(tileAt((west + east) / 2, (south + north) / 2, 2, images)).toEqual({ z: 3, x: 3, y: 2 })
  expect([west, east]).toEqual([-45, 0])
})

test('a geographic grid has two columns at zoom 0, and reaches to the poles', () => {
  expect(tileAt(116.4, 39.9, 2, geographic)).toEqual({ z: 2, x: 6, y: 1 })
  expect(tileAt(540, -90, 1, geographic)).toEqual({ z: 1, x: 0, y: 1 })
  expect(tileBounds({ z: 2, x: 6, y: 1 }, geographic)).toEqual([90, 0, 135, 45])
  expect(parseAddress('3/15/7', geographic)).toEqual({ z: 3, x: 15, y: 7 })
  expect(parseAddress('3/15/8', geographic)).toBe('range')
})
