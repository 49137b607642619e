import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { VectorKind } from '@gateway/contracts/vector.js'
import { DatabaseSync } from '@photostructure/sqlite'
import { ZipArchive } from 'archiver'
import { afterAll, describe, expect, test } from 'vitest'
import { ShapeWriter } from '../forms/shape-writer.js'
import { writeGeopackage } from '../forms/write-geopackage.js'
import { buildIndex, type IndexTask } from '../index-file/build-index.js'
import { INDEX_FILE } from '../index-file/index-description.js'
import { DEFAULT_CRS } from '../query/crs.js'
import { fieldsOf } from '../query/parameters.js'
import { OpenIndex } from '../query/run-query.js'
import { HAS_GDAL } from '../testing/has-gdal.js'
import { POINTS_FGB } from './testing/flatgeobufs.js'
import { zipContent } from './zipped-shapefile.js'

const home = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'vector-cases-'))
afterAll(() => fs.rmSync(home, { recursive: true, force: true }))

let made = 0

function put(name: string, content: string | Buffer): string {
  const file = join(home, `${++made}-${name}`)
  fs.writeFileSync(file, content)
  return file
}

/** Builds the index of a file and returns its items as a reader gets them, with each of them asked by its id. */
async function items(path: string, kind: VectorKind, more: Partial<IndexTask> = {}) {
  const output = fs.mkdtempSync(join(home, 'index-'))
  const rest = { fingerprint: null, encoding: null, code: 'city', crs: null, limits: { memoryMb: 1000 } }
  const description = await buildIndex({ source: { root: home, path }, kind, output, ...rest, ...more })
  const index = new OpenIndex(join(output, INDEX_FILE))
  const fields = fieldsOf(description)
  const none = { filter: null, sort: [], limit: 1000, offset: 0, after: null, maxBytes: 1e9 } as const
  const query = {
    index: '',
    fields,
    selected: fields,
    geometryType: null,
    crs: DEFAULT_CRS,
    format: 'geojson',
    ...none,
  } as const
  const run = (id: string | null, texts: typeof description.texts | null) =>
    [...index.run({ ...query, id, texts: texts ?? null })].map(({ bytes }) => Buffer.from(bytes).toString()).join('')
  const features = JSON.parse(`[${run(null, description.texts)}]`) as {
    id: string | number
    geometry: unknown
    properties: object
  }[]
  for (const feature of features) expect(JSON.parse(run(String(feature.id), null))).toEqual(feature)
  expect(new Set(features.map(({ id }) => String(id))).size).toBe(features.length)
  index.close()
  return {
    description,
    features,
    properties: features.map(({ properties }) => properties),
    ids: features.map(({ id }) => id),
  }
}

const point = (x: number, y: number) => ({ type: 'Point', coordinates: [x, y] })
const feature = (properties: object, more: object = {}) => ({
  type: 'Feature',
  properties,
  geometry: point(1, 2),
  ...more,
})
const collection = (...features: object[]) => JSON.stringify({ type: 'FeatureCollection', features })

