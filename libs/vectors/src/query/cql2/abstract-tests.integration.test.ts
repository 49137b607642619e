import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildIndex } from '../../index-file/build-index.js'
import { INDEX_FILE } from '../../index-file/index-description.js'
import { parseItemsQuery, type QueriedIndex } from '../parameters.js'
import { OpenIndex } from '../run-query.js'
import { parseCql2Text } from './parse-text.js'
import { abstractTests, TEST_LAYERS, type TestLayer, writeTestLayer } from './testing/abstract-tests.js'

const home = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'vector-cql2-'))
const layers = new Map<TestLayer, { readonly index: QueriedIndex; readonly open: OpenIndex }>()

beforeAll(async () => {
  for (const layer of TEST_LAYERS) {
    const output = join(home, layer)
    fs.mkdirSync(output)
    const path = join(home, `${layer}.gpkg`)
    writeTestLayer(layer, path)
    const rest = { fingerprint: null, encoding: null, code: layer, crs: 'OGC:CRS84', limits: { memoryMb: 1500 } }
    const description = await buildIndex({ source: { root: home, path }, kind: 'geopackage', output, ...rest })
    const file = join(output, INDEX_FILE)
    layers.set(layer, { index: { description, revision: 'r', file }, open: new OpenIndex(file) })
  }
})
afterAll(() => {
  for (const { open } of layers.values()) open.close()
  fs.rmSync(home, { recursive: true, force: true })
})

function count(layer: TestLayer, parameters: Record<string, string>): number {
  const { index, open } = layers.get(layer)!
  const query = parseItemsQuery(new URLSearchParams({ ...parameters, limit: '10000' }).toString(), '', index)
  return [...open.run(query)].reduce((sum, chunk) => sum + chunk.count, 0)
}

test("every predicate of the standard's tables finds the number of OGC's features that it states", () => {
  const tests = abstractTests()
  expect(tests).toHaveLength(175)
  const found = tests.map((one) => ({ ...one, expected: count(one.layer, { filter: one.predicate }) }))
  expect(found).toEqual(tests)
})

test('every predicate finds the same if it is written in CQL2 JSON', () => {
  const tests = abstractTests()
  const found = tests.map((one) => {
    const filter = JSON.stringify(parseCql2Text(one.predicate))
    return { ...one, expected: count(one.layer, { filter, 'filter-lang': 'cql2-json' }) }
  })
  expect(found).toEqual(tests)
})
