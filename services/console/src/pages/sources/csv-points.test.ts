import { expect, test } from 'vitest'
import { pointsOfCsv } from './csv-points.js'

const featuresOf = (text: string) => {
  const made = pointsOfCsv(text)
  return made && JSON.parse(made.geojson).features
}

test('a CSV with coordinates becomes points with its other columns', () => {
  expect(featuresOf('name,Longitude,Latitude,zip\r\n"Harbour, ""old""",8.5,53.25,01234\r\nPier,9,54,7\r\n')).toEqual([
    {
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [8.5, 53.25] },
      properties: { name: 'Harbour, "old"', zip: '01234' },
    },
    { type: 'Feature', geometry: { type: 'Point', coordinates: [9, 54] }, properties: { name: 'Pier', zip: 7 } },
  ])
})

test.each([
  ['semicolons', 'lon;lat;n\n1;2;"a;\nb"\n'],
  ['tabs', '\uFEFFlon\tlat\tn\n1\t2\t"a;\nb"'],
])('%s separate the fields of a CSV too', (_name, text) => {
  expect(featuresOf(text)).toEqual([
    { type: 'Feature', geometry: { type: 'Point', coordinates: [1, 2] }, properties: { n: 'a;\nb' } },
  ])
})

test('rows without valid coordinates are counted, and columns that are missing are reported', () => {
  expect(pointsOfCsv('x,y\n1,2\n,3\n200,1\nabc,1\n1,2,3\n')?.skipped).toBe(3)
  expect(pointsOfCsv('a,b\n1,2\n')).toBeNull()
  expect(pointsOfCsv('')).toBeNull()
})