describe('GeoJSON', () => {
  test('keeps texts that look like times, ratios, dates and numbers', async () => {
    const texts = {
      ratio: '2:3',
      slash: '2020/01/02',
      month: '2020-01',
      time: '10:30:00',
      no: '2021-13-45',
      zip: '01569',
      late: '3000-02-31',
    }
    const { properties, description } = await items(put('a.geojson', collection(feature(texts))), 'geojson')
    expect(properties).toEqual([texts])
    expect(new Set(description.fields.map(({ type }) => type))).toEqual(new Set(['string']))
  })

  test('has dates and instants only if every value is one', async () => {
    const values = [
      { day: '2020-02-29', at: '2024-05-01T10:00:00+08:00', mixed: '2020-01-01' },
      { day: '1999-12-31', at: '2024-05-01T10:00:00.5Z', mixed: 'unknown' },
    ]
    const { properties, description } = await items(
      put('a.geojson', collection(...values.map((one) => feature(one)))),
      'geojson',
    )
    expect(properties).toEqual(values)
    expect(description.fields.map(({ type }) => type)).toEqual(['date', 'datetime', 'string'])
  })

  test('keeps names that differ only by case, names of the index, and nested values of several types', async () => {
    const values = [
      {
        type: 'a',
        TYPE: 'b',
        fid: 1,
        geom: 2,
        OGC_FID: 3,
        layer: 'x',
        mixed: 1,
        tags: { a: [1, null] },
        list: ['a'],
        none: null,
      },
      { type: 'c', TYPE: 'd', fid: 1, geom: 2, OGC_FID: 3, layer: 'y', mixed: 'one', tags: {}, list: [], none: null },
    ]
    const { properties } = await items(put('a.geojson', collection(...values.map((one) => feature(one)))), 'geojson')
    expect(properties).toEqual(values)
  })

  test('keeps whole numbers of 64 bits', async () => {
    const text = collection(feature({ n: 'N', list: ['N'] })).replaceAll('"N"', '9223372036854775807')
    const { properties, description } = await items(put('a.geojson', text), 'geojson')
    expect(description.fields[0]?.type).toBe('integer')
    expect(properties).toHaveLength(1)
    const output = fs.readdirSync(home).filter((name) => name.startsWith('index-'))
    expect(output.length).toBeGreaterThan(0)
  })

  test.each([
    ['negative ones, 0 and fractions', [-5, 0, 1.5], [-5, 0, 1.5]],
    ['texts that look like numbers', ['2', undefined, 'x'], ['2', 'city.2', 'x']],
    ['repeated ones', [10, 20, 20], [10, 'city.2', 'city.3']],
    ['a number and the same text', [1, '1', 2], ['city.1', 'city.2', 2]],
    ['one that looks like a given one', ['city.2', undefined], ['city.2', 'city.2_2']],
    ['none', [undefined, undefined], [1, 2]],
    ['texts that no address can have', ['', '..', 'a/b?c'], ['city.1', 'city.2', 'a/b?c']],
  ])('ids: %s', async (_, own, expected) => {
    const features = own.map((id) => feature({ v: 1 }, id === undefined ? {} : { id }))
    const { ids } = await items(put('a.geojson', collection(...features)), 'geojson')
    expect(ids).toEqual(expected)
  })

  test('NUL, which SQLite ends a text at, is in no name, text or id, and half a character is replaced', async () => {
    const text = String.raw`{"type":"Feature","id":"i\u00001","properties":{"a\u0000b":"x\u0000y","half":"\ud800"},"geometry":null}`
    const { features } = await items(put('a.geojson', `{"type":"FeatureCollection","features":[${text}]}`), 'geojson')
    expect(features).toMatchObject([{ id: 'i1', properties: { ab: 'xy', half: '\ufffd' } }])
  })

  test('keeps a name in a GeoPackage that a renamed column would have', async () => {
    const own = { fid: 1, FID: 2, fid_2: 3, Fid: 4 }
    const path = put('a.geojson', collection(feature(own)))
    const output = fs.mkdtempSync(join(home, 'names-'))
    const rest = { fingerprint: null, encoding: null, code: 'city', crs: null, limits: { memoryMb: 1000 } }
    const description = await buildIndex({ source: { root: home, path }, kind: 'geojson', output, ...rest })
    const form = join(output, 'a.gpkg')
    const task = { index: join(output, INDEX_FILE), description, code: 'city', form: 'gpkg', output: form } as const
    writeGeopackage({ ...task, crs: DEFAULT_CRS, memoryMb: 1000 })
    const db = new DatabaseSync(form, { readOnly: true })
    const [row] = db.prepare('SELECT * FROM city').all() as Record<string, number>[]
    db.close()
    expect(row).toMatchObject({ fid: 1, fid_2: 3 })
    expect(Object.values(row ?? {})).toEqual(expect.arrayContaining([1, 2, 3, 4]))
  })

  test('has degrees by the name CRS84h too', async () => {
    const crs = { type: 'name', properties: { name: 'urn:ogc:def:crs:OGC::CRS84h' } }
    const text = JSON.stringify({ type: 'FeatureCollection', crs, features: [feature({})] })
    expect((await items(put('a.geojson', text), 'geojson')).features).toMatchObject([{ geometry: point(1, 2) }])
  })

  test('in GBK has readable names and values', async () => {
    // "名称" and "北京"
    const [name, value] = [Buffer.from('c3fbb3c6', 'hex'), Buffer.from('b1b1beb9', 'hex')]
    const [a, b, c] = collection(feature({ N: 'V' })).split(/[NV]/) as [string, string, string]
    const file = put('a.geojson', Buffer.concat([Buffer.from(a), name, Buffer.from(b), value, Buffer.from(c)]))
    expect((await items(file, 'geojson')).properties).toEqual([{ 名称: '北竟' }])
  })

  test('of a sequence may have a byte order mark and record separators', async () => {
    const lines = [0, 1, 2].map((n) => `\x1e${JSON.stringify(feature({ n }))}\n`).join('')
    const { properties } = await items(put('a.geojsonl', `\uFEFF${lines}`), 'geojson_sequence')
    expect(properties).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }])
  })

  test('of a sequence loses only the records that are broken', async () => {
    const lines = [JSON.stringify(feature({ n: 0 })), '{"type":"Feature", no', JSON.stringify(feature({ n: 2 }))]
    const { features, description } = await items(put('a.geojsonl', lines.join('\n')), 'geojson_sequence')
    expect(features.map(({ id, properties }) => [id, properties])).toEqual([
      [1, { n: 0 }],
      [2, { n: null }],
      [3, { n: 2 }],
    ])
    expect(description.damaged).toEqual({ count: 1, examples: ['city.2'] })
    const cut = put('a.geojsonl', [lines[0], lines[1], lines[0], lines[2]?.slice(0, -9)].join('\n'))
    await expect(items(cut, 'geojson_sequence')).rejects.toThrow('is damaged')
  })

  test('one coordinate outside of the earth costs one feature its geometry, and is named', async () => {
    const features = [1, 2, 3, 4].map((k) => feature({ k }, { geometry: k === 3 ? point(5e6, 9e6) : point(k, k) }))
    const { features: read, description } = await items(put('a.geojson', collection(...features)), 'geojson')
    expect(read.map(({ geometry }) => geometry !== null)).toEqual([true, true, false, true])
    expect(description.damaged).toEqual({ count: 1, examples: ['city.3'] })
  })

  test('has the system that a code of EPSG names, as in its first draft', async () => {
    const crs = { type: 'EPSG', properties: { code: 3857 } }
    const text = JSON.stringify({ type: 'FeatureCollection', crs, features: [feature({}, { geometry: point(0, 0) })] })
    expect((await items(put('a.geojson', text), 'geojson')).description.storage_crs).toBe('EPSG:3857')
  })

  test.each([
    ['most coordinates outside of degrees', collection(feature({}, { geometry: point(5e5, 9e6) })), 'not in degrees'],
    [
      'a system that nobody knows',
      JSON.stringify({ ...JSON.parse(collection(feature({}))), crs: { type: 'name', properties: { name: 'ours' } } }),
      'ours',
    ],
    ['an end in the middle', collection(feature({}), feature({})).slice(0, -20), 'features that were read: 1'],
  ])('%s: a failure', async (_, text, message) => {
    await expect(items(put('a.geojson', text), 'geojson')).rejects.toThrow(message)
  })
})

