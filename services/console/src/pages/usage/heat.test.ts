import { expect, test } from 'vitest'
import { boundsOfCell, type HeatCell, heatOverlay, stepsOf } from './heat.js'

function cell(
  z: number,
  requests: number,
  missing = 0,
  grid: 'WebMercatorQuad' | 'WorldCRS84Quad' = 'WebMercatorQuad',
): HeatCell {
  const coordinates = [
    [
      [0, 0],
      [90, 0],
      [90, 45],
      [0, 45],
      [0, 0],
    ],
  ]
  return {
    type: 'Feature',
    properties: { tile_matrix_set: grid, z, x: 0, y: 0, requests, tile_404: missing },
    geometry: { type: 'Polygon', coordinates },
  }
}

test('the heat of a cell is its number of requests relative to its area', () => {
  // A quarter of the area with a quarter of the requests.
  expect(stepsOf([cell(4, 400), cell(5, 100)], 'requests')).toEqual([4, 4])
  expect(stepsOf([cell(0, 1), cell(4, 1), cell(8, 1)], 'requests')).toEqual([0, 2, 4])
  expect(stepsOf([cell(5, 7, 7), cell(4, 7, 7, 'WorldCRS84Quad')], 'misses')).toEqual([4, 4])
  expect(stepsOf([cell(6, 1000, 1), cell(6, 1, 1), cell(6, 1000, 100)], 'misses')).toEqual([0, 0, 4])
})

test('small cells are drawn above large ones', () => {
  const { data } = heatOverlay([cell(8, 5), cell(0, 9)], 'requests').sources.cells as unknown as {
    data: { features: HeatCell[] }
  }
  expect(data.features.map(({ properties }) => properties.z)).toEqual([0, 8])
})

test('the bounds of a cell are those of its corners', () => {
  expect(boundsOfCell(cell(3, 1))).toEqual([0, 0, 90, 45])
})
