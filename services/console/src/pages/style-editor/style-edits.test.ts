import { expect, test } from 'vitest'
import {
  type Field,
  fieldsOf,
  fieldValue,
  isDrawn,
  labelFieldOf,
  labelOf,
  layersIn,
  withDrawn,
  withMoved,
  withValue,
  withZoom,
} from './style-edits.js'

const STYLE = {
  version: 8,
  sources: {},
  layers: [
    { id: 'ground', type: 'background', paint: { 'background-color': '#fff' } },
    {
      id: 'roads',
      type: 'line',
      source: 's',
      paint: { 'line-width': ['interpolate', ['linear'], ['zoom'], 4, 1, 9, 3] },
    },
    { id: 'names', type: 'symbol', source: 's', layout: { 'text-field': ['get', 'name'] } },
  ],
}
const layer = (style: object, id: string) => layersIn(style as never).find((one) => one.id === id) as never
const field = (id: string, role: string) => fieldsOf(layer(STYLE, id)).find((one) => one.role === role) as Field

test('a value is set, replaces a rule, and is removed with its empty section', () => {
  const coloured = withValue(STYLE, 'roads', field('roads', 'colour'), '#123456')
  expect(layer(coloured, 'roads')).toMatchObject({
    paint: { 'line-color': '#123456', 'line-width': expect.any(Array) },
  })
  const plain = withValue(coloured, 'roads', field('roads', 'width'), 2)
  expect(fieldValue(layer(plain, 'roads'), field('roads', 'width'))).toBe(2)
  const bare = withValue(STYLE, 'ground', field('ground', 'colour'), undefined)
  expect(layer(bare, 'ground')).toEqual({ id: 'ground', type: 'background' })
  expect(layersIn(STYLE)[0]).toHaveProperty('paint')
})

test('a layer moves by one place, and stays at the ends', () => {
  const order = (style: object) => layersIn(style as never).map(({ id }) => id)
  expect(order(withMoved(STYLE, 'roads', 1))).toEqual(['ground', 'names', 'roads'])
  expect(order(withMoved(STYLE, 'roads', -1))).toEqual(['roads', 'ground', 'names'])
  expect(withMoved(STYLE, 'names', 1)).toBe(STYLE)
  expect(withMoved(STYLE, 'ground', -1)).toBe(STYLE)
})

test('zooms and the visibility are set and removed', () => {
  const limited = withZoom(STYLE, 'roads', 'minzoom', 7)
  expect(layer(limited, 'roads')).toMatchObject({ minzoom: 7 })
  expect(layer(withZoom(limited, 'roads', 'minzoom', undefined), 'roads')).toEqual(layer(STYLE, 'roads'))
  const hidden = withDrawn(STYLE, 'roads', false)
  expect([isDrawn(layer(hidden, 'roads')), isDrawn(layer(STYLE, 'roads'))]).toEqual([false, true])
  expect(withDrawn(hidden, 'roads', true)).toEqual(STYLE)
})

test.each([
  ['{name}', 'name'],
  [['get', 'name'], 'name'],
  [['to-string', ['coalesce', ['get', 'name:zh'], '']], 'name:zh'],
  [labelOf('height'), 'height'],
  ['{name} ({ref})', null],
  [['concat', ['get', 'name'], ['get', 'ref']], null],
  [undefined, null],
])('the label %j shows the attribute %s', (value, name) => {
  expect(labelFieldOf(value)).toBe(name)
})

test('parts that are no layers are not offered, and an edit keeps them', () => {
  const odd = { ...STYLE, layers: [null, 'x', ...STYLE.layers] }
  expect(layersIn(odd)).toHaveLength(3)
  expect((withZoom(odd, 'roads', 'maxzoom', 12).layers as unknown[]).slice(0, 2)).toEqual([null, 'x'])
})
