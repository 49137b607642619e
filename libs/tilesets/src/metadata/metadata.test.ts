import { boundsSchema, TILE_FORMATS, TILE_MATRIX_SET_IDS, vectorLayerSchema } from '@gateway/contracts/basemap.js'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { readMetadata } from './metadata.js'

it('reads TileJSON, in which values have their types', () => {
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
    grid: 'WebMercatorQuad',
    gridNamed: '',
    other: {},
    warnings: [],
  })
})

it('reads MBTiles and tippecanoe, in which values are texts', () => {
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
])('reads the format %j as %j', (format, expected) => expect(readMetadata({ format }).format).toBe(expected))

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
  ['scheme', [{ toString: '' }]],
  ['scheme', { toString: null }],
  ['bounds', { toString: 'x' }],
  ['json', [{ toString: '' }]],
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

it.each([
  ['25.8,10.7,1', [25.8, 10.7, 1]],
  [
    [7.4, 43.7, 14.6],
    [7.4, 43.7, 14],
  ],
  ['200,0,1', undefined],
  ['', undefined],
  [[1, 2], undefined],
])('passes on the center %j', (center, told) => {
  expect(readMetadata({ center })).toMatchObject({ other: told === undefined ? {} : { center: told }, warnings: [] })
})

it.each([
  ['170,-20,190,0', [170, -20, -170, 0]],
  ['180,-20,190,0', [-180, -20, -170, 0]],
  ['-190,-20,-170,0', [170, -20, -170, 0]],
  ['170,-20,180.000001,0', [170, -20, 180, 0]],
  ['-180.004,-20,-60,0', [-180, -20, -60, 0]],
  ['190,-20,200,0', [-170, -20, -160, 0]],
  ['0,-20,360,0', [-180, -20, 180, 0]],
  ['100,-20,260,0', [100, -20, -100, 0]],
  ['-20037508,-20037508,20037508,20037508', [-180, -90, 180, 90]],
])('wraps the bounds %s', (bounds, wrapped) => {
  expect(readMetadata({ bounds }).bounds).toEqual(wrapped)
})

it('reads rows from the south in an address with {-y}, unless a scheme says otherwise', () => {
  const tiles = ['http://a/{z}/{x}/{-y}.png']
  expect(readMetadata({ tiles }).scheme).toBe('tms')
  expect(readMetadata({ tiles, scheme: 'xyz' }).scheme).toBe('xyz')
  expect(readMetadata({ tiles: ['http://a/{z}/{x}/{y}.png'] }).scheme).toBeNull()
})

it('cuts bounds at the ends of the world and keeps those across the antimeridian', () => {
  expect(readMetadata({ bounds: [-200, -95, 180.0000001, 95] }).bounds).toEqual([-180, -90, 180, 90])
  expect(readMetadata({ bounds: '170,-20,-170,0' }).bounds).toEqual([170, -20, -170, 0])
})

it('reads bounds and a center in brackets', () => {
  const fields = { bounds: '[170, -10, 190, 10]', center: '[175,0,4]' }
  expect(readMetadata(fields)).toMatchObject({
    bounds: [170, -10, -170, 10],
    other: { center: [175, 0, 4] },
    warnings: [],
  })
})

it('reads bounds with the latitudes first if they fit in no other order', () => {
  const read = readMetadata({ bounds: '-85,-180,85,180' })
  expect(read).toMatchObject({ bounds: [-180, -85, 180, 85] })
  expect(read.warnings).toEqual([expect.stringContaining('latitudes in the place of longitudes')])
  expect(readMetadata({ bounds: '-85,-80,85,80' })).toMatchObject({ bounds: [-85, -80, 85, 80], warnings: [] })
})

it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])('does not accept %s as a format', (format) => {
  expect(readMetadata({ format }).format).toBeNull()
})

/** JSON in which the names of built-in object properties are as likely as others. */
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, '', 'tms', '1,2,3,4', 0, -1, 1e308, 3.5),
    fc.string(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(
      fc.oneof(
        fc.constantFrom('toString', 'valueOf', 'toJSON', 'constructor', '__proto__', 'id', 'fields'),
        fc.string(),
      ),
      tie('value'),
      { maxKeys: 5 },
    ),
  ),
}))

const understood = z.strictObject({
  name: z.string().nullable(),
  attribution: z.string().nullable(),
  description: z.string().nullable(),
  format: z.enum(TILE_FORMATS).nullable(),
  minZoom: z.int().nullable(),
  maxZoom: z.int().nullable(),
  bounds: boundsSchema.nullable(),
  scheme: z.enum(['xyz', 'tms']).nullable(),
  vectorLayers: z.array(vectorLayerSchema).nullable(),
  grid: z.enum(TILE_MATRIX_SET_IDS).nullable(),
  gridNamed: z.string(),
  other: z.record(z.string(), z.unknown()),
  warnings: z.array(z.string()),
})

it('never throws, and never passes on fields that it did not understand', () => {
  const named = [
    ...Object.keys(understood.shape),
    'crs',
    'encoding',
    'minzoom',
    'maxzoom',
    'tiles',
    'json',
    'vector_layers',
    '__proto__',
  ]
  const record = fc.dictionary(
    fc.constantFrom(...named),
    fc.oneof(
      json.value,
      json.value.map((value) => JSON.stringify(value)),
    ),
  )
  fc.assert(
    fc.property(record, (fields) => {
      // Serialized, because metadata comes from a file.
      understood.parse(readMetadata(JSON.parse(JSON.stringify(fields)) as Record<string, unknown>))
    }),
    { numRuns: 2000 },
  )
})

it.each([33, 5_000, 1_000_000])(
  'leaves out a field that is nested %d levels deep, on which recursion would end',
  (depth) => {
    const fields = JSON.parse(`{"name": "x", "deep": ${'['.repeat(depth)}${']'.repeat(depth)}, "kept": {"a": [1]}}`)
    const { name, other, warnings } = readMetadata(fields)
    expect({ name, other }).toEqual({ name: 'x', other: { kept: { a: [1] } } })
    expect(warnings).toEqual([expect.stringContaining('"deep" is left out')])
  },
)
