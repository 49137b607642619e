import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildIndex } from '../index-file/build-index.js'
import { INDEX_FILE } from '../index-file/index-description.js'
import type { Chunk, ItemsQuery } from './items-query.js'
import { parseItemsQuery, type QueriedIndex } from './parameters.js'
import { OpenIndex } from './run-query.js'

const home = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'vector-texts-'))
const COUNT = 3_000
/** The feature whose text is too long to be kept. */
const LARGE = 1_234

let index: QueriedIndex
let open: OpenIndex

beforeAll(async () => {
  const features = Array.from({ length: COUNT }, (_, i) => ({
    type: 'Feature',
    properties: {
      name: ['Ort', 'ORT', '道路', 'Straße'][i % 4],
      city: i % 2 === 0 ? '北京 Beijing' : '上海（Shanghai）',
      text: i === LARGE ? 'x'.repeat(70_000) : `t ${i % 100}`,
      number: i % 7 === 0 ? null : i / 3,
      large: 9_007_199_254_740_993n.toString(),
      on: i % 3 === 0,
      tags: i % 5 === 0 ? { a: [1, '"'] } : null,
    },
    geometry: i % 11 === 0 ? null : geometryAt(10 + (i % 60) / 10, 40 + Math.floor(i / 60) / 10, i),
  }))
  fs.writeFileSync(join(home, 'places.geojson'), JSON.stringify({ type: 'FeatureCollection', features }))
  const task = { source: { root: home, path: join(home, 'places.geojson') }, kind: 'geojson' } as const
  const rest = { fingerprint: null, encoding: null, code: 'places', crs: 'OGC:CRS84', limits: { memoryMb: 1500 } }
  const description = await buildIndex({ ...task, ...rest, output: home })
  index = { description, revision: 'r', file: join(home, INDEX_FILE) }
  open = new OpenIndex(index.file)
})
afterAll(() => {
  open.close()
  fs.rmSync(home, { recursive: true, force: true })
})

function geometryAt(x: number, y: number, i: number) {
  if (i % 3 === 0) return { type: 'Point', coordinates: [x, y, i] }
  if (i % 3 === 1)
    return {
      type: 'LineString',
      coordinates: [
        [x, y],
        [x + 0.05, y + 0.1],
      ],
    }
  const ring = [
    [x, y],
    [x + 0.2, y],
    [x, y + 0.2],
    [x, y],
  ]
  return { type: 'MultiPolygon', coordinates: [[ring]] }
}

interface Answer {
  readonly features: unknown[]
  readonly state: Chunk['state'] | undefined
  readonly last: Chunk['last'] | undefined
}

function answer(query: ItemsQuery): Answer {
  const chunks = [...open.run(query)]
  const text = Buffer.concat(chunks.map(({ bytes }) => bytes)).toString()
  const features = JSON.parse(`[${text}]`) as unknown[]
  expect(chunks.reduce((sum, { count }) => sum + count, 0)).toBe(features.length)
  const last = chunks.findLast((chunk) => chunk.last !== null)?.last
  return { features, state: chunks.at(-1)?.state, last }
}

/** The answer whose features are written one by one, as from an index without texts. */
const written = (query: ItemsQuery) => answer({ ...query, texts: null })

