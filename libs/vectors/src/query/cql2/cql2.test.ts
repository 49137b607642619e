import { expect, test } from 'vitest'
import { compile, OF_FEATURES } from './compile.js'
import { type Expression, MAX_DEPTH, MAX_NODES, QueryError } from './expression.js'
import { parseCql2Json } from './parse-json.js'
import { parseCql2Text } from './parse-text.js'

const fields = new Map(
  (
    [
      ['name', 'string'],
      ['pop', 'integer'],
      ['ok', 'boolean'],
      ['day', 'date'],
      ['a "b', 'string'],
    ] as const
  ).map(([name, type]) => [name, { name, column: name, type, layers: [] }]),
)
const context = {
  ...({ fields, geom: OF_FEATURES, geometry: () => 7 } as const),
  ...{ usesTree: () => false, hasAny: () => true },
}
const sql = (expression: Expression) => compile(expression, context)

test.each([
  ['pop = 1', '{"op":"=","args":[{"property":"pop"},1]}'],
  ['pop = 9007199254740993', '{"op":"=","args":[{"property":"pop"},9007199254740993]}'],
  ['pop=-1.5e2', '{"op":"=","args":[{"property":"pop"},-150]}'],
  ["name = 'it''s'", '{"op":"=","args":[{"property":"name"},"it\'s"]}'],
  ['"a b" IS NOT NULL', '{"op":"not","args":[{"op":"isNull","args":[{"property":"a b"}]}]}'],
  [
    'pop > 1 and pop < 3 OR NOT ok = true',
    '{"op":"or","args":[{"op":"and","args":[{"op":">","args":[{"property":"pop"},1]},{"op":"<","args":[{"property":"pop"},3]}]},{"op":"not","args":[{"op":"=","args":[{"property":"ok"},true]}]}]}',
  ],
  ["day >= DATE('2020-01-01')", '{"op":">=","args":[{"property":"day"},{"date":"2020-01-01"}]}'],
  ["casei(name) IN ('a', 'b')", '{"op":"in","args":[{"op":"casei","args":[{"property":"name"}]},["a","b"]]}'],
  [
    "CASEI(accenti(name)) = 'a'",
    '{"op":"=","args":[{"op":"casei","args":[{"op":"accenti","args":[{"property":"name"}]}]},"a"]}',
  ],
  [
    'S_INTERSECTS(geometry, MULTIPOINT((1 2), (3 4)))',
    '{"op":"s_intersects","args":[{"property":"geometry"},{"type":"MultiPoint","coordinates":[[1,2],[3,4]]}]}',
  ],
  ['道路 = 1', '{"op":"=","args":[{"property":"道路"},1]}'],
])('%s has the same form in JSON', (text, json) => {
  expect(parseCql2Text(text)).toEqual(parseCql2Json(json))
})

test.each([
  ['', 'character 1:'],
  ['pop', 'character 4:'],
  ['pop = ', 'character 7:'],
  ["name = 'x", 'character 8:'],
  ['pop = 1 pop', 'character 9:'],
  ['(pop = 1', 'character 9:'],
  ["day = DATE('2020-02-30')", 'character 12:'],
  ['pop = 1; DROP TABLE x', 'character 8:'],
  ['T_AFTER(day, day)', 'character 1:'],
  ['S_INTERSECTS(geometry, POINT(1))', 'character 31:'],
])('%s is refused at its position', (text, place) => {
  expect(() => parseCql2Text(text)).toThrow(place)
})

test.each([
  ['{', 'not JSON'],
  ['{"op":"x","args":[]}', '/op'],
  ['{"op":"and","args":[true]}', '/args'],
  ['{"op":"=","args":[{"property":"pop"},null]}', '/args/1'],
  ['{"op":"s_intersects","args":[{"property":"g"},{"type":"Point","coordinates":["1",2]}]}', '/args/1/coordinates'],
])('%s is refused at its position in JSON', (text, place) => {
  expect(() => parseCql2Json(text)).toThrow(place)
})