test('a CSV keeps codes with leading zeros, telephone numbers and quoted texts', async () => {
  const text =
    'name,zip,phone,n,lon,lat\r\n"a ""b"", c",01569,+8613800000001,1,10,20\r\n"x\ny",00601,+8613800000002,2.5,11,21\r\n'
  const { properties, features } = await items(put('a.csv', text), 'csv')
  expect(properties).toEqual([
    { name: 'a "b", c', zip: '01569', phone: '+8613800000001', n: 1, lon: 10, lat: 20 },
    { name: 'x\ny', zip: '00601', phone: '+8613800000002', n: 2.5, lon: 11, lat: 21 },
  ])
  expect(features.map(({ geometry }) => geometry)).toEqual([point(10, 20), point(11, 21)])
})

test('only decimal numbers are coordinates of a CSV', async () => {
  const places = ['8e0,+47', ' 8 ,47.', '"8,0","47,0"', '0x8,47', 'Infinity,47', 'true,47', '8_0,47', '0b1,0o7']
  const { features } = await items(put('a.csv', `lon,lat\n${places.join('\n')}\n8,47\n8,47\n8,47\n`), 'csv')
  const placed = features.map(({ geometry }) => geometry !== null)
  expect(placed).toEqual([...Array(3).fill(true), ...Array(5).fill(false), ...Array(3).fill(true)])
  for (const { geometry } of features) expect([null, point(8, 47)]).toContainEqual(geometry)
})

test('a CSV may have no other column than its geometries', async () => {
  const { features } = await items(put('a.csv', 'WKT\n"POINT (8 47)"\n"LINESTRING (0 0,1 1)"\n'), 'csv')
  expect(features).toMatchObject([{ geometry: point(8, 47) }, { geometry: { type: 'LineString' } }])
})

test.each([
  ['csv', 'a.csv', 'n,lon,lat\nN,8,47\n'],
  ['geojson', 'a.geojson', collection(feature({ n: 'N' }))],
] as const)('%s is read in the encoding that an operator has set', async (kind, name, text) => {
  const [before = '', after = ''] = text.split('N')
  const file = put(name, Buffer.concat([Buffer.from(before), Buffer.from('cceef1eae2e0', 'hex'), Buffer.from(after)]))
  expect((await items(file, kind, { encoding: 'windows-1251' })).properties).toMatchObject([{ n: 'Москва' }])
})

