import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deserialize } from 'flatgeobuf/lib/mjs/geojson.js'
import { afterAll, expect, test } from 'vitest'
import { buildIndex } from '../index-file/build-index.js'
import { INDEX_FILE } from '../index-file/index-description.js'
import { type Form, runConversion } from './conversion.js'
import { DEFAULT_CRS } from './crs.js'
import { parseItemsQuery } from './parameters.js'
import { OpenIndex } from './run-query.js'

const home = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'vector-fgb-'))
afterAll(() => fs.rmSync(home, { recursive: true, force: true }))

const ring = [
  [1, 2],
  [2, 2],
  [2, 3],
  [1, 2],
]
const POINT = { type: 'Point', coordinates: [1, 2] }
const POLYGON = { type: 'Polygon', coordinates: [ring] }
const POLYGONS = { type: 'MultiPolygon', coordinates: [[ring], [ring]] }
const LINE = { type: 'LineString', coordinates: ring }
const COLLECTION = { type: 'GeometryCollection', geometries: [POINT, LINE] }

/** The geometries of each vector, and the type of the layer as GDAL reads it. */
const VECTORS: Readonly<Record<string, readonly [readonly (object | null)[], string]>> = {
  points: [[POINT, POINT], 'Point'],
  some_points: [[POINT, null, { type: 'Point', coordinates: [] }, POINT], 'Unknown (any)'],
  later_points: [[null, POINT], 'Unknown (any)'],
  polygons: [[POLYGON, POLYGONS, POLYGON], 'Multi Polygon'],
  some_polygons: [[POLYGON, null, POLYGONS], 'Unknown (any)'],
  some_lines: [[null, LINE, { type: 'MultiLineString', coordinates: [] }], 'Unknown (any)'],
  mixed: [[null, COLLECTION, POLYGONS, { type: 'GeometryCollection', geometries: [] }, POINT], 'Unknown (any)'],
  nowhere: [[null, null], 'Unknown (any)'],
}

async function indexOf(code: string, geometries: readonly (object | null)[]) {
  const output = fs.mkdtempSync(join(home, `${code}-`))
  const path = join(output, `${code}.geojson`)
  const features = geometries.map((geometry, n) => ({ type: 'Feature', properties: { n }, geometry }))
  fs.writeFileSync(path, JSON.stringify({ type: 'FeatureCollection', features }))
  const rest = { fingerprint: null, encoding: null, code, crs: 'OGC:CRS84', limits: { memoryMb: 1500 } }
  const description = await buildIndex({ source: { root: output, path }, kind: 'geojson', output, ...rest })
  return { description, revision: 'r', file: join(output, INDEX_FILE), output }
}

/** Returns the type of the layer in a file, the numbers of its features, and the errors of GDAL. */
function readByGdal(file: string) {
  const text = execFileSync('sh', ['-c', 'ogrinfo -ro -al "$0" 2>&1', file], { encoding: 'utf8' })
  return {
    type: /^Geometry: (.*)$/m.exec(text)?.[1],
    numbers: [...text.matchAll(/^ {2}n \(\w+\) = (\d+)$/gm)].map(([, n]) => Number(n)),
    errors: text.match(/ERROR.*/g) ?? [],
  }
}

test.each(Object.entries(VECTORS))('GDAL and JavaScript read every item of %s', async (code, [geometries, type]) => {
  const index = await indexOf(code, geometries)
  const open = new OpenIndex(index.file)
  const chunks = [...open.run(parseItemsQuery('f=fgb', '', index))]
  open.close()
  const bytes = Buffer.concat(chunks.map((chunk) => chunk.bytes))
  const file = join(index.output, 'items.fgb')
  fs.writeFileSync(file, bytes)
  const numbers = geometries.map((_, n) => n)
  expect(readByGdal(file)).toEqual({ type, numbers, errors: [] })
  const read: unknown[] = []
  for await (const feature of deserialize(new Uint8Array(bytes))) read.push(feature.properties)
  expect(read).toEqual(numbers.map((n) => ({ n })))
})

const read = { fgb: (file: string) => [file], zip: (file: string) => [`/vsizip/${file}`] }

test.each(
  Object.entries(VECTORS).flatMap(([code, [geometries]]) =>
    (['fgb', 'zip'] as const).map((form) => [form, code, geometries] as const),
  ),
)('a download as %s has every feature of %s that this format can hold', async (form, code, geometries) => {
  const { description, file, output } = await indexOf(code, geometries)
  const made = join(output, `made.${form}`)
  const task = { index: file, description, code, form: form as Form, crs: DEFAULT_CRS, output: made, memoryMb: 1500 }
  const { signal } = new AbortController()
  const outcome = await runConversion({ what: 'form', task }, { sourceBytes: 1, folder: output, signal })
  expect(outcome).toEqual({ made: true, tiles: null })
  // A shapefile cannot hold collections.
  const held = geometries.flatMap((geometry, n) => (form === 'zip' && geometry === COLLECTION ? [] : [n]))
  const found = read[form](made).map(readByGdal)
  expect(found.flatMap(({ numbers }) => numbers).toSorted()).toEqual(held)
})
