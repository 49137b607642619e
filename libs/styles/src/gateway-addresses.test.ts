import { expect, test } from 'vitest'
import { withGatewayAddresses } from './gateway-addresses.js'
import { rewriteStyle } from './rewrite.js'

const BASES = { tileBase: 'https://maps.example.org', vectorBase: 'https://vectors.example.org/v' }
const PLACES = { ...BASES, code: 'city', styleBase: BASES.tileBase, credential: 'token=SECRET', fontRevision: 'f1' }

const STYLE = {
  version: 8,
  sprite: [
    { id: 'default', url: 'gateway://sprites/city' },
    { id: 'own', url: 'gateway://sprites/other%20one' },
  ],
  glyphs: 'gateway://fonts',
  'font-faces': { Brand: 'fonts/brand.woff2' },
  sources: {
    a: { type: 'raster', url: 'gateway://basemaps/world', tileSize: 256 },
    b: { type: 'raster', url: 'gateway://basemaps/world/2026%20a' },
    c: { type: 'vector', url: 'gateway://vectors/roads' },
    d: { type: 'geojson', data: 'gateway://vectors/roads' },
    e: { type: 'geojson', data: 'data/spots.geojson' },
    f: { type: 'vector', url: 'https://elsewhere/a.json?token=THEIRS' },
  },
  layers: [],
}

test('a served style that an editor saved becomes the original style again, without the token', () => {
  const saved = rewriteStyle(STYLE, PLACES)
  expect(JSON.stringify(saved)).toContain('SECRET')
  expect(withGatewayAddresses(saved, BASES, 'city')).toEqual(STYLE)
})

test('under another code no token stays either', () => {
  const saved = withGatewayAddresses(rewriteStyle(STYLE, PLACES), BASES, 'city-2')
  expect(JSON.stringify(saved)).not.toContain('SECRET')
  expect(saved).toMatchObject({
    sources: { e: { data: 'https://maps.example.org/styles/city/data/spots.geojson' }, f: STYLE.sources.f },
  })
})