test.each([
  ['POINT Z (1 2 3)', { type: 'Point', coordinates: [1, 2, 3] }],
  [
    'SRID=4326;MULTIPOINT ((1 2), (3 4))',
    {
      type: 'MultiPoint',
      coordinates: [
        [1, 2],
        [3, 4],
      ],
    },
  ],
  [
    'MULTIPOINT (1 2, 3 4)',
    {
      type: 'MultiPoint',
      coordinates: [
        [1, 2],
        [3, 4],
      ],
    },
  ],
  [
    'POLYGON ((0 0, 1 0, 1 1, 0 0))',
    {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0],
          [1, 0],
          [1, 1],
          [0, 0],
        ],
      ],
    },
  ],
  [
    'GEOMETRYCOLLECTION (POINT (1 2), LINESTRING (1 2, 3 4))',
    {
      type: 'GeometryCollection',
      geometries: [
        point(1, 2),
        {
          type: 'LineString',
          coordinates: [
            [1, 2],
            [3, 4],
          ],
        },
      ],
    },
  ],
  ['LINESTRING (1 2, x)', null],
])('the Well-Known Text %s of a CSV is a geometry', async (wkt, geometry) => {
  const { features } = await items(put('a.csv', `id,wkt\n1,"${wkt}"\n2,"POINT (0 0)"\n`), 'csv')
  expect(features[0]?.geometry).toEqual(geometry)
})

test('the texts of a CSV from PostGIS are in the system that they name', async () => {
  const { features, description } = await items(put('a.csv', 'id,geom\n1,SRID=3857;POINT(0 0)\n'), 'csv')
  expect(description.storage_crs).toBe('EPSG:3857')
  expect(features[0]?.geometry).toEqual(point(0, 0))
})

test.each([
  ['geojson', 'a.geojson', collection(feature({ n: 'Straße – “é” €' }, { geometry: point(8.5, 47) }))],
  ['csv', 'a.csv', 'n,lon,lat\nStraße – “é” €,8.5,47\n'],
] as const)(
  '%s in an encoding that nobody knows is read as Windows-1252, and in UTF-16 as such',
  async (kind, name, text) => {
    // Windows-1252 has these characters between the bytes 0x80 and 0x9f, and the letters where ISO 8859-1 has them.
    const special: Readonly<Record<string, number>> = { '–': 0x96, '“': 0x93, '”': 0x94, '€': 0x80 }
    const bytes = Buffer.from([...text].map((one) => special[one] ?? one.charCodeAt(0)))
    for (const content of [
      bytes,
      Buffer.from(`\uFEFF${text}`, 'utf16le'),
      Buffer.from(`\uFEFF${text}`, 'utf16le').swap16(),
    ])
      expect((await items(put(name, content), kind)).features).toMatchObject([
        { properties: { n: 'Straße – “é” €' }, geometry: point(8.5, 47) },
      ])
  },
)

test('a CSV in GBK is read in it if its first lines have only ASCII', async () => {
  const beginning = `n,lon,lat\n${'x'.repeat(70_000)},8,47\n`
  const text = Buffer.concat([Buffer.from(beginning), Buffer.from('b1b1beb9', 'hex'), Buffer.from(',8,47\n')])
  const { properties } = await items(put('a.csv', text), 'csv')
  expect(properties[1]).toMatchObject({ n: '北竟' })
})

test.each([
  [
    'hexadecimal Well-Known Binary of PostGIS',
    '0101000020110F000000000000000000000000000000000000',
    'EPSG:3857',
    point(0, 0),
  ],
  ['GeoJSON', '"{""type"":""Point"",""coordinates"":[8,47]}"', null, point(8, 47)],
])('a CSV may have geometries as %s', async (_, text, crs, geometry) => {
  const { features, description } = await items(put('a.csv', `sep=,\nid,geom\n1,${text}\n2,\n`), 'csv')
  expect(description.storage_crs).toBe(crs)
  expect(features.map((one) => one.geometry)).toEqual([geometry, null])
})

