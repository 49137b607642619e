import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { TileMatrices } from '@gateway/contracts/basemap.js'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isGaussKrueger, ownMatrices, ownSetId, zoneOf } from './gauss-krueger.js'
import { FOLDER_LAYOUTS } from './layouts/layout.js'
import { openListed } from './listed-source.js'
import { probeTileSet } from './probe.js'
import { makeBundles, makeConf, makeEnvelope, makeRoot, makeZip, writeFiles } from './testing/esri-caches.js'
import { ALL_CACHED, servedFrom } from './testing/served-from.js'
import { inUnitsOf, isInSet, matrixSetOf, tileBounds, tileMatrixLimits, tileTouches } from './tile-matrix-sets.js'
import { tileJson } from './tilejson.js'

/** The scheme of many Chinese offices: Esri's origin, and scales of 1 : 500 000 and so on at 96 dots per inch. */
const SCHEME = { code: 4547, left: -5123200, top: 10002100, columns: 256, rows: 256 }
const RESOLUTIONS = [132.2919312505292, 66.1459656252646, 26.458386250105836, 13.229193125052918, 5.291677250021167]
const MATRICES = ownMatrices({ ...SCHEME, resolutions: RESOLUTIONS })
const SET = matrixSetOf({ tileMatrixSet: ownSetId(MATRICES), tileMatrices: MATRICES })

test('the codes of both rows of zones are known, and no others', () => {
  expect([4512, 4513, 4533, 4534, 4554, 4555, 4490].map(isGaussKrueger)).toEqual([
    ...[false, true, true, true, true, false, false],
  ])
})

// By gdaltransform of GDAL 3.6.
test.each([
  [4547, [114.5, 30.5], [547999.7613, 3375648.0326]],
  [4526, [114.5, 30.5], [38547999.7613, 3375648.0326]],
])('a place in EPSG:%i has the numbers that GDAL gives it', (code, [longitude = 0, latitude = 0], expected) => {
  const [x, y] = zoneOf(code).toMetres([longitude, latitude, longitude, latitude])
  expect([x, y].map((each) => Math.round(each * 1e4) / 1e4)).toEqual(expected)
  const back = zoneOf(code).toDegrees([x, y, x, y])
  expect(back[0]).toBeCloseTo(longitude, 9)
  expect(back[1]).toBeCloseTo(latitude, 9)
})

test('a grid has its own matrices, corner in the order of the register, and an identifier of its numbers', () => {
  expect(SET).toMatchObject({ id: expect.stringMatching(/^EPSG4547_[0-9a-f]{8}$/), topLeft: [10002100, -5123200] })
  expect(SET.urn).toBe('urn:ogc:def:crs:EPSG::4547')
  const own = SET.own
  expect(own?.matrices[0]?.scaleDenominator).toBeCloseTo(132.2919312505292 / 0.00028, 6)
  const other: TileMatrices = { ...MATRICES, resolutions: RESOLUTIONS.slice(1) }
  expect(ownSetId(other)).not.toBe(SET.id)
  expect(ownSetId({ ...MATRICES })).toBe(SET.id)
})

test('a tile lies where its numbers say, and only tiles at a place touch it', () => {
  const tile = { z: 3, x: 1674, y: 1956 }
  const bounds = tileBounds(SET, tile)
  const [west, south, east, north] = inUnitsOf(SET, bounds)
  const size = 13.229193125052918 * 256
  // A rectangle of degrees around a tile is a little larger than the tile.
  expect(west).toBeLessThanOrEqual(-5123200 + 1674 * size + 1e-6)
  expect(north).toBeGreaterThanOrEqual(10002100 - 1956 * size - 1e-6)
  expect([east - west, north - south].every((side) => side >= size && side < size * 1.1)).toBe(true)
  const middle = [(bounds[0] + bounds[2]) / 2, (bounds[1] + bounds[3]) / 2] as const
  const point = [middle[0] - 1e-6, middle[1] - 1e-6, middle[0] + 1e-6, middle[1] + 1e-6] as const
  expect(tileMatrixLimits(SET, 3, [...point])).toEqual({
    ...{ zoom: 3, minRow: 1956, maxRow: 1956, minColumn: 1674, maxColumn: 1674 },
  })
  expect(tileTouches(SET, tile, [...point])).toBe(true)
  expect(tileTouches(SET, { ...tile, x: 1675 }, [...point])).toBe(false)
  expect(tileTouches(SET, tile, [0, 40, 10, 50])).toBe(false)
  expect([isInSet(SET, 3, 1674, 1956), isInSet(SET, 5, 0, 0), isInSet(SET, 0, 187, 0)]).toEqual([true, false, false])
})

