import { expect, test } from 'vitest'
import { copiedForm, servedForm, storedForm } from './style-forms.js'

const STYLE = {
  version: 8,
  sprite: 'icons',
  glyphs: 'gateway://fonts',
  sources: {
    world: { type: 'raster', url: 'gateway://basemaps/world/2026' },
    roads: { type: 'vector', url: 'gateway://vectors/roads' },
    spots: { type: 'geojson', data: 'data/spots.geojson' },
    other: { type: 'vector', url: 'https://tiles.example.org/a.json' },
  },
  layers: [],
}

test.each([[['https://maps.example.org']], [['https://maps.example.org', 'https://vectors.example.org/base']]])(
  'a document is stored as it was read, with the public addresses %j',
  (bases) => {
    const served = servedForm(STYLE, bases, 'city')
    expect(JSON.stringify(served)).not.toContain('gateway://')
    expect(served.sources).toMatchObject({ roads: { url: `${bases.at(-1)}/vectors/roads/tilejson.json` } })
    expect(storedForm(served, bases, 'city')).toEqual(STYLE)
  },
)

test('a copy uses the sprite of the original, whose folder it does not have', () => {
  const copy = copiedForm(STYLE, ['https://maps.example.org'], 'city', 'city-2')
  expect(copy).toMatchObject({
    sprite: 'gateway://sprites/city',
    glyphs: 'gateway://fonts',
    sources: { roads: STYLE.sources.roads, spots: { data: 'https://maps.example.org/styles/city/data/spots.geojson' } },
  })
})