test.skipIf(!HAS_GDAL).each([
  ['FlatGeobuf', 'flatgeobuf'],
  ['GPKG', 'geopackage'],
] as const)('a surface of triangles in %s has them all, and bytes are hexadecimal text', async (driver, kind) => {
  const script = `
import sys
from osgeo import ogr
data = ogr.GetDriverByName(sys.argv[1]).CreateDataSource(sys.argv[2])
layer = data.CreateLayer('tin', None, ogr.wkbTINZ)
layer.CreateField(ogr.FieldDefn('raw', ogr.OFTBinary))
feature = ogr.Feature(layer.GetLayerDefn())
feature.SetFieldBinaryFromHexString(0, '00FF')
feature.SetGeometry(ogr.CreateGeometryFromWkt('TIN Z (((0 0 0,1 0 0,0 1 0,0 0 0)),((1 0 0,1 1 0,0 1 0,1 0 0)))'))
layer.CreateFeature(feature)`
  const file = join(home, `${++made}-tin.${kind === 'flatgeobuf' ? 'fgb' : 'gpkg'}`)
  execFileSync('/usr/bin/python3', ['-c', script, driver, file])
  const { features } = await items(file, kind)
  expect(features).toMatchObject([{ properties: { raw: '00FF' }, geometry: { type: 'MultiPolygon' } }])
  expect(features.map(({ geometry }) => (geometry as { coordinates: unknown[] }).coordinates.length)).toEqual([2])
})

test('FlatGeobuf has the features that its header counts, whatever is behind them', async () => {
  const { features } = await items(put('a.fgb', Buffer.concat([POINTS_FGB, Buffer.alloc(50)])), 'flatgeobuf')
  expect(features.length).toBe(3)
})

test('a zip from a Mac has the shapefile without the twins with its attributes', async () => {
  const base = shapefile('x', [1, 2], { prj: PRJ[2154] }).slice(0, -3)
  const zip = new ZipArchive()
  const file = join(home, `${++made}-mac.zip`)
  for (const part of ['shp', 'shx', 'dbf']) {
    zip.append(fs.readFileSync(`${base}${part}`), { name: `roads.${part}` })
    zip.append(Buffer.alloc(20), { name: `__MACOSX/._roads.${part}` })
  }
  await Promise.all([pipeline(zip, fs.createWriteStream(file)), zip.finalize()])
  expect((await items(file, 'zipped_shapefile')).properties).toEqual([{ NAME: 'a' }])
  expect(await zipContent(home, file)).toMatchObject({ is: 'shapefiles', facts: { feature_count: 1 } })
})

test('a zip with a password is left out with this reason', async () => {
  const zip = new ZipArchive()
  const file = join(home, `${++made}-password.zip`)
  zip.append(fs.readFileSync(shapefile('x', [1, 2], { prj: PRJ[2154] })), { name: 'roads.shp' })
  await Promise.all([pipeline(zip, fs.createWriteStream(file)), zip.finalize()])
  const bytes = fs.readFileSync(file)
  const [local, central] = [6, bytes.indexOf('PK\x01\x02') + 8]
  for (const at of [local, central]) bytes.writeUInt16LE(bytes.readUInt16LE(at) | 1, at)
  fs.writeFileSync(file, bytes)
  await expect(zipContent(home, file)).rejects.toThrow('its content is encrypted')
})

const PRJ = {
  2154: 'PROJCS["RGF_1993_Lambert_93",GEOGCS["GCS_RGF_1993",DATUM["D_RGF_1993",SPHEROID["GRS_1980",6378137.0,298.257222101]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Lambert_Conformal_Conic"],PARAMETER["False_Easting",700000.0],PARAMETER["False_Northing",6600000.0],PARAMETER["Central_Meridian",3.0],PARAMETER["Standard_Parallel_1",49.0],PARAMETER["Standard_Parallel_2",44.0],PARAMETER["Latitude_Of_Origin",46.5],UNIT["Meter",1.0]]',
  28992:
    'PROJCS["RD_New",GEOGCS["GCS_Amersfoort",DATUM["D_Amersfoort",SPHEROID["Bessel_1841",6377397.155,299.1528128]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Double_Stereographic"],PARAMETER["False_Easting",155000.0],PARAMETER["False_Northing",463000.0],PARAMETER["Central_Meridian",5.38763888888889],PARAMETER["Scale_Factor",0.9999079],PARAMETER["Latitude_Of_Origin",52.1561605555556],UNIT["Meter",1.0]]',
} as const

function shapefile(
  name: string,
  at: readonly [number, number],
  parts: Readonly<Record<string, string | Buffer>>,
): string {
  const path = join(home, `${++made}-${name}`)
  const writer = new ShapeWriter(path, 1, false, [{ name: 'NAME', type: 'C', width: 20, decimals: 0 }])
  writer.add({ type: 'Point', coordinates: [...at] }, ['a'])
  writer.finish()
  writer.close()
  for (const [extension, content] of Object.entries(parts)) fs.writeFileSync(`${path}.${extension}`, content)
  return `${path}.shp`
}

