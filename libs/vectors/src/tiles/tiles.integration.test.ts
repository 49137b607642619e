import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { VectorKind } from '@gateway/contracts/vector.js'
import { VectorTile } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'
import { PMTiles, type Source } from 'pmtiles'
import { afterAll, expect, test } from 'vitest'
import { buildVector } from '../build.js'

const home = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'vector-tiles-'))
afterAll(() => fs.rmSync(home, { recursive: true, force: true }))

async function built(path: string, kind: VectorKind, maxZoom: number) {
  const output = fs.mkdtempSync(join(home, 'build-'))
  const source = { source: { root: home, path }, kind, fingerprint: null, encoding: null, crs: 'OGC:CRS84' }
  const task = { ...source, output, code: 'one', name: 'One', limits: { memoryMb: 1500 }, fields: null }
  const tiles = await buildVector({ ...task, minZoom: 0, maxZoom }, () => {})
  const bytes = fs.readFileSync(join(output, 'tiles.pmtiles'))
  const reader: Source = {
    getKey: () => output,
    getBytes: async (offset, length) => ({ data: new Uint8Array(bytes.subarray(offset, offset + length)).buffer }),
  }
  const archive = new PMTiles(reader)
  const tile = async (z: number, x: number, y: number) => {
    const found = await archive.getZxy(z, x, y)
    return found === undefined ? null : new VectorTile(new PbfReader(Buffer.from(found.data)))
  }
  return { tiles, tile, header: await archive.getHeader() }
}

function geojson(name: string, geometries: readonly object[]): string {
  const features = geometries.map((geometry, i) => ({ type: 'Feature', properties: { i }, geometry }))
  const file = join(home, `${name}.geojson`)
  fs.writeFileSync(file, JSON.stringify({ type: 'FeatureCollection', features }))
  return file
}

/** A GeoPackage with a layer of many geometries and one of few. */
function twoLayers(name: string, many: readonly object[], few: readonly object[]): string {
  const file = join(home, `${name}.gpkg`)
  execFileSync('ogr2ogr', ['-nln', 'many', file, geojson(`${name}-many`, many)])
  execFileSync('ogr2ogr', ['-update', '-nln', 'few', file, geojson(`${name}-few`, few)])
  return file
}

const point = (x: number, y: number) => ({ type: 'Point', coordinates: [x, y] })
const square = (x: number, y: number, side: number) => {
  const corners = [
    [x, y],
    [x + side, y],
    [x + side, y + side],
    [x, y + side],
    [x, y],
  ]
  return { type: 'Polygon', coordinates: [corners] }
}

test('each layer is thinned by itself: points in one place leave one of each layer', async () => {
  const many = Array.from({ length: 2_000 }, () => point(8, 47))
  const { tile, tiles } = await built(twoLayers('points', many, [point(8, 47), point(8, 47)]), 'geopackage', 2)
  const world = (await tile(0, 0, 0))?.layers
  expect([world?.many?.length, world?.few?.length]).toEqual([1, 1])
  expect(tiles?.leftOut['0']).toBe(2_000)
})

test('small polygons of a layer stay visible among the many of another one', async () => {
  const many = Array.from({ length: 2_500 }, (_, i) =>
    square(8 + (i % 50) / 1000, 47 + Math.floor(i / 50) / 1000, 0.0009),
  )
  const { tile } = await built(twoLayers('specks', many, [square(8.02, 47.02, 0.0001)]), 'geopackage', 10)
  const world = (await tile(0, 0, 0))?.layers
  expect(world?.few?.length).toBe(1)
  expect(world?.many?.length).toBeGreaterThan(0)
})

test('the tiles inside of a large polygon are one run, and those at its edge are not', async () => {
  const { tile, header } = await built(geojson('large', [square(-100, -60, 150), square(80, 20, 40)]), 'geojson', 7)
  const corners = async (x: number, y: number) => {
    const rings = (await tile(7, x, y))?.layers.one?.feature(0).loadGeometry() ?? []
    const places = rings.flat().flatMap((place) => [place.x, place.y])
    return [rings.length, Math.min(...places), Math.max(...places)]
  }
  const inside = await corners(50, 60)
  expect(inside).toEqual([1, inside[1], 4096 - (inside[1] as number)])
  expect(inside[1]).toBeLessThan(0)
  expect(await corners(70, 70)).toEqual(inside)
  // The western edge, at 100 degrees west.
  const edge = (await tile(7, 28, 60))?.layers.one?.feature(0).loadGeometry()[0] ?? []
  expect(Math.min(...edge.map(({ x }) => x))).toBeGreaterThan(0)
  expect(await tile(7, 27, 60)).toBeNull()
  expect(header.numAddressedTiles).toBeGreaterThan(2_000)
  expect(header.numTileEntries).toBeLessThan(header.numAddressedTiles / 4)
})
