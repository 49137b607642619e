import { symlinkSync } from 'node:fs'
import { decodedFields } from '@gateway/contracts/decoded-fields.js'
import { UNKNOWN_FACTS } from '@gateway/contracts/vector.js'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { knownEncoding } from './encoding.js'
import { shapefileFacts } from './shapefile.js'
import { dbfHeader, PRJ_GAUSS_KRUGER, PRJ_WGS84, prjUtm, shpHeader, shxOf } from './testing/shapefiles.js'
import { makeTree, type Tree } from './testing/trees.js'

let tree: Tree
beforeEach(() => {
  tree = makeTree()
})
afterEach(() => tree.remove())

function facts(parts: Readonly<Record<string, string | Buffer>>) {
  for (const [extension, content] of Object.entries(parts)) tree.put(`roads.${extension}`, content)
  const sizes = Object.entries(parts).map(([extension, { length }]) => ({ name: `roads.${extension}`, size: length }))
  return shapefileFacts(tree.root, tree.at('roads.shp'), sizes)
}

test('a shapefile with all parts contains all facts', () => {
  const parts = {
    shp: shpHeader(13, [5, 45, 11, 48]),
    SHX: shxOf(7),
    dbf: dbfHeader(
      [
        ['name', 'C'],
        ['length', 'N'],
        ['paved', 'L'],
        ['built', 'D'],
      ],
      9,
    ),
    prj: PRJ_WGS84,
    cpg: 'utf8\n',
  }
  expect(facts(parts)).toEqual({
    crs: 'EPSG:4326',
    bounds: [5, 45, 11, 48],
    geometry_type: 'LineString',
    feature_count: 7,
    fields: [
      { name: 'name', type: 'string' },
      { name: 'length', type: 'number' },
      { name: 'paved', type: 'boolean' },
      { name: 'built', type: 'date' },
    ],
    encoding: 'UTF-8',
    encoding_source: 'cpg',
  })
})

test('without a .prj neither system nor bounds are known; without a .shx the table counts', () => {
  expect(facts({ shp: shpHeader(5, [1, 2, 3, 4]), dbf: dbfHeader([], 9) })).toEqual({
    ...UNKNOWN_FACTS,
    geometry_type: 'Polygon',
    feature_count: 9,
    fields: [],
  })
})

test('an empty one has no bounds, and an unknown kind of shape no type', () => {
  expect(facts({ shp: shpHeader(0, [0, 0, 0, 0]), shx: shxOf(0), prj: PRJ_WGS84 })).toMatchObject({
    bounds: null,
    geometry_type: null,
    feature_count: 0,
  })
})

describe('bounds of projected systems', () => {
  test('Gauss-Kruger of CGCS2000 (checked against GDAL)', () => {
    const box: [number, number, number, number] = [400_000, 3_000_000, 600_000, 3_200_000]
    const { crs, bounds } = facts({ shp: shpHeader(1, box), shx: shxOf(1), prj: PRJ_GAUSS_KRUGER })
    expect(crs).toBe('EPSG:4547')
    expect(bounds?.map((value) => Number(value.toFixed(4)))).toEqual([112.9746, 27.108, 115.0254, 28.9164])
  })

  test('across the antimeridian west is greater than east', () => {
    const box: [number, number, number, number] = [700_000, 0, 900_000, 100_000]
    const { crs, bounds } = facts({ shp: shpHeader(1, box), shx: shxOf(1), prj: prjUtm(60) })
    expect(crs).toBe('EPSG:32660')
    expect(bounds?.[0]).toBeGreaterThan(178)
    expect(bounds?.[2]).toBeLessThan(-179)
  })

  test.each([
    ['degrees that are none', [0, 0, 400_000, 5], PRJ_WGS84],
    ['upside down', [5, 9, 6, 8], PRJ_WGS84],
    ['no numbers', [Number.NaN, 0, 1, 1], PRJ_WGS84],
    ['infinite', [-Infinity, 0, Infinity, 1], prjUtm(33)],
    ['a projection that nobody knows', [0, 0, 1, 1], prjUtm(33).replace('Transverse_Mercator', 'Hotch_Potch')],
    ['a text that is cut off', [0, 0, 1, 1], prjUtm(33).slice(0, 200)],
  ] as const)('%s: none', (_, box, prj) => {
    expect(facts({ shp: shpHeader(1, [...box]), shx: shxOf(1), prj }).bounds).toBeNull()
  })
})

test('a system without a known code is identified by its name, one with a code by the code', () => {
  const named = PRJ_WGS84.replace('GCS_WGS_1984', 'Our own')
  expect(facts({ shp: '', prj: named }).crs).toBe('Our own')
  expect(facts({ shp: '', prj: named.replace(/\]$/, ', AUTHORITY["EPSG", "4258"] ]\n') }).crs).toBe('EPSG:4258')
})

