import { expect, test } from 'vitest'
import { rewriteStyle } from './rewrite.js'

const PLACES = {
  code: 'city',
  tileBase: 'http://tiles',
  vectorBase: 'http://vectors',
  styleBase: 'http://tiles',
  credential: 'token=T',
  fontRevision: 'f1',
}

const STYLE = {
  version: 8,
  sprite: [
    { id: 'default', url: 'icons' },
    { id: 'own', url: 'gateway://sprites/other' },
  ],
  glyphs: 'gateway://fonts',
  sources: {
    a: { type: 'raster', url: 'gateway://basemaps/world' },
    b: { type: 'raster', tiles: ['gateway://basemaps/world/2026%20a'], tileSize: 256 },
    c: { type: 'vector', url: 'gateway://vectors/roads' },
    d: { type: 'geojson', data: 'gateway://vectors/roads' },
    e: { type: 'geojson', data: '../../other/secret.geojson' },
    f: { type: 'vector', tiles: ['https://elsewhere/{z}/{x}/{y}.pbf', 'own/{z}/{x}/{y}.pbf'] },
    g: { type: 'geojson', data: { type: 'FeatureCollection', features: [] } },
  },
  layers: [],
}

test('URLs become absolute and carry the credential; other hosts stay', () => {
  expect(rewriteStyle(STYLE, PLACES)).toEqual({
    version: 8,
    sprite: [
      { id: 'default', url: 'http://tiles/styles/city/icons?token=T' },
      { id: 'own', url: 'http://tiles/styles/other/sprite?token=T' },
    ],
    glyphs: 'http://tiles/fonts/{fontstack}/{range}.pbf?v=f1&token=T',
    sources: {
      a: { type: 'raster', url: 'http://tiles/tiles/world/tilejson.json?token=T' },
      b: { type: 'raster', url: 'http://tiles/tiles/world/2026%20a/tilejson.json?token=T', tileSize: 256 },
      c: { type: 'vector', url: 'http://vectors/vectors/roads/tilejson.json?token=T' },
      d: { type: 'geojson', data: 'http://vectors/vectors/roads.geojson?token=T' },
      e: { type: 'geojson', data: 'http://tiles/styles/city/other/secret.geojson?token=T' },
      f: {
        type: 'vector',
        tiles: ['https://elsewhere/{z}/{x}/{y}.pbf', 'http://tiles/styles/city/own/{z}/{x}/{y}.pbf?token=T'],
      },
      g: { type: 'geojson', data: { type: 'FeatureCollection', features: [] } },
    },
    layers: [],
  })
})

test.each(['{fontstack}/{range}', '{fontstack}/{range}.pbf'])(
  'gateway://fonts/%s names the same glyphs',
  (template) => {
    const { glyphs } = rewriteStyle({ ...STYLE, glyphs: `gateway://fonts/${template}` }, PLACES) as typeof STYLE
    expect(glyphs).toBe('http://tiles/fonts/{fontstack}/{range}.pbf?v=f1&token=T')
  },
)

test('basemaps without a version are those of a time, if one is given', () => {
  const { sources } = rewriteStyle(STYLE, { ...PLACES, at: '2026-05-01T00:00:00+02:00' }) as typeof STYLE
  expect(sources.a.url).toBe('http://tiles/tiles/world/tilejson.json?at=2026-05-01T00%3A00%3A00%2B02%3A00&token=T')
  expect(JSON.stringify(sources.b)).not.toContain('at=')
})

test('without a credential no URL has one', () => {
  const text = JSON.stringify(rewriteStyle(STYLE, { ...PLACES, credential: '' }))
  expect(text).not.toContain('token')
  expect(text).not.toContain('gateway://')
})
