import { expect, test } from 'vitest'
import { rasterStyle, THEMES, vectorStyle } from './default-styles.js'
import { checkStyle } from './validate.js'

const VECTOR = {
  name: 'Roads',
  tileJsonUrl: 'http://vectors/vectors/roads/tilejson.json',
  glyphs: 'http://tiles/fonts/{fontstack}/{range}.pbf',
  bounds: [116, 39, 117, 40],
}

test.each(THEMES)('the %s styles are valid', (theme) => {
  const named = {
    ...VECTOR,
    layers: [
      { id: 'roads', named: true },
      { id: 'parks', named: false },
    ],
  }
  for (const style of [vectorStyle(named, theme), rasterStyle('World', 'http://tiles/tilejson.json', 256, theme)])
    expect(checkStyle(JSON.stringify(style, null, 1))).toMatchObject({ ok: true })
})

test('a style of GeoJSON is valid and names no layers of tiles', () => {
  const data = { tileJsonUrl: null, geojsonUrl: 'http://vectors/vectors/roads.geojson' }
  const style = vectorStyle({ ...VECTOR, ...data, layers: [{ id: 'roads', named: true }] }, 'light')
  expect(checkStyle(JSON.stringify(style))).toMatchObject({ ok: true })
  expect(JSON.stringify(style)).not.toContain('source-layer')
})

test('only layers whose features have names get labels, and only labels need glyphs', () => {
  const plain = vectorStyle({ ...VECTOR, layers: [{ id: 'parks', named: false }] }, 'light')
  expect(JSON.stringify(plain)).not.toContain('text-field')
  expect(plain).not.toHaveProperty('glyphs')
  expect(vectorStyle({ ...VECTOR, layers: [{ id: 'roads', named: true }] }, 'dark')).toMatchObject({
    center: [116.5, 39.5],
    glyphs: VECTOR.glyphs,
  })
})