const GPX = `<?xml version="1.0"?><gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1">
<wpt lat="50" lon="8"><ele>120.5</ele><name>007</name></wpt>
<trk><name>Way</name><trkseg><trkpt lat="50" lon="8"><ele>1</ele></trkpt><trkpt lat="51" lon="9"><ele>2</ele></trkpt></trkseg></trk></gpx>`
const DXF = ['0', 'SECTION', '2', 'ENTITIES', '0', 'LINE', '8', 'Roads', '10', '8', '20', '50', '11', '9', '21', '51']
  .concat(['0', 'ENDSEC', '0', 'EOF', ''])
  .join('\n')

test('GPX has its waypoints, routes and tracks, and no layers without features', async () => {
  const { features, description } = await items(put('a.gpx', GPX), 'gpx')
  expect(description.layers.map(({ name }) => name)).toEqual(['waypoints', 'tracks'])
  expect(features).toMatchObject([
    { properties: { name: '007', ele: 120.5 }, geometry: point(8, 50) },
    { properties: { name: 'Way' }, geometry: { type: 'MultiLineString' } },
  ])
})

test('DXF has its lines', async () => {
  const { features } = await items(put('a.dxf', DXF), 'dxf')
  expect(features).toMatchObject([{ properties: { Layer: 'Roads' }, geometry: { type: 'LineString' } }])
})

test.skipIf(!HAS_GDAL).each([true, false])(
  'a File Geodatabase in a zip, in a folder: %s, has its layers, with its own ids',
  async (inFolder) => {
    const folder = fs.mkdtempSync(join(home, 'geodatabase-'))
    const text = put('roads.geojson', collection(feature({ code: '007' }), feature({ code: '008' })))
    execFileSync('ogr2ogr', ['-f', 'OpenFileGDB', join(folder, 'city.gdb'), text, '-nln', 'roads'])
    const zip = new ZipArchive()
    const file = join(home, `${++made}-city.zip`)
    zip.directory(inFolder ? folder : join(folder, 'city.gdb'), inFolder ? 'data' : false)
    await Promise.all([pipeline(zip, fs.createWriteStream(file)), zip.finalize()])
    expect(await zipContent(home, file)).toEqual({ is: 'geodatabase' })
    const { properties, ids } = await items(file, 'zipped_geodatabase')
    expect(properties).toEqual([{ code: '007' }, { code: '008' }])
    expect(ids).toEqual([1, 2])
  },
)

test.skipIf(!HAS_GDAL).each(['tab', 'mif'])('MapInfo tables (.%s) of a zip are its layers', async (extension) => {
  const folder = fs.mkdtempSync(join(home, 'mapinfo-'))
  for (const name of ['道路', 'areas']) {
    const text = put(`${name}.geojson`, collection(feature({ code: '007', n: 5 }), feature({ code: name, n: null })))
    const options = ['-dsco', `FORMAT=${extension === 'mif' ? 'MIF' : 'NATIVE'}`, '-lco', 'ENCODING=UTF-8']
    execFileSync('ogr2ogr', ['-f', 'MapInfo File', ...options, join(folder, `${name}.${extension}`), text])
  }
  const zip = new ZipArchive()
  const file = join(home, `${++made}-mapinfo.zip`)
  zip.directory(folder, extension === 'tab' ? 'data' : false)
  await Promise.all([pipeline(zip, fs.createWriteStream(file)), zip.finalize()])
  expect(await zipContent(home, file)).toEqual({ is: 'mapinfo' })
  const { features, description } = await items(file, 'zipped_mapinfo')
  expect(description.layers.map(({ name }) => name).sort()).toEqual(['areas', '道路'])
  expect(description.storage_crs).toBe('EPSG:4326')
  expect(features.map(({ geometry }) => geometry)).toEqual(Array(4).fill(point(1, 2)))
  expect(features.map(({ properties }) => (properties as { code: string }).code).sort()).toEqual([
    ...['007', '007', 'areas', '道路'],
  ])
})

