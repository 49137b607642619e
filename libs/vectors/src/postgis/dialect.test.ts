import type { DatabaseTable } from '@gateway/contracts/postgis.js'
import { expect, test } from 'vitest'
import { parseCql2Text } from '../query/cql2/parse-text.js'
import { fieldOf } from './columns.js'
import { filterOf, numbered } from './select-features.js'

const column = (name: string, form: DatabaseTable['columns'][number]['form'], type: string) => ({ name, form, type })
const table: DatabaseTable = {
  ...{ what: 'table', source: 'db', schema: 'public', table: 't', geometry: 'geom', isGeography: false, srid: 4326 },
  ...{ setsSrid: false, proj4: null, hasZ: false, mayCurve: false, foldsUnicode: true, isPersonal: false },
  ...{ ttlSeconds: 60, statementTimeoutSeconds: 10, key: [] },
  columns: [
    column('name', 'text', 'text'),
    column('kind', 'text', 'mood'),
    column('pop', 'integer', 'bigint'),
    column('ok', 'boolean', 'boolean'),
    column('day', 'date', 'date'),
    column('a? b', 'text', 'text'),
  ],
}
const fields = table.columns.map(fieldOf)
const sql = (text: string, of = table) => {
  const made = filterOf({ filter: parseCql2Text(text), fields }, of)
  return made === null ? null : numbered(made)
}

test.each([
  ['pop = 1', '"pop" = $1::text::bigint', ['1']],
  ['pop > 1.5 AND ok = true', '(("pop" > $1::text::float8) AND ("ok" = $2::text::boolean))', ['1.5', 'true']],
  ["name = 'x'", '"name" = $1::text', ['x']],
  ["kind = 'calm'", '"kind"::text = $1::text', ['calm']],
  ["name > 'x'", '("name") COLLATE "C" > ($1::text) COLLATE "C"', ['x']],
  ["day >= DATE('2024-01-01')", '"day" >= $1::text::timestamptz', ['2024-01-01']],
  ["name LIKE 'a%'", '"name" LIKE $1::text ESCAPE \'\\\'', ['a%']],
  ['pop IN (1, 2)', '"pop" IN ($1::text::bigint, $2::text::bigint)', ['1', '2']],
  ['NOT name IS NULL', 'NOT ("name" IS NULL)', []],
])('%s becomes a statement with parameters', (text, statement, values) => {
  expect(sql(text)).toEqual({ text: statement, values })
})

test('a question mark in a name is no parameter', () => {
  expect(sql(`"a? b" = '?' OR pop = 1`)).toEqual({
    text: '(("a? b" = $1::text) OR ("pop" = $2::text::bigint))',
    values: ['?', '1'],
  })
})

test('a place is looked for by the index of the table, in its own system', () => {
  const near = (of: DatabaseTable) => sql('S_INTERSECTS(geometry, POINT(10 50))', of)
  expect(near(table)?.text).toBe(
    '(("geom" && ST_MakeEnvelope($1::text::float8, $2::text::float8, $3::text::float8, $4::text::float8, 4326) AND ' +
      'ST_Intersects(("geom"), ST_GeomFromGeoJSON($5::text))))',
  )
  const utm = { ...table, srid: 25832, proj4: '+proj=utm +zone=32 +ellps=GRS80 +units=m +no_defs' }
  const [minX = 0, minY = 0, maxX = 0, maxY = 0] = near(utm)?.values.map(Number) ?? []
  expect([minX < 571_666 && maxX > 571_666, minY < 5_539_110 && maxY > 5_539_110]).toEqual([true, true])
  // A box that leaves the area of the system is compared feature by feature.
  expect(sql('S_INTERSECTS(geometry, BBOX(-180,-90,180,90))', utm)?.text).not.toContain('&&')
})