test.each([
  ['no origin', { left: Number.NaN }, /does not name the origin/],
  ['tiles that are no squares', { rows: 512 }, /256 by 512 pixels/],
  ['no resolution', { resolutions: [] }, /has 0 resolutions/],
  ['resolutions that grow', { resolutions: [1, 2] }, /not a descending list/],
  ['an origin in another zone', { left: 38_000_000 }, /origin 38000000, 10002100 lies outside/],
  ['pixels of a hair', { resolutions: [1e-9] }, /tiles side by side/],
] as const)('%s makes no grid', (_, wrong, message) => {
  expect(() => ownMatrices({ ...SCHEME, resolutions: RESOLUTIONS, ...wrong })).toThrow(message)
})

describe('sets in such a grid', () => {
  let root: string
  beforeAll(() => {
    root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'gauss-krueger-')))
  })
  afterAll(() => fs.rmSync(root, { recursive: true }))
  const picture = (red: number) =>
    sharp({ create: { width: 256, height: 256, channels: 3, background: { r: red, g: 9, b: 9 } } })
      .png()
      .toBuffer()
  const spanAt = (z: number) => (RESOLUTIONS[z] as number) * 256
  const placeAt = (z: number) => ({
    column: Math.floor((548_000 + 5_123_200) / spanAt(z)),
    row: Math.floor((10_002_100 - 3_375_648) / spanAt(z)),
  })

  test('an Esri cache is served by its own levels', async () => {
    const tiles = await Promise.all(
      [0, 3, 4].map(async (level) => ({ level, ...placeAt(level), data: await picture(level * 50) })),
    )
    const levels = RESOLUTIONS.map((resolution, level) => ({ level, resolution }))
    writeFiles(path.join(root, 'cache'), [
      ['conf.xml', makeConf({ wkid: 4547, origin: [-5123200, 10002100], levels })],
      ['conf.cdi', makeEnvelope([540_000, 3_370_000, 556_000, 3_380_000])],
      ...[...makeBundles(tiles)].map(([name, data]) => [`_alllayers/${name}`, data] as const),
    ])
    const probe = await probeTileSet(root, path.join(root, 'cache'))
    expect(probe).toMatchObject({
      storage: 'esri_compact',
      minZoom: 0,
      maxZoom: 4,
      tileMatrixSet: SET.id,
      warnings: [],
    })
    expect(probe?.tileMatrices).toEqual(MATRICES)
    expect(probe?.bounds?.map((each) => Math.round(each * 100) / 100)).toEqual([114.42, 30.45, 114.58, 30.54])
    const source = await openListed(servedFrom(root, path.join(root, 'cache'), 'esri_compact'), ALL_CACHED)
    const { column: x, row: y } = placeAt(4)
    expect(await source?.tile({ z: 4, x, y })).not.toBeNull()
    expect(await source?.tile({ z: 4, x: x + 1, y })).toBeNull()
    source?.close()
  })

  test.each([
    ['an exploded cache', 'exploded', 'esri_exploded'],
    ['a package', 'zone.tpkx', 'tpkx'],
  ] as const)('%s is served by its own levels', async (_, name, storage) => {
    // The levels of the scheme begin at 5.
    const tiles = await Promise.all(
      [0, 4].map(async (z) => ({ level: z + 5, ...placeAt(z), data: await picture(z * 50) })),
    )
    const scheme = {
      wkid: 4547,
      origin: [-5123200, 10002100],
      levels: RESOLUTIONS.map((resolution, z) => ({ level: z + 5, resolution })),
    } as const
    const file = path.join(root, name)
    if (storage === 'tpkx') {
      const inTile = [...makeBundles(tiles)].map(([bundle, data]) => [`tile/${bundle}`, data] as const)
      fs.writeFileSync(file, makeZip([['root.json', makeRoot(scheme)], ...inTile]))
    } else {
      const conf = makeConf({ ...scheme, storage: 'esriMapCacheStorageModeExploded' })
      const files = tiles.map(({ level, column, row, data }) => {
        return [`_alllayers/${FOLDER_LAYOUTS.arcgis.write({ z: level, x: column, y: row })}.png`, data] as const
      })
      writeFiles(file, [['conf.xml', conf], ...files])
    }
    const probe = await probeTileSet(root, file)
    expect(probe).toMatchObject({ storage, minZoom: 0, maxZoom: 4, tileMatrixSet: SET.id, tileMatrices: MATRICES })
    const source = await openListed(servedFrom(root, file, storage), ALL_CACHED)
    for (const z of [0, 4]) {
      const { column: x, row: y } = placeAt(z)
      expect([z, await source?.tile({ z, x, y })]).toEqual([z, expect.objectContaining({ encoding: 'identity' })])
      expect([z, await source?.tile({ z, x: x + 1, y })]).toEqual([z, null])
    }
    source?.close()
  })

  test('a folder is served that declares system, origin, resolutions and tile size', async () => {
    const { column, row } = placeAt(2)
    const about = { crs: 'EPSG:4547', origin: [-5123200, 10002100], resolutions: RESOLUTIONS, tile_size: 256 }
    writeFiles(path.join(root, 'folder'), [
      ['metadata.json', JSON.stringify(about)],
      [`2/${column}/${row}.png`, await picture(7)],
    ])
    const probe = await probeTileSet(root, path.join(root, 'folder'))
    expect(probe).toMatchObject({ storage: 'xyz', minZoom: 2, maxZoom: 2, tileMatrixSet: SET.id, tileSize: 256 })
    expect(probe?.warnings).toEqual([])
    const [west = 0, south = 0, east = 0, north = 0] = probe?.bounds ?? []
    expect(west < 114.5 && east > 114.5 && south < 30.5 && north > 30.5).toBe(true)
    const document = tileJson({ ...(probe as never as Parameters<typeof tileJson>[0]), name: 'x', version: 'v1' }, [])
    expect(document).toMatchObject({ crs: 'EPSG:4547', tile_matrix_set: SET.id, origin: [-5123200, 10002100] })
  })

  test('a folder without an origin, or with rows from the south, is refused with a message', async () => {
    const tile = [`2/1/1.png`, await picture(7)] as const
    writeFiles(path.join(root, 'bare'), [['metadata.json', '{"crs":"EPSG:4547"}'], tile])
    await expect(probeTileSet(root, path.join(root, 'bare'))).rejects.toThrow(
      /EPSG:4547, and its description does not name the origin/,
    )
    const about = { crs: 4547, origin: [-5123200, 10002100], resolutions: RESOLUTIONS, scheme: 'tms' }
    writeFiles(path.join(root, 'south'), [['metadata.json', JSON.stringify(about)], tile])
    await expect(probeTileSet(root, path.join(root, 'south'))).rejects.toThrow(/counted from the south/)
  })

  test('a table that GDAL writes into a GeoPackage is served by its matrices', async () => {
    const [image, file] = [path.join(root, 'city.png'), path.join(root, 'city.gpkg')]
    fs.writeFileSync(image, await picture(3))
    const corners = ['547000', '3376024', '548024', '3375000']
    execFileSync('gdal_translate', ['-q', '-of', 'GPKG', '-a_srs', 'EPSG:4547', '-a_ullr', ...corners, image, file])
    const probe = await probeTileSet(root, file)
    expect(probe).toMatchObject({ storage: 'geopackage', minZoom: 0, maxZoom: 0, warnings: [] })
    expect(probe?.tileMatrices).toEqual({
      ...{ crs: 'EPSG:4547', tileSize: 256, origin: [547000, 3376024], resolutions: [4] },
    })
    const [west = 0, south = 0, east = 0, north = 0] = probe?.bounds ?? []
    expect(west < 114.5 && east > 114.5 && south < 30.5 && north > 30.5).toBe(true)
  })
})
