import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readMetadata } from './metadata.js'

it('reads TileJSON, where values have their types', () => {
  const layers = [{ id: 'a', fields: { b: 'String' }, minzoom: 3 }]
  expect(
    readMetadata({
      tilejson: '3.0.0',
      name: ' World ',
      minzoom: 0,
      maxzoom: 4,
      bounds: [-10, -20, 30, 40],
      scheme: 'tms',
      tiles: ['http://a/{z}/{x}/{y}.jpeg?key=1'],
      vector_layers: layers,
    }),
  ).toEqual({
    name: 'World',
    attribution: null,
    description: null,
    format: 'jpg',
    minZoom: 0,
    maxZoom: 4,
    bounds: [-10, -20, 30, 40],
    scheme: 'tms',
    vectorLayers: layers,
    warnings: [],
  })
})

it('reads MBTiles and tippecanoe, where values are texts', () => {
  const json = JSON.stringify({ vector_layers: [{ id: 'a', fields: {} }], tilestats: {} })
  expect(
    readMetadata({ name: 'x', minzoom: '2', maxzoom: '14', bounds: '-180.000000,-85,180,85', format: 'pbf', json }),
  ).toMatchObject({
    minZoom: 2,
    maxZoom: 14,
    bounds: [-180, -85, 180, 85],
    format: 'pbf',
    vectorLayers: [{ id: 'a', fields: {} }],
    warnings: [],
  })
})

it.each([
  ['jpeg', 'jpg'],
  ['image/png', 'png'],
  ['PNG', 'png'],
  ['png8', 'png'],
  ['application/vnd.mapbox-vector-tile', 'pbf'],
  ['mvt', 'pbf'],
  ['tiff', null],
])('takes the format %j for %j', (format, expected) => expect(readMetadata({ format }).format).toBe(expected))

it.each([
  ['minzoom', -1],
  ['maxzoom', '31'],
  ['maxzoom', 4.5],
  ['bounds', '1,2,3'],
  ['bounds', [1, 2, 'x', 4]],
  ['bounds', '0,0,0,0'],
  ['bounds', [0, 40, 10, 30]],
  ['bounds', {}],
  ['scheme', 'zxy'],
  ['json', '{'],
  ['vector_layers', 'a'],
  ['vector_layers', [{}]],
  ['name', 5],
  ['description', 'x'.repeat(20_000)],
])('leaves out %s = %j with a warning', (field, value) => {
  const { warnings } = readMetadata({ [field]: value })
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toContain(field)
})

it('cuts bounds at the ends of the world and keeps those across the antimeridian', () => {
  expect(readMetadata({ bounds: [-200, -95, 180.0000001, 95] }).bounds).toEqual([-180, -90, 180, 90])
  expect(readMetadata({ bounds: '170,-20,-170,0' }).bounds).toEqual([170, -20, -170, 0])
})

it('never throws, whatever the fields hold', () => {
  const fields = ['name', 'minzoom', 'bounds', 'scheme', 'format', 'tiles', 'json', 'vector_layers', '__proto__']
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...fields), fc.jsonValue()), (record) => void readMetadata(record)),
  )
})