const QUERIES: readonly Record<string, string>[] = [
  {},
  { limit: '10000' },
  { limit: '1' },
  { limit: '700', offset: '900' },
  { offset: String(COUNT - 1) },
  { offset: String(COUNT) },
  { offset: '999999999999999' },
  { bbox: '10,40,12,42', limit: '50' },
  { bbox: '10,40,12,42', limit: '5000' },
  { bbox: '11.05,41.05,11.15,41.15' },
  { bbox: '170,40,10.4,41', limit: '1000' },
  { bbox: '11,41,12,42', offset: '13', limit: '20' },
  { filter: "name = 'Ort'", limit: '300' },
  { filter: "name = 'Ort'", limit: '300', offset: '200' },
  { filter: "CASEI(name) = CASEI('ort')", limit: '10000' },
  { filter: "CASEI(name) = CASEI('STRASSE')" },
  { filter: "CASEI(name) LIKE CASEI('STRAß%')", limit: '3' },
  { filter: "CASEI(city) = CASEI('北京 BEIJING')", limit: '2' },
  { filter: 'number > 990 OR number IS NULL', limit: '10000' },
  { filter: "text = 't 99' AND S_INTERSECTS(geometry, BBOX(10, 40, 13, 60))", limit: '10000' },
  { filter: 'NOT S_INTERSECTS(geometry, BBOX(10, 40, 12, 42))', limit: '10000' },
  { filter: 'geometry IS NULL', limit: '10000' },
  { filter: 'S_INTERSECTS(geometry, POLYGON((12 42, 10 42, 10 40, 12 40, 12 42)))', limit: '10000' },
  { filter: 'S_INTERSECTS(geometry, POLYGON((10 42, 10 40, 12 40, 12 42, 10 42)))', limit: '10000' },
  { filter: 'S_INTERSECTS(geometry, POLYGON((10 40, 13 40, 10 43, 10 40)))', limit: '10000' },
  { filter: "name = 'nowhere'" },
]

test('whole numbers beyond 2^53 are exact in filters, parameters, orders and cursors', async () => {
  const numbers = [
    '9223372036854775807',
    '9223372036854775806',
    '9007199254740993',
    '9007199254740992',
    '-9223372036854775808',
  ]
  const output = join(home, 'long')
  fs.mkdirSync(output)
  const path = join(output, 'long.geojson')
  const features = numbers.map((n) => `{"type":"Feature","properties":{"n":${n}},"geometry":null}`)
  fs.writeFileSync(path, `{"type":"FeatureCollection","features":[${features.join(',')}]}`)
  const task = { source: { root: output, path }, kind: 'geojson', fingerprint: null, encoding: null } as const
  const description = await buildIndex({ ...task, code: 'long', crs: null, limits: { memoryMb: 1500 }, output })
  const long = { description, revision: 'r', file: join(output, INDEX_FILE) }
  const opened = new OpenIndex(long.file)
  const found = (query: ItemsQuery) => {
    const chunks = [...opened.run(query)]
    const text = Buffer.concat(chunks.map(({ bytes }) => bytes)).toString()
    return { numbers: [...text.matchAll(/"n":(-?\d+)/g)].map(([, n]) => n), last: chunks.at(-1)?.last ?? null }
  }
  const ask = (query: Record<string, string>) => parseItemsQuery(new URLSearchParams(query).toString(), '', long)
  for (const n of numbers) {
    expect(found(ask({ filter: `n = ${n}` })).numbers).toEqual([n])
    expect(found(ask({ filter: `{"op":"=","args":[{"property":"n"},${n}]}` })).numbers).toEqual([n])
    expect(found(ask({ n })).numbers).toEqual([n])
  }
  expect(found(ask({ filter: 'n > 9007199254740992' })).numbers).toEqual(numbers.slice(0, 3))
  const pages: (string | undefined)[] = []
  let query = ask({ sortby: '-n', limit: '1' })
  for (let i = 0; i < numbers.length; i++) {
    const page = found(query)
    pages.push(...page.numbers)
    query = { ...query, after: page.last }
  }
  expect(pages).toEqual(numbers)
  opened.close()
})