describe('the encoding', () => {
  test.each([
    ['UTF-8', 'UTF-8'],
    ['65001', 'UTF-8'],
    ['\uFEFF936', 'GBK'],
    ['ANSI 1251', 'windows-1251'],
    ['CP1252', 'windows-1252'],
    ['ISO 88591', 'ISO-8859-1'],
    ['Big5', 'Big5'],
    ['big-5', 'Big5'],
    ['UTF_8', 'UTF-8'],
    ['8859-2', 'ISO-8859-2'],
    ['ISO 885915', 'ISO-8859-15'],
    // Then the language driver of the table counts.
    ['', 'Big5'],
    ['\0\u0001', null],
    ['<script>', null],
  ])('.cpg %j: %s', (cpg, encoding) => {
    expect(facts({ shp: '', cpg, dbf: dbfHeader([], 0, 0x4f) }).encoding).toBe(encoding)
  })

  test('is that of the language driver if there is no .cpg, and names of fields are read in it', () => {
    const name = Buffer.from([0xb5, 0xc0, 0xc2, 0xb7])
    expect(facts({ shp: '', dbf: dbfHeader([[name, 'C']], 0, 0x4d) })).toMatchObject({
      encoding: 'GBK',
      encoding_source: 'table',
      fields: [{ name: '道路', type: 'string' }],
    })
  })

  test('is guessed by the bytes of the table if nothing declares it', () => {
    const name = Buffer.from([0xb5, 0xc0, 0xc2, 0xb7])
    const warned = (code: string, params = {}) => [{ code, params }]
    expect(facts({ shp: '', dbf: dbfHeader([[name, 'C']], 0, 0x57) })).toMatchObject({
      encoding: 'GBK',
      encoding_source: null,
      fields: [{ name: '道路', type: 'string' }],
      warnings: warned('scan_shapefile_encoding', { encoding: 'GBK' }),
    })
    const latin = Buffer.from('Stra\xdfe', 'latin1')
    expect(facts({ shp: '', dbf: dbfHeader([[latin, 'C']], 0, 0) })).toMatchObject({
      encoding: null,
      warnings: warned('scan_shapefile_encoding_unknown'),
    })
    expect(facts({ shp: '', cpg: 'KLINGON', dbf: dbfHeader([[latin, 'C']], 0, 0) })).toMatchObject({
      encoding: null,
      warnings: warned('scan_shapefile_cpg_unknown', { encoding: 'KLINGON' }),
    })
    const ascii = facts({ shp: '', dbf: dbfHeader([['name', 'C']], 0, 0) })
    expect([ascii.encoding, 'warnings' in ascii]).toEqual([null, false])
  })

  test('may be set later: only the bytes of names that are not ASCII are kept', () => {
    const name = Buffer.from([0xb5, 0xc0, 0xc2, 0xb7])
    const { raw_fields: raw = [] } = facts({ shp: '', dbf: dbfHeader([[name, 'C']], 0, 0x57) })
    expect(decodedFields(raw, 'GBK')).toEqual([{ name: '道路', type: 'string' }])
    expect(decodedFields(raw, 'Big5')).toEqual([{ name: '耋繚', type: 'string' }])
    expect(facts({ shp: '', dbf: dbfHeader([['name', 'C']]) })).not.toHaveProperty('raw_fields')
  })

  test.each([
    ['gbk', 'GBK'],
    ['936', 'GBK'],
    ['CP936', 'GBK'],
    ['gb2312', 'GBK'],
    ['utf8', 'UTF-8'],
    ['latin1', 'windows-1252'],
    ['iso-8859-1', 'ISO-8859-1'],
    ['ibm437', 'IBM437'],
    ['KOI8-R', 'koi8-r'],
    ['9999', null],
    ['EBCDIC', null],
    ['', null],
    ['a\nb', null],
  ])('that an operator enters as %j is %s', (written, encoding) => {
    expect(knownEncoding(written)).toBe(encoding)
  })
})

test('more fields than the limit are null, and so is a truncated header', () => {
  const fields = (n: number) => Array.from({ length: n }, (_, i) => [`f${i}`, 'C'] as const)
  expect(facts({ shp: '', dbf: dbfHeader(fields(256)) }).fields).toHaveLength(256)
  expect(facts({ shp: '', dbf: dbfHeader(fields(257)) }).fields).toBeNull()
  expect(facts({ shp: '', dbf: dbfHeader(fields(3)).subarray(0, 80) }).fields).toBeNull()
})

test('a part that leads out of the source is ignored', () => {
  const outside = makeTree()
  outside.put('secret.prj', PRJ_WGS84)
  symlinkSync(outside.at('secret.prj'), tree.at('roads.prj'))
  tree.put('roads.shp', shpHeader(1, [0, 0, 1, 1]))
  const parts = [{ name: 'roads.prj', size: 1 }]
  expect(shapefileFacts(tree.root, tree.at('roads.shp'), parts)).toMatchObject({ crs: null, bounds: null })
  outside.remove()
})

test('parts of any bytes cause no error', () => {
  const bytes = fc.uint8Array({ maxLength: 300 }).map((data) => Buffer.from(data))
  const wkt = fc
    .tuple(fc.nat(PRJ_GAUSS_KRUGER.length), fc.string(), fc.nat(20))
    .map(([at, text, cut]) => PRJ_GAUSS_KRUGER.slice(0, at) + text + PRJ_GAUSS_KRUGER.slice(at + cut))
  fc.assert(
    fc.property(bytes, bytes, wkt, bytes, (shp, dbf, prj, cpg) => {
      const header = Buffer.concat([shpHeader(1, [500_000, 0, 500_001, 1]), shp])
      const names = Object.keys(facts({ shp: header, shx: shxOf(1), dbf, prj, cpg }))
      expect(names).toEqual(expect.arrayContaining(Object.keys(UNKNOWN_FACTS)))
    }),
  )
})