describe('a shapefile', () => {
  test.each([
    [2154, [700_000, 6_600_000], [3, 46.5]],
    [28992, [155_000, 463_000], [5.38763888888889, 52.1551744]],
  ] as const)('with a .prj of ESRI is in EPSG:%i', async (code, at, place) => {
    const { description, features } = await items(shapefile('x', at, { prj: PRJ[code] }), 'shapefile')
    expect(description).toMatchObject({ storage_crs: `EPSG:${code}`, storage_definition: { north_first: false } })
    const { coordinates } = (features[0] as { geometry: unknown }).geometry as { coordinates: [number, number] }
    for (const i of [0, 1] as const) expect(Math.abs(coordinates[i] - place[i])).toBeLessThan(0.002)
  })

  test('in a local system fails with its name', async () => {
    const path = shapefile('x', [1, 2], { prj: 'LOCAL_CS["Site grid",UNIT["Meter",1.0]]' })
    await expect(items(path, 'shapefile')).rejects.toThrow('Site grid')
  })

  test('of the moon fails with the name of its system', async () => {
    const prj =
      'GEOGCS["GCS_Moon_2000",DATUM["D_Moon_2000",SPHEROID["Moon_2000_IAU_IAG",1737400.0,0.0]],PRIMEM["Reference_Meridian",0.0],UNIT["Degree",0.0174532925199433]]'
    await expect(items(shapefile('x', [1, 2], { prj }), 'shapefile')).rejects.toThrow('GCS_Moon_2000')
  })

  test('in a system whose grid is not here has the place by the parameters of its datum', async () => {
    const prj =
      'PROJCS["GD_1949_New_Zealand_Map_Grid",GEOGCS["GCS_New_Zealand_1949",DATUM["D_New_Zealand_1949",SPHEROID["International_1924",6378388.0,297.0]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["New_Zealand_Map_Grid"],PARAMETER["False_Easting",2510000.0],PARAMETER["False_Northing",6023150.0],PARAMETER["Longitude_Of_Origin",173.0],PARAMETER["Latitude_Of_Origin",-41.0],UNIT["Meter",1.0]]'
    const { description, features } = await items(shapefile('x', [2_510_000, 6_023_150], { prj }), 'shapefile')
    expect(description.storage_crs).toBe('EPSG:27200')
    const { coordinates } = (features[0] as { geometry: unknown }).geometry as { coordinates: [number, number] }
    // By PROJ 9.1 without the grid, whose parameters are other ones.
    expect(coordinates[0]).toBeCloseTo(173.000171, 4)
    expect(coordinates[1]).toBeCloseTo(-40.998254, 4)
  })

  test('without a .shx is read', async () => {
    const path = shapefile('x', [1, 2], {})
    fs.rmSync(path.replace(/shp$/, 'shx'))
    expect((await items(path, 'shapefile')).properties).toEqual([{ NAME: 'a' }])
  })

  test.each([
    ['fewer entries than rows', (shx: Buffer) => shx.subarray(0, 100)],
    ['entries that point nowhere', (shx: Buffer) => Buffer.concat([shx.subarray(0, 100), Buffer.alloc(8)])],
  ])('whose .shx has %s is read in the order of its shapes', async (_, changed) => {
    const path = shapefile('x', [1, 2], {})
    const shx = path.replace(/shp$/, 'shx')
    fs.writeFileSync(shx, changed(fs.readFileSync(shx)))
    expect((await items(path, 'shapefile')).features).toMatchObject([
      { properties: { NAME: 'a' }, geometry: point(1, 2) },
    ])
  })

  test('whose .cpg names an OEM page is read in it', async () => {
    const path = shapefile('x', [1, 2], { cpg: 'OEM 936' })
    const dbf = fs.readFileSync(path.replace(/shp$/, 'dbf'))
    // "北京", in the first record behind the header
    Buffer.from('b1b1beb9', 'hex').copy(dbf, dbf.readUInt16LE(8) + 1)
    fs.writeFileSync(path.replace(/shp$/, 'dbf'), dbf)
    expect((await items(path, 'shapefile')).properties).toEqual([{ NAME: '北竟' }])
  })

  test.each([
    [0x26, '8caeaae2a0', 'Мокта'],
    [0x6a, '80a19f', 'Ακθ'],
    [0x6b, '98', 'İ'],
    [0x66, '9b', 'ø'],
    [0x0a, '81', 'ü'],
  ])('whose table has the language driver 0x%x is read in its code page', async (driver, bytes, text) => {
    const path = shapefile('x', [1, 2], {})
    const table = path.replace(/shp$/, 'dbf')
    fs.rmSync(path.replace(/shp$/, 'cpg'), { force: true })
    const dbf = fs.readFileSync(table)
    dbf[29] = driver
    Buffer.from(bytes, 'hex').copy(dbf, dbf.readUInt16LE(8) + 1)
    fs.writeFileSync(table, dbf)
    const [value] = (await items(path, 'shapefile')).properties as { NAME: string }[]
    expect(value?.NAME).toBe(text)
  })

  test('that ends in the middle is damaged', async () => {
    const path = shapefile('x', [1, 2], {})
    fs.truncateSync(path, 110)
    await expect(items(path, 'shapefile')).rejects.toThrow('features that were read: 0')
  })
})

