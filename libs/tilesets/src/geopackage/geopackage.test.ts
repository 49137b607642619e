import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openMbtiles } from '../mbtiles/archive.js'
import { probeTileSet } from '../probe.js'
import { gdal, partOfImage, pixelsOf, writeGdalImage } from '../testing/gdal-image.js'
import { bytesOf, setsIn } from '../testing/listed-tiles.js'
import { moveTables } from '../testing/moved-tables.js'
import { listTileTables } from './archive.js'
import { writeGeopackage } from './writer.js'

let root: string
beforeAll(() => {
  root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'geopackage-')))
  writeGdalImage(root)
}, 60_000)
afterAll(() => fs.rmSync(root, { recursive: true }))

const { at, open, addressesOf } = setsIn(() => root)

test('tables of tiles in a GeoPackage are listed, and their tiles have the zooms of their matrices', async () => {
  gdal(
    'gdal_translate',
    '-of',
    'GPKG',
    '-co',
    'TILING_SCHEME=GoogleMapsCompatible',
    '-co',
    'TILE_FORMAT=PNG',
    '-co',
    'RASTER_TABLE=one',
    at('source.bin'),
    at('two.gpkg'),
  )
  gdal(
    'gdal_translate',
    '-of',
    'GPKG',
    '-co',
    'TILING_SCHEME=GoogleMapsCompatible',
    '-co',
    'TILE_FORMAT=JPEG',
    '-co',
    'RASTER_TABLE=another',
    '-co',
    'APPEND_SUBDATASET=YES',
    at('source.bin'),
    at('two.gpkg'),
  )
  expect([...(listTileTables(root, at('two.gpkg')) ?? [])].sort()).toEqual(['another', 'one'])
  expect(await probeTileSet(root, at('two.gpkg/one'))).toMatchObject({
    storage: 'geopackage',
    format: 'png',
    tileSize: 256,
    minZoom: 4,
    maxZoom: 4,
  })
  expect(await probeTileSet(root, at('two.gpkg/another'))).toMatchObject({ format: 'jpg' })
  await expect(probeTileSet(root, at('two.gpkg'))).rejects.toThrow(/several tables/)
  expect(await addressesOf('two.gpkg/one', 'geopackage', 4)).toHaveLength(16)
  const opening = openMbtiles(root, at('two.gpkg/one'))
  if (!opening.ok) throw new Error(opening.reason)
  const tile = opening.archive.tile(4, 6, 7)
  opening.archive.close()
  const expected = partOfImage(0, 256)
  expect((await pixelsOf(Buffer.from(tile!))).equals(expected)).toBe(true)
  const source = await open('two.gpkg/one', 'geopackage')
  expect((await bytesOf(await source.tile({ z: 4, x: 6, y: 7 })))?.equals(Buffer.from(tile!))).toBe(true)
  expect(await source.tile({ z: 4, x: 0, y: 0 })).toBeNull()
  source.close()
}, 60_000)

