import { expect, test } from 'vitest'
import { en } from './en.js'
import { enStyleEditor } from './en-style-editor.js'
import { counted } from './plural.js'
import { zh } from './zh.js'
import { zhStyleEditor } from './zh-style-editor.js'

type Tree = { readonly [name: string]: unknown }

/** Returns every text by its path; functions are called with parameters. */
function texts(tree: Tree, path = ''): readonly (readonly [string, string])[] {
  return Object.entries(tree).flatMap(([name, value]) => {
    const at = path === '' ? name : `${path}.${name}`
    if (typeof value === 'string') return [[at, value] as const]
    if (typeof value === 'function') return [[at, String(value(...Array(value.length).fill(2)))] as const]
    return texts(value as Tree, at)
  })
}

/** Names that are the same in every language. */
const INTERNATIONAL = new Set([
  'sources.kinds.postgis',
  'vectors.kinds.gpx',
  'vectors.kinds.dxf',
  'audit.fields.url',
  'basemaps.addresses',
  'maps.tabs.addresses',
  'maps.service.tilejson',
  'maps.service.wmts',
  'maps.service.ogc',
  'maps.service.tms',
  'pushes.url',
  'nav.documentationHome',
  'overview.plots.missing',
  'overview.edge.unknown',
  'work.edges.latency.p50',
  'work.edges.latency.p95',
  'work.edges.latency.p99',
  'work.palette.chinese',
  'work.palette.english',
  'vectors.kinds.geojson',
  'vectors.kinds.shapefile',
  'vectors.kinds.geopackage',
  'vectors.kinds.flatgeobuf',
  'vectors.kinds.kml',
  'vectors.kinds.kmz',
  'vectors.kinds.gml',
  'vectors.kinds.csv',
  'settings.apiBase',
  'pushes.current',
  'editor.json',
])

test('every text exists in both languages, and none is left untranslated', () => {
  // Separate tests cover the texts of the service.
  const english = texts({ ...en, messages: {}, editor: enStyleEditor })
  const chinese = new Map(texts({ ...zh, messages: {}, editor: zhStyleEditor }))
  expect([...chinese.keys()]).toEqual(english.map(([path]) => path))
  for (const [path, text] of english) {
    expect([path, text]).not.toEqual([path, ''])
    if (INTERNATIONAL.has(path)) continue
    expect([path, chinese.get(path)]).toEqual([path, expect.stringMatching(/\p{Script=Han}/u)])
    expect([path, text]).toEqual([path, expect.not.stringMatching(/\p{Script=Han}/u)])
  }
})

test('numbers have the plural forms of the language', () => {
  expect([0, 1, 2, 5011].map((n) => counted(n, 'version'))).toEqual([
    '0 versions',
    '1 version',
    '2 versions',
    '5,011 versions',
  ])
  expect(en.overview.versionsMissing(1)).toBe('1 basemap version is unavailable')
  expect(en.overview.versionsMissing(2)).toBe('2 basemap versions are unavailable')
})