test('filters that are too deep or too large are refused', () => {
  expect(() => parseCql2Text(`${'('.repeat(MAX_DEPTH + 1)}pop = 1${')'.repeat(MAX_DEPTH + 1)}`)).toThrow(QueryError)
  expect(() => parseCql2Text('NOT '.repeat(MAX_DEPTH + 1).concat('pop = 1'))).toThrow('deeper')
  expect(() =>
    parseCql2Text(
      `pop IN (${Array(MAX_NODES + 1)
        .fill(1)
        .join(',')})`,
    ),
  ).toThrow('more than')
  const deep = `${'{"op":"not","args":['.repeat(MAX_DEPTH + 1)}true${']}'.repeat(MAX_DEPTH + 1)}`
  expect(() => parseCql2Json(deep)).toThrow('deeper')
})

test('input of the caller becomes a value, never text', () => {
  const hostile = `x'; DROP TABLE features; --`
  expect(sql(parseCql2Text(`name = '${hostile.replace("'", "''")}' OR name LIKE '%'';%'`))).toEqual({
    text: `(("name" = ?) OR ("name" LIKE ? ESCAPE '\\'))`,
    values: [hostile, "%';%"],
  })
  expect(() => sql({ op: '=', args: [{ property: 'pop" OR 1=1' }, 1] })).toThrow('there is no property')
  expect(sql({ op: 'isNull', args: [{ property: 'a "b' }] }).text).toBe('"a ""b" IS NULL')
})

test.each([
  ["pop = 'x'", 'cannot be compared'],
  ['pop-150.0 > 0', 'a space is missing before -150.0'],
  ["pop LIKE '1%'", 'LIKE'],
  ['geometry = 1', 'S_INTERSECTS'],
  ['S_INTERSECTS(name, POINT(1 2))', 'not a geometry'],
  ['S_INTERSECTS(POINT(1 2), POINT(1 2))', 'takes the property'],
])('%s is an invalid comparison', (text, said) => {
  expect(() => sql(parseCql2Text(text))).toThrow(said)
})

test('a long chain stays within the depth limit of SQLite', () => {
  const { text } = sql(parseCql2Text(Array(400).fill('pop = 1').join(' OR ')))
  let depth = 0
  const depths = [...text].map((c) => (depth += c === '(' ? 1 : c === ')' ? -1 : 0))
  expect(depths.at(-1)).toBe(0)
  expect(Math.max(...depths)).toBeLessThan(14)
})

test('a field that is named geometry is compared as a text, and the geometry is geometry_2', () => {
  const own = new Map([['geometry', { name: 'geometry', column: 'geometry', type: 'string' as const, layers: [] }]])
  const of = (text: string) => compile(parseCql2Text(text), { ...context, fields: own }).text
  expect(of("geometry = 'x'")).toBe('"geometry" = ?')
  expect(of('geometry IS NULL')).toBe('"geometry" IS NULL')
  expect(of('geometry_2 IS NULL')).toBe('geom IS NULL')
  for (const name of ['geometry', 'geometry_2'])
    expect(of(`S_INTERSECTS(${name}, POINT(1 2))`)).toBe('(gw_intersects(geom, ?))')
})

test.each([
  [[170, -50, 190, 0], 4],
  [[-190, -50, -170, 0], 4],
  [[170, -50, -170, 0], 4],
  [[350, 40, 370, 60], 3],
  [[10, 40, 20, 60], 3],
  [[-180, -90, 180, 90], 1],
])('a box of %s is looked for on each of its %i turns of the world', (bbox, count) => {
  const found: unknown[] = []
  const expression: Expression = { op: 's_intersects', args: [{ property: 'geometry' }, { bbox }] }
  compile(expression, { ...context, geometry: (geometry) => found.push(geometry) })
  expect(found).toHaveLength(count)
})