test('a matrix set that starts inside the world is shifted into place, and one with other scales is refused with its numbers', async () => {
  const rows = (sql: string) =>
    execFileSync('python3', [
      '-c',
      `import sqlite3,sys\nc=sqlite3.connect(sys.argv[1])\nc.executescript(sys.argv[2])\nc.commit()`,
      at('moved.gpkg'),
      sql,
    ])
  gdal(
    'gdal_translate',
    '-of',
    'GPKG',
    '-co',
    'TILING_SCHEME=GoogleMapsCompatible',
    '-co',
    'TILE_FORMAT=PNG',
    at('source.bin'),
    at('moved.gpkg'),
  )
  const table = listTileTables(root, at('moved.gpkg'))![0]!
  rows(`DELETE FROM gpkg_tile_matrix WHERE zoom_level < 1;
    UPDATE gpkg_tile_matrix_set SET min_x = 0, max_x = 20037508.342789244, min_y = -20037508.342789244, max_y = 0;
    UPDATE gpkg_tile_matrix SET matrix_width = matrix_width / 2, matrix_height = matrix_height / 2;`)
  const source = await open(`moved.gpkg/${table}`, 'geopackage')
  expect(await bytesOf(await source.tile({ z: 4, x: 14, y: 15 }))).not.toBeNull()
  source.close()
  rows('UPDATE gpkg_tile_matrix_set SET max_x = 19000000')
  await expect(probeTileSet(root, at(`moved.gpkg/${table}`))).rejects.toThrow(
    /are not those of WebMercatorQuad: level \d+ \(origin 0, 0/,
  )
}, 60_000)

test('bounds of a table that contain none of its tiles give way to those of the tiles, with a warning', async () => {
  gdal(
    ...['gdal_translate', '-of', 'GPKG', '-co', 'TILING_SCHEME=GoogleMapsCompatible', '-co', 'TILE_FORMAT=PNG'],
    ...[at('source.bin'), at('bounds.gpkg')],
  )
  const right = await probeTileSet(root, at('bounds.gpkg'))
  const database = new DatabaseSync(at('bounds.gpkg'))
  database.exec('UPDATE gpkg_contents SET min_x = -19e6, min_y = -19e6, max_x = -18e6, max_y = -18e6')
  database.close()
  const probe = await probeTileSet(root, at('bounds.gpkg'))
  expect(probe?.warnings).toEqual([expect.stringMatching(/^the bounds -17.* contain no tile: at zoom 4/)])
  expect(probe?.boundsDerived).toBe(true)
  for (const [i, degrees] of right!.bounds!.entries()) expect(Math.abs(probe!.bounds![i]! - degrees)).toBeLessThan(45)
})

test('the pages of a table are described with its zooms, whatever the name of the table', () => {
  const file = at('two.gpkg')
  const database = new DatabaseSync(file)
  database.exec(`PRAGMA foreign_keys = OFF; ALTER TABLE one RENAME TO "地图 ""x"""; UPDATE gpkg_contents SET table_name = '地图 "x"' WHERE table_name = 'one';
    UPDATE gpkg_tile_matrix_set SET table_name = '地图 "x"' WHERE table_name = 'one';
    UPDATE gpkg_tile_matrix SET table_name = '地图 "x"' WHERE table_name = 'one';`)
  database.close()
  const opening = openMbtiles(root, `${file}/地图 "x"`)
  if (!opening.ok) throw new Error(opening.reason)
  const { layout } = opening.archive
  opening.archive.close()
  expect(layout?.steps).toEqual([{ index: expect.any(Number), keys: [0, 1, 2], table: expect.any(Number), column: 4 }])
  expect(layout?.zooms).toContainEqual({ zoom: 4, level: 4, column: 0, row: 0 })
})

async function writeSmall(name: string): Promise<string> {
  const about = { format: 'png', bounds: [-180, -85, 180, 85], metadata: {}, tileSize: 256, encoding: 'identity' }
  const tiles = async function* () {
    for (let i = 0; i < 16; i++)
      yield { z: 2, x: i % 4, y: i >> 2, data: Buffer.from(`\x89PNG\r\n\x1a\n${i}`, 'latin1') }
  }
  await writeGeopackage(at(name), tiles(), about as unknown as Parameters<typeof writeGeopackage>[2])
  return at(name)
}

function change(file: string, sql: string): void {
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
}

test('matrices of a part of the world are described with the places of their first tiles', async () => {
  const file = await writeSmall('part.gpkg')
  moveTables(file, { least: 2, shift: 3 })
  const opening = openMbtiles(root, `${file}/tiles`)
  if (!opening.ok) throw new Error(opening.reason)
  expect(opening.archive.layout?.zooms).toEqual([{ zoom: 2, level: 5, column: 2, row: 2 }])
  opening.archive.close()
})

test.each([
  ['a view', 'ALTER TABLE tiles RENAME TO hidden; CREATE VIEW tiles AS SELECT * FROM hidden', /not a plain table/],
  [
    'a computed column',
    `CREATE TABLE other (id INTEGER PRIMARY KEY, zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER,
       tile_data BLOB AS (zeroblob(1000000000)));
     DROP TABLE tiles; ALTER TABLE other RENAME TO tiles`,
    /not a plain table/,
  ],
  [
    'a view of the contents',
    'ALTER TABLE gpkg_contents RENAME TO hidden; CREATE VIEW gpkg_contents AS SELECT * FROM hidden',
    /no usable table gpkg_contents|no such table of tiles/,
  ],
  ['endless matrices', 'UPDATE gpkg_tile_matrix SET matrix_width = 0', /are not those of WebMercatorQuad/],
])('%s in place of the tables is refused', async (name, sql, message) => {
  const file = await writeSmall(`${name}.gpkg`)
  change(file, sql)
  await expect(probeTileSet(root, `${file}/tiles`)).rejects.toThrow(message)
})

test('a trigger does nothing, because nothing is written', async () => {
  const file = await writeSmall('trigger.gpkg')
  change(file, 'CREATE TRIGGER t AFTER INSERT ON tiles BEGIN DELETE FROM tiles; END')
  const source = await open('trigger.gpkg/tiles', 'geopackage')
  expect(await bytesOf(await source.tile({ z: 2, x: 1, y: 1 }))).not.toBeNull()
  source.close()
})
