import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeTree, POINT, type Tree } from '../scans/testing/trees.js'
import { examineGeojson, outermostType } from './geojson.js'

let tree: Tree
beforeEach(() => {
  tree = makeTree()
})
afterEach(() => tree.remove())

function examine(content: string | Buffer) {
  tree.put('x.json', content)
  return examineGeojson(tree.root, tree.at('x.json'))
}

const features = (megabytes: number) =>
  `"features":[${Array(megabytes * 10_000)
    .fill(`{"type":"Feature","geometry":${POINT},"properties":{}}`)
    .join()}]`

describe('is GeoJSON', () => {
  test.each([
    ['a geometry', POINT],
    ['with a byte order mark and blanks', `\uFEFF \n ${POINT} \n`],
    ['in UTF-16 with a byte order mark', Buffer.from(`\uFEFF${POINT}`, 'utf16le')],
    [
      'large, in UTF-16 of the other order',
      Buffer.from(`\uFEFF{"type":"FeatureCollection",${features(1)}}`, 'utf16le').swap16(),
    ],
    [
      'with `type` after other members',
      '{"bbox":[1,2,3,4],"features":[],"crs":{"type":"name"},"type":"FeatureCollection"}',
    ],
    ['large, with `type` first', `{"type":"FeatureCollection",${features(1)}}`],
    ['large, with `type` last', `{${features(1)}, "type" : "FeatureCollection" }\n`],
  ])('%s', (_, content) => {
    expect(examine(content)).toBe('geojson')
  })
})

describe('is something else', () => {
  test.each([
    ['an empty file', ''],
    ['an array', `[${POINT}]`],
    ['TileJSON', '{"tilejson":"3.0.0","tiles":[]}'],
    ['an inner type', '{"layer":{"type":"Feature"}}'],
    ['a type in a text', '{"note":"\\"type\\":\\"Point\\""}'],
    ['a type that is the value of another member', '{"kind":"type","x":"Point"}'],
    ['UTF-16 without a byte order mark', Buffer.from(POINT, 'utf16le')],
    ['a text of a megabyte', `{"x":"${'\\"'.repeat(500_000)}"}`],
  ])('%s', (_, content) => {
    expect(examine(content)).toBe('something else')
  })
})

test('TopoJSON is recognized', () => {
  expect(examine('{"type":"Topology","objects":{}}')).toBe('topojson')
})

test('a file that stops in the middle is truncated', () => {
  const whole = `{"type":"FeatureCollection",${features(1)}}`
  expect(examine(whole.slice(0, whole.length / 2))).toBe('cut off')
})

test('the outermost type of any JSON object is the one that JSON.parse sees', () => {
  const withType = fc.tuple(
    fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 5 }),
    fc.option(fc.string()),
    fc.nat(),
  )
  fc.assert(
    fc.property(withType, ([members, type, indent]) => {
      const { type: _, ...rest } = members as Record<string, unknown>
      const object = type === null ? rest : { ...rest, type }
      const seen = outermostType(JSON.stringify(object, null, indent % 4))
      expect(seen).toBe(type === null ? null : JSON.stringify(type).slice(1, -1))
    }),
  )
})
