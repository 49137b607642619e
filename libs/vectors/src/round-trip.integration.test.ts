import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { VectorKind } from '@gateway/contracts/vector.js'
import fc from 'fast-check'
import { deserialize, serialize } from 'flatgeobuf/lib/mjs/geojson.js'
import { afterAll, expect, test } from 'vitest'
import { writeFlatGeobuf } from './forms/write-flatgeobuf.js'
import { writeGeopackage } from './forms/write-geopackage.js'
import { buildIndex } from './index-file/build-index.js'
import { INDEX_FILE } from './index-file/index-description.js'
import type { Form } from './query/conversion.js'
import { DEFAULT_CRS } from './query/crs.js'
import { everyItem } from './query/parameters.js'
import { OpenIndex } from './query/run-query.js'
import { HAS_GDAL } from './testing/has-gdal.js'
import {
  csvOf,
  type Place,
  readGeopackage,
  rowsOfCsv,
  type Shape,
  shapeOfText,
  textOf,
  writeGeopackage as writeOtherGeopackage,
} from './testing/independent-forms.js'

const home = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'vector-round-trip-'))
afterAll(() => fs.rmSync(home, { recursive: true, force: true }))

interface Items {
  readonly features: readonly { readonly properties: { readonly uid: unknown } }[]
}

/** The first seed and the number of seeds: some seconds by default. `ROUND_TRIP_SEEDS=1,500 npm test -- round-trip` takes minutes. */
const [FIRST, COUNT] = (process.env.ROUND_TRIP_SEEDS ?? '1,4').split(',').map(Number) as [number, number]

/** Random collections for each format of the second test. */
const RUNS = 12

function python(...args: string[]): string {
  const script = fileURLToPath(new URL('testing/round_trip.py', import.meta.url))
  return execFileSync('/usr/bin/python3', [script, ...args], { maxBuffer: 2 ** 28 }).toString()
}

/** Writes an index of a source and every form that it has. */
async function make(folder: string, kind: VectorKind, path: string): Promise<void> {
  const rest = { fingerprint: null, encoding: null, code: 'source', crs: null, limits: { memoryMb: 1000 } }
  const output = join(folder, 'index')
  fs.mkdirSync(output)
  const source = { root: folder, path: join(folder, path) }
  const description = await buildIndex({ source, kind, output, ...rest })
  const index = join(output, INDEX_FILE)
  const task = (form: Form, name: string) =>
    ({
      index,
      description,
      code: 'source',
      form,
      crs: DEFAULT_CRS,
      output: join(folder, name),
      memoryMb: 1000,
    }) as const
  const open = new OpenIndex(index)
  const items = (format: 'geojson' | 'csv' | 'fgb') => {
    const query = everyItem({ description, file: index }, { crs: DEFAULT_CRS, isGuarded: false }, format)
    return Buffer.concat([...open.run(query)].map(({ bytes }) => bytes))
  }
  try {
    fs.writeFileSync(join(folder, 'items.geojson'), `{"type":"FeatureCollection","features":[${items('geojson')}]}`)
    fs.writeFileSync(join(folder, 'made.csv'), items('csv'))
    if (open.locatesAll) writeFlatGeobuf(task('fgb', 'made.fgb'))
    else fs.writeFileSync(join(folder, 'made.fgb'), items('fgb'))
    writeGeopackage(task('gpkg', 'made.gpkg'))
  } finally {
    open.close()
  }
}

/** Returns the keys of the features that the reader for JavaScript finds. */
async function keysIn(flatgeobuf: string): Promise<unknown[]> {
  const keys: unknown[] = []
  for await (const { properties } of deserialize(new Uint8Array(fs.readFileSync(flatgeobuf))))
    keys.push(properties?.uid)
  return keys.sort()
}

test.skipIf(!HAS_GDAL)('random vectors that other programs have written come back equal in every form', async () => {
  const made = JSON.parse(python('write', home, String(FIRST), String(COUNT))) as {
    folder: string
    kind: VectorKind
    path: string
  }[]
  for (const { folder, kind, path } of made)
    await make(folder, kind, path).catch((error: Error) => fs.writeFileSync(join(folder, 'failed'), error.stack ?? ''))
  expect(made.length).toBeGreaterThan(0)
  expect(python('check', home)).toBe('')
  for (const { folder } of made) {
    const { features } = JSON.parse(fs.readFileSync(join(folder, 'items.geojson'), 'utf8')) as Items
    // The reader for JavaScript never ends a file without features.
    if (features.length === 0) continue
    expect(await keysIn(join(folder, 'made.fgb'))).toEqual(features.map(({ properties }) => properties.uid).sort())
  }
})

/** A number that every form holds, so that positions are compared as they are. */
const eighths = (most: number) => fc.integer({ min: -most * 8, max: most * 8 }).map((n) => n / 8)
const position = fc.tuple(eighths(170), eighths(80)).map((at) => [...at])
const line = fc.uniqueArray(position, { minLength: 2, maxLength: 5, selector: String })
/** A rectangle that runs against the clock, as RFC 7946 says. */
const rings = fc
  .tuple(eighths(160), eighths(70), fc.integer({ min: 1, max: 64 }), fc.integer({ min: 1, max: 64 }))
  .map(([x, y, w, h]) => [
    [
      [x, y],
      [x + w / 8, y],
      [x + w / 8, y + h / 8],
      [x, y + h / 8],
      [x, y],
    ],
  ])
