import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { VectorKind } from '@gateway/contracts/vector.js'
import { deserialize } from 'flatgeobuf/lib/mjs/geojson.js'
import { afterAll, expect, test } from 'vitest'
import { writeFlatGeobuf } from './forms/write-flatgeobuf.js'
import { writeGeopackage } from './forms/write-geopackage.js'
import { buildIndex } from './index-file/build-index.js'
import { INDEX_FILE } from './index-file/index-description.js'
import type { Form } from './query/conversion.js'
import { DEFAULT_CRS } from './query/crs.js'
import { everyItem } from './query/parameters.js'
import { OpenIndex } from './query/run-query.js'

const home = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'vector-round-trip-'))
afterAll(() => fs.rmSync(home, { recursive: true, force: true }))

interface Items {
  readonly features: readonly { readonly properties: { readonly uid: unknown } }[]
}

/** The first seed and the number of seeds: some seconds by default. `ROUND_TRIP_SEEDS=1,500 npm test -- round-trip` takes minutes. */
const [FIRST, COUNT] = (process.env.ROUND_TRIP_SEEDS ?? '1,4').split(',').map(Number) as [number, number]

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

test('random vectors that other programs have written come back equal in every form', async () => {
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
