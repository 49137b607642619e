import { expect, test } from 'vitest'
import { layersText, MAX_LAYERS, parseLayers, type ShownLayer } from './shown-layers.js'

const WORLD: ShownLayer = { kind: 'basemap', code: 'world', version: '2026-1', opacity: 100 }
const ROADS: ShownLayer = { kind: 'vector', code: 'roads, old/new', version: '', opacity: 40 }

test('layers, their order and opacity come back from the URL', () => {
  expect(parseLayers(layersText([WORLD, ROADS]))).toEqual([WORLD, ROADS])
  expect(layersText([])).toBeNull()
})

test('what is not understood in a URL is left out', () => {
  expect(parseLayers('style/a//100,basemap//1/100,basemap/a/1/900,vector/%E0%A4%A/,basemap/a')).toEqual([
    { kind: 'basemap', code: 'a', version: '', opacity: 100 },
  ])
  expect(parseLayers(null)).toEqual([])
})

test('a map is one layer, and layers are bounded', () => {
  expect(parseLayers('basemap/a/1/50,basemap/a/1/90')).toHaveLength(1)
  const many = Array.from({ length: MAX_LAYERS + 3 }, (_, i) => `vector/v${i}`).join(',')
  expect(parseLayers(many)).toHaveLength(MAX_LAYERS)
})
