import { expect, test } from 'vitest'
import { csvGeometry } from './csv-head.js'

/** A point of PostGIS in EPSG:3857. */
const EWKB = '0101000020110F000000000000000020400000000000004940'

test.each([
  ['lon,lat,name\n8,47,a', { columns: { x: 'lon', y: 'lat' }, isGeographic: true, encoding: 'UTF-8' }],
  ['\uFEFF"Longitude";"Latitude"\r\n8;47', { columns: { x: 'Longitude', y: 'Latitude' }, isGeographic: true }],
  ['name\tX\tY\na\t1\t2', { columns: { x: 'X', y: 'Y' }, isGeographic: false }],
  ['名称,经度,纬度\n路,116,39', { columns: { x: '经度', y: '纬度' }, isGeographic: true, encoding: 'UTF-8' }],
  ['id,WKT\n1,"POINT (8 47)"', { columns: { text: 'WKT' }, isGeographic: false }],
  ['sep=;\r\nname;lon;lat\r\na;8;47', { columns: { x: 'lon', y: 'lat' }, separator: ';', namesSeparator: true }],
  [`id,geom\n1,\n2,${EWKB}`, { columns: { text: 'geom' }, epsg: '3857' }],
  ['id,geometry\n1,"{""type"":""Point"",""coordinates"":[8,47]}"', { columns: { text: 'geometry' } }],
])('%j has coordinates', (text, geometry) => {
  expect(csvGeometry(Buffer.from(text))).toMatchObject(geometry)
})

test('a table from a spreadsheet in GBK has coordinates, too', () => {
  // "名称,经度,纬度" and "道路,116,39"
  const gbk = Buffer.concat([
    Buffer.from('c3fbb3c62cbeadb6c82cceb3b6c80a', 'hex'),
    Buffer.from('b5c0c2b72c3131362c33390a', 'hex'),
  ])
  expect(csvGeometry(gbk)).toEqual({
    columns: { x: '经度', y: '纬度' },
    isGeographic: true,
    encoding: 'GBK',
    separator: ',',
    namesSeparator: false,
  })
})

test.each(['', 'hello', 'name,value\na,1', 'lat,name\n47,a', 'id,geom\n1,0101000020E6', 'x*,y*\n1,2'])(
  '%j has none',
  (text) => {
    expect(csvGeometry(Buffer.from(text))).toBeNull()
  },
)
