import { expect, test } from 'vitest'
import type { MapContent } from './map-view.js'
import { stacked } from './stack.js'

const IMAGES: MapContent = {
  sources: { version: { type: 'raster', tiles: ['a'] } },
  layers: [{ id: 'version', type: 'raster', source: 'version' }],
}
const AREAS: MapContent = {
  sources: { version: { type: 'vector', tiles: ['b'] } },
  layers: [
    {
      id: 'areas',
      type: 'fill',
      source: 'version',
      'source-layer': 'l',
      paint: { 'fill-color': '#123', 'fill-opacity': 0.5 },
    },
  ],
}

test('maps keep their order and their own sources in a stack', () => {
  const { sources, layers } = stacked([
    { content: IMAGES, opacity: 1 },
    { content: AREAS, opacity: 1 },
  ])
  expect(Object.keys(sources)).toEqual(['0 version', '1 version'])
  expect(layers.map(({ id }) => id)).toEqual(['0 version', '1 areas'])
  expect(layers[1]).toMatchObject({ source: '1 version', 'source-layer': 'l' })
})

test('opacity is multiplied by the opacity of a layer itself', () => {
  const { layers } = stacked([
    { content: IMAGES, opacity: 0.25 },
    { content: AREAS, opacity: 0.4 },
  ])
  expect(layers[0]?.paint).toEqual({ 'raster-opacity': 0.25 })
  expect(layers[1]?.paint).toEqual({ 'fill-color': '#123', 'fill-opacity': 0.2 })
})