describe('a GeoPackage', () => {
  function geopackage(tables: string): string {
    const file = join(home, `${++made}.gpkg`)
    const db = new DatabaseSync(file)
    db.exec(`
      CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT, srs_id INTEGER PRIMARY KEY, organization TEXT, organization_coordsys_id INTEGER, definition TEXT);
      CREATE TABLE gpkg_contents (table_name TEXT PRIMARY KEY, data_type TEXT, min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER);
      CREATE TABLE gpkg_geometry_columns (table_name TEXT PRIMARY KEY, column_name TEXT, geometry_type_name TEXT, srs_id INTEGER);
      INSERT INTO gpkg_spatial_ref_sys VALUES ('WGS 84', 4326, 'EPSG', 4326, 'undefined'), ('none', -1, 'NONE', -1, 'undefined');${tables}`)
    db.close()
    return file
  }
  const layer = (name: string, rows: readonly string[], srs = 4326) => `
    CREATE TABLE ${name} (fid INTEGER PRIMARY KEY, geom GEOMETRY, n TEXT);
    ${rows.map((blob, i) => `INSERT INTO ${name} VALUES (${i + 1}, X'${blob}', '${name}${i}');`).join('\n')}
    INSERT INTO gpkg_contents VALUES ('${name}', 'features', 0, 0, 1, 1, ${srs});
    INSERT INTO gpkg_geometry_columns VALUES ('${name}', 'geom', 'GEOMETRY', ${srs});`
  const HEAD = '47500001e6100000'
  const numbers = (...values: number[]) => {
    const bytes = Buffer.alloc(8 * values.length)
    values.forEach((value, i) => void bytes.writeDoubleLE(value, 8 * i))
    return bytes.toString('hex')
  }
  const count = (n: number) => `0${n}000000`
  const POINT = `${HEAD}0101000000${numbers(1, 2)}`

  test('of several layers has no id twice', async () => {
    const { ids } = await items(
      geopackage(layer('A', [POINT, POINT]) + layer('B', [POINT, POINT, POINT])),
      'geopackage',
    )
    expect(ids).toEqual(['A.1', 'A.2', 'B.1', 'B.2', 3])
  })

  test('has no layer for a view whose tables are gone, and its other layers', async () => {
    const view =
      "CREATE VIEW v AS SELECT * FROM gone; INSERT INTO gpkg_contents VALUES ('v', 'features', 0, 0, 1, 1, 4326); INSERT INTO gpkg_geometry_columns VALUES ('v', 'geom', 'GEOMETRY', 4326);"
    const { description } = await items(geopackage(layer('A', [POINT]) + view), 'geopackage')
    expect(description.layers.map(({ name }) => name)).toEqual(['A'])
  })

  test('has no layer for the styles of QGIS', async () => {
    const styles =
      "CREATE TABLE layer_styles (id INTEGER PRIMARY KEY, styleQML TEXT); INSERT INTO gpkg_contents VALUES ('layer_styles', 'attributes', NULL, NULL, NULL, NULL, 0);"
    const { description } = await items(geopackage(layer('A', [POINT]) + styles), 'geopackage')
    expect(description.layers.map(({ name }) => name)).toEqual(['A'])
  })

  test('without a place on the earth fails with the name of its system', async () => {
    await expect(items(geopackage(layer('A', [POINT], -1)), 'geopackage')).rejects.toThrow('undefined Cartesian')
  })

  test('has lines and polygons for curves and surfaces', async () => {
    const arc = `0108000000${count(3)}${numbers(0, 0, 1, 1, 2, 0)}`
    const triangle = `0103000000${count(1)}${count(4)}${numbers(0, 0, 1, 0, 1, 1, 0, 0)}`
    const shapes = [
      arc,
      `0109000000${count(1)}${arc}`,
      `010b000000${count(1)}${arc}`,
      `010f000000${count(1)}${triangle}`,
      `0107000000${count(1)}${arc}`,
    ]
    const { features } = await items(
      geopackage(
        layer(
          'A',
          shapes.map((one) => HEAD + one),
        ),
      ),
      'geopackage',
    )
    expect(features.map(({ geometry }) => (geometry as { type: string } | null)?.type)).toEqual([
      ...['LineString', 'LineString', 'MultiLineString', 'MultiPolygon', 'GeometryCollection'],
    ])
    const { coordinates } = (features[0] as { geometry: unknown }).geometry as { coordinates: [number, number][] }
    for (const [x, y] of coordinates) expect(Math.hypot(x - 1, y)).toBeCloseTo(1, 9)
  })
})