describe('a response from the stored texts', () => {
  test.each(QUERIES.map((query) => [new URLSearchParams(query).toString(), query] as const))(
    'has the features of one that is written: %s',
    (text) => {
      const query = parseItemsQuery(text, '', index)
      expect(query.texts).not.toBeNull()
      const { features, state } = answer(query)
      const expected = written(query)
      expect(features).toEqual(expected.features)
      expect(state).toBe(expected.state)
    },
  )

  test('rectangles of a filter match whatever their first corner and direction', () => {
    const corners = [
      [10, 40],
      [12, 40],
      [12, 42],
      [10, 42],
    ]
    const found = new Set<number>()
    for (let first = 0; first < 4; first++) {
      for (const step of [1, 3]) {
        const ring = Array.from({ length: 5 }, (_, i) => corners[(first + i * step) % 4]?.join(' ')).join(', ')
        const filter = `S_INTERSECTS(geometry, POLYGON((${ring})))`
        const text = new URLSearchParams({ filter, limit: '10000' }).toString()
        found.add(answer(parseItemsQuery(text, '', index)).features.length)
      }
    }
    expect([found.size, [...found][0]]).toEqual([1, expect.toSatisfy((count: number) => count > 300)])
  })

  test.each([
    ['', 250],
    ['bbox=10,40,14,60', 33],
    [new URLSearchParams({ filter: "name = 'Ort'" }).toString(), 61],
  ])('has all features once if it is paged: %s', (text, limit) => {
    const whole = written(parseItemsQuery(`${text}&limit=10000`, '', index))
    const paged: unknown[] = []
    let query: ItemsQuery = { ...parseItemsQuery(text, '', index), limit }
    for (;;) {
      const page = answer(query)
      paged.push(...page.features)
      if (page.state !== 'more') break
      expect(page.features.length).toBe(limit)
      query = { ...query, after: page.last ?? null }
    }
    expect(paged).toEqual(whole.features)
  })

  test('is cut between features before its limit of bytes', () => {
    const query = { ...parseItemsQuery('limit=10000', '', index), maxBytes: 200_000 }
    const chunks = [...open.run(query)]
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.bytes.length, 0)
    expect([chunks.at(-1)?.state, bytes > 100_000, bytes <= 200_000]).toEqual(['more', true, true])
    const next = answer({ ...query, after: chunks.at(-1)?.last ?? null })
    const all = written({ ...query, maxBytes: 1e9 }).features
    const { features } = answer(query)
    expect(next.features[0]).toEqual(all[features.length])
  })
})

test.each([
  ['bbox=10,40,100,16,60,200', [100, 200]],
  ['bbox=10,40,-1,16,60,0', [0, 0]],
  [
    new URLSearchParams({ filter: 'S_INTERSECTS(geometry, BBOX(10, 40, 2990, 16, 60, 3000))' }).toString(),
    [2990, 3000],
  ],
] as const)('a box of six numbers leaves out features above and below it: %s', (text, [bottom, top]) => {
  const { features } = answer(parseItemsQuery(`${text}&limit=10000`, '', index))
  const heights = (features as { geometry: { coordinates: unknown[] } | null }[]).flatMap(({ geometry }) =>
    typeof geometry?.coordinates[2] === 'number' ? [geometry.coordinates[2]] : [],
  )
  const expected = Array.from({ length: COUNT }, (_, i) => i).filter(
    (i) => i % 3 === 0 && i % 11 !== 0 && i >= bottom && i <= top,
  )
  expect(heights).toEqual(expected)
  // Features without heights are at all heights.
  expect(features.length).toBeGreaterThan(1_000)
})

test('a box whose bottom is above its top is refused', () => {
  expect(() => parseItemsQuery('bbox=10,40,2,16,60,1', '', index)).toThrow('its bottom is above its top')
})

test('other systems, formats, orders and properties are written for the response', () => {
  for (const text of ['crs=EPSG:3857', 'f=csv', 'f=fgb', 'sortby=number', 'properties=name'])
    expect([text, parseItemsQuery(text, '', index).texts]).toEqual([text, null])
  expect(parseItemsQuery('crs=CRS84&f=json', '', index).texts).not.toBeNull()
})

test('SQLite folds the texts of a field that has letters of ASCII and ideographs only', () => {
  const folded = index.description.fields.filter(({ ascii_folding }) => ascii_folding).map(({ name }) => name)
  expect(folded.toSorted()).toEqual(['city', 'large', 'text'])
})