const several = (one: fc.Arbitrary<Shape['coordinates']>) => fc.array(one, { minLength: 1, maxLength: 3 })
const shape: fc.Arbitrary<Shape> = fc.oneof(
  ...(
    [
      ['Point', position],
      ['LineString', line],
      ['Polygon', rings],
      ['MultiPoint', several(position)],
      ['MultiLineString', several(line)],
      ['MultiPolygon', several(rings)],
    ] as [string, fc.Arbitrary<Shape['coordinates']>][]
  ).map(([type, coordinates]) => coordinates.map((at) => ({ type, coordinates: at }))),
)
/** No text that a CSV cannot tell from a number, a date or none, and no character that a text of SQLite lacks. */
const text = fc.string({ unit: 'grapheme', maxLength: 12 }).map((one) => `t${one.replaceAll('\0', '')}t`)
/** The SQLite of the writer stores numbers of less than 1e-16 as 0. */
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Math.abs(n) < 1e-15 ? 0 : n))
const places: fc.Arbitrary<Place[]> = fc
  .uniqueArray(text, { minLength: 4, maxLength: 4, selector: (one) => one.normalize('NFKD').toLowerCase() })
  .chain((names) => {
    const [a, b, c, d] = names as [string, string, string, string]
    const properties = fc.record({
      [a]: text,
      [b]: fc.integer({ min: -(2 ** 53 - 1), max: 2 ** 53 - 1 }),
      [c]: number,
      [d]: fc.boolean(),
    })
    return fc
      .array(fc.record({ geometry: shape, properties }), { minLength: 1, maxLength: 8 })
      .map((made) => made.map((one, uid) => ({ ...one, properties: { uid, ...one.properties } })))
  })

/** Forms with one kind of geometry have all in the form of several parts. */
function inParts({ type, coordinates }: Shape): Shape {
  return type.startsWith('Multi') ? { type, coordinates } : { type: `Multi${type}`, coordinates: [coordinates] }
}

const collection = (features: readonly Place[]) => ({
  type: 'FeatureCollection' as const,
  features: features.map((one) => ({ type: 'Feature' as const, ...one })),
})
const cells = ({ properties }: Place) => Object.values(properties).map(String)

const WRITERS: Readonly<Record<string, (file: string, features: readonly Place[]) => void>> = {
  geojson: (file, features) => fs.writeFileSync(file, JSON.stringify(collection(features))),
  geojson_sequence: (file, features) =>
    fs.writeFileSync(
      file,
      collection(features)
        .features.map((one) => `${JSON.stringify(one)}\n`)
        .join(''),
    ),
  flatgeobuf: (file, features) => fs.writeFileSync(file, serialize(collection(features) as never)),
  geopackage: (file, features) => {
    const types = ['INTEGER', 'TEXT', 'INTEGER', 'DOUBLE', 'BOOLEAN']
    const names = Object.keys(features[0]?.properties ?? {})
    writeOtherGeopackage(file, features, Object.fromEntries(names.map((name, i) => [name, types[i] as string])))
  },
  csv: (file, features) => {
    const head = [...Object.keys(features[0]?.properties ?? {}), 'wkt']
    fs.writeFileSync(file, csvOf([head, ...features.map((one) => [...cells(one), textOf(one.geometry)])]))
  },
}

/** The features of every form, by readers that share no code with the writers, in the order of their keys. */
async function readForms(folder: string): Promise<Record<string, Place[]>> {
  const { features } = JSON.parse(fs.readFileSync(join(folder, 'items.geojson'), 'utf8')) as { features: Place[] }
  const flat: Place[] = []
  for await (const one of deserialize(new Uint8Array(fs.readFileSync(join(folder, 'made.fgb')))))
    flat.push(one as never)
  const [names = [], ...rows] = rowsOfCsv(fs.readFileSync(join(folder, 'made.csv'), 'utf8'))
  const table = rows.map((row) => ({
    geometry: shapeOfText(row.at(-1) as string),
    properties: Object.fromEntries(names.map((name, i) => [name, row[i]])),
  }))
  const forms = { geojson: features, fgb: flat, gpkg: readGeopackage(join(folder, 'made.gpkg')), csv: table }
  for (const form of Object.values(forms)) form.sort((a, b) => Number(a.properties.uid) - Number(b.properties.uid))
  return forms
}

test.each(Object.entries(WRITERS))(
  'random features in %s come back equal to readers for JavaScript',
  async (kind, write) => {
    let run = 0
    const property = fc.asyncProperty(places, async (features) => {
      const folder = join(home, `${kind}-${++run}`)
      fs.mkdirSync(folder)
      write(join(folder, 'source'), features)
      await make(folder, kind as VectorKind, 'source')
      for (const [form, found] of Object.entries(await readForms(folder))) {
        expect(
          found.map(({ geometry }) => inParts(geometry)),
          form,
        ).toEqual(features.map(({ geometry }) => inParts(geometry)))
        const asTexts = form === 'csv' || kind === 'csv'
        for (const [i, { properties }] of features.entries())
          for (const [name, value] of Object.entries(properties)) {
            const other = found[i]?.properties[name]
            // A CSV has no types, and writes numbers in its own way.
            if (asTexts && typeof value === 'number') expect(Number(other), `${form} ${name}`).toBe(value)
            else expect(asTexts ? String(other) : other, `${form} ${name}`).toBe(asTexts ? String(value) : value)
          }
      }
      fs.rmSync(folder, { recursive: true })
    })
    await fc.assert(property, { numRuns: RUNS })
  },
)
