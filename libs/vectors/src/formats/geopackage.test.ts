import { readFileSync, symlinkSync } from 'node:fs'
import { BrokenArchiveError } from '@gateway/tilesets/broken-archive.js'
import { DatabaseSync } from '@photostructure/sqlite'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { geopackageFacts, openGeopackage } from './geopackage.js'
import { layer, makeEndlessGeopackage, makeGeopackage } from './testing/geopackages.js'
import { prjUtm } from './testing/shapefiles.js'
import { makeTree, type Tree } from './testing/trees.js'

let tree: Tree
beforeEach(() => {
  tree = makeTree()
})
afterEach(() => tree.remove())

const read = (name = 'x.gpkg') => geopackageFacts(tree.root, tree.at(name))

function facts(sql: string) {
  makeGeopackage(tree.at('x.gpkg'), sql)
  return read()
}

test('a layer contains all facts, and the key and the geometry are not fields', () => {
  const fields = 'name TEXT(20), lanes MEDIUMINT, width DOUBLE, paved BOOLEAN, built DATETIME, picture BLOB'
  expect(facts(layer('roads', { type: 'LINESTRING', fields }))).toEqual({
    crs: 'EPSG:4326',
    bounds: [5, 45, 11, 48],
    geometry_type: 'LineString',
    feature_count: 2,
    fields: [
      { name: 'name', type: 'string' },
      { name: 'lanes', type: 'number' },
      { name: 'width', type: 'number' },
      { name: 'paved', type: 'boolean' },
      { name: 'built', type: 'date' },
      { name: 'picture', type: 'string' },
    ],
    encoding: 'UTF-8',
    encoding_source: 'format',
  })
})

describe('several layers', () => {
  test('are described together', () => {
    const sql =
      layer('a', { fields: 'name TEXT, n INTEGER' }) +
      layer('b', { type: 'MULTIPOINT', box: '-10, 40, 6, 46', fields: 'name TEXT, n TEXT', rows: 3 })
    expect(facts(sql)).toMatchObject({
      crs: 'EPSG:4326',
      bounds: [-10, 40, 11, 48],
      geometry_type: 'MultiPoint',
      feature_count: 5,
      fields: [
        { name: 'name', type: 'string' },
        { name: 'n', type: 'json' },
      ],
    })
  })

  test('of two systems have none in common; curves are geometry; around the antimeridian the bounds are the whole earth', () => {
    const utm = `INSERT INTO gpkg_spatial_ref_sys VALUES ('UTM 60', 7, 'none', 0, '${prjUtm(60)}');`
    const sql = `${utm}${layer('a')}${layer('b', { type: 'CURVEPOLYGON', srs: 7, box: '700000, 0, 900000, 100000' })}`
    const { crs, bounds, geometry_type } = facts(sql) ?? {}
    expect([crs, geometry_type]).toEqual([null, 'Geometry'])
    expect(bounds).toEqual([-180, 0, 180, 48])
  })
})

test('GDAL’s number of features is trusted, and not counted', () => {
  const counts = 'CREATE TABLE gpkg_ogr_contents (table_name TEXT PRIMARY KEY, feature_count INTEGER);'
  expect(facts(`${layer('a')}${counts} INSERT INTO gpkg_ogr_contents VALUES ('A', 77)`)?.feature_count).toBe(77)
})

test('unknown facts are null: an undefined system, missing bounds, too many fields', () => {
  const fields = Array.from({ length: 257 }, (_, i) => `f${i} TEXT`).join()
  expect(facts(layer('a', { srs: -1, fields }))).toMatchObject({ crs: null, bounds: null, fields: null })
  makeGeopackage(tree.at('y.gpkg'), `${layer('a')}; UPDATE gpkg_contents SET min_x = NULL`)
  expect(read('y.gpkg')).toMatchObject({ bounds: null, geometry_type: 'Point' })
})

test('an entry of a table that is gone is no layer', () => {
  const gone = `INSERT INTO gpkg_contents SELECT 'c', data_type, 'c', NULL, NULL, NULL, NULL, 4326 FROM gpkg_contents`
  const { bounds, feature_count } = facts(layer('a')) ?? {}
  expect([bounds, feature_count]).not.toContain(null)
  makeGeopackage(tree.at('y.gpkg'), `${layer('a')}${gone}`)
  expect(read('y.gpkg')).toMatchObject({ bounds, feature_count })
  const { layers, close } = openGeopackage(tree.root, tree.at('y.gpkg'))
  expect(layers.map(({ name }) => name)).toEqual(['a'])
  close()
})

test('tables without geometry are described if there are no others', () => {
  const sql = `CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO t VALUES (1, 'a');
    INSERT INTO gpkg_contents VALUES ('t', 'attributes', 't', NULL, NULL, NULL, NULL, NULL)`
  expect(facts(sql)).toMatchObject({
    geometry_type: null,
    feature_count: 1,
    fields: [{ name: 'name', type: 'string' }],
  })
})

describe('a malicious GeoPackage', () => {
  test('a layer that is a view is never queried, whatever it would take', () => {
    makeEndlessGeopackage(tree.at('x.gpkg'))
    expect(read()).toMatchObject({ crs: 'EPSG:4326', bounds: [0, 0, 1, 1], feature_count: null, fields: null })
  })

  test.each([
    ['a view', 'DROP TABLE gpkg_contents; CREATE VIEW gpkg_contents AS SELECT 1 AS table_name'],
    ['a virtual table', 'DROP TABLE gpkg_contents; CREATE VIRTUAL TABLE gpkg_contents USING fts5(table_name)'],
    [
      'computed',
      `DROP TABLE gpkg_contents; CREATE TABLE gpkg_contents (table_name TEXT, data_type TEXT AS (hex(zeroblob(9)||table_name)), min_x, min_y,
        max_x, max_y, srs_id)`,
    ],
    ['without columns', 'DROP TABLE gpkg_contents; CREATE TABLE gpkg_contents (table_name TEXT)'],
  ])('a table of contents that is %s is invalid', (_, sql) => {
    expect(() => facts(sql)).toThrow('it has no table gpkg_contents')
  })

  test('names that are SQL stay names', () => {
    const name = 'x"; DROP TABLE gpkg_contents; --'
    const sql = `CREATE TABLE "${name.replaceAll('"', '""')}" (fid INTEGER PRIMARY KEY, a TEXT);
      INSERT INTO gpkg_contents VALUES ('${name}', 'features', 'x', 0, 0, 1, 1, 4326)`
    expect(facts(sql)).toMatchObject({ feature_count: 0, fields: [{ name: 'a', type: 'string' }] })
  })

  test.each([
    `CREATE TABLE gpkg_ogr_contents (table_name TEXT PRIMARY KEY, feature_count INTEGER);
      INSERT INTO gpkg_ogr_contents VALUES ('a', 9007199254740993)`,
    'UPDATE gpkg_contents SET srs_id = -9223372036854775807',
  ])('a number that JavaScript cannot represent is a defect of the file: %s', (sql) => {
    expect(() => facts(`${layer('a')}${sql}`)).toThrow(BrokenArchiveError)
  })

  test('a definition of a coordinate system is read up to the length of real ones', () => {
    const sql = `INSERT INTO gpkg_spatial_ref_sys VALUES ('x', 9, 'NONE', 1, 'PROJCS["x",' || replace(hex(zeroblob(1000000)), '0', '['))`
    expect(facts(`${sql};${layer('a', { srs: 9 })}`)).toMatchObject({ crs: 'x', bounds: null })
  })
})

test.each([
  ['a text', 'hello'],
  ['an empty file', ''],
  ['half a header', 'SQLite format 3\0'],
])('%s is not a database', (_, content) => {
  tree.put('x.gpkg', content)
  expect(() => read()).toThrow('this is not an SQLite database')
})

test('a truncated file, one with only tiles, and another database are refused with a reason', () => {
  makeGeopackage(tree.at('whole.gpkg'), layer('a', { rows: 5000 }))
  const whole = readFileSync(tree.at('whole.gpkg'))
  tree.put('x.gpkg', whole.subarray(0, whole.length - 4096))
  expect(() => read()).toThrow('the file is cut off')
  makeGeopackage(tree.at('tiles.gpkg'), `INSERT INTO gpkg_contents VALUES ('t', 'tiles', 't', 0, 0, 1, 1, 4326)`)
  expect(() => read('tiles.gpkg')).toThrow('it holds raster tiles')
  const other = new DatabaseSync(tree.at('other.gpkg'))
  other.exec('CREATE TABLE t (a)')
  other.close()
  expect(() => read('other.gpkg')).toThrow('it has no table gpkg_contents')
})

test('a missing file, or a link out of the source, counts as missing', () => {
  const outside = makeTree()
  makeGeopackage(outside.at('secret.gpkg'), layer('a'))
  symlinkSync(outside.at('secret.gpkg'), tree.at('link.gpkg'))
  expect([read('nowhere.gpkg'), read('link.gpkg')]).toEqual([null, null])
  outside.remove()
})

test('damaged bytes cause facts or a refusal, never another error', () => {
  makeGeopackage(tree.at('whole.gpkg'), layer('a') + layer('b', { type: 'POLYGON' }))
  const whole = readFileSync(tree.at('whole.gpkg'))
  const damage = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(damage, (bytes) => {
      const damaged = Buffer.from(whole)
      for (const [at, value] of bytes) damaged[at] = value
      tree.put('x.gpkg', damaged)
      try {
        expect(Object.keys(read() ?? {})).toHaveLength(7)
      } catch (error) {
        expect((error as Error).name).toBe('BrokenArchiveError')
      }
    }),
  )
})
